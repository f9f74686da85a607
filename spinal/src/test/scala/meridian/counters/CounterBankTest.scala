// SPDX-License-Identifier: Apache-2.0
package meridian.counters

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

class CounterBankTest extends AnyFunSuite {
  private val settle = 5 // cycles until an add is seen by a read
  private val readLatency = 2

  private def run(entries: Int, width: Int, amountBits: Int, seed: Int): Unit =
    SimConfig.compile(new CounterBank(entries, width, amountBits)).doSim(seed = seed) { dut =>
      println(s"seed $seed")
      val random = new Random(seed)
      dut.io.add.valid #= false
      dut.io.read.valid #= false
      dut.io.clear #= false
      dut.clockDomain.forkStimulus(10)

      def waitReady(): Unit = {
        var waited = 0
        while (!dut.io.ready.toBoolean) {
          dut.clockDomain.waitSampling()
          sleep(1)
          waited += 1
          assert(waited <= entries + 6, "clearing takes too long")
        }
      }
      dut.clockDomain.waitSampling(3)
      sleep(1)
      waitReady()

      val sums = Array.fill(entries)(BigInt(0))
      val inFlight = mutable.Queue.fill(settle - 1)(Option.empty[(Int, BigInt)])
      val answers = mutable.Queue.fill(readLatency - 1)(Option.empty[BigInt])
      var adds, reads, clears = 0
      for (cycle <- 0 until 30000) {
        // Long runs at full rate on few indexes, where forwarding has to work.
        val spread = if ((cycle / 500) % 3 == 0) entries else 1 + random.nextInt(3)
        val add = (cycle / 1000) % 2 == 0 || random.nextInt(3) == 0
        val index = random.nextInt(spread.min(entries))
        val amount = BigInt(amountBits, random)
        val read = random.nextBoolean()
        val readIndex = random.nextInt(if (random.nextBoolean()) 2 else entries)
        dut.io.add.valid #= add
        dut.io.add.index #= index
        dut.io.add.amount #= amount
        dut.io.read.valid #= read
        dut.io.read.payload #= readIndex
        dut.clockDomain.waitSampling()
        sleep(1)

        answers.enqueue(if (read) Some(sums(readIndex)) else None)
        inFlight.enqueue(if (add) Some((index, amount)) else None)
        for ((i, a) <- inFlight.dequeue()) sums(i) = (sums(i) + a) % (BigInt(1) << width)
        val answer = answers.dequeue()
        assert(dut.io.value.valid.toBoolean == answer.isDefined, s"cycle $cycle")
        for (expected <- answer) assert(dut.io.value.payload.toBigInt == expected, s"cycle $cycle")
        if (add) adds += 1
        if (read) reads += 1

        if (cycle % 7001 == 7000) {
          clears += 1
          dut.io.add.valid #= random.nextBoolean()
          dut.io.read.valid #= false
          dut.io.clear #= true
          dut.clockDomain.waitSampling()
          sleep(1)
          dut.io.clear #= false
          assert(!dut.io.ready.toBoolean)
          dut.io.add.valid #= true // ignored meanwhile
          for (i <- sums.indices) sums(i) = 0
          for (i <- inFlight.indices) inFlight(i) = None
          for (i <- answers.indices) answers(i) = None
          waitReady()
        }
      }
      println(s"$entries entries: $adds adds, $reads reads, $clears clears")
      assert(adds > 15000 && reads > 10000 && clears == 4)
    }

  test("counters of 64 bits in distributed RAM are the sums of what was added") { run(40, 64, 16, 31) }
  test("counters of 64 bits in block RAM are the sums of what was added") { run(300, 64, 14, 32) }
  test("narrow counters wrap") { run(4, 9, 9, 33) }
}
