// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.util.Random

class FunctionFinderTest extends AnyFunSuite {
  for (bits <- Seq(3, 4, 6)) {
    lazy val finder = SimConfig.withVerilator.compile(new FunctionFinder(bits))
    val functions = 1 << bits
    val round = 2 * (functions / 16 max 1) + 8 // cycles

    def bench(what: String, seed: Int)(body: (FunctionFinder, Random) => Unit): Unit =
      test(s"$what, $functions functions") {
        finder.doSim(what.replace(' ', '_'), seed) { dut =>
          dut.clockDomain.forkStimulus(4)
          dut.io.wish #= 0
          dut.io.take #= false
          dut.clockDomain.waitSampling(4)
          body(dut, new Random(seed))
        }
      }

    /** Takes one of those who wish from now on, within the bound, and then nobody wishes for a while. */
    def one(dut: FunctionFinder, wish: Set[Int], pause: Int): Int = {
      val clock = dut.clockDomain
      dut.io.wish #= wish.map(BigInt(1) << _).sum
      var waited = 0
      do { clock.waitSampling(); waited += 1 } while (!dut.io.found.toBoolean && waited <= 2 * round)
      assert(waited <= 2 * round, s"of $wish nobody is found")
      val index = dut.io.index.toInt
      assert(wish(index), s"$index was found, which does not wish: $wish")
      dut.io.take #= true
      clock.waitSampling()
      dut.io.take #= false
      dut.io.wish #= 0
      clock.waitSampling(pause)
      index
    }

    bench("who begins to wish together is served alike", seed = 1) { (dut, random) =>
      for (_ <- 0 until 20) {
        val group = random.nextInt(functions / 16 max 1) * 16
        val wish = random.shuffle((0 until (16 min functions)).toList).take(2 + random.nextInt(4)).map(_ + group).toSet
        val times = Seq.fill(10 * wish.size)(one(dut, wish, pause = 4 + random.nextInt(2 * round)))
        for (function <- wish) assert(times.count(_ == function) == 10, s"function $function of $wish in $times")
      }
    }

    bench("a wish that stays is served within two rounds of all", seed = 2) { (dut, random) =>
      var wish = Set[Int]()
      var since = Map[Int, Int]() // takes of others
      for (_ <- 0 until 3000) {
        wish = wish ++ Seq.fill(random.nextInt(4))(random.nextInt(functions))
        if (wish.nonEmpty) {
          val index = one(dut, wish, pause = 4 + random.nextInt(3)) // found falls a little later than the wish
          wish -= index
          since = (since - index).map { case (who, n) => who -> (n + 1) } ++ (wish -- since.keys).map(_ -> 0)
          assert(since.values.forall(_ <= 2 * functions), s"somebody waits: $since")
        }
      }
    }
  }
}
