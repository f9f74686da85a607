// SPDX-License-Identifier: Apache-2.0
package meridian.dma.c2h

import meridian.dma.DmaParam
import meridian.dma.completion.CompletionRow
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

/** How a queue is set up. */
case class QueueSetting(
    enable: Boolean = true,
    prefetch: Boolean = true,
    size: Int = 0, // index of ring sizes, of both rings
    buffer: Int = 0, // index of sizes of buffers
    entry: Int = 0, // 8 bytes times two to the power of it
    mode: Int = CompletionRow.Mode.every,
    counter: Int = 0,
    timer: Int = 0,
    irq: Boolean = false,
    irqState: Int = CompletionRow.IrqState.triggered,
    fullUpdate: Boolean = false,
    noOverflowCheck: Boolean = false
)

/** What was written of a completion ring, or an interrupt. */
sealed trait RingEvent
object RingEvent {
  case object Entry extends RingEvent
  case class Status(pidx: Int, cidx: Int, colour: Int, irqState: Int, error: Int) extends RingEvent
  case object Interrupt extends RingEvent
}

/** What all tests of the engine share: it is compiled once. */
object C2hDut {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)
  val frameWait = 2000
  lazy val compiled = SimConfig.compile {
    val dut = new C2hEngine(p, firstTag = 24, timeOut = 15000, frameWait = frameWait)
    dut.engine.waiting.holds.simPublic()
    dut
  }
}

/** Tests of the engine with a host that takes and answers as it may. The harness looks at each write. */
abstract class C2hSuite extends AnyFunSuite {
  val p = C2hDut.p
  def run(name: String, pace: Float = 1.0f, maxPayload: Int = 256, seed: Int = 11)(body: C2hHarness => Unit): Unit =
    C2hDut.compiled.doSim(name, seed) { dut =>
      val h = new C2hHarness(dut, p, seed, pace, maxPayload)
      h.countWaits()
      body(h)
    }

  def events(queue: Int, h: C2hHarness): Seq[RingEvent] = h.ring(queue).events.toSeq
}
