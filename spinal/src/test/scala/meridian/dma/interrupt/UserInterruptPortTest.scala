// SPDX-License-Identifier: Apache-2.0
package meridian.dma.interrupt

import meridian.dma.{DmaParam, InterruptRequest}
import meridian.host.{HostInterrupt, UserInterrupts}
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable
import scala.util.Random

/** Interrupts of the shell's modules, from where they are asked for to the engine. */
class UserInterruptPortTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16, vectors = 16, toldVectors = 8)

  class Bench extends Component {
    val sender = new UserInterrupts(1)
    val port = new UserInterruptPort(p)
    port.io.pins <> sender.io.pins
    val ask = slave(Stream(HostInterrupt()))
    sender.io.request(0) << ask
    val failed = out(Bool())
    failed := sender.io.failed(0)
    val idle = out(Bool())
    idle := sender.io.idle
    val busMaster = in Bits (p.functions bits)
    port.io.busMaster := busMaster
    val request = master(Stream(InterruptRequest()))
    request << port.io.request
  }

  /** @param changes  functions lose and get the bus while a request stands, so that only its one answer is certain */
  def run(name: String, changes: Boolean): Unit = test(name) {
    SimConfig.compile(new Bench).doSim(seed = 7) { dut =>
      val random = new Random(7)
      dut.clockDomain.forkStimulus(10)
      val taken, expected = mutable.Queue[(Int, Int)]()
      var failed, refused = 0
      var masters = BigInt(0)
      dut.busMaster #= masters
      dut.ask.valid #= false
      dut.request.ready #= false
      dut.clockDomain.onSamplings {
        if (dut.failed.toBoolean) failed += 1
        if (dut.request.valid.toBoolean && dut.request.ready.toBoolean)
          taken += ((dut.request.function.toInt, dut.request.vector.toInt))
        dut.request.ready #= random.nextInt(3) == 0
      }
      for (_ <- 0 until 3000) {
        if (random.nextInt(20) == 0) masters = BigInt(p.functions, random.self)
        dut.busMaster #= masters
        val (function, vector) = (random.nextInt(if (random.nextInt(4) == 0) 256 else p.functions), random.nextInt(18))
        dut.ask.valid #= true
        dut.ask.function #= function
        dut.ask.vector #= (if (vector == 17) 2047 else vector)
        val can = function < p.functions && masters.testBit(function) && vector < p.toldVectors
        if (can) expected += ((function, vector)) else refused += 1
        dut.clockDomain.waitSamplingWhere(dut.ask.ready.toBoolean)
        dut.ask.valid #= false
        if (changes) {
          dut.clockDomain.waitSampling(random.nextInt(5))
          dut.busMaster #= BigInt(p.functions, random.self)
        }
        dut.clockDomain.waitSamplingWhere(100)(dut.idle.toBoolean)
        dut.clockDomain.waitSampling(random.nextInt(4))
      }
      dut.clockDomain.waitSampling(20)
      assert(changes || (taken == expected && failed == refused))
      assert(taken.size + failed == 3000 && taken.size > 300 && failed > 300, s"${taken.size} taken, $failed failed")
    }
  }

  run("each request is taken once or fails once, and fails if nobody could be told, while the engine is slow", false)
  run("each request has one answer, also if its function loses or gets the bus meanwhile", true)
}
