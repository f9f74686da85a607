// SPDX-License-Identifier: Apache-2.0
package meridian.egress.pool

import meridian.egress.shape.EcnCurve
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

class PoolTest extends AnyFunSuite {
  val e = PoolParam(2, 32, 256, 256, classes = 8, groups = 4, reserve = 24, minimum = 2, maxFrame = 1600)
  lazy val compiled = SimConfig.compile {
    val dut = new EgressPool(e)
    Seq(dut.cells.io.take, dut.cells.io.keep, dut.cells.io.undo, dut.cells.io.cell).foreach(_.simPublic())
    dut.cells.io.give.simPublic()
    dut
  }
  val all = 0xff

  def bench(name: String, seed: Int)(body: (EgressPool, PoolBench) => Unit): Unit = test(s"$name, seed $seed") {
    compiled.doSim(name.filter(_.isLetter).take(40) + seed, seed = seed) { dut =>
      val random = new scala.util.Random(seed)
      body(dut, new PoolBench(dut, e, random))
    }
  }

  for (seed <- 1 to 3)
    bench("random frames of all kinds leave whole, in order, or are lost and told", seed) { (dut, b) =>
      var lost, paced = 0
      for (round <- 0 until 12) {
        for (i <- 0 until e.ports) b.lineBeats(i) = Seq(100, 40, 5)(b.random.nextInt(3))
        for (i <- 0 until e.ports) b.weigh(i, b.random.nextInt(256), Seq.fill(8)(b.random.nextInt(20)))
        for (alpha <- dut.io.settings.alpha) alpha #= b.random.nextInt(4)
        val blocked = fork {
          for (_ <- 0 until 40) {
            for (i <- 0 until e.ports) dut.io.blocked(i) #= b.random.nextInt(256)
            for (i <- 0 until e.ports) dut.io.urgent(i) #= b.random.nextInt(256) & b.random.nextInt(256)
            dut.clockDomain.waitSampling(1 + b.random.nextInt(60))
          }
          for (i <- 0 until e.ports) dut.io.blocked(i) #= 0
        }
        for (_ <- 0 until 400) {
          val port = b.random.nextInt(e.ports)
          // The pacer lets no more be on the way.
          val isPaced = b.random.nextInt(3) == 0 && dut.io.paced(port).toInt < 64
          b.send(b.make(b.size(), port, b.random.nextInt(8), b.random.nextInt(4), isPaced, b.random.nextInt(6) == 0))
          if (b.random.nextInt(4) == 0) dut.clockDomain.waitSampling(b.random.nextInt(60))
        }
        blocked.join()
        for (i <- 0 until e.ports) b.lineBeats(i) = 100
        assert(b.lost.forall(!_.paced), "a paced frame is lost")
        lost += b.lost.size
        paced += b.taken.count(_.paced)
        b.check()
      }
      println(s"$lost frames lost, $paced paced ones sent, ${b.waits} cycles waited")
      assert(lost > 50 && paced > 200)
    }

  bench("frames leave in the order of the model, with any strict bits, weights and urgent classes", 4) { (dut, b) =>
    val model = new SchedulerModel(e.classes, e.groups)
    val settings = Seq(
      (all, Seq.fill(8)(0)),
      (0, Seq.fill(8)(0)),
      (0, Seq.fill(8)(7)),
      (0xc0, Seq(1, 2, 4, 8, 16, 32, 0, 0)),
      (0x80, Seq(0, 1, 0, 255, 1, 1, 50, 50))
    ) ++ Seq.fill(8)((b.random.nextInt(256), Seq.fill(8)(b.random.nextInt(12))))
    for ((strict, weights) <- settings) {
      b.weigh(0, strict, weights)
      dut.io.blocked(0) #= all
      for (alpha <- dut.io.settings.alpha) alpha #= 7
      dut.clockDomain.waitSampling(10)
      while (b.lost.size < 5) {
        val frame = b.send(b.make(b.size(), 0, b.random.nextInt(8), b.random.nextInt(4)))
        dut.clockDomain.waitSampling(2)
        if (b.lost.lastOption.forall(_.id != frame.id)) model.add(frame)
      }
      // Some classes stay blocked for a while.
      val some = b.random.nextInt(256)
      val urgent = b.random.nextInt(256) & b.random.nextInt(256)
      dut.io.urgent(0) #= urgent
      val hold = b.taken.count(f => (some >> f.trafficClass & 1) == 1)
      dut.io.blocked(0) #= some
      val expected = for (_ <- 0 until b.taken.size - hold) yield model.next(strict, weights, some, urgent).id
      var wait = 0
      while (b.left(0).size < expected.size) {
        dut.clockDomain.waitSampling()
        wait += 1
        assert(wait < 100000, "frames stay")
      }
      dut.clockDomain.waitSampling(100)
      assert(b.left(0).map(_.id) == expected, s"strict ${strict.toHexString}, weights $weights, urgent $urgent")
      dut.io.urgent(0) #= 0
      dut.io.blocked(0) #= 0
      b.settle()
      val rest = for (_ <- 0 until hold) yield model.next(strict, weights).id
      assert(model.isEmpty && b.left(0).map(_.id) == expected ++ rest, "frames of classes that were blocked")
      b.check()
    }
  }

  bench("classes that always wait share the line by their weights", 5) { (dut, b) =>
    val weights = Seq(10, 20, 30, 40, 0, 0, 0, 0)
    b.weigh(0, 0, weights)
    b.lineBeats(0) = 50
    for (_ <- 0 until 3000)
      b.send(b.make(60 + b.random.nextInt(1400), 0, b.random.nextInt(4), b.random.nextInt(4)))
    val bytes = (0 until 4).map(c => b.left(0).filter(_.trafficClass == c).map(_.length.toLong).sum)
    val shares = bytes.map(_.toDouble / bytes.sum)
    println(s"shares of weights 10 to 40: ${shares.map(s => f"$s%.3f").mkString(" ")}")
    for ((share, weight) <- shares.zip(weights)) assert((share - weight / 100.0).abs < 0.01)
    // Bytes of others while a class waits: in the rounds that pay its debt.
    for (c <- 0 until 4) {
      val rounds = 1 + (e.maxFrame + weights(c) * PortScheduler.unit - 1) / (weights(c) * PortScheduler.unit)
      val most = rounds * (0 until 4).filter(_ != c).map(weights(_) * PortScheduler.unit + e.maxFrame).sum
      val from = b.left(0).indexWhere(_.trafficClass == c)
      var others, worst = 0
      for (frame <- b.left(0).drop(from)) {
        others = if (frame.trafficClass == c) 0 else others + frame.length
        worst = worst max others
      }
      println(s"class $c waits for $worst bytes, $most at most")
      assert(worst <= most)
    }
    b.check()
  }

  bench("what a class leaves free is alpha's, and a class that has nothing finds room", 6) { (dut, b) =>
    dut.io.blocked(0) #= all
    for ((alpha, code) <- Seq(0.5 -> 2, 1.0 -> 3, 2.0 -> 4)) {
      for (a <- dut.io.settings.alpha) a #= code
      for (k <- 0 until 800) b.send(b.make(100, 0, 1, k % e.groups))
      // Each of the groups has as much as the class has left.
      val over = dut.io.used(0)(1).toInt - e.minimum
      val groups = e.groups / (e.groups + 1.0)
      val expected = (e.shared * alpha * groups - e.minimum / (e.groups + 1.0)) / (1 + alpha * groups)
      println(f"alpha $alpha: $over cells of ${e.shared}, expected $expected%.1f")
      assert((over - expected).abs <= e.slack + e.groups)
      val lost = b.lost.size
      b.send(b.make(100, 1, 5, 0))
      for (k <- 0 until e.minimum + 4) b.send(b.make(100, 0, 6, k % e.groups))
      assert(b.lost.size == lost)
      dut.io.blocked(0) #= 0
      b.check()
      dut.io.blocked(0) #= all
    }
  }

  bench("paced frames within the reserve never wait, whatever fills the rest", 7) { (dut, b) =>
    dut.io.blocked(0) #= all
    for (alpha <- dut.io.settings.alpha) alpha #= 7
    for (_ <- 0 until 600) b.send(b.make(100, 0, b.random.nextInt(8), b.random.nextInt(4)))
    assert(b.lost.nonEmpty)
    // As long as the largest may follow.
    for (_ <- 0 to e.reserve - e.frameCells - e.slack) b.send(b.make(200, 0, b.random.nextInt(8), 0, paced = true))
    assert(b.waits == 0)
    val waiting = fork(b.send(b.make(200, 0, 0, 0, paced = true)))
    dut.clockDomain.waitSampling(300)
    assert(b.waits > 200, "a paced frame beyond the reserve does not wait")
    dut.io.blocked(0) #= 0
    waiting.join()
    assert(b.lost.forall(!_.paced))
    b.check()
  }

  bench("a frame that is cut gives its cells back, and the one beside it is not lost", 8) { (dut, b) =>
    for (round <- 0 until 300) {
      dut.io.blocked(0) #= (if (b.random.nextInt(3) == 0) 0 else all)
      val cut = b.make(1600, 0, b.random.nextInt(8), b.random.nextInt(4), b.random.nextBoolean(), drop = true)
      b.send(cut, 1 + b.random.nextInt(45))
      val between = b.random.nextInt(3)
      if (between == 0) b.end(cut)
      else {
        val ends = fork {
          if (between == 1) dut.clockDomain.waitSampling(b.random.nextInt(6))
          b.end(cut)
        }
        dut.clockDomain.waitSampling(b.random.nextInt(2))
        val length = if (b.random.nextInt(3) == 0) 20 else b.size() // of one beat
        b.send(b.make(length, 1, b.random.nextInt(8), 0, b.random.nextInt(4) == 0))
        ends.join()
        dut.clockDomain.waitSampling(2)
        assert(b.lost.isEmpty, "a frame beside one that is cut is lost")
      }
      b.send(b.make(b.size(), 0, 0, 0))
      if (round % 10 == 0) {
        dut.io.blocked(0) #= 0
        b.check()
      }
    }
    dut.io.blocked(0) #= 0
    b.check()
  }

  bench("a port that is not up loses its frames and no cell", 9) { (dut, b) =>
    for (round <- 0 until 20) {
      b.lineBeats(0) = 10
      for (_ <- 0 until 30)
        b.send(b.make(b.size(), b.random.nextInt(2), b.random.nextInt(8), 0, b.random.nextInt(4) == 0))
      dut.clockDomain.waitSampling(b.random.nextInt(100))
      b.up(0) = false
      dut.clockDomain.waitSampling(4)
      val before = b.lost.size
      for (_ <- 0 until 10) b.send(b.make(b.size(), 0, b.random.nextInt(8), 0, b.random.nextInt(4) == 0))
      dut.clockDomain.waitSampling(2)
      assert(b.lost.size == before + 10, "a frame for a port that is not up is not told as lost")
      b.lineBeats(0) = 100
      b.checkFree()
      b.up(0) = true
      dut.clockDomain.waitSampling(4)
      b.forget()
      for (_ <- 0 until 6) b.send(b.make(b.size(), 0, b.random.nextInt(8), 0))
      assert(b.lost.isEmpty)
      b.check()
    }
  }

  bench("latency, and frames and beats a cycle, are what the pool says", 10) { (dut, b) =>
    b.send(b.make(60, 0, 3)) // from now on its group has credit
    dut.clockDomain.waitSampling(40)
    val other = b.send(b.make(60, 0, 3))
    dut.clockDomain.waitSampling(40)
    val through = b.firstOut(other.id) - b.lastAt(other.id)
    println(s"through the pool: $through cycles from the last beat taken to the first beat at the port")
    assert(through == 9)
    dut.io.blocked(0) #= all
    for (_ <- 0 until 60) b.send(b.make(60, 0, b.random.nextInt(8), b.random.nextInt(4)))
    dut.io.blocked(0) #= 0
    b.settle()
    val times = b.left(0).filter(_.id > other.id).map(f => b.firstOut(f.id))
    println(s"60 frames of a port begin within ${times.last - times.head} cycles")
    assert(times.size == 60 && times.last - times.head <= 59 * 6 + 16)
    b.check()
    for (i <- 0 until 2) dut.io.blocked(i) #= all
    for (k <- 0 until 20) b.send(b.make(1536, k % 2, 0, 0))
    val whole = b.taken.size
    val from = b.cycle
    for (i <- 0 until 2) dut.io.blocked(i) #= 0
    while (b.left.map(_.size).sum < whole && b.cycle < from + 5000) dut.clockDomain.waitSampling()
    println(s"$whole frames of 48 beats for two ports leave in ${b.cycle - from} cycles")
    assert(b.cycle - from <= whole * 48 + 80)
    b.check()
  }

  bench("a flood of one group leaves room for the others of its class", 11) { (dut, b) =>
    dut.io.blocked(0) #= all
    for (alpha <- dut.io.settings.alpha) alpha #= 3
    for (_ <- 0 until 400) b.send(b.make(100, 0, 2, 1))
    val flood = b.taken.size
    assert(b.lost.size > 100 && b.lost.forall(_.group == 1))
    dut.clockDomain.waitSampling(100)
    // A third of what the flood has, in frames of any size: it shrinks what the class has left by each cell twice.
    var cells = 0
    while (cells < flood / 3 - e.frameCells) {
      val frame = b.send(b.make(b.size(), 0, 2, 3))
      dut.clockDomain.waitSampling(4)
      cells += (frame.length + e.cellBytes - 1) / e.cellBytes
    }
    println(s"the flood has $flood cells, another group got $cells")
    assert(b.lost.forall(_.group == 1), "a group has no room for the flood of another")
    for (_ <- 0 until 400) b.send(b.make(100, 0, 2, 3))
    // A third finds room beside two.
    for (_ <- 0 until flood / 12) b.send(b.make(100, 0, 2, 0))
    assert(b.lost.forall(_.group != 0))
    // What it left free is the group's again when it has sent its frames.
    dut.io.blocked(0) #= 0
    b.check()
    dut.io.blocked(0) #= all
    for (_ <- 0 until flood) b.send(b.make(100, 0, 2, 1))
    assert(b.lost.size <= e.slack)
    dut.io.blocked(0) #= 0
    b.check()
  }

  bench("frames of senders that do ECN are marked from the threshold of their class on, and each is told once", 12) {
    (dut, b) =>
      val thresholds = Seq(0, 4, 12, 30)
      for (i <- 0 until e.ports; c <- 0 until 4) b.mark(i, c, if (i == 0) thresholds(c) else 0)
      for (alpha <- dut.io.settings.alpha) alpha #= 7
      dut.clockDomain.waitSampling(10 * EcnCurve.visitCycles(PoolMarker.lists(e)))
      // One list at a time, so slowly that the fill of each frame is known.
      for (c <- 0 until 4; port <- 0 until e.ports) {
        dut.io.blocked(port) #= all
        for (k <- 0 until 40) {
          val frame = b.make(60 + b.random.nextInt(190), port, c, k % e.groups)
          if (k % 3 != 0) frame.makeEct()
          val used = dut.io.used(port)(c).toInt
          b.send(frame)
          dut.clockDomain.waitSampling(EcnCurve.latency(PoolMarker.lists(e)) + 10)
          assert(dut.io.used(port)(c).toInt == used + 1)
        }
        dut.io.blocked(port) #= 0
        val (first, told) = (b.taken.head.id, b.toldMarked(port)(c))
        b.settle()
        val expected = b.taken.filter(f => f.ect && port == 0 && c > 0 && f.id - first >= thresholds(c)).map(_.id)
        assert(
          b.marked.map(_.id).sorted == expected && told == expected.size && (expected.nonEmpty || thresholds(
            c
          ) * (1 - port) == 0)
        )
        b.check()
      }
      // Frames of any kind, some of which are taken back or lost: what is told is what leaves with a mark.
      for (i <- 0 until e.ports; c <- 0 until 8) b.mark(i, c, 1 + b.random.nextInt(6))
      var marked = 0
      for (round <- 0 until 80) {
        for (i <- 0 until e.ports) b.lineBeats(i) = Seq(60, 20)(b.random.nextInt(2))
        for (_ <- 0 until 60) {
          val frame = b.make(
            b.size(),
            b.random.nextInt(2),
            b.random.nextInt(8),
            b.random.nextInt(4),
            b.random.nextInt(4) == 0 && dut.io.paced(0).toInt + dut.io.paced(1).toInt < 64,
            b.random.nextInt(6) == 0
          )
          if (b.random.nextInt(3) != 0) frame.makeEct()
          b.send(frame)
        }
        for (i <- 0 until e.ports) b.lineBeats(i) = 100
        b.checkFree()
        marked += b.marked.size
        b.check()
      }
      println(s"$marked frames marked")
      assert(marked > 300)
  }
}
