// SPDX-License-Identifier: Apache-2.0
package meridian.filter.copies

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The iterator with any jobs, any answers of the lists and requests that are taken at any time. 20 functions: two words
  * of 16, the second not full.
  */
class CopyIteratorProof extends Component {
  val p = ShellParam(functions = 20)
  val dut = FormalDut(new CopyIterator(p))
  assumeInitial(ClockDomain.current.isResetActive)
  val (job, query, request) = (dut.io.job, dut.io.list.query, dut.io.request)
  anyseq(job.valid)
  anyseq(job.payload)
  anyseq(dut.io.list.list)
  anyseq(request.ready)

  // What the list of the job on offer was answered to be, without the function that sent the frame.
  when(query.valid)(assert(job.valid && query.payload === job.list, "another list is asked for"))
  val source = job.source
  val wanted = Cat((0 until p.functions).map(i => dut.io.list.list(i) && !(source.isFunction && source.function === i)))
  val list = RegNextWhen(wanted, Delay(query.valid, FunctionList.latency, init = False))

  /** What is still to be requested of a job that was taken. */
  case class Owed() extends Bundle {
    val functions = Bits(p.functions bits)
    val port = p.portType()
    val length = p.lengthType()
    val vlan = Bool()
    val hashPorts = Bits(32 bits)
  }
  val taken = Owed()
  taken.functions := list
  taken.port := job.list.port
  taken.length := job.length
  taken.vlan := job.vlan
  taken.hashPorts := job.hashInput.ports

  // The last request of a job may wait behind the iterator while the next job is worked off.
  val first, second = Reg(Flow(Owed()))
  first.valid init False
  second.valid init False
  val lowest = OHMasking.first(first.functions)
  val others = first.functions & ~lowest
  when(request.fire) {
    first.functions := others
    when(request.last) {
      first := second
      second.valid := False
    }
  }
  when(job.fire) {
    val ends = request.fire && request.last
    assert(!second.valid, "a third job is taken")
    when(first.valid && !ends) {
      second.valid := True
      second.payload := taken
    } otherwise {
      first.valid := True
      first.payload := taken
    }
  }

  assert(Proof.holds(request), "a request on offer stays")
  when(request.valid) {
    assert(first.valid, "a request of no job")
    assert(request.some === first.functions.orR)
    when(request.some)(assert(request.function === OHToUInt(lowest), "not the lowest function that is left"))
    assert(request.last === !others.orR, "the last request is not marked, or another one is")
    assert(request.port === first.port && request.length === first.length && request.vlan === first.vlan)
    assert(request.hashInput.ports === first.hashPorts)
  }
  // Six cycles from a job to its first request, and none between two of a job.
  val waiting = Proof.count(job.valid && !request.valid, request.valid || job.fire, 15)
  assert(waiting <= 6, "a job waits without need")
  val begun = RegInit(False) setWhen request.fire clearWhen (request.fire && request.last)
  when(begun)(assert(request.valid, "a cycle without a request within a job"))

  cover(request.fire && request.last && request.function === 19 && begun)
  cover(request.fire && !request.some)
  cover(second.valid && second.functions.asUInt === 0x10002)
}

class CopyIteratorFormal extends AnyFunSuite {
  test("each function of a list gets one request, the lowest first and the sender none, for any run") {
    Pdr.prove(new CopyIteratorProof)
  }
  private def notices(what: String, from: String, to: String): Unit =
    test(s"the proof notices $what", LongTest) { Pdr.catches(new CopyIteratorProof, from, to) }
  notices(
    "a copy for the function that sent the frame",
    "(io_job_payload_source_isFunction ? fetch_oneHot : 20'h0)",
    "20'h0"
  )
  notices("a mark on the last request of each word", "(lower_lastPart && (! (|lower_others)))", "(! (|lower_others))")
  notices(
    "a job that is taken before the one before has ended",
    "((fetch_valid && (! upper_valid)) && (! lower_valid))",
    "(fetch_valid && (! upper_valid))"
  )
}
