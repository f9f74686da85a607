// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.veb.PsVebEvents
import spinal.core._
import spinal.lib._

/** What is counted, as it happens. */
case class PsEvents() extends Bundle with IMasterSlave {
  val rxDone = Flow(RxDone())
  val rxNoDescriptor, rxBufferSmall, rxDisabled, rxInside = Bool()
  val veb = PsVebEvents()
  val txDone = Flow(TxDone())
  val timestampsLost = Bool()
  val busErrors = UInt(2 bits)
  override def asMaster(): Unit = {
    master(rxDone, txDone)
    out(rxNoDescriptor, rxBufferSmall, rxDisabled, rxInside, veb, timestampsLost, busErrors)
  }
}

/** The 64-bit counters of a port. Latency: 1 cycle. */
class PsPortCounters extends Component {
  val io = new Bundle {
    val events = slave(PsEvents())
    val counters = out(PsCounters())
  }
  val counters = Reg(PsCounters())
  counters.elements.foreach { case (_, counter: UInt) => counter init 0 }
  io.counters := counters

  def add(counter: UInt, when: Bool, by: UInt = U(1)): Unit = spinal.core.when(when)(counter := counter + by)
  val rx = io.events.rxDone
  add(counters.rxFrames, rx.valid && !rx.error)
  add(counters.rxBytes, rx.valid && !rx.error, rx.length)
  add(counters.rxErrors, rx.valid && rx.error)
  add(counters.rxNoDescriptor, io.events.rxNoDescriptor)
  add(counters.rxBufferSmall, io.events.rxBufferSmall)
  add(counters.rxDisabled, io.events.rxDisabled)
  add(counters.rxInside, io.events.rxInside)
  val tx = io.events.txDone
  add(counters.txFrames, tx.valid && tx.error === FrameError.none)
  add(counters.txBytes, tx.valid && tx.error === FrameError.none, tx.length)
  add(counters.txBadDescriptor, tx.valid && tx.error === FrameError.badDescriptor)
  add(counters.txBusErrors, tx.valid && tx.error === FrameError.bus)
  add(counters.txAborted, tx.valid && tx.error === FrameError.aborted)
  val veb = io.events.veb
  add(counters.txSwitched, veb.frame && !veb.lost)
  add(counters.txVebFull, veb.frame && veb.lost)
  add(counters.txCopiesSwitched, veb.copy && !veb.lost)
  add(counters.txCopiesVebFull, veb.copy && veb.lost)
  add(counters.timestampsLost, io.events.timestampsLost)
  counters.busErrors := counters.busErrors + io.events.busErrors
}
