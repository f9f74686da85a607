// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import spinal.core._

/** What of a frame may be hashed, in wire order, first byte in the lowest bits. */
case class HashInput() extends Bundle {
  val kind = HashType()
  val nibble = Bits(4 bits) // lowest of the first TCI byte
  val protocol = Bits(8 bits)
  val addresses = Bits(256 bits) // source, then destination; of IPv4 in the lowest 64 bits, 0 above
  val ports = Bits(32 bits) // the 4 bytes behind the IP header, whatever the protocol

  def isIpv4: Bool = kind === HashType.ipv4 || kind === HashType.ipv4Tcp || kind === HashType.ipv4Udp
  private def hasPorts: Bool = kind =/= HashType.none && kind =/= HashType.ipv4 && kind =/= HashType.ipv6

  /** As OpenNIC hashes it, the first bit lowest: whatever is not IPv4 is 0 but for the nibble. */
  def openNic: Bits = (ports ## addresses(63 downto 0) ## protocol).andMask(isIpv4) ## nibble

  /** As Microsoft hashes it, the first bit lowest: addresses and, of TCP and UDP, ports; the first bit of a byte is its
    * most significant.
    */
  def microsoft: Bits = {
    val told = ports.andMask(hasPorts)
    val bytes = told.andMask(!isIpv4) ## addresses(255 downto 96) ##
      (addresses(95 downto 64) | told.andMask(isIpv4)) ## addresses(63 downto 0)
    HashInput.bytesReversed(bytes)
  }
}

object HashInput {

  /** The bits of each byte the other way round. */
  def bytesReversed(bits: Bits): Bits = Cat(bits.subdivideIn(8 bits).map(_.reversed))
}
