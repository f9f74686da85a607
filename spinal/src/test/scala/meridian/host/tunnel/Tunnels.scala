// SPDX-License-Identifier: Apache-2.0
package meridian.host.tunnel

import meridian.host.Segments

import scala.util.Random

/** Packets in tunnels, and what the card makes of them, written from RFC 791, 1071, 2784, 7348 and 8200. */
object Tunnels {
  private def be(value: Int, size: Int): Seq[Int] = (size - 1 to 0 by -1).map(i => value >> (8 * i) & 0xff)
  private def word(bytes: Seq[Int], at: Int): Int = bytes(at) << 8 | bytes(at + 1)

  /** A frame in a tunnel, and where its inner packet begins. */
  case class Framed(bytes: Array[Int], start: Int)

  /** Puts outer headers before the packet of a frame, whose own Ethernet header is left out or stays as the tunnel wants.
    * Outer IPv4 headers have right checksums.
    */
  def around(random: Random, frame: Array[Int]): Framed = {
    def noise(n: Int) = Seq.fill(n)(random.nextInt(256))
    val at = if (frame(12) == 0x81) 18 else 14
    val packet = frame.drop(at).toSeq
    val kind = Seq(frame(at - 2), frame(at - 1))
    val tag = if (random.nextInt(3) == 0) Seq(0x81, 0) ++ noise(2) else Nil
    val v4 = random.nextBoolean()
    val between = random.nextInt(4) match {
      case 0 => noise(16) ++ noise(12) ++ kind // VXLAN
      case 1 => noise(16 + 4 * random.nextInt(if (v4) 10 else 5)) ++ noise(12) ++ kind // GENEVE
      case 2 => Seq(0, 0) ++ kind // GRE
      case 3 => Nil // IP in IP
    }
    val outer = if (v4) {
      val length = 20 + between.size + packet.size & 0xffff
      val header = Seq(0x45, 0) ++ be(length, 2) ++ noise(2) ++ noise(2) ++ Seq(64, 17, 0, 0) ++ noise(8)
      header.patch(10, be(checksum(header), 2), 2)
    } else Seq(0x60) ++ noise(39)
    val headers = noise(12) ++ tag ++ (if (v4) Seq(8, 0) else Seq(0x86, 0xdd)) ++ outer ++ between
    Framed((headers ++ packet).toArray, headers.size)
  }

  /** Of an IPv4 header, whose own is 0. */
  def checksum(header: Seq[Int]): Int = {
    var sum = header.grouped(2).map(pair => pair.head << 8 | pair(1)).sum
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16)
    ~sum & 0xffff
  }

  /** The frame that the card makes between its ends: with an Ethernet header of the packet's type. None: there is none. */
  def inner(frame: Framed): Option[Array[Int]] = Option.when(frame.bytes.length > frame.start) {
    val packet = frame.bytes.drop(frame.start)
    val kind = packet(0) >> 4 match {
      case 4 => Array(8, 0)
      case 6 => Array(0x86, 0xdd)
      case _ => Array(0, 0)
    }
    Array.fill(12)(0) ++ kind ++ packet
  }

  /** One of the frames that the card makes of it, with the outer headers before it: the n-th. */
  def outer(frame: Framed, made: Seq[Int], n: Int): Seq[Int] = {
    var headers = frame.bytes.take(frame.start).toSeq
    val ip = if (word(headers, 12) == 0x8100) 18 else 14
    if (n > 0 && word(headers, ip - 2) == 0x0800) {
      headers = headers.patch(ip + 4, be(word(headers, ip + 4) + n & 0xffff, 2), 2)
      headers = headers.patch(ip + 10, Seq(0, 0), 2)
      headers = headers.patch(ip + 10, be(checksum(headers.slice(ip, ip + 20)), 2), 2)
    }
    headers ++ made.drop(14)
  }
}
