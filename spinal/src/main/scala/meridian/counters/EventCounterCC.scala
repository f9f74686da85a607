// SPDX-License-Identifier: Apache-2.0
package meridian.counters

import meridian.frame.GrayDecode
import spinal.core._
import spinal.lib._

/** Counts single-cycle events of one clock in another: a small gray counter crosses, and its differences are added up.
  * Nothing is lost, in any ratio of clocks, as long as fewer than 2^grayBits events fall between two destination edges.
  *
  * io.destinationCount is right 7 destination cycles and 1 source cycle after the last event. io.destinationEvents
  * gives the same events as amounts, to be added elsewhere (a [[CounterBank]]); it is valid in cycles with at least
  * one. An event can come in every source cycle, for ever.
  *
  * A reset of the destination clears the count; one of the source has no effect. What crosses has only its initial
  * value from configuration, so that a reset on one side does not look like events on the other.
  *
  * @param grayBits bits of the counter that crosses
  * @param width    bits of the count, which wraps
  */
class EventCounterCC(
    val sourceCd: ClockDomain,
    val destinationCd: ClockDomain,
    grayBits: Int = 5,
    width: Int = 64
) extends Component {
  require(grayBits >= 2 && grayBits <= 16, s"grayBits is $grayBits: choose 2 to 16")
  require(width >= grayBits && width <= 64, s"width is $width: choose $grayBits to 64")

  val io = new Bundle {
    val sourceEvent = in Bool ()
    val destinationCount = out UInt (width bits)
    val destinationEvents = master(Flow(UInt(grayBits bits)))
  }

  val source = new ClockingArea(sourceCd.withBootReset()) {
    val count = Reg(UInt(grayBits bits)) init 0
    val next = count + io.sourceEvent.asUInt.resized
    count := next
    val gray = RegNext(toGray(next)) init 0
  }

  val seen = new ClockingArea(destinationCd.withBootReset()) {
    val gray = BufferCC(source.gray, init = B(0, grayBits bits), bufferDepth = Some(3))
    val binary = RegNext(GrayDecode(gray)) init 0
    val events = RegNext(binary - (RegNext(binary) init 0)) init 0
  }

  val destination = new ClockingArea(destinationCd) {
    val count = Reg(UInt(width bits)) init 0
    count := count + seen.events.resized
    io.destinationCount := count
    io.destinationEvents.valid := seen.events.orR
    io.destinationEvents.payload := seen.events
  }
}
