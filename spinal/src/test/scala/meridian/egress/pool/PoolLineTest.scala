// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.{LongTest, ShellParam}
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

class PoolLineTest extends AnyFunSuite {
  val two = PoolParam.ofShell(ShellParam(ports = 2))
  val four = PoolParam.ofShell(ShellParam(ports = 4, hostBytes = 64))
  lazy val compiled = Map(two -> compile(two))
  lazy val compiledFour = Map(four -> compile(four))
  private def compile(e: PoolParam) = SimConfig.compile(new PoolLine(e))

  def bench(name: String, seed: Int, tags: Tag*)(body: (PoolLine, PoolLineBench) => Unit): Unit =
    run(two, name, seed, tags: _*)(body)
  private def run(e: PoolParam, name: String, seed: Int, tags: Tag*)(body: (PoolLine, PoolLineBench) => Unit): Unit =
    test(s"$name, ${e.ports} ports, seed $seed", tags: _*) {
      (if (e == two) compiled else compiledFour) (e).doSim(name.filter(_.isLetter).take(40) + seed, seed = seed) {
        dut =>
          body(dut, new PoolLineBench(dut, new scala.util.Random(seed)))
      }
    }

  /** Lengths of frames, by the number of the frame. */
  val loads: Seq[(String, (Int, scala.util.Random) => Int)] = Seq(
    "60" -> ((_, _) => 60),
    "1514" -> ((_, _) => 1514),
    "9604" -> ((_, _) => 9604),
    "60 and 9604 in turn" -> ((k, _) => if (k % 2 == 0) 60 else 9604),
    "64 to 9600" -> ((_, r) => 64 + r.nextInt(9537)),
    "one cell and a byte" -> ((_, _) => 257)
  )
  for (e <- Seq(two, four))
    run(e, "frames of any size leave no gap on their lines", 1, (if (e == four) Seq(LongTest) else Nil): _*) {
      (dut, b) =>
        val all = (1 << e.classes) - 1
        for ((name, length) <- loads) {
          for (i <- 0 until e.ports) dut.io.blocked(i) #= all
          dut.clockDomain.waitSampling(10)
          // The line is empty, so the first is one that lasts until the next is there.
          for (i <- 0 until e.ports) b.send(b.make(1514, i, 7, 0))
          var k = 0
          while (b.lost == 0 && k < 600 * e.ports) {
            b.send(b.make(length(k / e.ports, b.random), k % e.ports, b.random.nextInt(8), b.random.nextInt(8)))
            dut.clockDomain.waitSampling(4)
            k += 1
          }
          for (i <- 0 until e.ports) dut.io.blocked(i) #= 0
          b.settle()
          println(
            s"${e.ports} ports, frames of $name bytes: ${b.left.map(_.size).mkString(" ")} frames, " +
              s"${b.gaps.mkString(" ")} cycles without any"
          )
          assert(b.left.forall(_.size > 5))
          // A long frame behind a run of short ones in groups that owe may come 50 ns late.
          assert(b.gaps.forall(_ <= 24), s"the line stands still between frames of $name bytes")
          b.forget()
        }
    }

  bench("a frame of the highest class waits for one of a lower at most", 2) { (dut, b) =>
    var worst = 0L
    val size = 9600
    for (round <- 0 until 60) {
      dut.io.blocked(0) #= 0x7f
      for (_ <- 0 until 4) b.send(b.make(size, 0, round % 7))
      dut.io.blocked(0) #= 0
      dut.clockDomain.waitSampling(20 + b.random.nextInt(2200))
      val high = b.send(b.make(60 + b.random.nextInt(1400), 0, 7))
      b.settle()
      val there = b.lastAt(high.id)
      val at = b.begins(0).indexWhere(_._1 == high.id)
      val ahead = b.begins(0).take(at).count(_._2 > there)
      assert(ahead <= 1, s"$ahead frames of a lower class began before it")
      worst = worst max b.begins(0)(at)._2 - there
      b.forget()
    }
    val frame = (size + 24) / 8 * 2560L
    println(
      f"from its last beat taken to its first on the line: ${worst / 1000}%d ns, a frame of the lower class takes ${frame / 1000}%d"
    )
    // Beside it, what waits for the line when a frame is chosen, and the way through the pool.
    assert(worst <= frame + 300000 && worst > frame * 3 / 4)
  }

  bench("a MAC in reset loses frames and holds up none", 3) { (dut, b) =>
    for (round <- 0 until 12) {
      for (k <- 0 until 40) b.send(b.make(60 + b.random.nextInt(1500), k % 2, b.random.nextInt(8)))
      dut.clockDomain.waitSampling(b.random.nextInt(300))
      dut.macCd.assertReset()
      sleep(2560 * Seq(1, 2, 30, 1000)(round % 4) + 1280)
      b.forget()
      dut.macCd.deassertReset()
      for (k <- 0 until 10) b.send(b.make(60 + b.random.nextInt(1500), k % 2, b.random.nextInt(8)))
      b.settle()
      b.forget()
      for (k <- 0 until 10) b.send(b.make(60 + b.random.nextInt(1500), k % 2, b.random.nextInt(8)))
      b.settle()
      assert(b.lost == 0 && b.marked == 0 && b.left.forall(_.size == 5))
      b.forget()
    }
  }

  bench("a frame whose beginning went with a reset of the MAC is told as lost, and the one behind it as sent", 5) {
    (dut, b) =>
      for (round <- 0 until 12) {
        val cut = b.send(b.make(9600, 0, b.random.nextInt(8)))
        var wait = 0
        while (!b.begins(0).exists(_._1 == cut.id)) {
          dut.clockDomain.waitSampling()
          wait += 1
          assert(wait < 100, "the frame does not begin")
        }
        dut.clockDomain.waitSampling(b.random.nextInt(20))
        assert(b.toldSent == 0, "the frame has left the pool before the reset")
        dut.macCd.assertReset()
        sleep(2560 * Seq(1, 2, 10)(round % 3) + 1280)
        b.forget()
        dut.macCd.deassertReset()
        // The way to the line is open again before the rest of the frame is read.
        b.settle()
        assert(b.toldLost == 1 && b.toldSent == 0 && b.left(0).isEmpty, "a frame that was cut counts as sent")
        b.send(b.make(60 + b.random.nextInt(1500), 0, b.random.nextInt(8)))
        b.settle()
        assert(b.toldLost == 1 && b.toldSent == 1 && b.left(0).size == 1)
        b.forget()
      }
  }

  bench("a frame that a reset of the host cuts ends with a mark, at once", 4) { (dut, b) =>
    var marked = 0
    for (round <- 0 until 24) {
      dut.io.blocked(0) #= 0xff
      for (_ <- 0 until 3) b.send(b.make(9600, 0, b.random.nextInt(8)))
      dut.io.blocked(0) #= 0
      dut.clockDomain.waitSampling(10 + b.random.nextInt(1400))
      dut.clockDomain.assertReset()
      sleep(4000 * Seq(1, 2, 30, 2000)(round % 4) + 2000)
      dut.clockDomain.deassertReset()
      dut.clockDomain.waitSampling(two.cells + 200)
      b.settle()
      assert(b.marked <= 1)
      marked += b.marked
      b.forget()
      for (_ <- 0 until 6) b.send(b.make(60 + b.random.nextInt(1500), 0, b.random.nextInt(8)))
      b.settle()
      assert(b.lost == 0 && b.marked == 0 && b.left(0).size == 6)
      b.forget()
    }
    println(s"$marked frames were cut")
    assert(marked > 10)
  }
}
