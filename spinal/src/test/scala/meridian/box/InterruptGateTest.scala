// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.host.{HostInterrupt, UserInterrupts}
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.util.Random

/** How often a reader is told of events, and the messages to the host. */
class InterruptGateTest extends AnyFunSuite {
  private lazy val gate = SimConfig.compile(new InterruptGate)

  test("no event is lost, one that is not acknowledged is told once, and a babbler is told once a gap") {
    gate.doSim(seed = 1) { dut =>
      val cd = clocked(dut)
      val random = new Random(1)
      val gap = 50
      dut.io.gap #= gap
      dut.io.event #= false
      dut.io.acknowledge #= false
      cd.waitSampling(2)
      for (percent <- Seq(1, 10, 100)) { // of cycles with an event
        var cycle, told, events = 0
        var last = -gap
        var unseen = false // an event that no acknowledgement has followed
        var was = false
        for (_ <- 0 until 20000) {
          val event = random.nextInt(100) < percent
          val acknowledge = dut.io.pending.toBoolean && random.nextInt(10) == 0
          dut.io.event #= event
          dut.io.acknowledge #= acknowledge
          cd.waitSampling()
          sleep(1)
          cycle += 1
          if (acknowledge) unseen = false
          if (event) { unseen = true; events += 1 }
          val pending = dut.io.pending.toBoolean
          if (pending && !was) {
            assert(cycle - last > gap, s"told again after ${cycle - last} cycles")
            assert(unseen, "told of nothing")
            last = cycle
            told += 1
          }
          if (acknowledge) assert(!pending, "pending in spite of the acknowledgement")
          was = pending
          if (unseen && !pending) assert(cycle - last <= gap + 1, "an event is not told")
        }
        println(s"$percent %: $events events, told $told times")
        assert(told <= 20000 / gap + 1 && told > 50)
        dut.io.event #= false
        dut.io.acknowledge #= true
        cd.waitSampling(2 * gap)
        dut.io.acknowledge #= false
        cd.waitSampling(2 * gap)
        assert(dut.io.idle.toBoolean && !dut.io.pending.toBoolean)
      }
    }
  }

  test("messages to the host come one after another, each stands until it is answered, and one that fails is told") {
    SimConfig.compile(new UserInterrupts(3)).doSim(seed = 2) { dut =>
      val cd = clocked(dut)
      val random = new Random(2)
      val pins = dut.io.pins
      pins.out_ack #= false
      pins.out_fail #= false
      for ((request, i) <- dut.io.request.zipWithIndex) {
        request.valid #= false
        request.function #= i
        request.vector #= 100 * i
      }
      cd.waitSampling(2)
      val asked, sent, failed, refused = Array.fill(3)(0)
      for (_ <- 0 until 500) {
        for ((request, i) <- dut.io.request.zipWithIndex if !request.valid.toBoolean && random.nextInt(3) == 0) {
          request.valid #= true
          asked(i) += 1
        }
        sleep(1)
        val fired = dut.io.request.map(r => r.valid.toBoolean && r.ready.toBoolean)
        assert(fired.count(identity) <= 1)
        cd.waitSampling()
        for ((fires, i) <- fired.zipWithIndex if fires) dut.io.request(i).valid #= false
        sleep(1)
        if (pins.in_vld.toBoolean) {
          val (function, vector) = (pins.in_fnc.toInt, pins.in_vec.toInt)
          assert(vector == 100 * function)
          for (_ <- 0 until random.nextInt(5)) {
            cd.waitSampling()
            sleep(1)
            assert(pins.in_vld.toBoolean && pins.in_fnc.toInt == function && pins.in_vec.toInt == vector)
          }
          val fails = random.nextInt(4) == 0
          pins.out_ack #= !fails
          pins.out_fail #= fails
          cd.waitSampling()
          sleep(1)
          assert(!pins.in_vld.toBoolean, "the request stands after its answer")
          pins.out_ack #= false
          pins.out_fail #= false
          sent(function) += 1
          if (fails) failed(function) += 1
          for (i <- 0 until 3 if (dut.io.failed.toInt >> i & 1) == 1) refused(i) += 1
        }
      }
      println(s"asked ${asked.toSeq}, sent ${sent.toSeq}, failed ${failed.toSeq}")
      for (i <- 0 until 3) assert(asked(i) - sent(i) <= 1 && sent(i) > 20 && failed(i) > 3 && refused(i) == failed(i))
    }
  }
}
