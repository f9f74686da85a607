// SPDX-License-Identifier: Apache-2.0
package meridian.host

import scala.util.Random

/** Frames with IP packets, right or spoilt, and what is to be told of their checksums, byte by byte. */
object IpFrames {
  private def sum(bytes: Seq[Int]): Int = {
    val words = bytes.padTo(bytes.size + bytes.size % 2, 0).grouped(2).map { case Seq(a, b) => a << 8 | b }
    words.foldLeft(0) { (s, w) =>
      val t = s + w; (t & 0xffff) + (t >> 16)
    }
  }
  private def be16(value: Int): Seq[Int] = Seq(value >> 8 & 0xff, value & 0xff)

  /** An IP packet in a frame, with all lengths and checksums right. */
  def good(random: Random, payload: Int): Array[Int] = {
    def bytes(n: Int) = Seq.fill(n)(random.nextInt(256))
    val tag = if (random.nextInt(3) == 0) be16(0x8100) ++ bytes(2) else Nil
    val v6 = random.nextInt(3) == 0
    val protocol = Seq(6, 17, 17, random.nextInt(256))(random.nextInt(4))
    val addresses = bytes(if (v6) 32 else 8)
    val l4 = protocol match {
      case 6  => bytes(12) ++ Seq(0x50) ++ bytes(3) ++ Seq(0, 0) ++ bytes(2 + payload)
      case 17 => bytes(4) ++ be16(8 + payload) ++ Seq(0, 0) ++ bytes(payload)
      case _  => bytes(payload)
    }
    val pseudo = addresses ++ be16(protocol) ++ be16(l4.size)
    val check = 0xffff - sum(pseudo ++ l4)
    val filled = protocol match {
      case 6  => l4.patch(16, be16(check), 2)
      case 17 => l4.patch(6, be16(if (check == 0) 0xffff else check), 2)
      case _  => l4
    }
    val ip =
      if (v6) Seq(0x60) ++ bytes(3) ++ be16(l4.size) ++ Seq(protocol) ++ bytes(1) ++ addresses
      else {
        val options = 4 * (if (random.nextBoolean()) 0 else random.nextInt(11))
        val fragment = if (random.nextInt(8) == 0) bytes(2) else Seq(random.nextInt(2) << 6, 0)
        val header =
          Seq(0x45 + options / 4, random.nextInt(256)) ++ be16(20 + options + l4.size) ++ bytes(2) ++ fragment ++
            Seq(random.nextInt(256), protocol, 0, 0) ++ addresses ++ bytes(options)
        header.patch(10, be16(0xffff - sum(header)), 2)
      }
    val frame = bytes(12) ++ tag ++ be16(if (v6) 0x86dd else 0x0800) ++ ip ++ filled
    (frame ++ bytes((60 - frame.size).max(0))).toArray
  }

  /** The same, or with something wrong: a bit, a length, a byte too few, a checksum of 0. */
  def random(random: Random, payload: Int): Array[Int] = {
    val frame = good(random, payload)
    val l3 = l3Of(frame)
    random.nextInt(8) match {
      case 0 =>
        val at = 12 + random.nextInt(frame.length - 12)
        frame(at) ^= 1 << random.nextInt(8)
        frame
      case 1 =>
        val at = l3 + Seq(0, 2, 3, 4, 5, 6, 7, 9)(random.nextInt(8))
        frame(at) = random.nextInt(256)
        frame
      case 2 => if (frame.length > 60) frame.take((frame.length - 1 - random.nextInt(20)).max(60)) else frame
      case 3 => frame ++ Array.fill(random.nextInt(40))(random.nextInt(256))
      case 4 =>
        val udp = l3 + (if (frame(l3 - 2) == 8) 4 * (frame(l3) & 15) else 40)
        val at = udp + (if (random.nextBoolean()) 6 else 4)
        if (at + 1 < frame.length) { frame(at) = 0; if (random.nextBoolean()) frame(at + 1) = 0 }
        frame
      case _ => frame
    }
  }

  /** The frame with what its checksum fields held overwritten. */
  def scrambled(random: Random, frame: Array[Int]): Array[Int] = {
    val l3 = l3Of(frame)
    val l4 = l3 + (if (frame(l3 - 2) == 8) 4 * (frame(l3) & 15) else 40)
    for (at <- Seq(if (frame(l3 - 2) == 8) l3 + 10 else 0, l4 + 6, l4 + 16); i <- at to at + 1)
      if (random.nextBoolean() && i > l3 && i < frame.length) frame(i) = random.nextInt(256)
    frame
  }

  /** The frame with the checksums asked for, and whether one could not be filled in. */
  def filled(frame: Array[Int], ip: Boolean, l4: Boolean): (Array[Int], Boolean) = {
    val l3 = if (frame.length < 14) 0 else l3Of(frame)
    def at(i: Int) = if (l3 + i < frame.length && l3 > 0) frame(l3 + i) else 0
    def word(i: Int) = at(i) << 8 | at(i + 1)
    val v4 = word(-2) == 0x0800 && at(0) >> 4 == 4 && (at(0) & 15) >= 5
    val v6 = word(-2) == 0x86dd && at(0) >> 4 == 6
    val header = if (v4) 4 * (at(0) & 15) else 40
    val length = if (v4) word(2) - header else word(4)
    val whole = (v4 || v6) && length >= 0 && l3 + header + length <= frame.length
    val protocol = if (v4) at(9) else at(6)
    val field = if (protocol == 6) 16 else 6
    val fits = protocol == 6 && length >= 20 || protocol == 17 && length >= 8 && word(header + 4) == length
    val ipDone = ip && v4 && whole
    val l4Done = l4 && whole && fits && (v6 || (word(6) & 0x3fff) == 0)
    def put(bytes: Array[Int], at: Int, value: Int) = bytes.patch(at, be16(value), 2)
    val withIp = if (!ipDone) frame else put(frame, l3 + 10, 0xffff - sum((0 until header).map(at).patch(10, Nil, 2)))
    val addresses = if (v4) 12 until 20 else 8 until 40
    val body = (header until header + length.max(0)).map(at)
    val check =
      if (!l4Done) 0
      else 0xffff - sum((addresses.map(at) ++ be16(protocol) ++ be16(length)) ++ body.patch(field, Nil, 2))
    val done =
      if (!l4Done) withIp else put(withIp, l3 + header + field, if (check == 0 && protocol == 17) 0xffff else check)
    (done, ip && !ipDone || l4 && !l4Done)
  }

  private def l3Of(frame: Array[Int]): Int = if (frame(12) == 0x81 && frame(13) == 0) 18 else 14

  /** ip, l4, kind. */
  def verdict(frame: Array[Int]): (Checksum.E, Checksum.E, L4Kind.E) = if (frame.length < 60) nothing else packet(frame)
  private val nothing = (Checksum.notChecked, Checksum.notChecked, L4Kind.other)

  private def packet(frame: Array[Int]): (Checksum.E, Checksum.E, L4Kind.E) = {
    val l3 = l3Of(frame)
    def at(i: Int) = if (l3 + i < frame.length) frame(l3 + i) else 0
    def word(i: Int) = at(i) << 8 | at(i + 1)
    val kind = frame(l3 - 2) << 8 | frame(l3 - 1)
    val v4 = kind == 0x0800 && at(0) >> 4 == 4 && (at(0) & 15) >= 5
    val v6 = kind == 0x86dd && at(0) >> 4 == 6
    val header = if (v4) 4 * (at(0) & 15) else 40
    val length = if (v4) word(2) - header else word(4)
    val whole = (v4 || v6) && length >= 0 && l3 + header + length <= frame.length
    def judge(bytes: Seq[Int]) = if (sum(bytes) == 0xffff) Checksum.good else Checksum.bad
    val ip = if (v4 && whole) judge((0 until header).map(at)) else Checksum.notChecked
    val protocol = if (v4) at(9) else at(6)
    val l4Kind = protocol match {
      case _ if !whole || v4 && (word(6) & 0x3fff) != 0 => L4Kind.other
      case 6                                            => L4Kind.tcp
      case 17                                           => L4Kind.udp
      case _                                            => L4Kind.other
    }
    val checked = l4Kind match {
      case L4Kind.tcp => length >= 20
      case L4Kind.udp => length >= 8 && word(header + 4) == length && word(header + 6) != 0
      case _          => false
    }
    val addresses = if (v4) 12 until 20 else 8 until 40
    val summed = be16(protocol) ++ be16(length) ++ (addresses ++ (header until header + length.max(0))).map(at)
    (ip, if (checked) judge(summed) else Checksum.notChecked, l4Kind)
  }
}
