// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.egress.pool.PoolParam
import meridian.egress.shape.EcnLine
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.util.Random

/** The page of a pool by itself: what its settings reach, and that each event is counted once. */
class EgressRegsTest extends AnyFunSuite {
  private val p = ShellParam(ports = 4, hostBytes = 64, egress = true, pool = true)
  private def compile(p: ShellParam): SimCompiled[EgressRegs] =
    SimConfig.withConfig(SpinalConfig(targetDirectory = s"target/egressRegs${p.ports}")).compile(new EgressRegs(p))
  private lazy val compiled = compile(p)
  private val classes = PoolParam.classes

  class Bench(dut: EgressRegs, ports: Int = p.ports) {
    dut.io.bus.cmd.valid #= false
    dut.io.free #= 0
    dut.io.discarded #= 0
    for (i <- 0 until ports) {
      dut.io.rates(i).rate #= 0
      dut.io.rates(i).burst #= 0
      dut.io.begun(i).valid #= false
      dut.io.lost(i) #= 0
      dut.io.marked(i) #= 0
    }
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling(50)
    dut.io.free #= dut.e.cells
    dut.clockDomain.waitSampling(50)

    private def access(at: Int, write: Boolean, data: BigInt, function: Int): BigInt = {
      val cmd = dut.io.bus.cmd
      cmd.valid #= true
      cmd.write #= write
      cmd.address #= at
      cmd.data #= data
      cmd.function #= function
      cmd.fromHost #= true
      var left = 20
      do { dut.clockDomain.waitSampling(); left -= 1 } while (!cmd.ready.toBoolean && left > 0)
      cmd.valid #= false
      do { dut.clockDomain.waitSampling(); left -= 1 } while (!dut.io.bus.rsp.valid.toBoolean && left > 0)
      assert(left > 0, "no answer")
      assert(!dut.io.bus.rsp.unmapped.toBoolean, s"nothing is at ${at.toHexString}")
      dut.io.bus.rsp.data.toBigInt
    }
    def read(at: Int, function: Int = 0): BigInt = access(at, write = false, 0, function)
    def write(at: Int, value: BigInt): Unit = access(at, write = true, value, 0)
    def counter(port: Int, c: Int, kind: Int): BigInt = {
      val at = EgressRegs.offset(port, c, kind)
      read(at) + (read(at + 4) << 32)
    }
  }

  test("settings reach the pool, and are read back") {
    compiled.doSim { dut =>
      val bench = new Bench(dut)
      import bench._
      assert(read(0x00) == dut.e.cells + (256 << 16) && read(0x04) == dut.e.reserve + (dut.e.minimum << 16))
      write(0x0c, BigInt("76543210", 16))
      for (i <- 0 until p.ports) {
        assert(read(0x40 + 0x10 * i) == BigInt("76543210", 16) && read(0x44 + 0x10 * i) == 0xff)
        write(0x40 + 0x10 * i, BigInt("01234567", 16))
        write(0x44 + 0x10 * i, 0x50 + i)
        write(0x48 + 0x10 * i, BigInt("ff020100", 16) + i)
        write(0x4c + 0x10 * i, BigInt("40302010", 16) + i)
      }
      assert((0 until classes).forall(c => dut.io.settings.alpha(c).toInt == c))
      for (i <- 0 until p.ports) {
        assert(read(0x48 + 0x10 * i) == BigInt("ff020100", 16) + i)
        assert((0 until 8).forall(n => dut.io.classes(i).of(n).toInt == 7 - n))
        val port = dut.io.settings.weights(i)
        assert(port.strict.toInt == 0x50 + i)
        assert(port.weight.map(_.toInt) == Seq(i, 1, 2, 255, 0x10 + i, 0x20, 0x30, 0x40))
      }
    }
  }

  test("each word of the rates reaches its class and port, and is read back from there") {
    compiled.doSim("rates") { dut =>
      val bench = new Bench(dut)
      import bench._
      val written = collection.mutable.ArrayBuffer[(Int, Int, Boolean, Boolean, BigInt)]()
      dut.clockDomain.onSamplings {
        for (i <- 0 until p.ports; port = dut.io.rates(i) if port.write.valid.toBoolean) {
          val word = port.write
          assert(port.look.toInt == word.trafficClass.toInt)
          written += ((i, word.trafficClass.toInt, port.least.toBoolean, word.isBurst.toBoolean, word.value.toBigInt))
        }
      }
      assert(read(0x10) == 488281, "the unit of rates in bit/s")
      for (i <- 0 until p.ports; c <- 0 until classes; (_, kind) <- EgressRegs.rateKinds.zipWithIndex) {
        val value = BigInt(1000 * i + 100 * c + kind + 1)
        write(EgressRegs.rate(i, c, kind), value)
        assert(written.toSeq == Seq((i, c, kind >= 2, kind % 2 == 1, value)))
        written.clear()
        for (k <- 0 until p.ports) {
          dut.io.rates(k).rate #= 70000 + k
          dut.io.rates(k).burst #= 60000 + k
        }
        assert(read(EgressRegs.rate(i, c, kind)) == (if (kind % 2 == 1) 60000 + i else 70000 + i))
        assert(dut.io.rates(i).look.toInt == c && dut.io.rates(i).least.toBoolean == (kind >= 2))
      }
      // Neither a counter nor another setting is a rate.
      for (at <- Seq(0x0c, 0x44, EgressRegs.counterBase, EgressRegs.counterBase + 0x200)) write(at, 1)
      assert(written.isEmpty)
    }
  }

  test("each word of the lines by which frames are marked reaches its class and port, and is read back from there") {
    compiled.doSim("lines") { dut =>
      val bench = new Bench(dut)
      import bench._
      val written = collection.mutable.ArrayBuffer[(Int, Boolean, Seq[Int])]()
      def values(of: EcnLine): Seq[Int] = Seq(of.min, of.max, of.slope, of.weight).map(_.toInt)
      val lines = dut.io.lines
      dut.clockDomain.onSamplings {
        if (lines.write.toBoolean) written += ((lines.list.toInt, lines.isSlope.toBoolean, values(lines.value)))
      }
      for (i <- 0 until p.ports; c <- 0 until classes) {
        val Seq(min, max, slope, weight) = Seq(0xff00 + 8 * i + c, 0x1000 + c, 0x10001 + 8 * i + c, c)
        write(EgressRegs.line(i, c, 0), min + (BigInt(max) << 16))
        write(EgressRegs.line(i, c, 1), slope + (BigInt(weight) << 20))
        val Seq((at, isSlope, bounds), (at2, isSlope2, slopes)) = written.toSeq
        assert(at == 8 * i + c && !isSlope && bounds.take(2) == Seq(min, max))
        assert(at2 == 8 * i + c && isSlope2 && slopes.drop(2) == Seq(slope, weight))
        written.clear()
        for (
          (field, value) <- Seq(lines.line.min, lines.line.max, lines.line.slope, lines.line.weight)
            .zip(bounds.take(2) ++ slopes.drop(2))
        )
          field #= value
        assert(read(EgressRegs.line(i, c, 0)) == min + (BigInt(max) << 16))
        assert(read(EgressRegs.line(i, c, 1)) == slope + (BigInt(weight) << 20) && lines.list.toInt == 8 * i + c)
      }
      for (at <- Seq(0x0c, 0x44, EgressRegs.rateBase, EgressRegs.counterBase, EgressRegs.counterBase + 0x200))
        write(at, 1)
      assert(written.isEmpty)
    }
  }

  for (ports <- 1 to 4)
    test(s"places of ports that a build with $ports does not have read 0, and a write there reaches nothing") {
      compile(p.copy(ports = ports)).doSim { dut =>
        val bench = new Bench(dut, ports)
        import bench._
        val lines = dut.io.lines
        val all = Seq(lines.line.min, lines.line.max, lines.line.slope, lines.line.weight)
        for (word <- all ++ dut.io.rates.flatMap(port => Seq(port.rate, port.burst))) word #= word.maxValue
        var writes = 0
        dut.clockDomain.onSamplings {
          if (lines.write.toBoolean) writes += 1
          writes += dut.io.rates.count(_.write.valid.toBoolean)
        }
        for (i <- 0 until 4; c <- 0 until classes) {
          val before = writes
          val places = (0 until 2).map(EgressRegs.line(i, c, _)) ++ (0 until 4).map(EgressRegs.rate(i, c, _))
          for (at <- places) {
            assert((read(at) != 0) == (i < ports), s"of port $i and class $c at ${at.toHexString}")
            write(at, BigInt("ffffffff", 16))
          }
          assert(writes - before == (if (i < ports) places.size else 0), s"of port $i and class $c")
          for (k <- 0 until 8) assert(read(EgressRegs.offset(i, c, 0) + 4 * k) == 0)
        }
      }
    }

  test("each frame is counted once, whatever comes in one cycle") {
    compiled.doSim(seed = 3) { dut =>
      val bench = new Bench(dut)
      val random = new Random(3)
      val expected = Array.fill(p.ports, classes, 4)(BigInt(0))
      // Of a port: frames that begin 6 cycles apart; of all ports: one frame a cycle that finds no room.
      val next = Array.fill(p.ports)(0)
      // While MACs are in reset, what is in the pool leaves it and is lost, beside what finds no room.
      for (cycle <- 0 until 12000) {
        val full, marked = random.nextInt(p.ports)
        val discarded = if (cycle < 6000) 0 else random.nextInt(1 << p.ports)
        dut.io.discarded #= discarded
        for (i <- 0 until p.ports) {
          dut.io.lost(i) #= 0
          dut.io.marked(i) #= 0
          if (i == marked && random.nextInt(3) != 0) {
            val c = random.nextInt(classes)
            dut.io.marked(i) #= 1 << c
            expected(i)(c)(3) += 1
          }
          if (i == full && (cycle >= 9000 || random.nextInt(4) != 0)) {
            val c = random.nextInt(classes)
            dut.io.lost(i) #= 1 << c
            expected(i)(c)(2) += 1
          }
          val begins = cycle >= next(i) && random.nextInt(8) != 0
          dut.io.begun(i).valid #= begins
          if (begins) {
            next(i) = cycle + 6
            val (c, length) = (random.nextInt(classes), 14 + random.nextInt(9590))
            dut.io.begun(i).trafficClass #= c
            dut.io.begun(i).bytes #= length
            if ((discarded >> i & 1) == 1) expected(i)(c)(2) += 1
            else {
              expected(i)(c)(0) += 1
              expected(i)(c)(1) += length
            }
          }
        }
        dut.clockDomain.waitSampling()
      }
      for (i <- 0 until p.ports) {
        dut.io.begun(i).valid #= false
        dut.io.lost(i) #= 0
        dut.io.marked(i) #= 0
      }
      dut.clockDomain.waitSampling(30)
      for (i <- 0 until p.ports; c <- 0 until classes; k <- 0 until 4)
        assert(bench.counter(i, c, k) == expected(i)(c)(k), s"port $i, class $c, ${EgressRegs.kinds(k)._1}")
      assert(expected.flatten.flatten.sum > 10000000)
    }
  }

  test("the high word that a read of the low one keeps is that of the counter, whatever else is read between") {
    compiled.doSim { dut =>
      val bench = new Bench(dut)
      import bench._
      val flow = dut.io.begun(0)
      val most = (1 << flow.bytes.getWidth) - 1
      flow.trafficClass #= 0
      flow.bytes #= most
      val frames = ((BigInt(1) << 32) / most + 2).toInt
      for (_ <- 0 until frames) {
        flow.valid #= true
        dut.clockDomain.waitSampling()
        flow.valid #= false
        dut.clockDomain.waitSampling(5)
      }
      dut.clockDomain.waitSampling(20)
      val at = EgressRegs.offset(0, 0, 1)
      val low = read(at)
      // Settings whose places in the page are those of other counters, which are small.
      for (other <- Seq(0x00, 0x08, 0x40, 0x48)) read(other)
      assert(low + (read(at + 4) << 32) == BigInt(frames) * most)
    }
  }

  test("the most cells in use are told until a write") {
    compiled.doSim { dut =>
      val bench = new Bench(dut)
      import bench._
      assert(read(0x08) == 0, "cells count as used while they become free after reset")
      for ((free, peak) <- Seq(dut.e.cells - 7 -> 7, dut.e.cells - 90 -> 90, dut.e.cells - 3 -> 90)) {
        dut.io.free #= free
        dut.clockDomain.waitSampling(4)
        assert(read(0x08) == dut.e.cells - free + (peak << 16))
      }
      write(0x08, 0)
      assert(read(0x08) == 3 + (3 << 16))
    }
  }
}
