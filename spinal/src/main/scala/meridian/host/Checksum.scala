// SPDX-License-Identifier: Apache-2.0
package meridian.host

import spinal.core._

/** Verdict on a checksum. notChecked: there is none, or what is around it is not in order. */
object Checksum extends SpinalEnum {
  val notChecked = newElement("notChecked")
  val good = newElement("good")
  val bad = newElement("bad")
}

/** What follows the IP header of a packet that is whole and no fragment. */
object L4Kind extends SpinalEnum {
  val other = newElement("other")
  val tcp = newElement("tcp")
  val udp = newElement("udp")
}

/** What is known of a frame's checksums. */
case class ChecksumVerdict() extends Bundle {
  val ip = Checksum() // of the IPv4 header
  val l4 = Checksum() // of TCP or UDP
  val kind = L4Kind()
}
