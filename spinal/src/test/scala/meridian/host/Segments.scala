// SPDX-License-Identifier: Apache-2.0
package meridian.host

import scala.util.Random

/** What segmentation makes of a frame, written from RFC 791, 2460, 768, 9293 and 3168; and frames for it. */
object Segments {
  private def word(bytes: Seq[Int], at: Int): Int = bytes(at) << 8 | bytes(at + 1)
  private def be(value: Long, size: Int): Seq[Int] = (size - 1 to 0 by -1).map(i => (value >> (8 * i) & 0xff).toInt)

  /** The segments in their order; none stands for one that has to be an error frame. And the beats that the last of these
    * stands for, if it is no segment.
    *
    * @param frame the frame as it comes, perhaps shorter or longer than its headers say
    * @param size  bytes of payload in a segment
    * @param wrong bytes from this one on are said to be wrong
    * @param beat  bytes in a beat: whole beats behind that of the packet's end are an error frame
    * @param least the smallest size that may be asked for
    */
  def apply(
      frame: Array[Int],
      size: Int,
      wrong: Int,
      beat: Int,
      least: Int = 256
  ): (Seq[Option[Seq[Int]]], Option[Int]) = {
    val stream = frame.toSeq
    val beats = (stream.length + beat - 1) / beat
    val refused = (Seq(None), Some(beats))
    val ip = if (stream.length > 17 && word(stream, 12) == 0x8100) 18 else 14
    if (size < least || stream.length < ip + 28) return refused
    val v4 = word(stream, ip - 2) == 0x0800
    if (!v4 && word(stream, ip - 2) != 0x86dd || stream(ip) >> 4 != (if (v4) 4 else 6)) return refused
    val (ipBytes, protocol) = if (v4) (4 * (stream(ip) & 15), stream(ip + 9)) else (40, stream(ip + 6))
    if (v4 && (ipBytes < 20 || (word(stream, ip + 6) & 0x3fff) != 0)) return refused
    val end = ip + (if (v4) word(stream, ip + 2) else 40 + word(stream, ip + 4))
    val l4 = ip + ipBytes
    if (protocol != 6 && protocol != 17) return refused
    if (protocol == 6 && stream.length <= l4 + 13) return refused
    val l4Bytes = if (protocol == 17) 8 else 4 * (stream(l4 + 12) >> 4)
    if (protocol == 6 && l4Bytes < 20) return refused
    val start = l4 + l4Bytes
    if (end <= start || stream.length <= start) return refused
    val headers = stream.take(start)
    val segments = (start until end by size).map { from =>
      val payload = stream.slice(from, (from + size) min end)
      val (isFirst, isLast) = (from == start, from + size >= end)
      val bytes = (from + size).min(end) - from
      var made = headers
      def put(at: Int, value: Long, size: Int): Unit = made = made.patch(at, be(value, size), size)
      if (v4) {
        put(ip + 2, start - ip + bytes, 2)
        put(ip + 4, word(headers, ip + 4) + (from - start) / size, 2)
      } else put(ip + 4, start - ip - 40 + bytes, 2)
      if (protocol == 6) {
        put(l4 + 4, (word(headers, l4 + 4).toLong << 16 | word(headers, l4 + 6)) + from - start, 4)
        val keeps = 0xff & ~(if (isLast) 0 else 9) & ~(if (isFirst) 0 else 0x80)
        put(l4 + 13, headers(l4 + 13) & keeps, 1)
      } else put(l4 + 4, 8 + bytes, 2)
      (made ++ payload, from + bytes)
    }
    val (whole, cut) = segments.span(_._2 <= stream.length)
    val behind = Option.when(cut.isEmpty && beats > (end + beat - 1) / beat)(beats - (end + beat - 1) / beat)
    val made = whole.map { case (bytes, to) => Option.when(to <= wrong)(bytes) } ++ cut.headOption.map(_ => None)
    (made ++ behind.map(_ => None), behind)
  }

  /** A TCP packet of IPv4 without options. */
  def plain(random: Random, payload: Int): Array[Int] =
    make(random, payload, tagged = false, v4 = true, tcp = true, 0, 0)

  /** A packet that can be cut, if it has payload: tagged or not, with options. */
  def frame(random: Random, payload: Int): Array[Int] = {
    def some(most: Int) = if (random.nextBoolean()) 0 else random.nextInt(most + 1)
    make(random, payload, random.nextInt(3) == 0, random.nextBoolean(), random.nextInt(3) != 0, some(10), some(10))
  }

  private def make(
      random: Random,
      payload: Int,
      tagged: Boolean,
      v4: Boolean,
      tcp: Boolean,
      ipWords: Int,
      tcpWords: Int
  ) = {
    def noise(n: Int) = Seq.fill(n)(random.nextInt(256))
    val l4 = if (tcp) {
      val bytes = noise(20 + 4 * tcpWords)
      bytes.updated(12, (5 + tcpWords) << 4 | random.nextInt(16))
    } else noise(8)
    val protocol = if (tcp) 6 else 17
    val ip = if (v4) {
      val size = 20 + 4 * ipWords
      val fragment = be(random.nextInt(4) << 14, 2)
      Seq(0x45 + ipWords, random.nextInt(256)) ++ be(size + l4.size + payload, 2) ++ noise(2) ++ fragment ++
        Seq(64, protocol) ++ noise(size - 10)
    } else Seq(0x60 + random.nextInt(16)) ++ noise(3) ++ be(l4.size + payload, 2) ++ Seq(protocol) ++ noise(33)
    val tag = if (tagged) Seq(0x81, 0) ++ noise(2) else Nil
    (noise(12) ++ tag ++ (if (v4) Seq(8, 0) else Seq(0x86, 0xdd)) ++ ip ++ l4 ++ noise(payload)).toArray
  }

  /** Changes a byte of the headers that says what the packet is, or how long. */
  def spoil(random: Random, frame: Array[Int]): Unit = {
    val ip = if (frame(12) == 0x81) 18 else 14
    val at =
      Seq(12, 13, ip - 1, ip, ip + 2, ip + 3, ip + 4, ip + 5, ip + 6, ip + 7, ip + 9, ip + 32)(random.nextInt(12))
    if (at < frame.length) frame(at) = random.nextInt(256)
  }
}
