// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.promise.Promise
import meridian.ShellParam
import meridian.frame.FrameWord
import meridian.host.H2cMeta
import spinal.core._
import spinal.lib._

object FrameChecker {

  /** Counters of the checker, 64 bits each. A frame is counted in one of good, damaged, foreign, too_short and marked. */
  val counts = Seq(
    "frames" -> "frames of the test's queues from the host",
    "bytes" -> "their bytes; a frame much longer than the largest counts with fewer",
    "good" -> "of them, those as they were sent",
    "damaged" -> "of them, those with bit errors or another length; their numbers count as skipped",
    "foreign" -> "of them, those that are not of this run",
    "too_short" -> "of them, those of fewer than 34 bytes, of which nothing is checked",
    "marked" -> "of them, those that the DMA engine marked bad",
    "bit_errors" -> "bits of damaged frames that are not as sent",
    "skipped" -> "numbers that were passed over when a higher one came",
    "late" -> "good frames with a number below one that has come: reordered, or a second time"
  )
  val stages = 7
}

/** Checks the frames that a program has sent back, as they pass; it takes nothing and delays nothing.
  *
  * While `on`, it looks at frames of the queues from first to last that begin and end meanwhile. Every one is counted, and
  * judged with its last beat. A good frame also gives its latency: the cycle in which its first beat came, less its time stamp.
  * Skipped numbers less late frames are frames that were lost, if none comes twice.
  *
  * Latency: 7 cycles from a frame's last beat to its verdict, 2 more to the counters. Throughput: one beat and one frame
  * a cycle.
  */
class FrameChecker(p: ShellParam) extends Component {
  val bytes = p.hostBytes
  val io = new Bundle {
    val on = in Bool ()
    val restart = in Bool () // counters to 0
    val run = in(SelfTestRun(p))
    val now = in UInt (64 bits)
    val clear = slave(Flow(p.queueType()))
    val beat = slave(Flow(Fragment(FrameWord(bytes, H2cMeta(p)))))
    val latency = master(Flow(UInt(64 bits)))
    val counts = out Vec (UInt(64 bits), FrameChecker.counts.size)
  }

  case class Header() extends Bundle {
    val ours = Bool() // of this run
    val queue = p.queueType()
    val sequence, latency = UInt(64 bits)
  }

  /** The beat in a register, and what the header says. */
  val came = new Area {
    val beat = io.beat.stage()
    val now = RegNext(io.now)
    val on = io.on && RegNext(io.on, False) // in the cycle in which the beat passed, and since
    val first = RegNextWhen(beat.last, beat.valid) init True
    val index = Reg(UInt(TestFrame.beatBits(p) bits)) init 0
    val overlong = RegInit(False) // longer than any frame that is sent
    val inRange = beat.meta.queue >= io.run.settings.first && beat.meta.queue <= io.run.last
    val followed = RegInit(False)
    val mine = on && (first ? inRange | followed)
    when(!on)(followed := False) // the rest of a frame is not of the next run, which may begin before its end
    when(beat.valid) {
      followed := mine && !beat.last
      index := index + 1
      when(index.andR) { overlong := True; index := index }
      when(beat.last) { index := 0; overlong := False }
    }
    def field(at: Int, bits: Int) = beat.data(8 * at, bits bits)
    val label = field(TestFrame.labelAt, 16)
    val sequence = field(TestFrame.sequenceAt, 64).asUInt
    val stamp = field(TestFrame.stampAt, 64).asUInt
    val etherType = field(TestFrame.typeAt, 8) ## field(TestFrame.typeAt + 1, 8)
    val header = Header()
    header.ours := etherType === TestFrame.etherType && label(15 downto 11).asUInt === io.run.number
    header.queue := label(10 downto 0).asUInt
    header.sequence := sequence
    header.latency := now - stamp
    val seed = TestFrame.seed(sequence, stamp, label)
  }

  /** The beat beside the pattern that it should have. */
  val compared = new Area {
    val load = came.beat.valid && came.first
    val valid = RegNext(came.beat.valid && came.mine) init False
    val first = RegNext(came.first)
    val beat = RegNext(came.beat.payload)
    val index = RegNext(came.index)
    val overlong = RegNext(came.overlong) init False
    val header = RegNextWhen(came.header, load)
    val seed = RegNextWhen(came.seed, load)
    val difference = beat.data ^ TestFrame.pattern(seed, index, bytes)
    val isPattern = for (i <- 0 until bytes) yield {
      val beyond = if (i == 0) False else beat.last && beat.mty >= bytes - i
      val inHeader = Seq(0, 1).filter(n => n * bytes + i < TestFrame.headerBytes).map(index === _).fold(False)(_ || _)
      !beyond && !inHeader
    }
    val masked = Cat(isPattern.zipWithIndex.map { case (is, i) => difference(8 * i, 8 bits).andMask(is) })
    val length = (index * bytes + bytes - beat.mty).resize(p.lengthBits)
    val claim = beat.data(8 * (TestFrame.lengthAt % bytes), 16 bits).asUInt
    val claimed = RegNextWhen(claim, valid && index === TestFrame.lengthAt / bytes)
    val claimNow = (index === TestFrame.lengthAt / bytes) ? claim | claimed
  }

  /** The differing bits of a beat, counted in three steps. */
  val counted = new Area {
    val bits = RegNext(compared.masked)
    val groups = RegNext(Vec(bits.subdivideIn(32 bits).map(CountOne(_))))
    val sum = RegNext(groups.map(_.resize(10)).reduceBalancedTree(_ + _))
  }

  /** What is known of a frame with its last beat. */
  case class Ended() extends Bundle {
    val length = p.lengthType()
    val tooShort, marked, badLength = Bool()
    val header = Header()
  }
  val ended = Ended()
  ended.length := compared.length.andMask(!compared.beat.meta.zero)
  ended.tooShort := compared.length < TestFrame.headerBytes && !compared.overlong
  ended.marked := compared.beat.meta.error || compared.beat.meta.zero
  ended.badLength := compared.claimNow =/= compared.length || compared.overlong
  ended.header := compared.header

  /** All of a frame together. */
  val judged = new Area {
    val valid = Delay(compared.valid, 3, init = False)
    val first = Delay(compared.first, 3)
    val last = Delay(compared.beat.last, 3)
    val frame = Delay(ended, 3)
    val before = Reg(UInt(20 bits))
    val sum = first ? counted.sum.resize(20) | (before + counted.sum)
    when(valid)(before := sum)
  }

  val verdict = new Area {
    val valid = RegNext(judged.valid && judged.last) init False
    val frame = RegNext(judged.frame)
    val bitErrors = RegNext(judged.sum)
    val inRange = RegNext(
      judged.frame.header.queue >= io.run.settings.first && judged.frame.header.queue <= io.run.last
    )
    val whole = valid && !frame.marked && !frame.tooShort
    val ours = whole && frame.header.ours && inRange
    val isDamaged = bitErrors =/= 0 || frame.badLength
    val damaged = ours && isDamaged
    val good = ours && !isDamaged
  }

  val sequence = new SequenceCheck(p.queues, 64)
  sequence.io.clear.valid := io.clear.valid
  sequence.io.clear.payload := io.clear.payload.resized
  Promise(!io.clear.valid || !verdict.valid, "a queue loses its number while a frame of the run before is judged")
  sequence.io.look := judged.frame.header.queue.resized
  sequence.io.frame.valid := verdict.good
  sequence.io.frame.payload := verdict.frame.header.sequence
  io.latency.valid := verdict.good
  io.latency.payload := verdict.frame.header.latency

  val counting = new Area {
    val v = verdict
    val place = sequence.io.verdict
    def one(event: Bool) = U(event, 64 bits)
    val amounts = Seq(
      one(v.valid),
      v.frame.length.resize(64).andMask(v.valid),
      one(v.good),
      one(v.damaged),
      one(v.whole && !v.ours),
      one(v.valid && v.frame.tooShort && !v.frame.marked),
      one(v.valid && v.frame.marked),
      v.bitErrors.resize(64).andMask(v.damaged),
      place.skipped.andMask(place.valid && !place.late),
      one(place.valid && place.late)
    )
    for ((count, amount) <- io.counts.zip(amounts)) {
      val sum = Reg(UInt(64 bits)) init 0
      sum := sum + RegNext(amount, U(0, 64 bits))
      when(io.restart)(sum := 0)
      count := sum
    }
  }
}
