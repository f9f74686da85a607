// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import spinal.core._
import spinal.lib._

/** What the blocks of a ring need to know of it. */
case class RingConfig() extends Bundle {

  /** New descriptors may be taken. */
  val open = Bool()

  /** Indices go back to 0. */
  val clear = Bool()
  val base = UInt(40 bits)

  /** Descriptors in the ring less 1. */
  val mask = UInt(12 bits)
  def size: UInt = mask +^ 1

  /** Address of byte offset (0 to 31) of the descriptor with a free-running index. */
  def address(index: UInt, offset: Int): UInt = {
    val page = base(39 downto 12) + (index(11 downto 7) & mask(11 downto 7))
    page @@ (index(6 downto 0) & mask(6 downto 0)) @@ U(offset, 5 bits)
  }

  /** True in the first pass over the ring, false in the second, and so on. */
  def generation(index: UInt): Bool = !(index & size.resized).orR
}

/** Start, stop, error and reset of one ring.
  *
  * A ring that stops, by request or by an error, takes no new descriptor, completes those that it has taken, and then
  * reports that it does not run. If it is enabled meanwhile, it stops first. Latency: 2 cycles from enable to open.
  */
class RingState extends Component {
  val io = new Bundle {
    val control = in(RingControl())

    /** Nothing of this ring is in flight. */
    val quiet = in Bool ()
    val descriptorError, producerError, completionError = in Bool () // pulses
    val config = out(RingConfig())
    val running = out Bool ()
    val error = out(RingError())

    /** The ring is in the state it was last asked for. */
    val settled = out Bool ()

    /** Pulse: the ring has just stopped by itself. */
    val failed = out Bool ()
  }
  val error = RegInit(RingError.none())
  val running, closing = RegInit(False)
  val wanted = io.control.enable && !io.control.reset && error === RingError.none
  val clear = RegNext(io.control.reset && !running) init False

  when(!running)(running := wanted && !clear)
  when(running && !wanted)(closing := True)
  when(closing && io.quiet) {
    running := False
    closing := False
  }

  val trouble = running && error === RingError.none && (io.descriptorError || io.producerError || io.completionError)
  when(trouble) {
    error := RingError.completion
    when(io.producerError)(error := RingError.producer)
    when(io.descriptorError)(error := RingError.descriptor)
  }
  when(clear)(error := RingError.none)

  val sizeLog2 = io.control.sizeLog2.max(U(3, 4 bits)).min(U(12, 4 bits))
  io.config.open := running && !closing && wanted
  io.config.clear := clear
  io.config.base := io.control.base(39 downto 12) @@ U(0, 12 bits)
  io.config.mask := RegNext(((U(1, 13 bits) |<< sizeLog2) - 1).resize(12 bits)) init 7
  io.running := running
  io.error := error
  io.settled := running === wanted
  io.failed := trouble
}
