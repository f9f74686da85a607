// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/** A sender and the other end of its link, which reads the frames byte by byte and keeps the time of each class. */
class PauseSenderTest extends AnyFunSuite {
  private val station = Seq(0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee)
  private lazy val compiled =
    SimConfig.withConfig(SpinalConfig(targetDirectory = "target/pauseSender")).compile(new PauseSender)

  /** What a frame told, and the cycles of its first and last beat. */
  case class Got(opcode: Int, fields: Seq[Int], first: Long, last: Long) {
    def enable: Int = if (opcode == 1) 0xff else fields.head
    def quanta(i: Int): Int = if (opcode == 1) fields.head else fields(1 + i)
    def tells(i: Int): Boolean = (enable >> i & 1) == 1
  }

  class Bench(dut: PauseSender, seed: Int, busy: Int) {
    val random = new Random(seed)
    val got = ArrayBuffer[Got]()
    val until = Array.fill(8)(0L) // the other end is blocked
    var cycle, first, held = 0L
    private val bytes = ArrayBuffer[Int]()
    var sent = 0
    dut.io.config.pause #= false
    dut.io.config.pfc #= 0
    dut.io.config.quanta #= 0
    dut.io.config.station #= ControlFrame.address(station)
    dut.io.xoff #= 0
    dut.io.link #= true
    dut.io.skip #= 1
    dut.io.frames.ready #= true
    dut.clockDomain.forkStimulus(10)
    dut.clockDomain.waitSampling(2)
    private var offered = false
    dut.clockDomain.onSamplings {
      cycle += 1
      val frames = dut.io.frames
      assert(frames.valid.toBoolean || !offered, "an offer was withdrawn")
      offered = frames.valid.toBoolean && !frames.ready.toBoolean
      if (dut.io.sent.valid.toBoolean) sent += 1
      if (frames.valid.toBoolean && frames.ready.toBoolean) {
        if (bytes.isEmpty) first = cycle
        val word = frames.data.toBigInt
        for (i <- 0 until 8 - frames.mty.toInt) bytes += (word >> (8 * i) & 0xff).toInt
        if (frames.last.toBoolean) {
          assert(bytes.size == 60 && bytes.slice(6, 12) == station && bytes.take(6) == ControlFrame.multicast)
          val (opcode, fields) = ControlFrame.read(bytes.toSeq, Nil).get
          assert(bytes.drop(if (opcode == 1) 18 else 34).forall(_ == 0))
          got += Got(opcode, fields, first, cycle)
          for (i <- 0 until 8 if got.last.tells(i)) until(i) = cycle + 8L * got.last.quanta(i)
          bytes.clear()
        }
      }
      // Another frame is under way for up to `busy` cycles; inside a frame only the MAC may wait.
      if (held > 0) held -= 1
      else if (bytes.isEmpty && busy > 0 && random.nextInt(3) == 0) held = random.nextInt(busy)
      dut.io.frames.ready #= held == 0 && random.nextInt(20) != 0
    }
    def step(cycles: Int = 1): Unit = dut.clockDomain.waitSampling(cycles)
    def blocked: Int = (0 until 8).filter(until(_) > cycle).map(1 << _).sum
  }

  test("an XOFF is sent, refreshed at half its time, and ended by one XON") {
    compiled.doSim { dut =>
      val bench = new Bench(dut, 1, 0)
      dut.io.config.pfc #= 0x0f
      dut.io.config.quanta #= 100
      bench.step(10)
      val from = bench.cycle
      dut.io.xoff #= 0x12
      bench.step(1200)
      dut.io.xoff #= 0
      bench.step(2000)
      assert(
        bench.got.map(g => (g.opcode, g.enable, g.quanta(1), g.quanta(4))) ==
          Seq.fill(3)((0x0101, 2, 100, 0)) :+ ((0x0101, 2, 0, 0))
      )
      assert(bench.got.head.first - from <= 6)
      assert(bench.got(1).first - bench.got(0).first >= 390 && bench.got(1).first - bench.got(0).first < 420)
      assert(bench.sent == 4)
    }
  }

  for ((name, pause, pfc) <- Seq(("PFC", false, 0xff), ("PFC of some classes", true, 0x5a), ("PAUSE", true, 0)))
    test(s"$name: a class that is to stop stays stopped without a break, and goes on when it may") {
      compiled.doSim(name.replace(" ", "")) { dut =>
        val busy = 1203 // the longest frame
        val bench = new Bench(dut, 7, busy)
        val random = new Random(8)
        val all = pfc == 0
        dut.io.config.pause #= pause
        dut.io.config.pfc #= pfc
        dut.io.config.quanta #= 320
        val mask = if (all) 0xff else pfc
        val since = Array.fill(8)(0L)
        // XON comes once: a class is told 0 only if it was told, or wanted, something else since it was told last.
        val wanting = Array.fill(8)(false)
        val lastWanted = Array.fill(8)(-1000L)
        var told = 0
        var seen = 0
        var xoff = 0
        val late = busy + busy / 3 + 30 // MAC, and the frame itself
        for (_ <- 0 until 120000) {
          if (random.nextInt(3000) == 0) xoff = random.nextInt(256) & random.nextInt(256)
          if (random.nextInt(6000) == 0) xoff = 0
          if (random.nextInt(500) == 0) xoff ^= 1 << random.nextInt(8)
          val before = dut.io.xoff.toInt
          dut.io.xoff #= xoff
          bench.step()
          val wants = if (all) { if (xoff != 0) 0xff else 0 }
          else xoff & mask
          val wanted = if (all) { if (before != 0) 0xff else 0 }
          else before & mask
          for (i <- 0 until 8) {
            if ((wanted >> i & 1) == 1) wanting(i) = true
            since(i) = if (((wants ^ wanted) >> i & 1) == 1) 0 else since(i) + 1
            if (since(i) > late)
              assert((bench.blocked >> i & 1) == (wants >> i & 1), s"class $i at ${bench.cycle}: wants $wants")
          }
          if (bench.got.size > seen) {
            seen = bench.got.size
            val frame = bench.got.last
            for (i <- 0 until 8 if frame.tells(i)) {
              if (frame.quanta(i) == 0) { told += 1; assert(wanting(i), s"class $i is told to go on twice") }
              wanting(i) = frame.quanta(i) != 0 || bench.cycle - lastWanted(i) < 20
            }
          }
          for (i <- 0 until 8 if (wants >> i & 1) == 1) lastWanted(i) = bench.cycle
        }
        val got = bench.got
        assert(
          got.size > 50 && got.forall(g => g.opcode == (if (all) 1 else 0x0101) && (g.enable & ~mask & 0xff) == 0)
        )
        assert(told > 40)
      }
    }

  test("disabling PAUSE or PFC sends the matching XON; losing the link sends none") {
    for (kind <- 0 until 2; link <- Seq(false, true))
      compiled.doSim(s"end$kind$link") { dut =>
        val bench = new Bench(dut, 9, 0)
        dut.io.config.pause #= kind == 0
        dut.io.config.pfc #= (if (kind == 1) 0xff else 0)
        dut.io.config.quanta #= 0xffff
        dut.io.xoff #= 0x81
        bench.step(50)
        assert(bench.got.size == 1 && bench.blocked == (if (kind == 0) 0xff else 0x81))
        if (link) dut.io.link #= false
        else {
          dut.io.config.pause #= false
          dut.io.config.pfc #= 0
        }
        bench.step(100)
        assert(bench.got.size == (if (link) 1 else 2))
        if (!link) assert(bench.blocked == 0 && bench.got.last.opcode == bench.got.head.opcode)
        else {
          dut.io.link #= true
          bench.step(50)
          assert(bench.got.size == 2 && bench.got.last.quanta(0) == 0xffff)
        }
      }
  }

  test("a simulation that skips no more than is quiet sees the same frames") {
    compiled.doSim("skip") { dut =>
      val bench = new Bench(dut, 11, 0)
      dut.io.config.pfc #= 0xff
      dut.io.config.quanta #= 200
      dut.io.xoff #= 1
      bench.step(4)
      var time = 0L
      val begins = ArrayBuffer[Long]()
      while (time < 20000) {
        sleep(1)
        val quiet = dut.io.quietCycles.toLong
        val skip = if (quiet > 40) quiet - 20 else 1
        dut.io.skip #= skip
        val before = bench.sent
        bench.step()
        time += skip
        if (bench.sent != before) begins += time
      }
      val gaps = begins.zip(begins.tail).map { case (a, b) => b - a }
      assert(gaps.size > 20 && gaps.forall(g => g >= 800 && g < 830), gaps)
    }
  }
}
