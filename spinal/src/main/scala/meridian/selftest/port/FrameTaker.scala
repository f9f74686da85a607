// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.frame.RxBeat
import meridian.meta.{RxStamp, TakenFrame}
import meridian.selftest.TestFrame
import spinal.core._
import spinal.lib._

object FrameTaker {

  /** Cycles from a frame's last beat to its result. */
  val latency = 7

  /** Cycles from a frame's last beat to its verdict on the pattern, and to its latency. */
  private val early = 4
}

/** Finds the frames of a test among those received, in the receive clock of the MAC. It delays nothing.
  *
  * A frame is of the test if it has the EtherType of test frames and the label of the run, and `armed` was high from its
  * first beat to the one with the label, the second. So a frame that comes across a start or an end is taken whole or not
  * at all. All others pass.
  *
  * Latency: take is right with the last beat, result FrameTaker.latency cycles later. Throughput: one beat a cycle.
  */
class FrameTaker(p: ShellParam) extends Component {
  val io = new Bundle {
    val armed = in Bool ()
    val label = in Bits (16 bits)
    val beat = slave(Flow(RxBeat()))
    val stamp = in(RxStamp()) // with the last beat: when the frame came
    val length = in UInt (16 bits) // a cycle behind the last beat
    val take = out Bool ()
    val result = out(TakenFrame())
  }

  val came = new Area {
    val beat = io.beat
    val word = Reg(UInt(3 bits)) init 0 // of the header, 4 is the one with the length, 5 none
    val index = Reg(UInt(13 bits)) init 0 // as FrameCheck counts
    val armed = RegInit(False) // with the first beat
    val ours, foreign = RegInit(False)
    val sequence, stamp = Reg(UInt(64 bits))
    val claim = Reg(UInt(16 bits))
    val isTest = beat.data(39 downto 32) === TestFrame.etherType >> 8 &&
      beat.data(47 downto 40) === (TestFrame.etherType & 255)
    val isOurs = beat.data(63 downto 48) === io.label
    when(beat.valid) {
      index := index + 1
      when(word =/= 5)(word := word + 1)
      when(word === 0)(armed := io.armed)
      when(word === 1) {
        ours := armed && io.armed && isTest && isOurs
        foreign := armed && io.armed && isTest && !isOurs
      }
      when(word === 2)(sequence := beat.data.asUInt)
      when(word === 3)(stamp := beat.data.asUInt)
      when(word === 4)(claim := beat.data(15 downto 0).asUInt)
      when(beat.last) {
        word := 0
        index := 0
        ours := False
        foreign := False
      }
    }
    val lastOurs = beat.valid && beat.last && ours
    val lastForeign = beat.valid && beat.last && foreign
  }
  io.take := came.ours

  /** Each beat beside the pattern that it should have, two cycles behind it. */
  val compared = new Area {
    val seed = RegNext(TestFrame.seed(came.sequence, came.stamp, io.label))
    val valid1 = RegNext(io.beat.valid) init False
    val valid = RegNext(valid1) init False
    val data = Delay(io.beat.data, 2)
    val word = Delay(came.word, 2)
    val index = Delay(came.index, 2)
    // Bytes that are pattern: none of the header, none beyond the end.
    val keep1 = RegNext(Vec((0 until 8).map(i => !io.beat.last || io.beat.count > i)).asBits)
    val word1 = RegNext(came.word)
    val keep = RegNext(
      keep1 & Mux(word1 === 4, B"11111100", B"11111111") & Mux(word1(2), B"11111111", B"00000000")
    )
    val next = Reg(Bits(64 bits))
    val turned = (word === 4) ? seed.rotateLeft(7 * 4) | next
    when(valid)(next := TestFrame.turn(turned, index))
    val mask = Cat((0 until 8).map(i => Bits(8 bits).setAllTo(keep(i))))
    val difference = RegNext((data ^ TestFrame.word(turned, index)) & mask)
    val compares = RegNext(valid, False)
    val first = RegNext(word) === 0
  }

  /** The differing bits of a frame: of a beat in three steps, then added up. */
  val counted = new Area {
    private def added(numbers: Vec[UInt], by: Int) = RegNext(Vec(numbers.toSeq.grouped(by).map(_.reduce(_ +^ _)).toSeq))
    val sixes = RegNext(Vec(compared.difference.asBools.grouped(6).map(bits => CountOne(bits)).toSeq))
    val sums = added(sixes, 4)
    val beat = added(sums, 3).head.resize(7)
    private val delay = 3
    val valid = Delay(compared.compares, delay, init = False)
    val first = Delay(compared.first, delay)
    val total = Reg(UInt(TakenFrame.errorBits bits))
    val most = total >= total.maxValue - 63
    when(valid) {
      total := first ? beat.resize(TakenFrame.errorBits) | (total + beat.andMask(!most))
    }
    val any = Reg(Bool())
    when(valid)(any := beat =/= 0 || any && !first)
  }

  /** From the time that the frame carries to the one of the MAC. */
  val time = new Area {
    val arrived = RegNext(io.stamp)
    val nanoseconds = RegNext(
      arrived.time.nanoseconds(29 downto 0).resize(32).asSInt - came.stamp(29 downto 0).resize(32).asSInt
    )
    val seconds = RegNext(arrived.time.seconds(33 downto 0) - came.stamp(63 downto 30))
    val known = Delay(arrived.valid, 2)
    val same = RegNext(seconds === 0)
    val next = RegNext(seconds === 1)
    val within = RegNext(nanoseconds)
    val across = RegNext(nanoseconds + 1000000000)
    val result = Reg(UInt(30 bits))
    val valid = RegNext(known && Mux(within.msb, next, same))
    result := Mux(within.msb, across, within)(29 downto 0).asUInt
  }

  io.result.taken := Delay(came.lastOurs, FrameTaker.latency, init = False)
  io.result.foreign := Delay(came.lastForeign, FrameTaker.latency, init = False)
  io.result.badLength := Delay(io.length =/= came.claim, FrameTaker.latency - 1)
  io.result.badPattern := counted.any
  io.result.bitErrors := counted.total
  // Behind a runt the next frame may end before this result.
  private val sequence = RegNextWhen(came.sequence.resize(TakenFrame.sequenceBits), RegNext(came.lastOurs, False))
  io.result.sequence := Delay(sequence, FrameTaker.latency - FrameTaker.early)
  io.result.timed := Delay(time.valid, FrameTaker.latency - FrameTaker.early)
  io.result.latency := Delay(time.result, FrameTaker.latency - FrameTaker.early)
}
