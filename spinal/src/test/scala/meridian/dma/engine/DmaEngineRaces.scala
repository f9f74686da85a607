// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.dma.HostRequest
import meridian.dma.pcie._
import meridian.host.FrameSim._
import scala.collection.mutable
import scala.util.Random
import spinal.core._
import spinal.core.sim._

/** Events that meet in the engine's registers, seen from within. */
trait DmaEngineRaces extends DmaEngineBench {
  test("a frame that is written straight behind a doorbell is whole at the next") {
    run("push") { (dut, host, cd) =>
      val vf = p.vfsOf(1).head
      giveQueues(host, vf, 4, 4)
      val s = dut.engine.slots
      val offers = mutable.ArrayBuffer[Boolean]()
      var cycle, ended = 0
      var gap = 1000
      cd.onSamplings {
        cycle += 1
        if (s.io.rung.toBoolean) offers += s.io.port.offer.complete.toBoolean
        if (s.ends.toBoolean) {
          ended = cycle
          assert(!s.takes.toBoolean, "a chunk comes while a slot ends")
        }
        if (s.takes.toBoolean && ended > 0) gap = gap min (cycle - ended)
      }
      val random = new Random(3)
      def window(at: Int, words: Seq[Long]): Unit = host.send(
        HostRequest(
          RequestKind.memoryWrite,
          0xf0000000L + at,
          dwords = words.size,
          function = vf,
          bar = 4,
          aperture = 15,
          lastBe = 15,
          payload = words
        )
      )
      val frames = 60
      for (i <- 0 until frames) {
        val length = 1 + random.nextInt(256)
        val data = Seq.fill((length + 7) / 8 * 2)(random.nextInt() & 0xffffffffL)
        val header = Seq[Long](i, length | i.toLong << 16)
        val parts = if (random.nextBoolean()) data.grouped(2).toSeq else Seq(data)
        val sends = parts.scanLeft(0)(_ + _.size).zip(parts).map { case (at, some) =>
          () => window(4 * at, some)
        } :+
          (() => window(256, header))
        random.shuffle(sends).foreach(_())
        host.write(vf, 0x3004, i % 8) // PIDX of its queue 0
      }
      waitFor(cd, "all doorbells", 200000)(offers.size == frames)
      info(
        s"$gap cycles at least from the end of a slot to the next chunk, ${offers.count(identity)} of $frames offered"
      )
      assert(offers.forall(identity))
    }
  }

  test("answers wait for what was written before them, also two at once, and the engine is not idle meanwhile") {
    run("order") { (dut, host, cd) =>
      val e = dut.engine
      val vf = p.vfsOf(1).head
      // Vector 0 of PF 1, which the mailbox raises: its acknowledgement of a message is written behind it.
      for ((word, i) <- Seq(0xfee00000L, 0L, 7L, 0L).zipWithIndex) host.write(1, 0x30000 + 4 * i, word)
      host.write(1, 0x22410, 1)
      host.read(1, 0x22400)
      val random = new Random(5)
      var cycle, passed, answers, both, waited = 0
      val taken = mutable.ArrayBuffer[Int](0, 0, 0) // up to each cycle
      val needs = mutable.Queue[Int]()
      var isNew = true
      var chance = 0.02
      var isPassing = false
      dut.passed #= false
      cd.onSamplings {
        cycle += 1
        if (isPassing) passed += 1
        if (e.bar.io.value.valid.toBoolean && isNew) needs.enqueue(taken(taken.size - 2)) // 2 cycles before
        isNew = !e.bar.io.value.valid.toBoolean || e.bar.io.value.ready.toBoolean
        if (e.bar.io.value.valid.toBoolean && e.order.io.value.valid.toBoolean) both += 1
        if (e.order.io.value.valid.toBoolean && !e.order.io.ordered.valid.toBoolean) waited += 1
        if (e.order.io.ordered.valid.toBoolean && e.order.io.ordered.ready.toBoolean) {
          answers += 1
          val need = needs.dequeue()
          assert(passed >= need, s"a value leaves behind $passed writes of $need")
        }
        taken += taken.last + (if (e.order.io.taken.toBoolean) 1 else 0)
        isPassing = passed < taken.last && random.nextFloat() < chance
        dut.passed #= isPassing
      }
      for (i <- 0 until 150) {
        host.write(vf, 0x5004, 1)
        host.write(1, 0x2240c, vf)
        host.write(1, 0x22404, 2)
        cd.waitSampling(random.nextInt(60))
        val words = 1 + random.nextInt(4)
        val request = HostRequest.read(1, 0x22400).copy(dwords = words, lastBe = if (words > 1) 15 else 0)
        assert(host.read(request, 20000).words.size == words)
      }
      info(s"$answers values, $waited cycles in which one waited, $both in which there were two; $passed writes")
      assert(both > 0 && waited > 0)
      waitFor(cd, "idle", 20000)(dut.idle.toBoolean)
      waitFor(cd, "all writes", 20000)(passed == taken.last)
      chance = 0
      host.write(vf, 0x5004, 1)
      host.write(1, 0x2240c, vf)
      host.write(1, 0x22404, 2)
      cd.waitSampling(200)
      host.send(HostRequest.read(1, 0x22400).copy(dwords = 2, lastBe = 15))
      cd.waitSampling(60)
      for (_ <- 0 until 400) {
        assert(!dut.idle.toBoolean && host.completions.isEmpty)
        cd.waitSampling()
      }
      chance = 1
      waitFor(cd, "the answer", 200)(host.completions.nonEmpty)
    }
  }

  test("a doorbell is rung once at most, whatever the cycle in which its function loses the queue") {
    run("lost") { (dut, host, cd) =>
      val d = dut.engine.doorbells
      val vf = p.vfsOf(1).head
      var valid, fires, backs, drops = 0
      var wasValid = false
      cd.onSamplings {
        val is = d.io.doorbell.valid.toBoolean
        assert(d.io.rings.toInt == (if (is) 1 << d.kind.toInt else 0), "rings are not the doorbell's valid")
        val fire = is && d.io.doorbell.ready.toBoolean
        if (is && !wasValid) valid += 1
        if (fire) fires += 1
        if (wasValid && !is) backs += 1 // without having been taken
        if (is && !d.map.io.known.toBoolean) drops += 1
        wasValid = is && !fire
      }
      for (kind <- Seq(1, 2, 3, 0); delay <- 0 until 60 by (if (kind == 1) 1 else 4)) {
        giveQueues(host, vf, 4, 4)
        val before = (valid, fires)
        cd.waitSampling(40)
        dut.vfInProcess #= BigInt(1) << (vf - 4)
        cd.waitSampling(delay)
        for (_ <- 0 until 4) host.write(vf, 0x3000 + 4 * kind, delay)
        waitFor(cd, "the VF's reset", 20000)(dut.vfDone.valid.toBoolean)
        dut.vfInProcess #= 0
        waitFor(cd, "the end of the reset", 20000)(host.read(vf, 0x5100) == 0)
        assert(valid - before._1 <= 4 && fires - before._2 <= 4, "a doorbell is rung twice")
        assert(host.read(vf, 0x3000 + 4 * kind) == 0, "what was written stays")
        assert(host.read(0, 0x264) == 0, "a function without queues makes an error")
      }
      info(s"$valid were rung, $fires taken, $backs taken back, $drops valid while the function had none")
      assert(fires > 0 && backs > 0 && drops > 0)
    }
  }
}
