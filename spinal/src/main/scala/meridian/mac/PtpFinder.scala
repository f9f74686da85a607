// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import spinal.core._
import spinal.lib._

/** Tells frames of PTP (IEEE 1588) from others, behind at most one VLAN tag: EtherType 0x88F7, and IPv4 or IPv6 with 319
  * or 320 where UDP has its destination port behind a header without options. That the packet is UDP is not looked at:
  * who wants to pass for PTP can do so anyway.
  *
  * Latency: io.ptp tells at a frame's last beat what the beats before it say, up to the eighth. Throughput: one beat a
  * cycle.
  */
class PtpFinder extends Component {
  val io = new Bundle {
    val beat = slave(Flow(RxBeat()))
    val first = in Bool () // with beat: the frame's first

    /** The frame has a VLAN tag: from its third beat on. */
    val vlan = in Bool ()
    val ptp = out Bool ()
  }

  /** at(n): beat n is next or there. */
  val place = Reg(Bits(7 bits)) init 0
  def at(n: Int): Bool = place(n - 1)
  when(io.beat.valid) {
    place := (place ## io.first).resized
    when(io.beat.last)(place := 0)
  }

  // All that is looked at begins at byte 0 or 4 of a beat.
  val low = at(2) || at(5) || (at(7) && !io.vlan)
  val word = EndiannessSwap(Mux(low, io.beat.data(15 downto 0), io.beat.data(47 downto 32)))
  val port = word === 319 || word === 320
  val ipv4, ipv6, ptp = Reg(Bool())
  when(io.beat.valid) {
    when(at(1) || (at(2) && io.vlan)) {
      ptp := word === 0x88f7
      ipv4 := word === 0x0800
      ipv6 := word === 0x86dd
    }
    val portHere = (ipv4 && Mux(io.vlan, at(5), at(4))) || (ipv6 && at(7))
    ptp setWhen (portHere && port)
  }
  io.ptp := ptp
}
