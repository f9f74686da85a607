// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.{BoxPins, ShellParam}
import meridian.meta.RxVerdict
import org.scalatest.funsuite.AnyFunSuite
import spinal.core.sim._

import scala.collection.mutable

class RxFilterTest extends AnyFunSuite {
  private val tight = ShellParam(maxFrame = 2000, copyBufferBytes = 4096)
  private val small = tight.copy(ports = 2, hostBytes = 32, functions = 20, groups = 16)
  private val wide = tight.copy(ports = 4, hostBytes = 64, functions = 256, groups = 64)

  /** With a module at the host, which is told when each frame came. */
  private val large = wide.copy(hostBox = Some(BoxPins.whole(wide, atHost = true)))
  private val fast = Latencies(mac = 4, range = 2, queue = 2, credit = 2)
  private val slow = Latencies(mac = 6, range = 4, queue = 3, credit = 6)
  private def build(p: ShellParam, l: Latencies) =
    SimConfig.compile(new RxFilter(p, l.mac, l.range, l.queue, l.credit))
  private lazy val builtSmall = build(small, fast)
  private lazy val builtLarge = build(large, slow)
  private def run(p: ShellParam, seed: Int)(body: (RxFilter, RxFilterBench) => Unit): Unit = {
    val (built, latencies) = if (p == small) (builtSmall, fast) else (builtLarge, slow)
    built.doSim(s"seed$seed", seed) { dut =>
      val bench = new RxFilterBench(dut, p, latencies, seed)
      bench.cd.waitSampling(4)
      body(dut, bench)
    }
  }
  private val broadcast = Seq.fill(6)(255)

  /** Every function enabled on port 0, with the queues 4 f to 4 f + 3 and an address of its own. */
  private def plain(p: ShellParam, bench: RxFilterBench): Int => Seq[Int] = {
    def address(function: Int) = Seq(2, 0, 0, 0, 0, function)
    for (f <- 0 until p.functions) {
      bench.config.enable(f) = true
      bench.config.ranges(f) = (4 * f, 4)
      for (q <- 0 until 4) bench.config.owner(4 * f + q) = f
      bench.config.mac((0, RxFrames.address(address(f).toArray), 0)) = (false, f)
    }
    address
  }
  private def untagged(bench: RxFilterBench, address: Seq[Int], length: Int): Frame = {
    val bytes = RxFrames.random(bench.random, address, length)
    if (RxFrames.tagged(bytes)) bytes(12) = 0x11
    Frame(0, bytes)
  }

  private def randomConfig(p: ShellParam, bench: RxFilterBench, pool: Seq[Seq[Int]]): Unit = {
    val random = bench.random
    val c = new RxConfig(p)
    bench.config = c
    def density(): Double = Seq(0.0, 1.0 / p.functions, 3.0 / p.functions, 0.5)(random.nextInt(4))
    for (flags <- Seq(c.broadcast, c.allMulticast, c.promiscuous)) {
      val chance = density()
      for (f <- flags.indices) flags(f) = random.nextDouble() < chance
    }
    for (f <- 0 until p.functions) {
      c.enable(f) = random.nextInt(8) != 0
      c.strip(f) = random.nextInt(3) == 0
      c.insert(f) = random.nextInt(3) == 0
      c.portOf(f) = random.nextInt(4)
      val share = 2048 / p.functions
      c.ranges(f) = (random.nextInt(share) + f * share, if (random.nextInt(10) == 0) 0 else 4)
      for (q <- 0 until 4) if (random.nextInt(10) != 0) c.owner((c.ranges(f)._1 + q) % 2048) = f
    }
    for (q <- 0 until 2048) if (random.nextInt(8) == 0) c.full += q
    for (port <- 0 until p.ports) {
      c.rxEnable(port) = random.nextInt(6) != 0
      c.default(port) = Option.when(random.nextBoolean())(random.nextInt((p.functions + 4).min(256)))
    }
    for (group <- 0 until p.groups) c.groups(group) = Seq.fill(random.nextInt(4))(random.nextInt(p.functions)).toSet
    for (address <- pool; port <- 0 until p.ports) if (random.nextInt(4) != 0) {
      val isGroup = random.nextBoolean()
      val value = (isGroup, random.nextInt(((if (isGroup) p.groups else p.functions) + 4).min(256)))
      c.mac((port, RxFrames.address(address.toArray), 0)) = value
      for (vid <- 0 until 4096) if (random.nextBoolean()) c.mac((port, RxFrames.address(address.toArray), vid)) = value
    }
    for (_ <- 0 until 4) {
      val f = random.nextInt(p.functions)
      for (i <- 0 until 128) c.tables(f)(i) = random.nextInt(5)
    }
  }

  for (
    (name, p, seed) <- Seq(
      ("256 bit, 20 functions", small, 21),
      ("512 bit, 256 functions, with times of arrival", large, 22)
    )
  )
    test(s"random frames go where the model says, whatever flags, lists and tables hold, $name") {
      run(p, seed) { (_, bench) =>
        val random = bench.random
        val pool = Seq.fill(12)(Seq.fill(6)(random.nextInt(256)))
        val counts = mutable.Map[RxVerdict.E, Int]().withDefaultValue(0)
        var programmed = Set.empty[Int]
        for (epoch <- 0 until 14) {
          randomConfig(p, bench, if (epoch % 2 == 0) pool else pool :+ broadcast)
          val used = bench.config.tables.indices.filter(f => bench.config.tables(f).exists(_ != 0)).toSet
          for (f <- used ++ programmed) bench.writeTable(f)
          programmed = used
          bench.writeGroups()
          bench.settle()
          bench.readyChance = Seq(1.0, 0.7, 0.3)(random.nextInt(3))
          val validChance = Seq(1.0, 0.8, 0.3)(random.nextInt(3))
          for (_ <- 0 until 120) {
            val address = random.nextInt(5) match {
              case 0 => broadcast
              case 1 => Seq.fill(6)(random.nextInt(256))
              case _ => pool(random.nextInt(pool.size))
            }
            val length = if (random.nextInt(3) == 0) 60 + random.nextInt(1941) else 60 + random.nextInt(100)
            val port = if (random.nextInt(10) == 0) 3 else random.nextInt(p.ports)
            val from = random.nextInt(4) match {
              case 0 => OfPs
              case 1 => // the only one in the list, now and then
                val listed = bench.config.broadcast.indices.filter(bench.config.broadcast(_))
                val among = if (listed.size == 1 && random.nextBoolean()) listed else 0 until p.functions
                OfFunction(among(random.nextInt(among.size)))
              case _ => Wire
            }
            bench.send(Frame(port, RxFrames.random(random, address, length), from), validChance)
          }
          bench.readyChance = 1.0
          bench.drain()
          for ((verdict, n) <- bench.check()) counts(verdict) += n
        }
        println(counts.toSeq.map { case (v, n) => s"${v.getName()} $n" }.sorted.mkString(", "))
        assert(counts.values.count(_ > 0) == RxVerdict.elements.size, "every verdict is seen")
      }
    }

  test("a 64-byte frame leaves 14 cycles after its last beat, with tables of 4, 2, 2 and 2 cycles") {
    run(small, 23) { (_, bench) =>
      val address = plain(small, bench)
      bench.settle()
      for (n <- 0 until 4) {
        bench.send(untagged(bench, address(n), 64))
        bench.cd.waitSampling(40)
      }
      for ((frame, last) <- bench.arrived.zip(bench.lastBeats)) assert(frame.firstCycle - last == 14)
      assert(RxFilter.latency(4, 2, 2, 2) == 14)
      assert(bench.check()(RxVerdict.delivered) == 4)
    }
  }

  for ((p, seed) <- Seq(small -> 24, large -> 25); length <- Seq(60, 64, 65, 1514))
    test(s"unicast frames of $length bytes pass back to back without a bubble, ${p.hostBytes} bytes a beat") {
      run(p, seed) { (_, bench) =>
        val address = plain(p, bench)
        bench.settle()
        val frames = if (length > 1000) 20 else 300
        for (n <- 0 until frames) bench.send(untagged(bench, address(n % p.functions), length))
        bench.drain()
        assert(bench.stalls == 0)
        val beats = (length + p.hostBytes - 1) / p.hostBytes
        for ((a, b) <- bench.arrived.zip(bench.arrived.tail)) assert(b.firstCycle - a.firstCycle == beats)
        assert(bench.check() == Map[RxVerdict.E, Int](RxVerdict.delivered -> frames))
      }
    }

  for ((p, seed) <- Seq(small -> 31, large -> 32))
    test(s"frames of every length that lose their tag pass back to back, ${p.hostBytes} bytes a beat") {
      run(p, seed) { (_, bench) =>
        val address = plain(p, bench)
        for (f <- 0 until p.functions) bench.config.strip(f) = true
        for (n <- 0 until 2) bench.config.mac((0, RxFrames.address(address(n).toArray), 5)) = (false, n)
        bench.settle()
        def tagged(length: Int, n: Int) = {
          val frame = untagged(bench, address(n), length)
          for ((byte, i) <- Seq(0x81, 0, 0x60, 5).zipWithIndex) frame.bytes(12 + i) = byte
          frame
        }
        for (length <- 60 to 60 + 2 * p.hostBytes; n <- 0 until 2) bench.send(tagged(length, n))
        bench.drain()
        assert(bench.stalls == 0)
        assert(bench.arrived.forall(_.tci.contains(0x6005)))
        bench.readyChance = 0.5
        for (length <- 60 to 60 + 2 * p.hostBytes) bench.send(tagged(length, 1), 0.7)
        bench.readyChance = 1.0
        bench.drain()
        assert(bench.check()(RxVerdict.delivered) == 3 * (2 * p.hostBytes + 1))
      }
    }

  test("what is dropped or stored never stalls rx, and nothing is cut that fits, while c2h stands still") {
    run(large, 26) { (dut, bench) =>
      val address = plain(large, bench)
      for (f <- 3 until 6) bench.config.broadcast(f) = true
      bench.config.full ++= Seq(4 * 7, 4 * 7 + 1, 4 * 7 + 2, 4 * 7 + 3)
      bench.config.enable(8) = false
      bench.settle()
      bench.readyChance = 0.0
      // 64 beats of buffer: 6 frames of 10 beats fit, then one of 4, and nothing more.
      val broadcasts = Seq.fill(7)(640) ++ Seq(257, 256, 64, 60)
      for (length <- broadcasts) {
        bench.send(untagged(bench, broadcast, length))
        bench.send(untagged(bench, address(7), 200)) // full
        bench.send(untagged(bench, address(8), 60)) // disabled
        bench.send(untagged(bench, Seq(6, 1, 1, 1, 1, 1), 300)) // no match
        bench.send(untagged(bench, Seq(7, 1, 1, 1, 1, 1), 300)) // no listener
      }
      bench.cd.waitSampling(40)
      assert(bench.stalls == 0)
      val fates = bench.records.grouped(5).map(_.head.verdict == RxVerdict.copying).toSeq
      assert(fates == Seq(true, true, true, true, true, true, false, false, true, false, false))
      assert(!dut.io.idle.toBoolean)
      bench.readyChance = 1.0
      bench.drain()
      assert(bench.check()(RxVerdict.delivered) == 21)
    }
  }

  test("broadcasts from inside the card fill half of the replicator, those from the wire all of it") {
    run(large, 31) { (_, bench) =>
      plain(large, bench)
      for (f <- 3 until 6) bench.config.broadcast(f) = true
      bench.settle()
      bench.readyChance = 0.0
      // 64 beats of buffer; a frame begins while not less than half of them is free.
      for (i <- 0 until 8) bench.send(untagged(bench, broadcast, 640).copy(from = if (i < 6) OfFunction(3) else Wire))
      bench.cd.waitSampling(40)
      assert(bench.stalls == 0)
      val stored = bench.records.map(_.verdict == RxVerdict.copying)
      assert(stored == Seq(true, true, true, true, false, false, true, true))
      bench.readyChance = 1.0
      bench.drain()
      assert(bench.check()(RxVerdict.delivered) == 4 * 2 + 2 * 3)
    }
  }

  test("of what waits for c2h, unicast leaves before copies") {
    run(small, 30) { (_, bench) =>
      val address = plain(small, bench)
      for (f <- 10 until 20) bench.config.broadcast(f) = true
      bench.settle()
      bench.readyChance = 0.0
      bench.send(untagged(bench, broadcast, 64))
      bench.cd.waitSampling(60)
      for (n <- 0 until 8) bench.send(untagged(bench, address(n), 64))
      bench.cd.waitSampling(40)
      bench.readyChance = 1.0
      bench.drain()
      // The first copy has already begun when the unicast comes.
      assert(bench.arrived.map(_.function) == Seq(10) ++ (0 until 8) ++ (11 until 20))
      bench.check()
    }
  }

  test("a storm of broadcasts to 256 functions costs unicast nothing but the promised places") {
    run(large, 27) { (_, bench) =>
      val address = plain(large, bench)
      for (f <- 0 until large.functions) bench.config.broadcast(f) = true
      bench.settle()
      var unicast = 0
      for (_ <- 0 until 1500)
        if (bench.random.nextInt(3) == 0) bench.send(untagged(bench, broadcast, 64))
        else {
          bench.send(untagged(bench, address(bench.random.nextInt(256)), 64))
          unicast += 1
        }
      assert(bench.stalls <= unicast / RxLookup.copyAfter + 1, s"${bench.stalls} stalls")
      bench.drain()
      val byVerdict = bench.records.groupBy(_.verdict).map { case (v, list) => v -> list.size }
      assert(byVerdict(RxVerdict.delivered) == unicast)
      assert(byVerdict(RxVerdict.copyCut) > 0 && byVerdict(RxVerdict.copying) > 64)
      assert(bench.copyRecords.size == 256 * byVerdict(RxVerdict.copying))
      bench.check()
    }
  }

  for ((p, seed) <- Seq(small -> 28, large -> 29))
    test(s"at full unicast load a waiting copy leaves after at most 64 frames, ${p.hostBytes} bytes a beat") {
      run(p, seed) { (_, bench) =>
        val address = plain(p, bench)
        for (f <- 10 until 20) bench.config.broadcast(f) = true
        bench.settle()
        bench.send(untagged(bench, broadcast, 64))
        bench.send(untagged(bench, broadcast, 64))
        for (_ <- 0 until 1500) bench.send(untagged(bench, address(bench.random.nextInt(10)), 64))
        val places = bench.arrived.zipWithIndex.collect { case (frame, i) if frame.bytes.take(6) == broadcast => i }
        assert(places.size == 20)
        for ((a, b) <- places.zip(places.tail)) assert(b - a <= 65, s"copies at $a and $b")
        println(s"${bench.stalls} stalls, copies at $places")
        assert(bench.stalls <= 2 * 20 * 64 / p.hostBytes)
        bench.drain()
        bench.check()
      }
    }

  for ((name, p, seed) <- Seq(("256 bit", small, 27), ("512 bit", large, 28)))
    test(s"a flush is answered when all frames and copies begun before it have left at c2h, not before, $name") {
      run(p, seed) { (_, bench) =>
        val address = plain(p, bench)
        bench.config.broadcast(0) = true
        bench.config.broadcast(1) = true
        for (f <- 0 until 4) bench.config.strip(f) = true
        bench.settle()
        bench.flush()
        bench.cd.waitSampling(20)
        assert(bench.flushedAt.size == 1, "nothing inside")
        // One beat of one frame, whatever it is, may stand anywhere on its way.
        for (round <- 0 until 60) {
          bench.clear()
          bench.flushedAt.clear()
          bench.readyChance = 0
          // A copy begins when its queue is looked up, which a frame before it can delay: it is alone.
          val copied = round % 4 == 3
          if (copied) bench.send(untagged(bench, broadcast, 60 + bench.random.nextInt(80)))
          else
            for (_ <- 0 until 1 + round % 3) {
              val to = address(bench.random.nextInt(4))
              val frame = untagged(bench, to, 60 + bench.random.nextInt(80))
              if (bench.random.nextBoolean()) Seq(0x81, 0, 0, 0).copyToArray(frame.bytes, 12) // it will lose that
              bench.send(frame)
            }
          bench.cd.waitSampling((if (copied) 80 else 0) + bench.random.nextInt(80))
          bench.flush()
          bench.cd.waitSampling(60)
          assert(bench.flushedAt.isEmpty, s"round $round: a frame waits at c2h")
          bench.readyChance = 0.2
          bench.drain()
          bench.cd.waitSampling(30)
          assert(bench.flushedAt.size == 1, s"round $round")
          assert(bench.arrived.isEmpty || bench.lastOut < bench.flushedAt.head)
          assert(bench.flushedAt.head - bench.lastOut <= 12, s"${bench.flushedAt.head - bench.lastOut} cycles")
          bench.readyChance = 1
          bench.check()
        }
      }
    }

  // A last beat of 4 bytes or less goes into the beat before, which leaves as it comes into the strip.
  for ((name, p, seed) <- Seq(("256 bit", small, 29), ("512 bit", large, 30)))
    test(s"a flush is answered without further frames, whatever leaves in the cycle in which it is asked, $name") {
      run(p, seed) { (_, bench) =>
        val address = plain(p, bench)
        bench.config.strip(0) = true
        bench.settle()
        for (beats <- 3 to 14; last <- 1 to 5) {
          bench.flushedAt.clear()
          val frames = for (length <- Seq(200, (beats - 1) * p.hostBytes + last)) yield {
            val frame = untagged(bench, address(0), length)
            Seq(0x81, 0, 0, 0).copyToArray(frame.bytes, 12)
            frame
          }
          fork { bench.cd.waitSampling(2); bench.flush() }
          frames.foreach(bench.send(_))
          bench.cd.waitSampling(100)
          assert(bench.flushedAt.size == 1, s"a frame of $beats beats, $last bytes in the last")
          bench.check()
        }
      }
    }
}
