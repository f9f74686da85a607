// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import scala.collection.mutable
import spinal.core._
import spinal.core.sim._
import spinal.lib.bus.amba4.axilite._

/** A slave that is a memory, takes address and data at any time, and answers as told. Its memory is of a function each. */
class AxiLiteMemory(axi: AxiLite4, awuser: Bits, aruser: Bits, cd: ClockDomain, pace: Float) {
  val memory = mutable.Map[(Int, Long), Long]().withDefaultValue(0L)
  var answers = true
  var refuses = false
  var accesses = Seq[(Boolean, Int, Long)]() // write, function, address
  private val data = mutable.Queue[Long]()
  private val places = mutable.Queue[(Int, Long)]()
  private val reads = mutable.Queue[Long]()
  private var written = 0
  private def sometimes = simRandom.nextFloat() < pace
  private def function(user: Bits) = {
    assert(user.toBigInt < 256, "the other user bits are 0")
    user.toBigInt.toInt
  }
  for (ready <- Seq(axi.aw.ready, axi.w.ready, axi.ar.ready)) ready #= false
  axi.b.valid #= false
  axi.r.valid #= false
  cd.onSamplings {
    if (axi.aw.valid.toBoolean && axi.aw.ready.toBoolean) {
      places.enqueue((function(awuser), axi.aw.addr.toLong))
      accesses = accesses :+ ((true, places.last._1, places.last._2))
    }
    if (axi.w.valid.toBoolean && axi.w.ready.toBoolean) {
      assert(axi.w.strb.toInt == 15)
      data.enqueue(axi.w.data.toLong)
    }
    if (axi.b.valid.toBoolean && axi.b.ready.toBoolean) written -= 1
    if (axi.r.valid.toBoolean && axi.r.ready.toBoolean) reads.dequeue()
    if (axi.ar.valid.toBoolean && axi.ar.ready.toBoolean) {
      val at = (function(aruser), axi.ar.addr.toLong)
      accesses = accesses :+ ((false, at._1, at._2))
      reads.enqueue(memory(at))
    }
    if (places.nonEmpty && data.nonEmpty) {
      val (at, value) = (places.dequeue(), data.dequeue())
      if (!refuses) memory(at) = value
      written += 1
    }
    for (ready <- Seq(axi.aw.ready, axi.w.ready, axi.ar.ready)) ready #= sometimes
    // An answer that was offered stays.
    axi.b.valid #= written > 0 && answers && (axi.b.valid.toBoolean || sometimes)
    axi.r.valid #= reads.nonEmpty && answers && (axi.r.valid.toBoolean || sometimes)
    if (reads.nonEmpty) axi.r.data #= reads.head
    axi.b.resp #= (if (refuses) 2 else 0)
    axi.r.resp #= (if (refuses) 2 else 0)
  }
}

class BarBridgeTest extends AnyFunSuite {
  private val ones = 0xffffffffL
  private val timeout = 64
  private lazy val compiled = SimConfig.compile(new BarBridge(timeout))

  private class Bench(dut: BarBridge, pace: Float) {
    val cd = clocked(dut)
    dut.io.port.access.valid #= false
    val slave = new AxiLiteMemory(dut.io.axil, dut.io.awuser, dut.io.aruser, cd, pace)
    var cycles = 0 // of the last access
    var unanswered = 0
    cd.onSamplings(if (dut.io.unanswered.toBoolean) unanswered += 1)
    cd.waitSampling(5)

    def access(function: Int, offset: Int, write: Boolean, value: Long): Long = {
      val it = dut.io.port.access
      it.valid #= true
      it.isBar2 #= true
      it.upper #= offset >> 18
      it.access.offset #= offset & 0x3ffff
      it.access.function #= function
      it.access.write #= write
      it.access.data #= value
      cycles = 0
      do {
        cd.waitSampling()
        cycles += 1
        assert(cycles < 1000, "the access does not end")
      } while (!it.ready.toBoolean)
      val result = dut.io.port.value.toLong
      it.valid #= false
      result
    }
    def read(function: Int, offset: Int): Long = access(function, offset, write = false, 0)
    def write(function: Int, offset: Int, value: Long): Unit = access(function, offset, write = true, value)
  }
  private def run(name: String, pace: Float)(body: Bench => Unit): Unit =
    compiled.doSim(name, 5)(dut => body(new Bench(dut, pace)))

  for (pace <- Seq(1.0f, 0.5f))
    test(s"each access is one of the bus, with offset and function, pace $pace") {
      run("accesses", pace) { bench =>
        val expected = mutable.Map[(Int, Int), Long]().withDefaultValue(0L)
        for (i <- 0 until 200) {
          val at =
            (Seq(0, 3, 4, 255)(simRandom.nextInt(4)), Seq(0, 4, 0x3fffc, 0x40000, 0x3ffffc)(simRandom.nextInt(5)))
          val write = simRandom.nextBoolean()
          if (write) {
            expected(at) = simRandom.nextLong() & ones
            bench.write(at._1, at._2, expected(at))
          } else assert(bench.read(at._1, at._2) == expected(at))
          assert(bench.slave.accesses.size == i + 1 && bench.slave.accesses.last == ((write, at._1, at._2.toLong)))
          if (simRandom.nextBoolean()) bench.cd.waitSampling(simRandom.nextInt(5))
        }
      }
    }

  test("a read that is refused is all ones, and a write that is refused has no effect") {
    run("refused", 0.7f) { bench =>
      bench.write(1, 0x10, 5)
      bench.slave.refuses = true
      assert(bench.read(1, 0x10) == ones)
      bench.write(1, 0x10, 6)
      bench.slave.refuses = false
      assert(bench.read(1, 0x10) == 5 && bench.unanswered == 0)
    }
  }

  test("a slave that does not answer holds up one access, and its late answer is nobody's") {
    run("hung", 1.0f) { bench =>
      bench.write(0, 0x10, 5)
      bench.slave.answers = false
      assert(bench.read(0, 0x10) == ones && bench.cycles <= timeout + 10, bench.cycles)
      for (write <- Seq(true, false, false)) {
        val value = bench.access(0, 0x10, write, 7)
        assert((write || value == ones) && bench.cycles <= 6, bench.cycles)
      }
      bench.slave.answers = true
      bench.cd.waitSampling(20)
      assert(bench.read(0, 0x10) == ones && bench.slave.memory((0, 0x10)) == 5)
      bench.cd.waitSampling(2)
      assert(bench.unanswered == 5, "each access from then on is told")
    }
  }
}
