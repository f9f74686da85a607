// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.{LongTest, Pdr, ShellParam}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.formal._
import spinal.lib._

/** The sender with frames of any words, any errors, a MAC that stops, and a ring that closes at any time: whether the words
  * that it takes out of the buffer are those of the frames that it was told of. What the words say is not looked at.
  */
class TxSenderWordsProof extends Component {
  val words = 8
  val dut = FormalDut(new TxSender(ShellParam(), words, patience = 16))
  assumeInitial(ClockDomain.current.isResetActive)
  val (io, tx) = (dut.io, dut.io.tx)
  anyseq(io.open)
  anyseq(tx.ready)
  anyseq(io.completion.ready)
  anyseq(io.word)
  anyseq(io.frame.valid)
  anyseq(io.frame.payload)
  val frame = io.frame.payload
  val unread = frame.error === FrameError.badDescriptor // its words were never read into the buffer
  assume(frame.error =/= FrameError.aborted)
  assume(frame.beats <= words)
  assume(unread || frame.beats === ((frame.offset +^ frame.length) +^ 7) >> 3)
  assume(unread || frame.length =/= 0)

  // The words of the frames taken, of those that wait to be decided on, and of those that were.
  val count = HardType(UInt(log2Up(words) + 1 bits))
  val taken = Reg(count()) init 0
  when(io.frame.fire && !unread)(taken := taken + frame.beats.resized)
  val decide = dut.decide
  val held = decide.frame.pull()
  val waiting = held.valid && held.error =/= FrameError.badDescriptor
  val undecided = held.beats.resize(widthOf(taken)).andMask(waiting)
  val (drain, left, skip) = (dut.buffer.drain.pull(), dut.buffer.left.pull(), dut.buffer.skip.pull())
  val owed = drain + left.resize(widthOf(taken)) + skip + undecided
  assert(owed === taken, "words stay, or leave twice")
  assert(io.released === drain)
  // A frame is read while no words are skipped, and the aligner knows how many are still to come.
  val align = dut.align
  val there = dut.buffer.word.valid.pull()
  val behind = left + there.asUInt
  val (active, primed) = (align.active.pull(), align.primed.pull())
  val (wordsLeft, beatsLeft) = (align.wordsLeft.pull(), align.beatsLeft.pull().resize(12))
  val sending = align.frame.pull()
  val beats = ((sending.length +^ 7) >> 3).resize(12)
  when(active) {
    assert(wordsLeft === left + there.asUInt, "the aligner waits for another number of words")
    // What the proof rests on: a word more than beats is one that only fills the last beat.
    assert(sending.length =/= 0 && sending.beats <= words && wordsLeft <= sending.beats)
    assert(sending.beats === (((sending.offset +^ sending.length) +^ 7) >> 3).resize(12))
    assert(wordsLeft + primed.asUInt === beatsLeft + (sending.beats - beats) && beatsLeft =/= 0)
  } otherwise {
    assert(left === 0 && !there, "words are read for nobody")
  }
  when(!decide.frame.valid.pull() && io.atRest)(assert(io.released === taken))
  cover(io.atRest && taken === 5 && Delay(io.atRest, 4, init = True) && io.released === taken)
}

/** By ABC's property directed reachability, for any run of frames; small memory, the structure the same. */
class TxSenderFormal extends AnyFunSuite {
  test("the words that leave the transmit buffer are those of the frames told, each once, for any run", LongTest) {
    Pdr.prove(new TxSenderWordsProof, reduce = true)
  }
  test("the proof notices words that are skipped twice", LongTest) {
    Pdr.catches(new TxSenderWordsProof, "((buffer_left == 12'h0) ? 4'b0000 : buffer_skip)", "buffer_skip")
  }
}
