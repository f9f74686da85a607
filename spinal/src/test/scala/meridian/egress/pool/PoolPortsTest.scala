// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.egress.shape.EcnCurve
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

/** Pools of other numbers of ports than two: each class of each port is marked by its own line, and told as its own. */
class PoolPortsTest extends AnyFunSuite {
  for (ports <- Seq(1, 3, 4)) test(s"each class of $ports ports is marked by its own line") {
    val e = PoolParam(ports, 64, 512, 256, classes = 8, groups = 4, reserve = 24, minimum = 2, maxFrame = 1600)
    SimConfig
      .withConfig(SpinalConfig(targetDirectory = s"target/poolPorts$ports"))
      .compile {
        val dut = new EgressPool(e)
        Seq(dut.cells.io.take, dut.cells.io.keep, dut.cells.io.undo, dut.cells.io.cell).foreach(_.simPublic())
        dut.cells.io.give.simPublic()
        dut
      }
      .doSim(seed = ports) { dut =>
        val b = new PoolBench(dut, e, new scala.util.Random(ports))
        def threshold(port: Int, trafficClass: Int) = (3 * port + trafficClass) % 7 // 0: none is marked
        for (alpha <- dut.io.settings.alpha) alpha #= 7
        for (i <- 0 until ports; c <- 0 until e.classes) b.mark(i, c, threshold(i, c))
        dut.clockDomain.waitSampling(2 * EcnCurve.visitCycles(PoolMarker.lists(e)))
        for (i <- 0 until ports) dut.io.blocked(i) #= 0xff
        val frames = 8
        // All lists in turn, so slowly that the fill of each frame is known.
        for (k <- 0 until frames; c <- 0 until e.classes; i <- 0 until ports) {
          val frame = b.make(60 + b.random.nextInt(190), i, c, k % e.groups)
          frame.makeEct()
          b.send(frame)
          if (c == e.classes - 1 && i == ports - 1) dut.clockDomain.waitSampling(EcnCurve.latency(PoolMarker.lists(e)))
        }
        for (i <- 0 until ports) dut.io.blocked(i) #= 0
        b.settle()
        for (i <- 0 until ports; c <- 0 until e.classes) {
          val expected = if (threshold(i, c) == 0) 0 else frames - threshold(i, c)
          assert(b.toldMarked(i)(c) == expected, s"port $i, class $c")
        }
        b.check()
      }
  }
}
