// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.dma.{DmaParam, HostRequest}
import meridian.dma.pcie._
import meridian.host.FrameSim._
import spinal.core._
import spinal.core.sim._

class DmaEngineTest extends DmaEngineBench with DmaEngineRaces {
  test("the identifier is read through the pins of the block") {
    run("identifier") { (dut, host, cd) =>
      host.read(0, 0x0) // behind the time in which memories are cleared
      var cycle, asked, answered = 0
      cd.onSamplings {
        cycle += 1
        if (dut.cq.valid.toBoolean && dut.cq.ready.toBoolean) asked = cycle
        if (dut.cc.valid.toBoolean && dut.cc.ready.toBoolean) answered = cycle
      }
      val answer = host.read(HostRequest.read(0, 0x0, tag = 0x5a).copy(requester = 0x1234))
      assert(answer.status == 0 && answer.tag == 0x5a && answer.requester == 0x1234 && answer.byteCount == 4)
      assert(answer.words == Seq(0x1fd30000L))
      assert(
        answered - asked == 11,
        s"a read of a register took ${answered - asked} cycles: DmaEngine and docs/dma.md say 11"
      )
      info(s"a read of a register took ${answered - asked} cycles")
    }
  }

  test("BAR2 of a PF and of a VF is the bus of the shell's registers, and one that hangs holds BAR0 up once") {
    run("bar2") { (dut, host, cd) =>
      val vf = p.vfsOf(1).head
      val ones = 0xffffffffL
      for ((function, offset, aperture) <- Seq((1, 0x3ffffc, 22), (1, 0x40000, 22), (vf, 0xffc, 12))) {
        val request = HostRequest.read(function, offset).copy(bar = 2, aperture = aperture)
        host.send(request.copy(kind = RequestKind.memoryWrite, payload = Seq(0x1000L + function)))
        assert(host.read(request).words == Seq(0x1000L + function))
        assert(bar2.get.memory((function, offset)) == 0x1000 + function)
      }
      val first = HostRequest.read(1, 0x3ffff8).copy(bar = 2, aperture = 22)
      assert(host.read(first.copy(dwords = 2, lastBe = 15)).words == Seq(0L, 0x1001L))
      // A word that is written in part does not reach the bus, and is an error.
      val before = bar2.get.accesses.size
      host.send(first.copy(kind = RequestKind.memoryWrite, payload = Seq(1), enables = Seq(3), firstBe = 3))
      assert(host.read(0, 0x264) == 1 && bar2.get.accesses.size == before)
      def log(function: Int, offset: Int) = 1L << 31 | (offset >> 17).toLong << 26 | function << 17 | offset & 0x1ffff
      assert(host.read(0, 0x26c) == log(1, 0x3ffff8), "the log says that it is one of BAR2")
      host.write(0, 0x264, 1)
      bar2.get.answers = false
      // As drivers unmask errors of requests (host-driver/qdma/qdma_errors.c), and those of requests alone.
      for ((offset, value) <- Seq(0x268 -> 0xb3L, 0x24c -> (1L << 3), 0xb04 -> (1L << 24 | 5 << 12)))
        host.write(0, offset, value)
      var interrupts = Seq[(Int, Int)]()
      cd.onSamplings {
        if (dut.interrupt.valid.toBoolean)
          interrupts = interrupts :+ (dut.interrupt.function.toInt -> dut.interrupt.vector.toInt)
      }
      var cycles = 0
      cd.onSamplings(cycles += 1)
      val waits = host.read(first, limit = 17000)
      assert(waits.words == Seq(ones) && waits.status == 0)
      assert(cycles < 50000 / 4, s"a host may give an access up after 50 us, and this one took $cycles cycles")
      assert(host.read(0, 0x0) == 0x1fd30000L)
      assert(interrupts == Seq(0 -> 5), "drivers do not hear of it")
      // Each access from then on is told.
      assert(host.read(0, 0x264) == 1 << 7 && host.read(0, 0x26c) == log(1, 0x3ffff8))
      host.write(0, 0x264, 1 << 7)
      assert(host.read(0, 0x264) == 0 && host.read(0, 0x26c) == 0)
      val later = HostRequest.read(vf, 0x10).copy(bar = 2, aperture = 12)
      assert(host.read(later).words == Seq(ones))
      assert(host.read(0, 0x264) == 1 << 7 && host.read(0, 0x26c) == log(vf, 0x10))
      host.write(0, 0x264, 1 << 7)
      host.send(later.copy(kind = RequestKind.memoryWrite, payload = Seq(1L)))
      assert(host.read(0, 0x264) == 1 << 7)
      host.write(0, 0x264, 1 << 7)
      // A word that is written in part at about the same time is told, too.
      val part = HostRequest.write(0, 0x204, 0).copy(enables = Seq(3), firstBe = 3)
      for (words <- 1 to 4; gap <- 0 until 16) {
        val lost = later.copy(kind = RequestKind.memoryWrite, payload = Seq.fill(words)(1L), dwords = words)
        host.send(if (words > 1) lost.copy(lastBe = 15) else lost)
        cd.waitSampling(gap)
        host.send(part)
        assert(host.read(0, 0x264) == (1 << 7 | 1), s"$words words, $gap cycles between")
        host.write(0, 0x264, 1 << 7 | 1)
      }
      // Of two, the first is in the log, although the error registers are written meanwhile.
      for (gap <- 0 until 16) {
        host.send(HostRequest.write(0, 0x264, 0))
        cd.waitSampling(gap)
        for (offset <- Seq(0x208, 0x204)) host.send(part.copy(address = offset))
        assert(host.read(0, 0x26c) == 0x208, s"$gap cycles between")
        host.write(0, 0x264, 1)
      }
    }
  }

  test("the engine is idle when nothing moves, and never while an access, a read or a reset waits") {
    run("idle") { (dut, host, cd) =>
      assert(!dut.idle.toBoolean, "memories are not clear after reset")
      waitFor(cd, "the first idle", 5000)(dut.idle.toBoolean)
      val first = HostRequest.read(0, 0x10).copy(bar = 2, aperture = 22)
      bar2.get.answers = false
      host.send(first)
      cd.waitSampling(10)
      for (_ <- 0 until 300) {
        assert(!dut.idle.toBoolean, "a read of BAR2 waits")
        cd.waitSampling()
      }
      bar2.get.answers = true
      waitFor(cd, "the answer")(host.completions.nonEmpty)
      waitFor(cd, "idle after a read", 200)(dut.idle.toBoolean)
      dut.flrAnswers #= false
      dut.vfInProcess #= 1
      cd.waitSampling(10)
      for (_ <- 0 until 10000) {
        assert(!dut.idle.toBoolean, "a reset waits for the shell")
        cd.waitSampling()
      }
      dut.flrAnswers #= true
      waitFor(cd, "the VF's reset", 10000)(dut.vfDone.valid.toBoolean)
      dut.vfInProcess #= 0
      waitFor(cd, "idle after a reset", 500)(dut.idle.toBoolean)
      // What is masked is pending, and does not move.
      host.write(1, 0x22408, 5)
      host.write(1, 0x22410, 1)
      host.write(p.vfsOf(1).head, 0x5c00, 1)
      host.write(p.vfsOf(1).head, 0x5004, 1)
      waitFor(cd, "the VF's message", 2000)(host.read(1, 0x34000) == 1 << 5)
      waitFor(cd, "idle with an interrupt pending", 200)(dut.idle.toBoolean)
    }
  }

  test("a function whose bus master bit is off sends no interrupt, and the PF hears of a VF's message") {
    run("interrupts") { (dut, host, cd) =>
      val vf = p.vfsOf(1).head
      var sent = Seq[(Int, Int)]()
      cd.onSamplings {
        if (dut.interrupt.valid.toBoolean) sent = sent :+ (dut.interrupt.function.toInt -> dut.interrupt.vector.toInt)
      }
      host.write(1, 0x22408, 5)
      host.write(1, 0x22410, 1)
      def message(value: Long): Unit = {
        host.write(vf, 0x5c00, value)
        host.write(vf, 0x5004, 1)
        assert(host.read(1, 0x22400) == (vf << 4 | 1))
        host.write(1, 0x2240c, vf)
        assert(host.read(1, 0x22c00) == value)
        host.write(1, 0x22404, 2)
        assert(host.read(1, 0x22400) == 0)
        cd.waitSampling(50)
      }
      message(0x1111)
      assert(sent == Seq(1 -> 5))
      dut.functionStatus #= 0x4404
      message(0x2222)
      assert(sent == Seq(1 -> 5))
    }
  }

  test("the answer to a read waits until the block has passed on what was written to the host before") {
    run("order") { (dut, host, cd) =>
      for ((word, i) <- Seq(0xfee00000L, 0L, 7L, 0L).zipWithIndex) host.write(1, 0x30000 + 4 * i, word)
      host.write(1, 0x22410, 1)
      for (passes <- Seq(false, true)) {
        dut.passed #= passes
        var isSent = false
        cd.onSamplings(if (dut.rq.valid.toBoolean) isSent = true)
        host.write(p.vfsOf(1).head, 0x5004, 1)
        host.write(1, 0x2240c, p.vfsOf(1).head)
        host.write(1, 0x22404, 2)
        waitFor(cd, "the interrupt of a message")(isSent)
        var isAnswered = false
        val reader = fork {
          host.read(1, 0x22400)
          isAnswered = true
        }
        cd.waitSampling(400)
        assert(isAnswered == passes)
        dut.passed #= true
        reader.join()
      }
    }
  }

  test("an interrupt of a PF and of a VF is the message of its table, sent in the function's name") {
    run("messages") { (dut, host, cd) =>
      val vf = p.vfsOf(1).head
      var messages = Seq[(Int, BigInt, BigInt)]() // function, address, data
      cd.onSamplings {
        def field(low: Int, bits: Int): BigInt = (dut.rq.payload.toBigInt >> low) & ((BigInt(1) << bits) - 1)
        if (dut.rq.valid.toBoolean) {
          assert(field(64, 15) == (1 << 11 | 1), "a message is a write of a double word")
          messages = messages :+ ((field(80, 8).toInt, field(2, 62) << 2, field(128, 32)))
        }
      }
      val tables = Seq((1, 0x30000, 0x34000, 5), (vf, 0x4000, 0x4800, 2)) // function, table, pending bits, vector
      for ((f, table, pending, vector) <- tables) {
        val entry = table + 16 * vector
        assert(host.read(f, entry + 12) == 1, "a vector is masked after reset")
        for ((word, i) <- Seq(0xfee00000L + f, 0x12L, 0xabc0L + f).zipWithIndex) host.write(f, entry + 4 * i, word)
        host.send(HostRequest.write(f, entry + 12, 0).copy(enables = Seq(1), firstBe = 1))
        assert(host.read(f, entry + 12) == 1, "a word that is written in part has no effect")
        val mailbox = if (f < 4) 0x22400 else 0x5000
        host.write(f, mailbox + 8, vector)
        host.write(f, mailbox + 16, 1)
        assert(host.read(f, pending) == 0)
      }
      host.write(vf, 0x5c00, 1)
      host.write(vf, 0x5004, 1)
      host.write(1, 0x2240c, vf)
      host.write(1, 0x22404, 1)
      cd.waitSampling(50) // interrupts pass the mailbox and InterruptSources
      for ((f, table, pending, vector) <- tables) {
        assert(host.read(f, pending) == 1 << vector && messages.isEmpty, "a vector that is masked is pending")
        assert(host.read(f, pending + 4) == 0 && host.read(f, table + 16 * p.vectors) == 0)
      }
      dut.msixMask #= 2
      for ((f, table, _, vector) <- tables) host.write(f, table + 16 * vector + 12, 0)
      waitFor(cd, "the VF's message", 2000)(messages.nonEmpty)
      cd.waitSampling(20)
      def message(f: Int) = (f, BigInt(0x1200000000L) + ((0xfee00000L + f) >> 2 << 2), BigInt(0xabc0 + f))
      assert(messages == Seq(message(vf)))
      dut.msixMask #= 0
      cd.waitSampling(20)
      assert(messages == Seq(message(vf), message(1)))
      for ((f, _, pending, _) <- tables) assert(host.read(f, pending) == 0)
      // PCIe's reset masks what was not, and what was asked for before is not sent after it.
      dut.vfMsixEnable #= 0
      host.write(1, 0x22404, 1)
      host.write(vf, 0x5004, 2)
      host.write(1, 0x22404, 1)
      cd.waitSampling(50)
      assert(host.read(vf, 0x4800) == 4)
      dut.vfInProcess #= BigInt(1) << (vf - 4)
      cd.waitSampling(20000)
      dut.vfInProcess #= 0
      dut.vfMsixEnable #= (BigInt(1) << 252) - 1
      cd.waitSampling(200)
      assert(host.read(vf, 0x402c) == 1 && host.read(vf, 0x4800) == 0 && messages.size == 2)
      assert(host.read(1, 0x3005c) == 0, "a PF's table stays in its VF's reset")
    }
  }

  test("a word that is written in part is an error of requests, and keeps its value") {
    run("partial") { (_, host, _) =>
      host.write(0, 0x204, 0x12345678L)
      host.send(HostRequest.write(0, 0x204, 0).copy(enables = Seq(3), firstBe = 3))
      assert(host.read(0, 0x204) == 0x12345678L)
      assert(host.read(0, 0x264) == 1 && host.read(0, 0x26c) == 0x204)
      host.write(0, 0x264, 1)
      assert(host.read(0, 0x264) == 0 && host.read(0, 0x26c) == 0)
      // The log keeps the first, even if it is all zeros, and has no bit 17 of an offset.
      for (offset <- Seq(0x0, 0x204)) host.send(HostRequest.write(0, offset, 0).copy(enables = Seq(3), firstBe = 3))
      assert(host.read(0, 0x264) == 1 && host.read(0, 0x26c) == 0)
      host.write(0, 0x264, 1)
      host.send(HostRequest.write(0, 0x20204, 0).copy(enables = Seq(3), firstBe = 3))
      assert(host.read(0, 0x26c) == 0x204)
    }
  }

  test("a doorbell of a function's queue comes out with the number among all queues, another is an error") {
    run("doorbell") { (dut, host, cd) =>
      val vf = p.vfsOf(0).last
      var rung = Seq[(Int, Int, Int, Long)]()
      cd.onSamplings {
        val d = dut.doorbell
        if (d.valid.toBoolean) rung = rung :+ ((d.function.toInt, d.queue.toInt, d.kind.toInt, d.value.toLong))
      }
      giveQueues(host, vf, 6, 2)
      for (queue <- 0 until 3) host.write(vf, 0x3000 + 16 * queue + 4 * (queue + 1), 100 + queue)
      assert(host.read(0, 0x264) == 1 << 5 && host.read(0, 0x26c) == (vf << 17 | 0x302c))
      cd.waitSampling(20)
      assert(rung == Seq((vf, 6, 1, 100L), (vf, 7, 2, 101L)))
    }
  }

  test("PCIe's reset of a PF takes its VFs along, waits for the shell, and holds up no other function's") {
    run("resets") { (dut, host, cd) =>
      val family = 1 +: p.vfsOf(1)
      var told = Set[Int]()
      var vfsDone = Seq[Int]()
      cd.onSamplings {
        if (dut.told.valid.toBoolean) told += dut.told.payload.toInt
        if (dut.vfDone.valid.toBoolean) vfsDone = vfsDone :+ dut.vfDone.payload.toInt
      }
      dut.flrAnswers #= false
      dut.pfInProcess #= 2
      waitFor(cd, "the resets at the shell", 40000)(told == family.toSet)
      cd.waitSampling(500)
      assert(dut.pfDone.toInt == 0 && host.read(1, 0x22500) == 1 && host.read(p.vfsOf(1).last, 0x5100) == 1)
      assert(host.read(0, 0x22500) == 0)
      // Another function's reset is carried out while the shell does not answer.
      val other = p.vfsOf(0).head
      dut.vfInProcess #= BigInt(1) << (other - 4)
      waitFor(cd, "the VF's reset at the shell", 40000)(told(other))
      assert(vfsDone.isEmpty && dut.pfDone.toInt == 0)
      dut.flrAnswers #= true
      waitFor(cd, "the VF's reset", 4000)(vfsDone.size >= 2)
      assert(vfsDone.toSet == Set(other), "the block is told of the VF alone, and again until it has heard")
      waitFor(cd, "the PF's reset", 4000)(dut.pfDone.toInt == 2)
      for (f <- family) assert(host.read(f, if (f < 4) 0x22500 else 0x5100) == 0)
      assert(dut.pfDone.toInt == 2, "it is held until the block lets in_process go")
      dut.pfInProcess #= 0
      cd.waitSampling(3)
      assert(dut.pfDone.toInt == 0)
    }
  }

  test("settings that cannot be are refused with what to choose") {
    for (
      (setting, says) <- Seq[(() => DmaParam, String)](
        (() => DmaParam(pfs = 5), "choose 4"),
        (() => DmaParam(pfs = 2, vfs = Seq(1, 1)), "choose 4"),
        (() => DmaParam(firstVfDone = 1), "choose 0 or 4"),
        (() => DmaParam(vfs = Seq(1)), "name as many"),
        (() => DmaParam(vfs = Seq(253, 0, 0, 0)), "at most 252"),
        (() => DmaParam(queues = 100), "a power of two"),
        (() => DmaParam(vectors = 64), "2 to 32"),
        (() => DmaParam(pushSlots = 5), "0 or a power of two, 2 to 64")
      )
    ) assert(intercept[IllegalArgumentException](setting()).getMessage.contains(says))
  }
}
