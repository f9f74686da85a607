// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.DmaParam
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core.sim._

/** From doorbells to bytes in either memory, with a host and a card that answer as they may. */
class MemoryEngineTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, memory = true)
  lazy val compiled = SimConfig.compile(new MemoryEngine(p, p.descriptorTags + p.payloadTags, timeOut = 15000))
  def run(name: String, pace: Float = 1.0f, maxPayload: Int = 256)(body: MemoryHarness => Unit): Unit =
    compiled.doSim(name, 11)(dut => body(new MemoryHarness(dut, p, 11, pace, maxPayload)))
  private val both = Seq(false, true)

  test("64 bytes go to the card's memory and back, and the status entries tell it") {
    run("one") { h =>
      for (c2h <- both) {
        h.change(3, c2h)
        h.post(3, c2h, 0x200000, 0x1000, 64)
        h.doorbell(3, c2h)
        h.settle(3, c2h)
        h.compare(c2h, 0x200000, 0x1000, 64)
        h.idle()
      }
      assert(h.errors.isEmpty && h.card.writes == Seq(0x1000L) && h.card.reads == Seq(0x1000L))
    }
  }

  test("bytes of any length go from any address to any address, with any maximum sizes") {
    for ((pace, maxPayload) <- Seq(1.0f -> 256, 0.6f -> 512, 0.3f -> 128))
      run(s"lengths$maxPayload", pace, maxPayload) { h =>
        for (c2h <- both) h.change(1, c2h)
        val lengths = (1 to 70) ++ Seq(127, 128, 129, 511, 512, 513, 4095, 4096, 4097, 9000, 70000)
        for (length <- lengths; c2h <- both) {
          val host = 0x40000000L + 0x40000 * h.random.nextInt(64) + h.random.nextInt(5000)
          val card = 0x100000L + 0x40000 * h.random.nextInt(64) + h.random.nextInt(5000)
          val size = length + 200
          val clear = Seq.fill(size)(0.toByte)
          for (m <- Seq(h.memory, h.wantedHost)) m.write(host - 100, clear)
          for (m <- Seq(h.card.memory, h.wantedCard)) m.write(card - 100, clear)
          h.post(1, c2h, host, card, length)
          h.doorbell(1, c2h)
          h.settle(1, c2h)
          h.compare(c2h, host, card, length)
        }
        h.idle()
        assert(h.errors.isEmpty)
      }
  }
}
