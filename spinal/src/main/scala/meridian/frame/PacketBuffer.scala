// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import meridian.promise.Promise
import spinal.core._
import spinal.lib._

/** A beat of a frame that is known whole.
  *
  * @param bytes    bytes in a beat
  * @param metaType what its writer said of the frame
  */
case class PacketWord[M <: Data](bytes: Int, metaType: HardType[M]) extends Bundle {
  val data = Bits(8 * bytes bits)

  /** Bytes of this beat that are not of the frame, counted from the top; not 0 only with last. */
  val mty = UInt(log2Up(bytes) bits)
  val meta = metaType()

  /** Bytes of the frame; like meta, constant from its first beat to its last. */
  val length = UInt(16 bits)
}

/** Dual-clock store-and-forward frame buffer with roll-back.
  *
  * A frame is visible to the pop side once its last beat was taken without drop; until then abort takes back all of it.
  * Each word keeps its last flag and mty, so the pop side needs no counters.
  *
  * Latency, last beat taken to first beat offered: 4 pop cycles and the phase of the clocks (up to one more).
  * Throughput: one beat a cycle on both sides, no bubble within or between frames. push.ready is low when there is no
  * room (the last two words of the memory, and the last two frames, may stay unused) and while the buffer restarts.
  *
  * Either side may be reset alone. When the pop side is, the buffer is emptied and the frame being written is swallowed
  * to its end. When the push side is, the frames stored are still read, the frame being written is forgotten. A frame
  * that the empty memory, or a 16-bit length, could not hold is swallowed too: its writer has to be told otherwise.
  *
  * With `marks`, the words of frames whose meta one of them holds for are also counted by themselves: `marked` is, mark by
  * mark, those of them that are in the memory. Whatever takes a word out of the memory takes it out of that count, as both
  * are differences of pointers: reading, roll-back, and a reset of either side. A mark of a frame is the same from the first
  * beat pushed on.
  *
  * @param bytes      bytes in a beat
  * @param depthBytes bytes stored; a power of two
  * @param frames     frames stored at most; a power of two from 4 on
  * @param settle     see [[ResetPair]]
  * @param marks      which frames are counted in each of `marked`
  */
class PacketBuffer[M <: Data](
    bytes: Int,
    depthBytes: Int,
    metaType: HardType[M],
    frames: Int,
    val pushCd: ClockDomain,
    val popCd: ClockDomain,
    settle: Int = 16,
    marks: Seq[M => Bool] = Nil
) extends Component {
  require(isPow2(bytes) && bytes >= 2, s"bytes is $bytes: choose a power of two from 2 on")
  require(
    isPow2(depthBytes) && depthBytes >= 8 * bytes,
    s"depthBytes is $depthBytes: choose a power of two of at least 8 beats"
  )
  require(isPow2(frames) && frames >= 4, s"frames is $frames: choose a power of two from 4 on")
  val words = depthBytes / bytes
  val lengthBits = 16
  require(log2Up(bytes) < lengthBits, s"bytes is $bytes: a length of $lengthBits bits does not count it")

  val io = new Bundle {
    val push = slave(FrameStream(bytes, metaType))

    /** With the last beat of push: the frame is rolled back instead of committed. */
    val drop = in Bool ()

    /** Everything written since the last commit is rolled back, the beat of this cycle included. */
    val abort = in Bool ()

    /** Words in use as the push side sees it: two cycles late in both directions, and never too few of those freed. */
    val occupancy = out UInt (log2Up(words) + 1 bits)

    /** The same of the words of marked frames. */
    val marked = marks.nonEmpty generate out(Vec(UInt(log2Up(words) + 1 bits), marks.size))

    /** Push domain: the buffer is in use. A frame during which it was False, even once, is lost. */
    val up = out Bool ()
    val pop = master(Stream(Fragment(PacketWord(bytes, metaType))))

    /** Pop domain: no whole frame is stored or being read. */
    val idle = out Bool ()
  }

  case class Word() extends Bundle {
    val data = Bits(8 * bytes bits)
    val mty = UInt(log2Up(bytes) bits)
    val last = Bool()
  }
  case class Descriptor() extends Bundle {
    val lengthMinusOne = UInt(lengthBits bits)
    val meta = metaType()
  }

  val pointerBits = log2Up(words) + 1
  val memory = Mem(Word(), words)
  val pair = new ResetPair(pushCd, popCd, settle)
  val pushClearCd = ResetPair.clearedBy(pushCd, pair.io.pushClear)
  val popClearCd = ResetPair.clearedBy(popCd, pair.io.popClear)
  val descriptors =
    new StreamFifoCC(HardType(Descriptor()), frames, pushClearCd, popClearCd, withPopBufferedReset = false)
  val popReadGray = Bits(pointerBits bits)
  val popMarkedGray = marks.map(_ => Bits(pointerBits bits))

  val swallow = new ClockingArea(pushCd) {
    val inFrame, active = RegInit(False)
    val tooLong = Bool()
    when(io.push.fire)(inFrame := !io.push.last)
    when(inFrame && (!io.up || tooLong))(active := True)
    when((io.push.fire && io.push.last) || io.abort) {
      inFrame := False
      active := False
    }
  }

  val promised = new ClockingArea(pushCd) {
    Promise(!io.push.valid || io.push.last || io.push.mty === 0, "a beat before the last has bytes that are not used")
    for (mark <- marks) {
      val marked = mark(io.push.meta)
      val same = marked === RegNextWhen(marked, io.push.fire)
      Promise(!io.push.valid || !swallow.inFrame || same, "a frame is marked for a part of it")
    }
  }

  val push = new ClockingArea(pushClearCd) {
    val write, commit = Reg(UInt(pointerBits bits)) init 0
    val frameWords = Reg(UInt(lengthBits - log2Up(bytes) bits)) init 0
    val read = RegNext(GrayDecode(BufferCC(popReadGray, B(0, pointerBits bits)))) init 0
    val used = RegNext(write - read) init 0
    val framesUsed = RegNext(descriptors.io.pushOccupancy) init 0
    // Two words, and two frames, may have been written since the pointers that these tell of were looked at.
    val room = RegNext(used < words - 2 && framesUsed < frames - 2) init False

    val accept = room && io.up && !swallow.active
    io.push.ready := accept || swallow.active
    val take = io.push.valid && accept
    val word = Word()
    word.data := io.push.data
    word.mty := io.push.mty
    word.last := io.push.last
    memory.write(write.resized, word, take)

    val next = write + 1
    descriptors.io.push.valid := take && io.push.last && !io.drop && !io.abort
    descriptors.io.push.lengthMinusOne := frameWords @@ ~io.push.mty
    descriptors.io.push.meta := io.push.meta
    when(take) {
      write := next
      frameWords := frameWords + 1
    }
    when(descriptors.io.push.valid)(commit := next)
    when((take && io.push.last && io.drop) || io.abort)(write := commit)
    when(swallow.active)(write := commit)
    when((take && io.push.last) || io.abort || swallow.active)(frameWords := 0)
    // So many words always find room in the end.
    swallow.tooLong := frameWords === ((words - 2) min ((1 << frameWords.getWidth) - 1))

    val marked = for ((mark, readGray) <- marks.zip(popMarkedGray)) yield {
      new Area {
        val write, commit = Reg(UInt(pointerBits bits)) init 0
        val next = write + mark(io.push.meta).asUInt
        val read = RegNext(GrayDecode(BufferCC(readGray, B(0, pointerBits bits)))) init 0
        when(take)(write := next)
        when(descriptors.io.push.valid)(commit := next)
        when((take && io.push.last && io.drop) || io.abort || swallow.active)(write := commit)
        val used = RegNext(write - read) init 0
      }
    }
  }

  val pop = new ClockingArea(popClearCd) {
    val read = Reg(UInt(pointerBits bits)) init 0
    val next = Reg(UInt(pointerBits bits)) init 1
    val beat = Stream(Fragment(PacketWord(bytes, metaType)))
    // Read anew in every cycle: a word is looked at in the cycle after its descriptor was seen, so it is there by then.
    val word = memory.readSync(Mux(beat.fire, next, read).resized, clockCrossing = true)
    // That a frame ends is known late in a cycle: it must not reach the pointers of the descriptors.
    val descriptor = descriptors.io.pop.s2mPipe()
    beat.valid := descriptor.valid && pair.io.popUp
    beat.data := word.data
    beat.mty := word.mty
    beat.last := word.last
    beat.meta := descriptor.meta
    beat.length := descriptor.lengthMinusOne + 1
    descriptor.ready := beat.fire && word.last
    when(beat.fire) {
      read := next
      next := next + 1
    }
    popReadGray := RegNext(toGray(read)) init 0
    val marked = for ((mark, readGray) <- marks.zip(popMarkedGray)) yield {
      val read = Reg(UInt(pointerBits bits)) init 0
      when(beat.fire && mark(beat.meta))(read := read + 1)
      readGray := RegNext(toGray(read)) init 0
      read
    }
    pair.io.popHold := descriptor.valid
  }

  // Outside of the clear: a beat on offer is not taken back when the push side restarts.
  val output = popCd on new Area {
    val beat = pop.beat.m2sPipe()
    io.pop << beat
    io.idle := !pop.descriptor.valid && !beat.valid
  }

  io.occupancy := push.used
  for ((mark, i) <- push.marked.zipWithIndex) io.marked(i) := mark.used
  io.up := pair.io.pushUp
}
