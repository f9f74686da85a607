// SPDX-License-Identifier: Apache-2.0
package meridian.regs.counters

import meridian.ShellParam
import meridian.bus._
import meridian.meta.{MacRxRecord, MacTxRecord}
import meridian.page.{PagePlace, RegPage, RegView}
import spinal.core._
import spinal.lib._

object PortCounterRegs {
  val place = PagePlace("PORT_COUNTERS", 0x108000, RegView.both, "64-bit counters of an Ethernet port, since reset", 4)
}

/** Counts the frames of a port, and shows that since reset in a page of its own; OpenNIC's MAC block asks for the
  * growth since a tick (ps clock).
  *
  * Records are taken in 6 cycles each at the most. Latency: a counter is read in 14 to 28 cycles.
  */
class PortCounterRegs(p: ShellParam) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val rx = slave(Stream(MacRxRecord(p)))
    val tx = slave(Stream(MacTxRecord(p)))
    val tick = in Bool ()
    val cmacQuestion = slave(Stream(PortQuestion()))
    val answer = master(Flow(UInt(64 bits)))
  }
  val page = new RegPage(PortCounterRegs.place)
  val rx, tx = new PortStatistics
  rx.io.event << io.rx.translateWith(PortEvent.of(io.rx.payload))
  tx.io.event << io.tx.translateWith(PortEvent.of(io.tx.payload))
  rx.io.tick := io.tick
  tx.io.tick := io.tick

  // There is one access at a time, so one question too, and who did not ask does not listen.
  val own = Stream(PortQuestion())
  val question = StreamArbiterFactory().lowerFirst.noLock.onArgs(own, io.cmacQuestion).m2sPipe()
  val sides = StreamDemux(question, U(question.rx), 2)
  tx.io.question << sides(0)
  rx.io.question << sides(1)
  val answer = Flow(UInt(64 bits))
  answer.valid := rx.io.answer.valid || tx.io.answer.valid
  answer.payload := rx.io.answer.valid ? rx.io.answer.payload | tx.io.answer.payload
  val answered = answer.m2sPipe()
  io.answer << answered

  val window = new CounterWindow(page, io.bus, 0, 0x800, PortCounters.offsets, delta = false, own, answered)
}
