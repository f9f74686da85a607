// SPDX-License-Identifier: Apache-2.0
package meridian.dma.memory

import meridian.dma.pcie.HostMemory
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import spinal.core.sim._
import spinal.lib.sim._

/** Bursts of any rows and strobes, compared with a memory of bytes. */
class CardMemoryTest extends AnyFunSuite {
  test("what was written is read, and nothing is behind the memory's end") {
    SimConfig.compile(new CardMemory(16384)).doSim(13) { dut =>
      val cd = clocked(dut)
      val random = new Random(13)
      val axi = dut.io.axi
      val wanted = new HostMemory
      val (_, addresses) = StreamDriver.queue(axi.aw, cd)
      val (writer, data) = StreamDriver.queue(axi.w, cd)
      val (_, asks) = StreamDriver.queue(axi.ar, cd)
      StreamReadyRandomizer(axi.b, cd)
      StreamReadyRandomizer(axi.r, cd)
      writer.setFactor(0.7f)
      var (answers, rows) = (Seq[Int](), Seq[(BigInt, Int, Boolean)]())
      StreamMonitor(axi.b, cd)(b => answers = answers :+ b.resp.toInt)
      StreamMonitor(axi.r, cd)(r => rows = rows :+ ((r.data.toBigInt, r.resp.toInt, r.last.toBoolean)))
      val outside = Seq(16384L, 1L << 40, 1L << 63)
      // All of it is written first.
      val starts = (0 until 16384 by 512).map(_.toLong -> 16) ++ Seq.fill(300) {
        val row = random.nextInt(512)
        (if (random.nextInt(8) == 0) outside(random.nextInt(3)) else 32L * row) -> (1 + random
          .nextInt(16 min 512 - row))
      }
      for (((address, count), n) <- starts.zipWithIndex) {
        val isOutside = address < 0 || address >= 16384
        addresses.enqueue { aw =>
          aw.addr #= BigInt(address) & ((BigInt(1) << 64) - 1)
          aw.len #= count - 1
          aw.size #= 5
          aw.burst #= 1
        }
        for (i <- 0 until count) {
          val bits = BigInt(256, random)
          val strobes = if (n < 32) (BigInt(1) << 32) - 1 else BigInt(32, random)
          data.enqueue { w =>
            w.data #= bits
            w.strb #= strobes
            w.last #= (i == count - 1)
          }
          for (lane <- 0 until 32 if strobes.testBit(lane) && !isOutside)
            wanted.write(address + 32 * i + lane, Seq((bits >> (8 * lane)).toByte))
        }
        waitFor(cd, "the answer")(answers.size == n + 1)
        assert(answers.last == (if (isOutside) 3 else 0))
        rows = Nil
        asks.enqueue { ar =>
          ar.addr #= BigInt(address) & ((BigInt(1) << 64) - 1)
          ar.len #= count - 1
          ar.size #= 5
          ar.burst #= 1
        }
        waitFor(cd, "the rows")(rows.size == count)
        for (((bits, resp, last), i) <- rows.zipWithIndex) {
          assert(last == (i == count - 1) && resp == (if (isOutside) 3 else 0))
          val bytes = if (isOutside) Seq.fill(32)(0.toByte) else wanted.read(address + 32 * i, 32)
          assert(toBytes(bits, 32).toSeq == bytes)
        }
      }
    }
  }
}
