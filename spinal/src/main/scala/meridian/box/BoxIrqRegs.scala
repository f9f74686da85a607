// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.bus._
import meridian.page.{PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.AccessType

object BoxIrqRegs {
  val addressBits = 10
  val place = PagePlace(
    "PS_BOX_IRQ",
    0x100800,
    RegView.both,
    "Interrupts of user's modules for the PS, on a card that has `user_box` or `host_box`. Written by the PS only"
  )
}

/** What the PS is told of the port irq of users' modules (ps clock): a bit a module, by its number. It is here and not on
  * the page of the module, as an access to that may end with a bus error while the host's side is in reset.
  *
  * Latency: 1 cycle a register access, and from an event to the interrupt.
  */
class BoxIrqRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(BoxIrqRegs.addressBits))
    val rose = in Bits (p.boxPlaces.size bits) // a pulse for one edge or more, by p.boxPlaces
    val interrupt = out Bool ()
    val hostRefused = out Bool ()
    val idle = out Bool ()
  }
  val page = new RegPage(BoxIrqRegs.place, addressWidth = BoxIrqRegs.addressBits)
  val denied = io.bus.cmd.fromHost && io.bus.cmd.write
  page.attach(io.bus, allow = !denied)
  io.hostRefused := RegNext(io.bus.cmd.fire && denied, False)

  private val places = BoxRegs.place.count
  val enable =
    page.rw(page.reg(0x00, "enable", "Which modules interrupt"), 0, "modules", Bits(places bits), "a bit each")
  val pending = page.reg(0x04, "pending", "Which modules have something to tell; a written 1 acknowledges")
  val gap = page.rw(
    page.reg(0x08, "gap", "How often a module interrupts at most"),
    0,
    "cycles",
    UInt(InterruptGate.gapBits bits),
    "of 4 ns, at least, from the time that a bit of pending is set until it is set again",
    reset = InterruptGate.millisecond(250)
  )
  val told = Vec(Bool(), places)
  private val hit = pending.hitDoWrite
  val gates = for (place <- 0 until places) yield {
    p.boxPlaces.indexOf(place) match {
      case -1 =>
        told(place) := False
        None
      case i =>
        val gate = new InterruptGate
        gate.io.event := io.rose(i)
        gate.io.acknowledge := hit && page.bus.wdat(place)
        gate.io.gap := gap
        told(place) := gate.io.pending
        Some(gate)
    }
  }
  page.show(
    pending,
    0,
    "modules",
    told.asBits,
    "irq rose; acknowledge first, then look at the module: another edge is told after gap",
    AccessType.W1C
  )
  io.interrupt := RegNext((told.asBits & enable).orR) init False
  io.idle := gates.flatten.map(_.io.idle).andR
}
