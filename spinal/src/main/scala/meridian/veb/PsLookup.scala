// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.filter.mactable.MacLookup
import spinal.core._
import spinal.lib._

object PsLookup {

  /** Cycles a question of the PS waits for a free place before one is made for it. */
  val patience = 16
}

/** Puts the questions of the PS into the cycles in which the transmit filter asks for no destination (host clock).
  *
  * Only frames of a single beat, one after another, leave no such cycle: when a question has waited 16 cycles, `hold`
  * asks for cycles without a beat until one has come free. Latency macLatency + 1 cycles from a place to the answer,
  * one question a cycle. The transmit filter's lookups pass as if they were alone.
  */
class PsLookup(p: ShellParam, macLatency: Int) extends Component {
  val io = new Bundle {
    val host = slave(MacLookup(p))
    val query = Vec(slave(Stream(PsQuery())), p.ports)
    val answer = Vec(master(Flow(PsAnswer())), p.ports)
    val mac = master(MacLookup(p))
    val hold = out Bool ()
  }
  case class Asked() extends Bundle {
    val port = p.portType()
    val query = PsQuery()
  }
  val asked = StreamArbiterFactory().roundRobin.transactionLock.on(io.query.zipWithIndex.map { case (query, i) =>
    query.translateInto(Stream(Asked())) { (to, from) =>
      to.port := i
      to.query := from
    }
  })
  val next = asked.m2sPipe()
  next.ready := !io.host.query.valid

  io.mac.query.valid := io.host.query.valid || next.valid
  io.mac.query.payload := io.host.query.payload
  when(!io.host.query.valid) {
    io.mac.query.port := next.port
    io.mac.query.address := next.query.address
    io.mac.query.vid := next.query.vid
  }
  io.host.result.valid := Delay(io.host.query.valid, macLatency, init = False)
  io.host.result.payload := io.mac.result.payload

  val answered = RegNext(Delay(next.fire, macLatency, init = False)) init False
  val port = Delay(next.port, macLatency + 1)
  val tag = Delay(next.query.tag, macLatency + 1)
  val known = RegNext(io.mac.result.hit)
  for ((answer, i) <- io.answer.zipWithIndex) {
    answer.valid := answered && port === i
    answer.tag := tag
    answer.known := known
  }

  val waited = Reg(UInt(log2Up(PsLookup.patience) bits)) init 0
  when(!next.isStall)(waited := 0) elsewhen (!waited.andR)(waited := waited + 1)
  io.hold := RegNext(next.isStall && waited.andR) init False
}
