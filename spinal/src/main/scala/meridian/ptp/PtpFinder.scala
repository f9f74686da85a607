// SPDX-License-Identifier: Apache-2.0
package meridian.ptp

import meridian.frame.RxBeat
import spinal.core._
import spinal.lib._

object PtpFinder {

  /** A tag of 802.1Q or of 802.1ad. */
  def isTag(tpid: Bits): Bool = tpid === 0x8100 || tpid === 0x88a8
}

/** Recognises frames of PTP (IEEE 1588) behind at most two VLAN tags: EtherType 0x88F7, and IPv4 or IPv6 with 319 or
  * 320 where UDP has its destination port behind a header without options. It does not check that the packet is UDP,
  * because a sender can disguise its frames as PTP in any case.
  *
  * Latency: io.ptp is valid with a frame's last beat, and depends on the beats before it, up to the ninth. Throughput:
  * one beat a cycle.
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
  val place = Reg(Bits(8 bits)) init 0
  def at(n: Int): Bool = place(n - 1)
  when(io.beat.valid) {
    place := (place ## io.first).resized
    when(io.beat.last)(place := 0)
  }

  /** The frame has a second tag: from its fourth beat on. */
  val twice = Reg(Bool())

  // All that is looked at begins at byte 0 or 4 of a beat. The EtherType behind two tags is in the beat that tells of the
  // second, so it is looked at a beat later.
  val upper = EndiannessSwap(io.beat.data(47 downto 32))
  val before = RegNextWhen(upper, io.beat.valid)
  val low = at(2) || (at(5) && !twice) || (at(7) && !io.vlan) || at(8)
  val word = Mux(at(3), before, Mux(low, EndiannessSwap(io.beat.data(15 downto 0)), upper))
  val port = word === 319 || word === 320
  val ipv4, ipv6, ptp = Reg(Bool())
  when(io.beat.valid) {
    when(at(1))(twice := False)
    when(at(2))(twice := io.vlan && PtpFinder.isTag(word))
    when(at(1) || (at(2) && io.vlan) || (at(3) && twice)) {
      ptp := word === 0x88f7
      ipv4 := word === 0x0800
      ipv6 := word === 0x86dd
    }
    val portHere = (ipv4 && Mux(io.vlan, at(5), at(4))) || (ipv6 && Mux(twice, at(8), at(7)))
    ptp setWhen (portHere && port)
  }
  io.ptp := ptp
}
