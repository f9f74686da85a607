// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** A beat of a completion, with what its descriptor said. */
case class CompletionPart() extends Bundle {
  val tag = UInt(8 bits)
  val byteCount = UInt(13 bits)
  val data = Bits(256 bits)
  val words = Bits(8 bits) // which double words of data are the host's
  val first = Bool()
  val failed = Bool()
  val completed = Bool() // nothing more comes for the tag
}

/** Takes completions apart, and gives the beats of each to the port whose tags have the completion's. It takes a beat a
  * cycle, always: whoever asks has room for the answer. Two cycles.
  *
  * @param firsts  the first tag of each port, upwards from 0; tags of a port are in a row
  */
class RcDispatcher(firsts: Seq[Int]) extends Component {
  require(firsts.head == 0 && firsts == firsts.sorted, s"first tags are $firsts: begin with 0 and go upwards")
  val io = new Bundle {
    val rc = slave(Stream(Fragment(RcBeat())))
    val parts = Vec(master(Flow(CompletionPart())), firsts.size)
  }

  val beat = io.rc.toFlow.stage()
  val begins = RegNextWhen(beat.last, beat.valid) init True
  val descriptor = CompletionDescriptor(beat.data)
  val kept = Reg(CompletionPart())
  val part = Flow(CompletionPart())
  part.valid := beat.valid
  part.payload := kept
  val isStray = Reg(Bool())
  val strays = begins ? (descriptor.errorCode === CompletionDescriptor.noSuchTag) | isStray
  when(begins) {
    part.tag := descriptor.tag
    part.byteCount := descriptor.byteCount
    part.failed := descriptor.failed
    part.completed := descriptor.requestCompleted
  }
  when(beat.valid) {
    kept := part.payload
    isStray := strays
  }
  part.data.allowOverride() := beat.data
  part.words.allowOverride() := beat.keep & (begins ? B(0xf8, 8 bits) | B(0xff, 8 bits))
  part.first.allowOverride() := begins

  val sent = part.stage()
  // A completion ends with its last beat; what the block has spoiled is seen there.
  val ends = RegNext(beat.last)
  val spoiled = RegNext(beat.last && beat.discontinue)
  val stray = RegNext(strays)
  for ((out, i) <- io.parts.zipWithIndex) {
    val upper = if (i + 1 < firsts.size) firsts(i + 1) else 256
    out.valid := sent.valid && !stray && sent.tag >= firsts(i) && sent.tag <= upper - 1
    out.payload := sent.payload
    out.tag.allowOverride() := sent.tag - firsts(i)
    out.failed.allowOverride() := sent.failed || spoiled
    out.completed.allowOverride() := sent.completed && ends
  }
}
