// SPDX-License-Identifier: Apache-2.0
package meridian.frame

import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

import scala.collection.mutable
import scala.util.Random

class FrameWidthTest extends AnyFunSuite {
  val wide = Seq(32, 64)
  val metaType = HardType(UInt(8 bits))

  /** Both converters at both widths in one model. */
  class Bank extends Component {
    val up = wide.map(new FrameUpsizer(8, _, metaType))
    val down = wide.map(new FrameDownsizer(_, 8, metaType))
    val upInput = in(cloneOf(up.head.io.input))
    val upOutputs = up.map(u => out(cloneOf(u.io.output)).setName(s"upOutput${u.ratio}"))
    val downInputs = down.map(d => slave(cloneOf(d.io.input)).setName(s"downInput${d.ratio}"))
    val downOutputs = down.map(d => master(cloneOf(d.io.output)).setName(s"downOutput${d.ratio}"))
    for ((u, o) <- up.zip(upOutputs)) {
      u.io.input := upInput
      o := u.io.output
    }
    for ((d, (i, o)) <- down.zip(downInputs.zip(downOutputs))) {
      d.io.input << i
      o << d.io.output
    }
  }

  lazy val compiled = SimConfig.compile(new Bank)

  def word(bytes: Seq[Byte]): BigInt = bytes.zipWithIndex.map { case (b, k) => BigInt(b & 0xff) << (8 * k) }.sum
  def unpack(data: BigInt, count: Int): Seq[Byte] = Seq.tabulate(count)(i => (data >> (8 * i)).toByte)

  /** Collects a stream of frames from its beats. */
  class Collector(bytes: Int) {
    val frames = mutable.ArrayBuffer[(Seq[Byte], Int)]()
    private val data = mutable.ArrayBuffer[Byte]()
    def beat(word: FrameWord[UInt], last: Bool): Unit = {
      val mty = word.mty.toInt
      assert(mty == 0 || last.toBoolean)
      data ++= unpack(word.data.toBigInt, bytes - mty)
      if (last.toBoolean) {
        frames += data.toSeq -> word.meta.toInt
        data.clear()
      } else assert(data.length % bytes == 0)
    }
  }

  def randomFrames(random: Random, count: Int): Seq[(Seq[Byte], Int)] =
    Seq.fill(count) {
      val length = 1 + random.nextInt(if (random.nextBoolean()) 20 else 200)
      Seq.fill(length)(random.nextInt().toByte) -> random.nextInt(256)
    }

  for (seed <- 1 to 2) test(s"up: a beat in every cycle, or with gaps, seed $seed") {
    compiled.doSim(s"up$seed", seed = seed) { dut =>
      val random = new Random(seed)
      val frames = randomFrames(random, 200)
      val collectors = wide.map(new Collector(_))
      dut.upInput.valid #= false
      dut.downInputs.foreach(_.valid #= false)
      dut.clockDomain.forkStimulus(10)
      dut.clockDomain.waitSampling(4)
      dut.clockDomain.onSamplings {
        for ((o, c) <- dut.upOutputs.zip(collectors)) if (o.valid.toBoolean) c.beat(o.fragment, o.last)
      }
      for ((data, meta) <- frames; (w, i) <- data.grouped(8).toSeq.zipWithIndex) {
        while (seed == 2 && random.nextBoolean()) {
          dut.upInput.valid #= false
          dut.upInput.last #= random.nextBoolean()
          dut.clockDomain.waitSampling()
        }
        dut.upInput.valid #= true
        dut.upInput.data #= word(w)
        dut.upInput.mty #= 8 - w.length
        dut.upInput.last #= 8 * i + w.length == data.length
        dut.upInput.meta #= meta
        dut.clockDomain.waitSampling()
      }
      dut.upInput.valid #= false
      dut.clockDomain.waitSampling(2)
      for (c <- collectors) assert(c.frames == frames)
    }
  }

  for (seed <- 3 to 4) test(s"down: no bubble, and any back-pressure, seed $seed") {
    compiled.doSim(s"down$seed", seed = seed) { dut =>
      val random = new Random(seed)
      val frames = randomFrames(random, 200)
      dut.upInput.valid #= false
      dut.downInputs.foreach(_.valid #= false)
      dut.downOutputs.foreach(_.ready #= false)
      dut.clockDomain.forkStimulus(10)
      dut.clockDomain.waitSampling(4)
      for ((bytes, k) <- wide.zipWithIndex) {
        val (input, output) = (dut.downInputs(k), dut.downOutputs(k))
        val collector = new Collector(8)
        val beats = frames.map(f => (f._1.length + 7) / 8).sum
        var cycles = 0
        var counting = false
        dut.clockDomain.onSamplings {
          if (counting) cycles += 1
          if (output.valid.toBoolean && output.ready.toBoolean) collector.beat(output.fragment, output.last)
          output.ready #= seed == 3 || random.nextBoolean()
        }
        dut.clockDomain.waitSampling(2)
        for ((data, meta) <- frames; (w, i) <- data.grouped(bytes).toSeq.zipWithIndex) {
          input.valid #= true
          input.data #= word(w) | (BigInt(0xaa) << (8 * bytes - 8) & ~((BigInt(1) << (8 * w.length)) - 1))
          input.mty #= bytes - w.length
          input.last #= bytes * i + w.length == data.length
          input.meta #= meta
          counting = true
          dut.clockDomain.waitSamplingWhere(200)(input.ready.toBoolean)
        }
        input.valid #= false
        counting = false
        dut.clockDomain.waitSampling(2)
        assert(collector.frames == frames)
        if (seed == 3) assert(cycles == beats, "a narrow beat in every cycle")
      }
    }
  }
}
