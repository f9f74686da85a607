// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.{LongTest, Pdr, Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The split, of four beats, with any frames of up to eight beats, any decisions at any time behind a frame's first beat, and frames that are
  * taken at any time. One frame and one of its beats are watched, any of them; of a beat its lowest bit.
  */
class RxSplitProof extends Component {
  val p = ShellParam()
  val dut = FormalDut(new RxSplit(p, beats = 4))
  assumeInitial(ClockDomain.current.isResetActive)
  val (rx, decision, unicast, copy) = (dut.io.rx, dut.io.decision, dut.io.unicast, dut.io.copy)
  anyseq(rx.valid)
  anyseq(rx.payload)
  anyseq(decision.valid)
  anyseq(decision.payload)
  anyseq(unicast.ready)
  val number = HardType(UInt(3 bits)) // of a frame; at most six are inside at once
  val index = HardType(UInt(3 bits)) // of a beat
  def flag(): Bool = { val any = Bool(); anyseq(any); any }
  def next(i: UInt, last: Bool): UInt = last ? index().getZero | (i + 1)

  val begins = rx.fire && Proof.starts(rx)
  val begun, decided = Reg(number()) init 0
  begun := begun + U(begins)
  decided := decided + U(decision.valid)

  // The frame that is watched, with the beats that it had when it came.
  val on = RegInit(False)
  val frame = Reg(number())
  val here = on && begun === frame + 1
  val came = Reg(index()) init 0
  when(rx.fire)(came := next(came, rx.last))
  assume(!rx.valid || !came.andR || rx.last)
  val picks = begins && !on && flag()
  when(picks) {
    on := True
    frame := begun
  }
  val whole, bitKnown, chosen, delivered, copied = RegInit(False)
  val lastBeat, beat = Reg(index())
  val bit = Reg(Bool())
  val unused = Reg(UInt(log2Up(p.hostBytes) bits))
  val function = Reg(p.functionType())
  val mine = rx.fire && (picks || here && !whole)
  when(mine && rx.last) {
    whole := True
    lastBeat := came
  }
  when(mine && !bitKnown && flag()) {
    bitKnown := True
    beat := came
    bit := rx.data(0)
    unused := rx.mty
  }
  // A frame may leave in the cycle of its decision.
  val decides = decision.valid && on && decided === frame && !chosen
  val known = chosen || decides
  val target = Mux(decides, decision.target.function, function)
  when(decides) {
    chosen := True
    delivered := decision.deliver
    copied := decision.copy
    function := decision.target.function
  }

  /** Of one exit: frames that were decided to leave there and have not, and those of them before the one that is watched. */
  class Exit(goes: Bool, wanted: Bool, fire: Bool, last: Bool, data: Bool, what: String) extends Area {
    val under, ahead = Reg(number()) init 0
    val done = RegInit(False)
    val at = Reg(index()) init 0
    val ends = fire && last
    val here = under + U(decision.valid && goes)
    under := here - U(ends)
    when(fire)(at := next(at, last))
    val before = Mux(decides, under, ahead)
    val mine = known && Mux(decides, goes, wanted) && !done
    val now = mine && before === 0
    when(mine) {
      ahead := before - U(ends && before =/= 0)
      done setWhen (ends && before === 0)
    }
    when(fire)(assert(here =/= 0, s"a frame leaves at $what that does not belong there"))
    when(fire && now) {
      when(bitKnown && at === beat)(assert(data === bit, s"a frame leaves at $what with other bytes"))
      assert(last === (whole && at === lastBeat), s"a frame leaves at $what with another number of beats")
    }
  }
  val toHost = new Exit(decision.deliver, delivered, unicast.fire, unicast.last, unicast.data(0), "unicast")
  val toCopies = new Exit(decision.copy, copied, copy.valid, copy.last, copy.fragment(0), "copy")
  when(unicast.valid && toHost.now)(assert(unicast.meta.function === target, "a frame goes to another function"))
  when(unicast.fire && toHost.now && bitKnown && toHost.at === beat)(
    assert(unicast.mty === unused, "a frame leaves with another number of bytes")
  )
  when(!Proof.starts(unicast))(
    assert(dut.io.unicastMayCome === unicast.valid, "a beat of a frame under way is not told, or is not there")
  )
  val shown = unicast.last ## unicast.mty ## unicast.data(0) ## unicast.meta.function
  assert(!RegNext(unicast.isStall, False) || unicast.valid && shown === RegNext(shown), "a beat on offer stays")

  // What the proof rests on.
  assert(begun - decided === dut.promises.undecided.pull())
  for (exit <- Seq(toHost, toCopies)) assert(exit.ahead <= exit.under)

  // What is not delivered, or is taken at once, passes at a beat a cycle and leaves nothing behind.
  val free = decided === begun && Proof.starts(rx) && (toHost.under === 0 || unicast.ready)
  val idle = Proof.count(free && !rx.fire, !free || rx.fire, 15)
  when(idle === 8)(assert(dut.io.empty && toHost.under === 0 && toCopies.under === 0, "a decided frame stays"))

  cover(toHost.done && lastBeat === 2 && bitKnown && beat === 1)
  cover(toCopies.done && lastBeat === 2)
  cover(here && !rx.ready && unicast.ready)
}

/** The proofs cover the first cycles only, as the beats that wait are too much state for a proof of any run. */
class RxSplitFormal extends AnyFunSuite {
  test(
    "each frame leaves whole where it was decided to go, and no decision is lost, in any run of 12 cycles",
    LongTest
  ) {
    Pdr.bounded(new RxSplitProof, 12, seconds = 900, reduce = true)
  }
  private def notices(what: String, from: String, to: String): Unit =
    test(s"the proof notices $what", LongTest) { Pdr.catches(new RxSplitProof, from, to) }
  notices(
    "a decision that goes with the first beat of its frame",
    "decisions_io_pop_ready = (waiting_io_pop_fire && waiting_io_pop_payload_last)",
    "decisions_io_pop_ready = waiting_io_pop_fire"
  )
  notices("a frame that leaves at both exits", "(decided && decisions_io_pop_payload_deliver)", "decided")
  notices(
    "a beat that leaves with another number of bytes",
    "io_unicast_payload_fragment_mty = waiting_io_pop_payload_fragment_mty",
    "io_unicast_payload_fragment_mty = 5'h0"
  )
  notices(
    "a beat that is not told before the last",
    "io_unicastMayCome = waiting_io_pop_valid",
    "io_unicastMayCome = (waiting_io_pop_valid && waiting_io_pop_payload_last)"
  )
  notices(
    "a frame that is swallowed and waits",
    "(io_unicast_ready || (! decisions_io_pop_payload_deliver))",
    "io_unicast_ready"
  )
}
