// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.meta.HashType
import scala.util.Random

/** Frames for tests of the receive filter, and the hash of a frame bit by bit. Bytes are 0 to 255. */
object RxFrames {

  /** A frame for an address, of some kind: tagged or not, IPv4 with or without options, or anything else. */
  def random(random: Random, address: Seq[Int], length: Int): Array[Int] = {
    val frame = Array.fill(length)(random.nextInt(256))
    for (i <- 0 until 6) frame(i) = address(i)
    val tagged = random.nextInt(3) == 0
    if (tagged) { frame(12) = 0x81; frame(13) = 0x00 }
    val ip = if (tagged) 18 else 14
    random.nextInt(4) match {
      case 0 =>
        frame(ip - 2) = 0x86; frame(ip - 1) = 0xdd
        if (random.nextInt(4) != 0) frame(ip + 6) = Seq(6, 17)(random.nextInt(2))
      case 1 => frame(ip - 2) = random.nextInt(256); frame(ip - 1) = 0x77
      case _ =>
        frame(ip - 2) = 0x08; frame(ip - 1) = 0x00
        frame(ip) = 0x40 + (if (random.nextBoolean()) 5 else random.nextInt(16))
        if (random.nextInt(4) != 0) { frame(ip + 6) = random.nextInt(4) << 6; frame(ip + 7) = 0 }
        if (random.nextInt(4) != 0) frame(ip + 9) = Seq(6, 17)(random.nextInt(2))
    }
    frame
  }

  /** Microsoft's hash, a bit at a time from the most significant of the first byte on, over addresses and ports. Of each
    * pair of them the order may take both XORed, or ORed and XORed, so that its two directions are hashed alike.
    */
  def microsoft(bytes: Array[Int], key: Seq[Long], order: Int = 1): Long = {
    val at = if (tagged(bytes)) 18 else 14
    val kind = hashType(bytes, order)
    val v4 = bytes(at - 2) == 8
    val addresses = if (v4) 12 until 20 else 8 until 40
    val behind = if (v4) 4 * (bytes(at) & 0xf) else 40
    val ports = if (Seq(HashType.none, HashType.ipv4, HashType.ipv6).contains(kind)) Nil else behind until behind + 4
    val packet = packetType(bytes, withIpv6 = true)
    def isOut(field: Int) = leftOut(packet, order) >> field & 1
    def pair(range: Seq[Int], first: Int): Seq[Int] = {
      val half = range.size / 2
      val taken = range.zipWithIndex.map { case (i, n) =>
        if (isOut(first + n / half.max(1)) == 1) 0 else bytes(at + i)
      }
      val (source, destination) = taken.splitAt(half)
      val both = source.zip(destination)
      order >> 1 & 3 match {
        case 0 => source ++ destination
        case 1 => both.map { case (a, b) => a ^ b } ++ both.map { case (a, b) => a ^ b }
        case _ => both.map { case (a, b) => a | b } ++ both.map { case (a, b) => a ^ b }
      }
    }
    val hashed = if (kind == HashType.none) Nil else pair(addresses, 0) ++ pair(ports, 2)
    toeplitz(hashed, key.flatMap(word => (0 until 4).map(i => (word >> 8 * i & 0xff).toInt)))
  }

  def toeplitz(input: Seq[Int], key: Seq[Int]): Long = {
    val bits = input.flatMap(b => (7 to 0 by -1).map(b >> _ & 1))
    val window = key.foldLeft(BigInt(0))((w, b) => w << 8 | b)
    bits.zipWithIndex
      .collect { case (1, i) => (window >> (8 * key.size - 32 - i) & 0xffffffffL).toLong }
      .foldLeft(0L)(_ ^ _)
  }

  /** What a hash is made over: ports count only where TCP or UDP has some, the packet is no fragment, and the order of
    * bits does not leave both out.
    */
  def hashType(bytes: Array[Int], order: Int = 0): HashType.E = {
    val kind = packetType(bytes, (order & 1) == 1)
    if ((order & 1) == 0 || leftOut(kind, order) >> 2 != 3) kind
    else if (withPorts.indexOf(kind) < 2) HashType.ipv4
    else HashType.ipv6
  }

  private val withPorts = Seq(HashType.ipv4Tcp, HashType.ipv4Udp, HashType.ipv6Tcp, HashType.ipv6Udp)

  /** Fields that Microsoft's order leaves out of such a packet: addresses, then ports. */
  private def leftOut(kind: HashType.E, order: Int): Int = {
    val at = withPorts.indexOf(kind)
    if (at < 0) 0 else order >> 16 + 4 * at & 15
  }

  private def packetType(bytes: Array[Int], withIpv6: Boolean): HashType.E = {
    val at = if (tagged(bytes)) 18 else 14
    if (bytes(at - 2) == 0x86 && bytes(at - 1) == 0xdd && withIpv6)
      return if (bytes.length < at + 44) HashType.ipv6
      else if (bytes(at + 6) == 6) HashType.ipv6Tcp
      else if (bytes(at + 6) == 17) HashType.ipv6Udp
      else HashType.ipv6
    val headerLength = 4 * (bytes(at) & 0xf)
    val whole = (bytes(at + 6) & 0x3f) == 0 && bytes(at + 7) == 0
    if (bytes(at - 2) != 8 || bytes(at - 1) != 0) HashType.none
    else if (headerLength < 20 || bytes.length < at + headerLength + 4 || !whole) HashType.ipv4
    else if (bytes(at + 9) == 6) HashType.ipv4Tcp
    else if (bytes(at + 9) == 17) HashType.ipv4Udp
    else HashType.ipv4
  }

  def address(bytes: Array[Int]): BigInt = (0 until 6).map(i => BigInt(bytes(i)) << (8 * i)).sum
  def tagged(bytes: Array[Int]): Boolean = bytes(12) == 0x81 && bytes(13) == 0x00
  def vid(bytes: Array[Int]): Int = if (tagged(bytes)) ((bytes(14) & 0xf) << 8) | bytes(15) else 0

  /** A bit at a time: the key is a register that moves on by one bit for every bit of the input. */
  def hash(bytes: Array[Int], key: Seq[Long]): Long = {
    val at = if (tagged(bytes)) 18 else 14
    val isIp = bytes(at - 2) == 8 && bytes(at - 1) == 0
    val headerLength = 4 * (bytes(at) & 0xf)
    def byte(i: Int): Int = if (i < bytes.length) bytes(i) else 0
    val nibble = if (tagged(bytes)) bytes(14) & 0xf else 0
    val address = Seq(9, 12, 13, 14, 15, 16, 17, 18, 19).map(i => if (isIp) byte(at + i) else 0)
    val ports = (0 until 4).map(i => if (isIp && headerLength >= 20) byte(at + headerLength + i) else 0)
    val bits = (0 until 4).map(nibble >> _ & 1) ++ (address ++ ports).flatMap(b => (0 until 8).map(b >> _ & 1))
    var window = key.zipWithIndex.map { case (word, i) => BigInt(word) << (32 * i) }.sum
    var hash = 0L
    for (bit <- bits) {
      if (bit == 1) hash ^= (window & 0xffffffffL).toLong
      window = window >> 1
    }
    hash
  }
}
