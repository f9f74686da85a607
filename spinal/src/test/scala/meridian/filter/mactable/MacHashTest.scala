// SPDX-License-Identifier: Apache-2.0
package meridian.filter.mactable

import meridian.LongTest
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random
import spinal.core._
import spinal.core.sim._

class MacHashTest extends AnyFunSuite {

  /** The first bytes of a keystream, each from its lowest bit on. */
  def bytes(key: BigInt, count: Int): String =
    Trivium
      .keystream(key)
      .take(8 * count)
      .grouped(8)
      .map { bits =>
        f"${bits.zipWithIndex.map { case (bit, i) => if (bit) 1 << i else 0 }.sum}%02X"
      }
      .mkString

  test("the keystream is that of the published test vectors") {
    // eSTREAM, Trivium, 80 bits of key: set 1 vector 0 (key 80 00 ... 00: the last byte is K1 to K8), set 2 vector 0.
    assert(bytes(BigInt(1) << 72, 32) == "38EB86FF730D7A9CAF8DF13A4420540DBB7B651464C87501552041C249F29A64")
    assert(bytes(BigInt(0), 32) == "FBE0BF265859051B517A2E4E239FC97F563203161907CF2DE7A8790FA1B2E9CD")
  }

  // Rows are drawn at 3, 9 and 13 steps below.
  for ((steps, more) <- Seq(1 -> Nil, 5 -> Seq(LongTest), 9 -> Seq(LongTest), 13 -> Nil, 64 -> Nil))
    test(s"the cipher gives the keystream, $steps steps a cycle", more: _*) {
      SimConfig.compile(new Trivium(steps)).doSim(steps) { dut =>
        val random = new Random(steps)
        val cd = dut.clockDomain
        dut.io.key.valid #= false
        dut.io.start #= false
        dut.io.step #= false
        cd.forkStimulus(10)
        SimTimeout(10L * 1000000)
        for (_ <- 0 until 3) {
          val key = BigInt(Trivium.keyBits, random)
          for (word <- random.shuffle(Seq(0, 1, 2))) {
            dut.io.key.valid #= true
            dut.io.key.word #= word
            dut.io.key.data #= (key >> (32 * word)) & 0xffffffffL
            cd.waitSampling()
          }
          dut.io.key.valid #= false
          dut.io.start #= true
          cd.waitSampling()
          dut.io.start #= false
          val count = Trivium.warmUp + 40 * steps
          val got = new StringBuilder
          while (got.size < count) {
            dut.io.step #= random.nextBoolean()
            sleep(1)
            if (dut.io.step.toBoolean)
              for (i <- 0 until steps) got += (if (dut.io.bits.toBigInt.testBit(i)) '1' else '0')
            cd.waitSampling()
          }
          dut.io.step #= false
          val wanted = Trivium.keystream(key).take(got.size - Trivium.warmUp).map(if (_) '1' else '0').mkString
          assert(got.drop(Trivium.warmUp).mkString == wanted, s"$steps steps a cycle, key $key")
        }
      }
    }

  /** A hash whose rows are drawn. */
  class Drawn(shape: MacTableShape) extends Component {
    val rows = new MacHashRows(shape)
    val hash = new MacHash(shape)
    hash.io.row << rows.io.row
    val io = rows.io.toIo().setName("rows")
    val key = in(cloneOf(hash.io.key))
    hash.io.key := key
    val index = out(CombInit(hash.io.index))
    val anyIndex = out(CombInit(hash.io.anyIndex))
  }

  test("rows and slots are those of the model, before a key is written and after") {
    val shapes = Seq(
      MacTableShape(ways = 4, depth = 512, keyBits = 63, scopeBits = 13, valueBits = 9, entries = 1024),
      MacTableShape(ways = 2, depth = 8, keyBits = 21, scopeBits = 1, valueBits = 9, entries = 8),
      MacTableShape(ways = 4, depth = 8192, keyBits = 61, scopeBits = 13, valueBits = 9, entries = 16384)
    )
    for (shape <- shapes) SimConfig.compile(new Drawn(shape)).doSim(1) { dut =>
      val random = new Random(shape.depth)
      val cd = dut.clockDomain
      dut.io.key.valid #= false
      dut.io.start #= false
      cd.forkStimulus(10)
      SimTimeout(10L * 1000000)
      def checkSlots(model: MacHashModel): Unit = for (_ <- 0 until 500) {
        val key = BigInt(shape.keyBits - 1, random)
        dut.key #= key
        cd.waitSampling()
        sleep(1)
        val any = key.setBit(shape.keyBits - 1)
        for (way <- 0 until shape.ways) {
          assert(dut.index(way).toInt == model.slot(key, way))
          assert(dut.anyIndex(way).toInt == model.slot(any, way))
        }
      }
      cd.waitSampling()
      assert(!dut.io.drawn.toBoolean)
      checkSlots(MacHashModel(shape, BigInt(0)))
      for (_ <- 0 until 2) {
        val key = BigInt(Trivium.keyBits, random)
        for (word <- 0 until 3) {
          dut.io.key.valid #= true
          dut.io.key.word #= word
          dut.io.key.data #= (key >> (32 * word)) & 0xffffffffL
          dut.io.start #= word == 2
          cd.waitSampling()
        }
        dut.io.key.valid #= false
        dut.io.start #= false
        cd.waitSampling(2)
        val cycles = cd.waitSamplingWhere(MacHashRows.cycles(shape))(!dut.io.drawing.toBoolean)
        assert(!cycles && dut.io.drawn.toBoolean, "the rows are not drawn in time")
        checkSlots(MacHashModel(shape, key))
      }
    }
  }
}
