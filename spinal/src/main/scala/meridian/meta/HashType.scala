// SPDX-License-Identifier: Apache-2.0
package meridian.meta

import spinal.core._

/** What a hash was made over: addresses, and with tcp and udp ports as well.
  *
  * none: nothing but the VLAN nibble. A fragment and a packet that ends before its ports are without ports.
  */
object HashType extends SpinalEnum {
  val none = newElement("none")
  val ipv4 = newElement("ipv4")
  val ipv4Tcp = newElement("ipv4Tcp")
  val ipv4Udp = newElement("ipv4Udp")
  val ipv6 = newElement("ipv6")
  val ipv6Tcp = newElement("ipv6Tcp")
  val ipv6Udp = newElement("ipv6Udp")
}
