// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.descriptor.RingEpoch
import meridian.qdma.C2hPins
import spinal.core._
import spinal.lib._

/** A frame has begun to come. */
case class FrameHeader() extends Bundle {
  val queue = DmaParam.queueType()
  val epoch = RingEpoch() // of its queue when it came
  val length = UInt(16 bits) // 0 is an error of the shell's: the frame has a beat
}

/** Keeps frames of the shell until they have left, and shows any 32 bytes in a row of them.
  *
  * A frame has as many beats as `ctrl_len` says. Its header is there the cycle after its first beat. What does not
  * agree with `ctrl_len`, tlast or mty, is told in `mismatch`. A beat a cycle in, 32 bytes a cycle out. What is asked
  * for in a cycle is there 4 cycles later. The stream waits when `rows` beats are kept.
  */
class FrameStore(rows: Int) extends Component {
  require(isPow2(rows) && rows >= 32, s"rows is $rows: choose a power of two, 32 or more")
  private val bits = log2Up(rows)
  val io = new Bundle {
    val c2h = slave(Stream(C2hPins(32)))
    val header = master(Stream(FrameHeader()))
    val queue = out(DmaParam.queueType()) // whose epoch is asked for
    val epoch = in(RingEpoch()) // of this queue now
    val mismatch = out Bits (2 bits) // of length, of mty
    val stored = out UInt (bits + 1 bits) // beats so far
    val freed = in UInt (bits + 1 bits) // beats that are not needed any more
    val place = in UInt (bits + 5 bits) // in bytes, from the first byte that was ever kept
    val window = out Bits (256 bits)
  }

  val stored = RegInit(U(0, bits + 1 bits))
  io.stored := stored
  val isFull = (stored - io.freed) === rows
  val left = RegInit(U(0, 11 bits)) // beats of this frame
  val first = left === 0
  val length = io.c2h.ctrl_len
  val beats = ((length +^ U(31)) >> 5).resize(12 bits)
  val ends = first ? (beats <= 1) | (left === 1)
  val headers = Stream(FrameHeader())
  headers.valid := io.c2h.valid && first && !isFull
  headers.payload.queue := io.c2h.ctrl_qid
  io.queue := io.c2h.ctrl_qid
  headers.epoch := io.epoch
  headers.length := length
  io.header << headers.queue(32)
  io.c2h.ready := !isFull && (!first || headers.ready)

  val takes = io.c2h.fire
  when(takes) {
    stored := stored + 1
    left := first ? ((beats <= 1) ? U(0, 11 bits) | (beats - 1).resize(11 bits)) | left - 1
  }
  val empty = (U(0, 5 bits) - length(4 downto 0)).resize(6 bits)
  val isOff = takes && (io.c2h.tlast =/= ends || length === 0)
  io.mismatch := RegNext((takes && ends && io.c2h.tlast && io.c2h.mty =/= empty) ## isOff) init 0

  // Beats go to two memories in turn, so that two in a row can be read at once.
  val row = stored(bits - 1 downto 0)
  val at = io.place(bits + 4 downto 5)
  val banks = Seq.fill(2)(Mem(Bits(256 bits), rows / 2))
  for ((bank, i) <- banks.zipWithIndex)
    bank.write((row >> 1), io.c2h.tdata, enable = takes && row(0) === Bool(i == 1))
  val even = banks(0).readSync(((at +^ 1) >> 1).resize(bits - 1 bits))
  val odd = banks(1).readSync(at >> 1)

  // Each byte is of one of the two, and then they are turned.
  val shift = RegNext(io.place(4 downto 0))
  val isOdd = RegNext(at(0))
  val bytes = Vec((0 until 32).map { i =>
    val isNext = U(i, 5 bits) < shift
    (isNext =/= isOdd) ? odd(8 * i, 8 bits) | even(8 * i, 8 bits)
  })
  val chosen = RegNext(bytes)
  val chosenShift = RegNext(shift)
  val coarse = RegNext(Vec((0 until 32).map { i =>
    chosenShift(4 downto 3).muxList((0 until 4).map(turn => turn -> chosen((i + 8 * turn) % 32)))
  }))
  val fineShift = RegNext(chosenShift(2 downto 0))
  io.window := RegNext(Vec((0 until 32).map { i =>
    fineShift.muxList((0 until 8).map(turn => turn -> coarse((i + turn) % 32)))
  }).asBits)
}
