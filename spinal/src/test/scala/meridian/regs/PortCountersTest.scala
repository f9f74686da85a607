// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.regs.counters._
import spinal.core.sim._

/** Counters of the ports, on the PS's side and in OpenNIC's windows. */
class PortCountersTest extends RegsSuite {
  run("counters of ports count since reset, and from tick to tick", 9) { s =>
    import s._
    ps.read(0x8000)
    var frames = List[(Int, Boolean, String => BigInt)]()
    def bins(length: Int): String = {
      val limits = Seq(64, 127, 255, 511, 1023, 1518, 1522, 1548, 2047, 4095, 8191, 9215)
      if (length < 64) "small"
      else if (length == 64) "size_64"
      else if (length > 9215) "large"
      else limits.sliding(2).collectFirst { case Seq(a, b) if length > a && length <= b => s"size_${a + 1}_$b" }.get
    }
    def some(yes: Boolean): BigInt = if (yes) 1 else 0
    var slowest = 0
    def push(stream: spinal.lib.Stream[_]): Unit = {
      stream.valid #= true
      var cycles = 0
      do { dut.psClock.waitSampling(); cycles += 1; assert(cycles < 300) } while (!stream.ready.toBoolean)
      slowest = slowest max cycles
      stream.valid #= false
    }
    def traffic(count: Int): Unit = (for (port <- 0 until 2)
      yield Seq(
        fork {
          for (i <- 0 until count) {
            val r = dut.macRx(port)
            r.payload.randomize()
            val length = random.nextInt(20) match {
              case 0           => 65535
              case n if n < 10 => 50 + random.nextInt(30)
              case _           => random.nextInt(10000)
            }
            r.length #= length
            r.badFcs #= random.nextInt(6) == 0
            r.runt #= random.nextInt(6) == 0
            r.oversize #= random.nextInt(6) == 0
            r.uncounted #= (if (random.nextInt(5) == 0) random.nextInt(65536) else 0)
            sleep(0)
            val m = r.payload
            val (fcs, runt, over) = (m.badFcs.toBoolean, m.runt.toBoolean, m.oversize.toBoolean)
            val good = !(fcs || runt || over)
            val cast = if (m.broadcast.toBoolean) "broadcast" else if (m.multicast.toBoolean) "multicast" else "unicast"
            val uncounted = m.uncounted.toInt
            val (policed, ptp) = (m.psPoliced.toBoolean, m.ptp.toBoolean)
            val (vlan, host, toPs, ho, po) = (
              m.vlan.toBoolean,
              m.forHost.toBoolean,
              m.forPs.toBoolean,
              m.hostOverflow.toBoolean,
              m.psOverflow.toBoolean
            )
            push(r)
            frames :+= ((
              port,
              true,
              {
                case "frames"                                    => 1
                case "bytes"                                     => length + 4
                case "good_frames"                               => some(good)
                case "good_bytes"                                => if (good) length + 4 else 0
                case "vlan"                                      => some(good && vlan)
                case c @ ("unicast" | "multicast" | "broadcast") => some(good && c == cast)
                case "bad_fcs" | "packet_bad_fcs"                => some(fcs)
                case "runt"                                      => some(runt && !fcs)
                case "oversize"                                  => some(over && !runt && !fcs)
                case "to_host"                                   => some(good && host && !ho)
                case "host_overflow"                             => some(good && host && ho)
                case "to_ps"                                     => some(good && toPs && !po && !policed)
                case "ps_overflow"                               => some(good && toPs && po && !policed)
                case "ps_policed"                                => some(good && toPs && policed && !ptp)
                case "ps_ptp_policed"                            => some(good && toPs && policed && ptp)
                case "uncounted"                                 => uncounted
                case "nowhere"                                   => some(good && !host && !toPs)
                case bin                                         => some(bin == bins(length + 4))
              }
            ))
          }
        },
        fork {
          for (i <- 0 until count) {
            val t = dut.macTx(port)
            t.payload.randomize()
            val length = 60 + random.nextInt(if (random.nextBoolean()) 5 else 9540)
            t.length #= length
            sleep(0)
            val cast = if (t.broadcast.toBoolean) "broadcast" else if (t.multicast.toBoolean) "multicast" else "unicast"
            val (vlan, fromPs) = (t.vlan.toBoolean, t.fromPs.toBoolean)
            push(t)
            frames :+= ((
              port,
              false,
              {
                case "frames" | "good_frames"                    => 1
                case "bytes" | "good_bytes"                      => length + 4
                case "vlan"                                      => some(vlan)
                case c @ ("unicast" | "multicast" | "broadcast") => some(c == cast)
                case "from_ps"                                   => some(fromPs)
                case "from_host"                                 => some(!fromPs)
                case bin                                         => some(bin == bins(length + 4))
              }
            ))
          }
        }
      )).flatten.foreach(_.join())
    def expect(port: Int, c: PortCounters.Sum, since: Int): BigInt =
      frames.drop(since).collect { case (`port`, c.rx, f) => f(c.name.drop(3)) }.sum
    def checkAll(since: Int): Unit = for (port <- 0 until 2) {
      for ((at, c) <- PortCounters.offsets) {
        assert(counter(ps, 0x8000 + 0x1000 * port + at) == expect(port, c, 0), s"${c.name} of port $port")
      }
      for ((at, c) <- PortCounters.cmacOffsets) {
        assert(
          counter(bar2, 0x8000 + 0x4000 * port + at) == expect(port, c, since),
          s"${c.name} of port $port since the tick"
        )
      }
    }
    traffic(300)
    assert(slowest <= 7, s"a record took $slowest cycles")
    dut.psClock.waitSampling(30)
    for (port <- 0 until 2) bar2.write(0x82b0 + 0x4000 * port, 1)
    checkAll(0)
    val mark = frames.size
    traffic(100)
    dut.psClock.waitSampling(30)
    assert(
      bar2.read(0x8500) == expect(0, PortCounters.sums.find(_.name == "tx_frames").get, 0) - 100,
      "held until the next tick"
    )
    for (port <- 0 until 2) bar2.write(0x82b0 + 0x4000 * port, 1)
    checkAll(mark)
    for (port <- 0 until 2) bar2.write(0x82b0 + 0x4000 * port, 1)
    checkAll(frames.size)
    assert(bar2.read(0x108000) == frames.count(f => f._1 == 0 && f._2))
    println(s"slowest read ${ps.slowest} ps cycles, ${bar2.slowest} host cycles; slowest record $slowest ps cycles")
  }
}
