// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.{Proof, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** A writer of received frames with any frames and any memory. */
class RxWriterProof extends Component {
  val dut = FormalDut(new RxWriter(PsAxi.writeConfig(1)))
  assumeInitial(ClockDomain.current.isResetActive)
  val command = dut.io.command
  Proof.drive(command)
  Proof.drive(dut.io.data)
  assume(command.length =/= 0 && command.length <= 16000) // the longest frame of any shell
  anyseq(dut.io.aw.ready)
  anyseq(dut.io.w.ready)
  assert(Proof.holds(dut.io.aw) && Proof.holds(dut.io.w))
  assert(AxiRules.burst(dut.io.aw))

  // The words that a frame touches, and how many of them have been addressed and written, before the output registers.
  val (aw, w) = (dut.bursts.aw.pull(), dut.payload.w.pull())
  val frame = RegNextWhen(command.payload, command.fire)
  val start = frame.address(6 downto 3)
  val offset = frame.address(2 downto 0)
  val end = offset +^ frame.length
  val words = Reg(UInt(14 bits)) init 0
  val addressed, written = Reg(UInt(14 bits)) init 0
  when(aw.fire)(addressed := addressed + aw.len + 1)
  when(w.fire)(written := written + 1)
  when(command.fire) {
    words := ((command.address(2 downto 0) +^ command.length - 1) >> 3) + U(1, 14 bits)
    addressed := 0
    written := 0
    assert(addressed === words && written === words, "a frame is written whole")
  }
  def endsBurst(word: UInt): Bool = (start + word.resize(4)) === 15 || word === words - 1
  when(aw.valid) {
    assert(aw.addr === ((frame.address >> 3) + addressed.resize(37)) @@ ((addressed === 0) ? offset | U(0)))
    assert(endsBurst(addressed + aw.len), "a burst goes to the end of the line or frame")
  }
  when(w.valid) {
    assert(written < words)
    assert(w.last === endsBurst(written), "so does its data")
    assert(written < addressed || aw.valid, "data has its address")
    for (i <- 0 until 8) {
      val byte = written @@ U(i, 3 bits)
      assert(w.strb(i) === (byte >= offset && byte < end), "the bytes of the frame and no others")
    }
  }

  // For the induction.
  val (bursts, payload) = (dut.bursts, dut.payload)
  val (toAddress, toWrite) = (bursts.left.pull(), payload.left.pull())
  val active = payload.active.pull()
  assert(addressed +^ toAddress === words && written +^ (active ? toWrite | U(0)) === words)
  when(words =/= 0) {
    assert(words === ((end - 1) >> 3) + U(1, 14 bits) && end > offset)
    assert(payload.shift.pull() === offset && payload.endBytes.pull() === end(2 downto 0))
    assert(payload.first.pull() === (written === 0))
    when(active && toWrite =/= 0)(assert(payload.position.pull() === start + written.resize(4)))
    when(toAddress =/= 0) {
      assert(
        bursts.address.pull() === ((frame.address >> 3) + addressed.resize(37)) @@ ((addressed === 0) ? offset | U(0))
      )
      when(addressed =/= 0)(assert((start + addressed.resize(4)) === 0))
    }
  }
  when(words === 0)(assert(!active))
  cover(written === 3 && addressed === 1 && w.fire)
}

/** A writer of completions with any memory. The settings of its ring do not change while it runs. */
class CompletionWriterProof extends Component {
  val dut = FormalDut(new CompletionWriter(PsAxi.writeConfig(1)))
  assumeInitial(ClockDomain.current.isResetActive)
  val (aw, w, b) = (dut.io.axi.aw, dut.io.axi.w, dut.io.axi.b)
  Proof.drive(dut.io.command)
  anyconst(dut.io.config)
  anyseq(aw.ready)
  anyseq(w.ready)
  anyseq(b.valid)
  anyseq(b.payload)
  val open = AxiRules.outstanding(aw.fire, b.fire)
  when(open === 0)(assume(!b.valid))

  assert(Proof.holds(aw) && Proof.holds(w) && AxiRules.burst(aw))
  assert(open <= dut.maxInFlight && b.ready)
  val second = RegInit(False) toggleWhen (w.fire)
  when(aw.valid)(assert(aw.len === 1))
  when(w.valid)(assert(w.last === second, "two beats a burst"))
  val addressed = Reg(UInt(6 bits)) init 0 // bursts addressed less those written, which may be below 0
  addressed := addressed + U(aw.fire) - U(w.fire && w.last)
  when(w.valid)(assert(addressed.asSInt > 0 || aw.valid, "data has its address"))

  // For the induction: what is between the command and the bus.
  val fork = dut.children.collectFirst { case fork: StreamFork[_] => fork }.get
  val open0 = fork.logic.linkEnable(0).pull()
  val open1 = fork.logic.linkEnable(1).pull()
  assert(Mux(fork.io.input.valid.pull(), open0 || open1, open0 && open1))
  val toAddress = U(aw.valid) +^ U(dut.address.valid.pull())
  val toWrite = U(dut.data.valid.pull()) +^ U(w.valid && w.last)
  assert(dut.inFlight.pull() === open + toAddress && dut.inFlight.pull() <= dut.maxInFlight)
  assert(addressed + toAddress === toWrite.resized)
  assert(dut.second.pull() === (w.valid ? !w.last | second))
  when(dut.second.pull())(assert(dut.data.valid.pull()))
  cover(open === dut.maxInFlight)
}

/** The fetcher of descriptors; a ring opens again only when nothing of it is in flight, as RingState sees to. */
class DescriptorFetchProof extends Component {
  val dut = FormalDut(new DescriptorFetch(PsAxi.readConfig(1)))
  assumeInitial(ClockDomain.current.isResetActive)
  val axi = dut.io.axi
  anyseq(dut.io.config)
  anyseq(dut.io.producer)
  anyseq(dut.io.descriptor.ready)
  val wasOpen = RegNext(dut.io.config.open) init False
  when(!wasOpen && !dut.io.idle)(assume(!dut.io.config.open))
  when(!dut.io.config.open)(assume(!dut.io.descriptor.ready)) // as RxEngine and TxReader do
  assume(!(dut.io.config.open && dut.io.config.clear))
  val memory = new ReadMemory(axi.ar, axi.r, U(2, 2 bits))
  assert(Proof.holds(axi.ar) && AxiRules.burst(axi.ar))
  assert(axi.r.ready)
  assert(memory.open <= dut.depth)
  when(dut.fifo.io.push.valid.pull())(assert(dut.fifo.io.push.ready.pull(), "a descriptor has its place"))

  // For the induction: every read is in flight, in the queue, or given up.
  val inFlight = dut.inFlight.pull()
  val waiting = dut.asked.pull() - dut.taken.pull()
  val stored = dut.fifo.io.occupancy.pull()
  assert(inFlight === memory.open + U(axi.ar.valid))
  assert(inFlight <= dut.depth && waiting <= dut.depth)
  assert((wasOpen ? (inFlight +^ stored) | stored.resized) <= waiting)
  when(!wasOpen)(assert(waiting === 0))
  cover(memory.open === dut.depth)
}

class TxReaderProof extends Component {
  val p = ShellParam(maxFrame = 1518)
  val dut = FormalDut(new TxReader(p, PsAxi.readConfig(1), 256))
  assumeInitial(ClockDomain.current.isResetActive)
  val axi = dut.io.axi
  Proof.drive(dut.io.descriptor)
  anyseq(dut.io.config)
  anyseq(dut.io.index)
  anyseq(dut.io.released)
  anyseq(dut.io.frame.ready)
  anyseq(axi.ar.ready)
  anyseq(axi.r.valid)
  anyseq(axi.r.payload)
  val open = AxiRules.outstanding(axi.ar.fire, axi.r.fire && axi.r.last)
  when(open === 0)(assume(!axi.r.valid))
  assert(Proof.holds(axi.ar) && AxiRules.burst(axi.ar))
  assert(axi.r.ready)
  assert(open <= dut.maxBursts)

  val left = dut.request.left.pull()
  assert(dut.burstsInFlight.pull() === open + U(axi.ar.valid) && dut.burstsInFlight.pull() <= dut.maxBursts)
  when(dut.request.busy.pull()) {
    when(dut.request.frame.error.pull() === FrameError.none)(assert(left =/= 0))
    when(dut.request.checked.pull())(assert(dut.request.frame.error.pull() === FrameError.none))
  }
}

/** By induction, so for runs of any length. */
class PsAxiFormal extends AnyFunSuite {
  test("received frames: bursts keep to lines, data to its addresses, bytes to the frame") {
    Proof().withProve(2).withCover(12).doVerify(new RxWriterProof)
  }
  test("completions: bursts keep to lines, data to its addresses, 8 in flight at most") {
    Proof().withProve(3).withCover(22).doVerify(new CompletionWriterProof)
  }
  test("descriptors: bursts keep to lines, 8 in flight at most, each with a place") {
    Proof().withProve(4).withCover(14).doVerify(new DescriptorFetchProof)
  }
  test("frames to send: bursts keep to lines, 8 in flight at most") {
    Proof().withProve(3).doVerify(new TxReaderProof)
  }
}
