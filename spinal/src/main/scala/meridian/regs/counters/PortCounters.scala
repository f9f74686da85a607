// SPDX-License-Identifier: Apache-2.0
package meridian.regs.counters

import meridian.page.CounterName

/** Counters of an Ethernet port: what is counted, and the sums that are shown of it.
  *
  * Each frame adds to one size, and to one class (good) or one error; so totals are sums, made when they are read.
  */
object PortCounters {
  // What is counted, a place each in a bank of 64. Sizes are with FCS, bins as OpenNIC's MAC has them.
  val binLimits = Seq(64, 127, 255, 511, 1023, 1518, 1522, 1548, 2047, 4095, 8191, 9215)
  val small = 12
  val large = 13
  val badFcs = 16
  val runt = 17
  val oversize = 18
  val classes = 20 // 3 * tagged + (0 unicast, 1 multicast, 2 broadcast), of good frames
  val toHost = 32 // of a frame sent: from the host
  val toPs = 33 // of a frame sent: from the PS
  val hostOverflow = 34
  val psOverflow = 35
  val nowhere = 36
  val psPoliced = 37
  val psPtpPoliced = 38
  val uncounted = 39
  val goodBytes = 40
  val badBytes = 41
  val entries = 64

  /** A counter as it is read: the sum of count places, step apart, of the receive or the transmit side. */
  case class Sum(name: String, rx: Boolean, first: Int, count: Int, step: Int, doc: String)

  private def side(rx: Boolean): Seq[Sum] = {
    def sum(name: String, first: Int, doc: String, count: Int = 1, step: Int = 1) =
      Sum(s"${if (rx) "rx" else "tx"}_$name", rx, first, count, step, doc)
    val common = Seq(
      sum("frames", 0, "all frames", 14),
      sum("good_frames", classes, "frames without error", 6),
      sum("bytes", goodBytes, "bytes of all frames, with FCS", 2),
      sum("good_bytes", goodBytes, "bytes of the good ones, with FCS"),
      sum("unicast", classes, "good unicast frames", 2, 3),
      sum("multicast", classes + 1, "good multicast frames", 2, 3),
      sum("broadcast", classes + 2, "good broadcast frames", 2, 3),
      sum("vlan", classes + 3, "good frames with a VLAN tag", 3)
    )
    val bins = binLimits.zipWithIndex.map { case (to, i) =>
      sum(
        if (i == 0) "size_64" else s"size_${binLimits(i - 1) + 1}_$to",
        i,
        s"frames of ${if (i == 0) "" else s"${binLimits(i - 1) + 1} to "}$to bytes, with FCS"
      )
    } ++ Seq(
      sum("small", small, "frames below 64 bytes, with FCS"),
      sum("large", large, s"frames above ${binLimits.last} bytes, with FCS")
    )
    val own =
      if (rx)
        Seq(
          sum("bad_fcs", badFcs, "frames dropped: the MAC marked them bad"),
          sum("runt", runt, "frames dropped: too short"),
          sum("oversize", oversize, "frames dropped: too long"),
          sum("to_host", toHost, "good frames handed to the host side"),
          sum("to_ps", toPs, "good frames handed to the PS"),
          sum("host_overflow", hostOverflow, "good frames the buffer to the host had no room for"),
          sum("ps_overflow", psOverflow, "good frames the buffer to the PS had no room for"),
          sum("nowhere", nowhere, "good frames that were for neither"),
          sum("ps_policed", psPoliced, "good frames for the PS, not of PTP, over their limit"),
          sum("ps_ptp_policed", psPtpPoliced, "good frames of PTP for the PS over their limit"),
          sum("uncounted", uncounted, "frames that came too fast for any other counter: runts, one after the other")
        )
      else Seq(sum("from_host", toHost, "frames of the host"), sum("from_ps", toPs, "frames of the PS"))
    common ++ bins ++ own
  }
  val sums: Seq[Sum] = side(rx = true) ++ side(rx = false)

  /** Offsets in the page of a port: receive from 0, transmit from 0x400, 8 bytes apart. */
  val offsets: Seq[(Int, Sum)] = Seq(true -> 0, false -> 0x400).flatMap { case (rx, base) =>
    sums.filter(_.rx == rx).zipWithIndex.map { case (s, i) => (base + 8 * i, s) }
  }

  /** Offsets in OpenNIC's MAC block. */
  val cmacOffsets: Seq[(Int, Sum)] = {
    def named(rx: Boolean, name: String) = sums.find(s => s.rx == rx && s.name.drop(3) == name).get
    Seq(false -> 0x500, true -> 0x608).flatMap { case (rx, base) =>
      Seq(
        "frames",
        "good_frames",
        "bytes",
        "good_bytes"
      ).zipWithIndex.map { case (n, i) => (base + 8 * i, named(rx, n)) } ++
        binLimits.indices.map(i =>
          (
            base + 0x20 + 8 * i,
            sums.find(s => s.rx == rx && s.first == i && s.count == 1).get
          )
        ) ++
        Seq((base + 0x80, named(rx, "large")), (base + 0x88, named(rx, "small"))) ++
        Seq(
          "unicast",
          "multicast",
          "broadcast",
          "vlan"
        ).zipWithIndex.map { case (n, i) => (base + 0xd0 + 8 * i, named(rx, n)) }
    } ++ Seq(0x698 -> "runt", 0x6a8 -> "oversize", 0x6c0 -> "bad_fcs").map { case (at, n) =>
      (at, named(true, n))
    } :+
      (0x6c8, named(true, "bad_fcs").copy(name = "rx_packet_bad_fcs"))
  }

  def names(offsets: Seq[(Int, Sum)]): Seq[CounterName] =
    offsets.sortBy(_._1).map { case (at, s) => CounterName(at, s.name, s.doc) }
}
