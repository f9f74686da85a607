// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam

/** What the metadata of an H2C stream descriptor ask for, on a queue that has `transmit_offload`, and for
  * segments `transmit_segments`; also the source of the
  * documents and of the C header.
  */
object H2cRequest {
  val vlanTci = LayoutField("vlan_tci", 0, 15, 0, "control information of the tag that insert_vlan is about")
  val insertVlan = LayoutField(
    "insert_vlan",
    0,
    16,
    16,
    "an 802.1Q tag is put behind the addresses; of no effect for a function whose own vlan.insert is set"
  )
  val ipChecksum = LayoutField("ip_checksum", 0, 17, 17, "the checksum of the IPv4 header is filled in")
  val l4Checksum = LayoutField("l4_checksum", 0, 18, 18, "the checksum of TCP or UDP, over IPv4 or IPv6, is filled in")
  val segmentBytes = LayoutField(
    "segment_bytes",
    0,
    31,
    19,
    "if not 0, the packet of TCP or UDP is cut into segments with so many bytes of payload, 256 or more, in a tunnel 512; " +
      "the last one has what is left. Only on a queue with transmit_segments"
  )
  val innerStart = LayoutField(
    "inner_start",
    0,
    7,
    0,
    "of a frame without insert_vlan, if vlan_tci is not 0: where the IP header of the packet in its tunnel begins, an even " +
      "number of bytes from 34 to 128. Checksums and segments are then about that packet. Only on a queue with transmit_segments"
  )
  val fields = Seq(innerStart, vlanTci, insertVlan, ipChecksum, l4Checksum, segmentBytes)

  /** Bits that mean something to a shell. */
  def bits(p: ShellParam): Int = if (p.segmentation) 32 else 19

  /** The fewest bytes of payload that a frame may be cut into, and the packet in a tunnel. */
  val leastSegment = 256
  val leastInTunnel = 512
}
