// SPDX-License-Identifier: Apache-2.0
package meridian.host

import spinal.core._

/** Bits high to low of a 32-bit word of a completion entry, or of what a descriptor asks for. */
case class LayoutField(name: String, word: Int, high: Int, low: Int, doc: String) {
  def width: Int = high - low + 1
}

/** What the shell writes into a completion entry; also the source of the documents and of the C header.
  *
  * The first eight bytes serve every public driver at once and are the whole entry unless a queue asks for sixteen.
  */
object CompletionLayout {
  val words = 4
  val format = LayoutField("format", 0, 0, 0, "0: standard format")
  val color = LayoutField("color", 0, 1, 1, "written by the DMA engine; toggles each time around the ring")
  val error = LayoutField("error", 0, 2, 2, "written by the DMA engine: a descriptor of the frame was bad")
  val used = LayoutField("used", 0, 3, 3, "1: a descriptor was used")
  val length = LayoutField("length", 0, 19, 4, "bytes of the frame, where the Xilinx drivers read it")
  val end = LayoutField("end_of_frame", 0, 20, 20, "1")
  val openNicLength = LayoutField("opennic_length", 1, 15, 0, "the same, where the OpenNIC drivers read it")
  val packet = LayoutField("packet", 1, 31, 16, "running number of the frame over all queues")
  val hash = LayoutField("hash", 2, 31, 0, "hash that chose the queue")
  val vlanTci = LayoutField("vlan_tci", 3, 15, 0, "control information of the tag taken out; else 0")
  val hashType = LayoutField("hash_type", 3, 19, 16, "what the hash was made over: see HASH_TYPE")
  val vlanStripped = LayoutField("vlan_stripped", 3, 20, 20, "an 802.1Q tag was taken out of the frame")
  val ipChecksum = LayoutField("ip_checksum", 3, 22, 21, "of the IPv4 header: see CHECKSUM")
  val l4Checksum = LayoutField("l4_checksum", 3, 24, 23, "of TCP or UDP: see CHECKSUM")
  val l4Kind = LayoutField("l4_kind", 3, 26, 25, "what follows the IP header: see L4_KIND")

  val fields = Seq(
    format,
    color,
    error,
    used,
    length,
    end,
    openNicLength,
    packet,
    hash,
    vlanTci,
    hashType,
    vlanStripped,
    ipChecksum,
    l4Checksum,
    l4Kind
  )

  /** An entry with these values, and 0 elsewhere. */
  def entry(values: (LayoutField, Bits)*): Bits = {
    val entry = B(0, 32 * words bits)
    for ((field, value) <- values) {
      require(widthOf(value) <= field.width, s"${field.name} has ${field.width} bits, not ${widthOf(value)}")
      entry(32 * field.word + field.low, field.width bits) := value.resize(field.width)
    }
    entry
  }
}
