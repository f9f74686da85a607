// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** A bus with anything behind it that keeps to the rules of RegPort and is not slower than patience cycles. */
class RegTarget(bus: RegPort, patience: Int) extends Area {
  anyseq(bus.cmd.ready)
  anyseq(bus.rsp.valid)
  anyseq(bus.rsp.payload)
  val owed = RegInit(False) setWhen (bus.cmd.fire) clearWhen (bus.rsp.valid)
  when(!owed)(assume(!bus.rsp.valid))
  val waiting = Proof.count(bus.cmd.isStall, !bus.cmd.isStall, patience)
  val working = Proof.count(owed, !owed || bus.rsp.valid, patience)
  when(waiting === patience - 1)(assume(bus.cmd.ready || !bus.cmd.valid))
  when(working === patience - 1)(assume(bus.rsp.valid))
  assert(Proof.holds(bus.cmd), "a command on offer stays")
  assert(!(owed && bus.cmd.valid), "one access at a time")
  assert(waiting < patience && working < patience)
}

class RegArbiterProof(patience: Int) extends Component {
  val dut = FormalDut(new RegArbiter(4))
  assumeInitial(ClockDomain.current.isResetActive)
  val (masters, bus) = (dut.io.masters, dut.io.bus)
  val target = new RegTarget(bus, patience)
  val (busy, issue, owner) = (dut.busy.pull(), dut.issue.pull(), dut.owner.pull())

  val asked = masters.zipWithIndex.map { case (master, i) =>
    Proof.drive(master.cmd)
    val asked = RegInit(False) setWhen (master.cmd.fire) clearWhen (master.rsp.valid)
    when(asked)(assume(!master.cmd.valid)) // a master waits for its answer
    val command = RegNextWhen(master.cmd.payload.asBits, master.cmd.fire)

    // Every request is carried out as it is, and answered once, to its asker.
    val carried = RegInit(False) setWhen (bus.cmd.fire && asked) clearWhen (master.cmd.fire)
    when(bus.cmd.fire && asked)(assert(bus.cmd.payload.asBits === command && !carried))
    when(master.rsp.valid)(assert(asked && carried && bus.rsp.valid))
    when(bus.rsp.valid && asked)(assert(master.rsp.valid))
    assert(master.rsp.payload.asBits === bus.rsp.payload.asBits)

    // Nobody waits for more than one access of the other, nor longer than that lasts.
    val other = masters(1 - i)
    val passed = Proof.count(other.cmd.fire, !master.cmd.isStall, 2)
    val age = Proof.count(master.cmd.isStall, !master.cmd.isStall, 15)
    assert(passed <= 1)
    assert(age <= 2 * patience + 1)

    // For the induction: how far the access that is waited for has come.
    val gone = Mux(issue, target.waiting.resize(4), U(patience, 4 bits) + target.working)
    when(asked)(assert(busy && owner === i && carried === !issue))
    when(busy)(assert(age <= gone + 1))
    when(age =/= 0)(assert(owner =/= i))
    when(age === 0)(assert(passed === 0))
    when(passed === 1)(assert(busy || age >= 2))
    cover(passed === 1 && master.cmd.fire)
    asked
  }
  assert(!asked.andR && busy === asked.orR)
  assert(bus.cmd.valid === issue)
  assert(target.owed === (busy && !issue))
  when(issue)(assert(busy))
}

/** By induction, so for runs of any length. */
class RegArbiterFormal extends AnyFunSuite {
  test("every request is answered once, to its asker, in a bounded time") {
    Proof().withProve(4).withCover(20).doVerify(new RegArbiterProof(patience = 3))
  }
}
