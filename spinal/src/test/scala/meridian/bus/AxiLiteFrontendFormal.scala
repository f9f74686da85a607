// SPDX-License-Identifier: Apache-2.0
package meridian.bus

import meridian.Proof
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** The front end between any AXI4-Lite master and any registers not slower than patience cycles. */
class AxiLiteFrontendProof(patience: Int) extends Component {
  val config = AxiLite4Config(addressWidth = 6, dataWidth = 32)
  val dut = FormalDut(new AxiLiteFrontend(config, addressWidth = 4, fromHost = true))
  assumeInitial(ClockDomain.current.isResetActive)
  val (axi, bus) = (dut.io.axi, dut.io.bus)
  Proof.drive(axi.ar)
  Proof.drive(axi.aw)
  Proof.drive(axi.w)
  anyseq(axi.r.ready)
  anyseq(axi.b.ready)
  anyseq(dut.io.arFunction)
  anyseq(dut.io.awFunction)
  anyseq(dut.io.awIgnored)
  val target = new RegTarget(bus, patience)

  // Responses stay until they are taken. One for each request, none without; so they are in order, as all are of one
  // request at a time.
  assert(Proof.holds(axi.r) && Proof.holds(axi.b))
  val reading = RegInit(False) setWhen (axi.ar.fire) clearWhen (axi.r.fire)
  val writing = RegInit(False) setWhen (axi.aw.fire) clearWhen (axi.b.fire)
  when(axi.ar.fire || axi.aw.fire)(assert(!reading && !writing))
  assert(axi.aw.fire === axi.w.fire, "address and data are taken together")
  assert(!(axi.ar.fire && axi.aw.fire))
  when(axi.r.valid)(assert(reading))
  when(axi.b.valid)(assert(writing))

  // The access is the one asked for, and done once; a write of less than a word, or of who may not write, is not done.
  val asks = axi.ar.fire || axi.aw.fire
  val address = RegNextWhen(Mux(axi.ar.fire, axi.ar.addr, axi.aw.addr), asks)
  val function = RegNextWhen(Mux(axi.ar.fire, dut.io.arFunction, dut.io.awFunction), asks)
  val data = RegNextWhen(axi.w.data, asks)
  val partial = RegNextWhen(axi.aw.fire && !axi.w.strb.andR, asks) init False
  val ignored = RegNextWhen(axi.aw.fire && dut.io.awIgnored, asks) init False
  val carried = RegInit(False) setWhen (bus.cmd.fire) clearWhen (asks)
  when(bus.cmd.valid) {
    assert((reading || writing) && !partial && !ignored && !carried)
    assert(bus.cmd.write === writing && bus.cmd.function === function && bus.cmd.fromHost)
    assert(bus.cmd.address === address(3 downto 2) @@ U"00")
    when(writing)(assert(bus.cmd.data === data))
  }
  val answer = RegNextWhen(bus.rsp.payload, bus.rsp.valid)
  when(axi.r.valid) {
    assert(carried && axi.r.data === answer.data)
    assert(axi.r.resp === (answer.refused ? AxiLite4.resp.SLVERR | AxiLite4.resp.OKAY))
  }
  when(axi.b.valid) {
    assert(carried =/= (partial || ignored))
    assert(axi.b.resp === ((partial || !ignored && answer.refused) ? AxiLite4.resp.SLVERR | AxiLite4.resp.OKAY))
  }

  // A request is answered in a bounded time, and waits for at most one of the other kind once the front end is free.
  val open = reading || writing
  val answering = axi.r.valid || axi.b.valid
  val age = Proof.count(open && !answering, !open || answering, 15)
  assert(age <= 2 * patience)
  val wanted = axi.aw.valid && axi.w.valid
  val readsPassed = Proof.count(axi.ar.fire, !wanted || axi.aw.fire, 2)
  val writesPassed = Proof.count(axi.aw.fire, !axi.ar.isStall, 2)
  assert(readsPassed <= 1 && writesPassed <= 1)
  when(!open && (wanted || axi.ar.valid))(assert(asks))

  // For the induction.
  val state = dut.state.pull()
  val lastWasRead = dut.lastWasRead.pull()
  assert(open === (state =/= dut.State.idle) && !(reading && writing))
  assert(target.owed === (state === dut.State.await))
  assert(answering === (state === dut.State.answer))
  when(state === dut.State.issue)(assert(!carried && age === target.waiting))
  when(state === dut.State.await)(assert(carried && !partial && !ignored && age <= target.working +^ patience))
  when(open)(assert(dut.command.write.pull() === writing))
  when(readsPassed === 1)(assert(lastWasRead))
  when(writesPassed === 1)(assert(!lastWasRead))

  cover(readsPassed === 1 && axi.aw.fire)
  cover(writesPassed === 1 && axi.ar.fire)
  when(dut.io.ignoredWrite)(assert(past(axi.aw.fire && dut.io.awIgnored)))
  when(ignored && open)(assert(axi.b.valid))
  cover(axi.b.fire && partial)
  cover(axi.b.fire && ignored && !partial)
}

/** By induction, so for runs of any length. */
class AxiLiteFrontendFormal extends AnyFunSuite {
  test("every request is answered once, in order, in a bounded time") {
    Proof().withProve(4).withCover(20).doVerify(new AxiLiteFrontendProof(patience = 3))
  }
}
