// SPDX-License-Identifier: Apache-2.0
package meridian.filter.rss

import meridian.meta.HashType
import spinal.core._

/** What of a frame may be hashed, in wire order, first byte in the lowest bits. */
case class HashInput() extends Bundle {
  val kind = HashType()
  val nibble = Bits(4 bits) // lowest of the first TCI byte
  val protocol = Bits(8 bits)
  val addresses = Bits(256 bits) // source, then destination; of IPv4 in the lowest 64 bits, 0 above
  val ports = Bits(32 bits) // the 4 bytes behind the IP header, whatever the protocol

  def isIpv4: Bool = kind === HashType.ipv4 || kind === HashType.ipv4Tcp || kind === HashType.ipv4Udp
  private def isTcpOrUdp: Bool = kind =/= HashType.none && kind =/= HashType.ipv4 && kind =/= HashType.ipv6

  /** As OpenNIC hashes it, the first bit lowest: whatever is not IPv4 is 0 but for the nibble. */
  def openNic: Bits = (ports ## addresses(63 downto 0) ## protocol).andMask(isIpv4) ## nibble

  /** As Microsoft hashes it, the first bit lowest: addresses and, of TCP and UDP, ports; the first bit of a byte is its
    * most significant. The order may leave some out, or make it symmetric.
    */
  def microsoft(order: HashOrder): Bits = {
    val out = order.leftOut(kind)
    def pair(field: Bits, first: Int): Bits = {
      val half = field.getWidth / 2
      order.paired(
        field.take(half).andMask(!out(first)),
        field.takeHigh(half).andMask(!out(first + 1))
      )
    }
    val told = pair(ports, 2).andMask(isTcpOrUdp)
    val bytes = Mux(
      isIpv4,
      (told ## pair(addresses(63 downto 0), 0)).resize(Rss.inputBits),
      told ## pair(addresses, 0)
    )
    HashInput.bytesReversed(bytes)
  }

  /** What Microsoft's order takes: the addresses alone of packets whose ports are both left out. */
  def kind(order: HashOrder): HashType.C = {
    val told = HashType()
    told := kind
    when(order.leftOut(kind)(3 downto 2).andR)(told := Mux(isIpv4, HashType.ipv4(), HashType.ipv6()))
    told
  }
}

/** How a function's frames are hashed, as the word behind its key says. All but the first are of Microsoft's order.
  *
  * symmetric: 0 as it is; of each pair of addresses and ports, 1: the XOR of both, twice; 2: the OR and the XOR of both.
  * Then frames of both directions have one hash. left: of each kind of packet with ports the four fields that are not
  * hashed, source and destination address, source and destination port.
  */
case class HashOrder() extends Bundle {
  val microsoft = Bool()
  val symmetric = Bits(2 bits)
  val left = Vec(Bits(4 bits), HashOrder.withPorts.size)

  /** What is not hashed of such a packet. */
  def leftOut(kind: HashType.C): Bits =
    HashOrder.withPorts.zip(left).map { case (one, fields) => fields.andMask(kind === one) }.reduce(_ | _)

  /** What is hashed of a pair, source in the low half. */
  def paired(source: Bits, destination: Bits): Bits = {
    val isXor = symmetric === 1
    val isEither = symmetric =/= 0
    val both = source ^ destination
    Mux(isEither, both, destination) ##
      Mux(isEither, Mux(isXor, both, source | destination), source)
  }
}

object HashOrder {

  /** Kinds of packets with ports, in the order of their bits. */
  def withPorts: Seq[HashType.E] = Seq(HashType.ipv4Tcp, HashType.ipv4Udp, HashType.ipv6Tcp, HashType.ipv6Udp)

  /** From the word behind the key. */
  def fromWord(word: Bits): HashOrder = {
    val order = HashOrder()
    order.microsoft := word(0)
    order.symmetric := word(2 downto 1)
    order.left := word(31 downto 16).subdivideIn(4 bits)
    order
  }
}

object HashInput {

  /** The bits of each byte the other way round. */
  def bytesReversed(bits: Bits): Bits = Cat(bits.subdivideIn(8 bits).map(_.reversed))
}
