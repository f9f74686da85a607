// SPDX-License-Identifier: Apache-2.0
package meridian.veb

import meridian.ShellParam
import meridian.host.{Cycles, StreamSink}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib.sim._

import scala.collection.mutable

class PsLookupTest extends AnyFunSuite {
  private val latency = 4
  private val p = ShellParam(ports = 2)

  test("the host's lookups are as if alone, the PS's come in between, in order and in bounded time") {
    SimConfig.compile(new PsLookup(p, latency)).doSim("lookup", 720) { dut =>
      val cd = clocked(dut)
      val cycles = new Cycles(cd)
      val answers = mutable.Queue[() => Unit]()
      val hostAsked = mutable.Queue[Option[BigInt]]()
      val asked = Array.fill(p.ports)(mutable.Queue[(Int, BigInt, Long)]())
      var answered, longest, holds = 0L
      var load = 1.0
      def hit(address: BigInt) = address.testBit(3)
      dut.io.host.query.valid #= false
      val sources = dut.io.query.zipWithIndex.map { case (query, i) =>
        val (driver, queue) = StreamDriver.queue(query, cd)
        driver.setFactor(0.2f)
        queue
      }
      cd.onSamplings {
        // The table.
        val mac = dut.io.mac
        val (valid, address, port) =
          (mac.query.valid.toBoolean, mac.query.address.toBigInt, mac.query.port.toInt)
        answers.enqueue { () =>
          mac.result.valid #= valid
          mac.result.hit #= (if (valid) hit(address) ^ port == 1 else simRandom.nextBoolean())
        }
        if (answers.size == latency) answers.dequeue().apply()
        // The host: it asks in every cycle but those in which it was told to hold off.
        val host = dut.io.host
        hostAsked.enqueue(Option.when(host.query.valid.toBoolean)(host.query.address.toBigInt))
        if (hostAsked.size > latency) {
          val expected = hostAsked.dequeue()
          assert(host.result.valid.toBoolean == expected.isDefined)
          for (address <- expected) assert(host.result.hit.toBoolean == hit(address))
        }
        if (dut.io.hold.toBoolean) holds += 1
        host.query.valid #= !dut.io.hold.toBoolean && simRandom.nextDouble() < load
        host.query.address #= BigInt(48, simRandom)
        host.query.port #= 0
        // The PS.
        for (i <- 0 until p.ports) {
          val query = dut.io.query(i)
          if (query.valid.toBoolean && query.ready.toBoolean)
            asked(i).enqueue((query.tag.toInt, query.address.toBigInt, cycles.now))
          val answer = dut.io.answer(i)
          if (answer.valid.toBoolean) {
            val (tag, address, since) = asked(i).dequeue()
            assert(answer.tag.toInt == tag && answer.known.toBoolean == (hit(address) ^ i == 1))
            longest = longest max cycles.now - since
            answered += 1
          }
        }
      }
      for (share <- Seq(1.0, 0.5, 0.0)) {
        load = share
        val before = holds
        for (n <- 0 until 100; queue <- sources) {
          val address = BigInt(48, simRandom)
          queue.enqueue { query =>
            query.tag #= n
            query.address #= address
            query.vid #= simRandom.nextInt(4096)
          }
        }
        waitFor(cd, "the last question", 20000)(sources.forall(_.isEmpty))
        cd.waitSampling(100)
        assert((holds > before) == (share == 1.0))
      }
      assert(answered == 600 && longest <= 40, s"$answered answers, the longest after $longest cycles")
    }
  }
}
