// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.ShellParam
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable
import scala.util.Random

/** Registers as software meets them: through AXI4-Lite, both banks and the crossing between them. */
class RegsTest extends AnyFunSuite {
  val p = ShellParam(ports = 2, functions = 12, queues = 256, groups = 16, psAddresses = 4)
  lazy val compiled = SimConfig.compile(new RegsBench(p))
  val absent = BigInt("DEADBEEF", 16)

  class Setup(val dut: RegsBench, seed: Int) {
    val random = new Random(seed)
    println(s"seed $seed")
    dut.hostClock.forkStimulus(4000)
    dut.psClock.forkStimulus(4100 + random.nextInt(3000))
    dut.build_date #= 0x65432100L
    dut.build_hash #= BigInt("cafe0123", 16)
    dut.functionReset #= 0
    dut.macLinkUp #= 3
    dut.range.ready #= false
    dut.macCommand.ready #= false
    dut.macAnswer.valid #= false
    val bar2 = new RegMaster(dut.bar2, dut.hostClock, Some(dut.awuser), Some(dut.aruser), random)
    val ps = new RegMaster(dut.ps, dut.psClock, random = random)
    val ranges = mutable.Queue[(Int, Int, Int)]()
    val indirection = mutable.Map[(Int, Int), Int]()
    val key = mutable.Map[(Int, Int), BigInt]()
    val group = mutable.Map[(Int, Int), BigInt]()
    var takeRanges = true
    dut.hostClock.onSamplings {
      if (dut.range.valid.toBoolean && dut.range.ready.toBoolean)
        ranges += ((dut.range.function.toInt, dut.range.base.toInt, dut.range.count.toInt))
      dut.range.ready #= takeRanges && random.nextInt(4) == 0
      if (dut.indirection.valid.toBoolean)
        indirection((dut.indirection.function.toInt, dut.indirection.index.toInt)) = dut.indirection.queue.toInt
      if (dut.key.valid.toBoolean) key((dut.key.function.toInt, dut.key.word.toInt)) = dut.key.data.toBigInt
      if (dut.group.valid.toBoolean) group((dut.group.group.toInt, dut.group.word.toInt)) = dut.group.data.toBigInt
    }
    dut.hostClock.waitSampling(20)
    def settle(): Unit = dut.hostClock.waitSampling(60)
  }

  def run(name: String, seed: Int)(body: Setup => Unit): Unit = test(name) {
    compiled.doSim(name.replace(' ', '_'), seed) { dut =>
      SimTimeout(4000L * 400000)
      body(new Setup(dut, seed))
    }
  }

  run("what the OpenNIC driver does at probe", 1) { s =>
    import s._
    assert(bar2.read(0x0) == 0x65432100L)
    assert(bar2.read(0x10) == 0x331)
    assert(bar2.read(0x4000) == 0) // waits until the defaults are written
    for (f <- 0 until 4; k <- Seq(0, 64, 127)) assert(indirection((f, k)) == 0)
    for (f <- 0 until p.functions; j <- 0 until 10) assert(key((f, j)) == FunctionViews.defaultKey(j))
    for (f <- 0 until 2) {
      val base = 0x1000 + 0x1000 * f
      assert(bar2.read(base, f) == 0)
      bar2.write(base, 64 * f << 16 | 8, f)
      for (k <- 0 until 128) bar2.write(base + 0x400 + 4 * k, k % 8, f)
      assert(bar2.read(base, f) == (64 * f << 16 | 8))
      for (k <- Seq(0, 7, 100, 127)) assert(bar2.read(base + 0x400 + 4 * k, f) == k % 8)
      for (k <- 0 until 128) assert(indirection((f, k)) == k % 8)
      for (j <- 0 until 10) assert(bar2.read(base + 0x600 + 4 * j, f) == FunctionViews.defaultKey(j))
      assert(bar2.read(base + 0x800, f) == absent)
    }
    settle()
    assert(ranges.toList == List((0, 0, 8), (1, 64, 8)))
    assert(dut.flags.enable.toInt == 3)
    // The driver counts MACs by their version and resets each.
    var macs = 0
    while (macs < 2 && bar2.read(0x8024 + 0x4000 * macs) == 0x301) macs += 1
    assert(macs == 2)
    for (m <- 0 until macs) {
      val bit = 0x10 << 4 * m
      bar2.write(0xc, bit)
      assert((bar2.read(0x10) & bit) == 0, "a reset is seen")
      assert((bar2.read(0x10) | bit) == 0x331, "of this block only")
      var polls = 0
      while ((bar2.read(0x10) & bit) == 0) { polls += 1; assert(polls < 50) }
      assert(!dut.ports(m).rxEnable.toBoolean && !dut.ports(m).txEnable.toBoolean)
      bar2.write(0x8014 + 0x4000 * m, 1)
      bar2.write(0x800c + 0x4000 * m, 0x10)
      settle()
      assert(dut.ports(m).rxEnable.toBoolean && !dut.ports(m).txEnable.toBoolean)
      bar2.write(0x800c + 0x4000 * m, 1)
      settle()
      assert(dut.ports(m).txEnable.toBoolean)
      assert(bar2.read(0x8204 + 0x4000 * m) == 3)
      assert(bar2.read(0x102004 + 0x1000 * m) == 3)
    }
    assert(bar2.read(0xa000) == absent && bar2.read(0x5000) == absent && bar2.read(0x6000) == absent)
    dut.macLinkUp #= 1
    settle()
    assert(bar2.read(0xc204) == 0 && bar2.read(0x8204) == 3)
    println(s"slowest access ${bar2.slowest} host cycles")
  }

  run("functions after reset, their pages and their reset", 2) { s =>
    import s._
    assert(dut.flags.broadcast.toInt == 0xfff && dut.flags.promiscuous.toInt == 15)
    assert(dut.flags.allMulticast.toInt == 15 && dut.flags.trusted.toInt == 15)
    assert((0 until 12).map(dut.flags.port(_).toInt) == Seq(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    for (f <- 0 until 12) assert(bar2.read(0x200004 + 0x1000 * f, random.nextInt(4)) == (if (f < 4) 15 else 1))
    val flags = Array.tabulate(12)(f => if (f < 4) 15 else 1)
    val port = Array.tabulate(12)(f => if (f == 1) 1 else 0)
    for (_ <- 0 until 60) {
      val f = random.nextInt(12)
      val page = 0x200000 + 0x1000 * f
      if (random.nextBoolean()) { flags(f) = random.nextInt(16); bar2.write(page + 4, flags(f)) }
      else {
        val wanted = random.nextInt(4)
        assert(bar2.writeFull(page + 8, wanted) == (if (wanted < 2) 0 else 2))
        if (wanted < 2) port(f) = wanted
      }
      assert(bar2.read(page + 4) == flags(f) && bar2.read(page + 8) == port(f))
    }
    settle()
    for (f <- 0 until 12) {
      val got = Seq(dut.flags.broadcast, dut.flags.allMulticast, dut.flags.promiscuous, dut.flags.trusted).map(_.toInt >> f & 1)
      assert(got == (0 until 4).map(flags(f) >> _ & 1))
      assert(dut.flags.port(f).toInt == port(f))
    }
    // Same storage as OpenNIC's block, and queues beyond the card's are refused.
    bar2.write(0x202000, 16 << 16 | 4)
    assert(bar2.read(0x3000) == (16 << 16 | 4))
    assert(bar2.writeFull(0x202000, BigInt(250) << 16 | 7) == 2)
    assert(bar2.writeFull(0x202000, BigInt("ffffffff", 16)) == 2)
    assert(bar2.read(0x202000) == (16 << 16 | 4))
    bar2.write(0x205000, BigInt(255) << 16 | 1)
    for (j <- 0 until 10) bar2.write(0x205600 + 4 * j, BigInt(32, new Random(j)))
    for (j <- 0 until 10) {
      assert(bar2.read(0x205600 + 4 * j) == BigInt(32, new Random(j)))
      assert(key((5, j)) == BigInt(32, new Random(j)))
    }
    bar2.write(0x205400 + 4 * 127, 0x55)
    assert(bar2.read(0x205400 + 4 * 127) == 0x55 && bar2.read(0x204400 + 4 * 127) == 0)
    settle()
    assert(ranges.toList == List((2, 16, 4), (5, 255, 1)))
    assert(dut.flags.enable.toInt == (1 << 2 | 1 << 5))
    // A reset takes the queues and the enable at once; the flags stay.
    dut.functionReset #= 1 << 5
    dut.hostClock.waitSampling(3)
    assert(dut.flags.enable.toInt == 1 << 2)
    dut.hostClock.waitSampling(20)
    settle()
    assert(ranges.last == ((5, 0, 0)) && ranges.size == 3)
    assert(bar2.read(0x205000) == 0 && bar2.read(0x205004) == flags(5))
    assert((bar2.read(0x20500c) & 3) == 2)
    dut.functionReset #= 0
    settle()
    assert(dut.flags.enable.toInt == 1 << 2)
    bar2.write(0x202000, 0)
    settle()
    assert(dut.flags.enable.toInt == 0 && ranges.last == ((2, 0, 0)))
    // A queue table that does not answer does not stop the registers.
    takeRanges = false
    dut.hostClock.waitSampling()
    bar2.write(0x1000, 4)
    assert(bar2.writeFull(0x2000, 4) == 2)
    assert(bar2.read(0x2000) == 0 && bar2.read(0x1000) == 4)
  }

  run("filter commands and ports", 3) { s =>
    import s._
    bar2.write(0x110000, BigInt("44332211", 16))
    bar2.write(0x110004, BigInt("6655", 16))
    bar2.write(0x110008, 1 << 16 | 1 << 15 | 0x123)
    bar2.write(0x11000c, 1 << 8 | 9)
    bar2.write(0x110010, 1)
    assert(bar2.read(0x110014) == 1)
    bar2.write(0x110000, 0)
    bar2.write(0x110010, 2) // one is under way: ignored
    assert(bar2.read(0x110018) == 1)
    assert(dut.macCommand.valid.toBoolean)
    assert(dut.macCommand.query.address.toBigInt == BigInt("665544332211", 16))
    assert(dut.macCommand.query.port.toInt == 1 && dut.macCommand.query.vid.toInt == 0x123 && dut.macCommand.anyVlan.toBoolean)
    assert(dut.macCommand.value.isGroup.toBoolean && dut.macCommand.value.index.toInt == 9)
    assert(dut.macCommand.operation.toEnum == meridian.filter.MacOperation.remove)
    dut.macCommand.ready #= true
    dut.hostClock.waitSampling(2)
    assert(!dut.macCommand.valid.toBoolean)
    dut.macAnswer.valid #= true
    dut.macAnswer.status #= meridian.filter.MacStatus.notFound
    dut.macAnswer.value.index #= 0x42
    dut.macAnswer.value.isGroup #= false
    dut.hostClock.waitSampling()
    dut.macAnswer.valid #= false
    assert(bar2.read(0x110014) == (2 << 4 | 0x42 << 8))
    bar2.write(0x110010, 3)
    assert(bar2.read(0x110018) == 2)

    assert(group.size == 16 * 8 && group.values.forall(_ == 0))
    bar2.write(0x110020, 3 << 16 | 13)
    bar2.write(0x110024, BigInt("80000001", 16))
    bar2.write(0x110020, 2 << 16 | 13)
    assert(bar2.read(0x110024) == 0)
    bar2.write(0x110020, 3 << 16 | 13)
    assert(bar2.read(0x110024) == BigInt("80000001", 16))
    assert(group((13, 3)) == BigInt("80000001", 16) && group.values.count(_ != 0) == 1)

    var sizes = List[(Int, Int)]()
    dut.hostClock.onSamplings {
      if (dut.bufferSize.valid.toBoolean) sizes :+= ((dut.bufferSize.queue.toInt, dut.bufferSize.bytes.toInt))
    }
    bar2.write(0x110034, 200 << 16 | 4096)
    bar2.write(0x110034, 201 << 16 | 2048)
    assert(sizes == List((200, 4096), (201, 2048)))
    bar2.write(0x110030, 1)
    assert(dut.enforce.toBoolean)

    bar2.write(0x111010, BigInt("80000007", 16))
    assert(dut.ports(1).defaultValid.toBoolean && dut.ports(1).defaultFunction.toInt == 7)
    assert(!dut.ports(0).defaultValid.toBoolean)
    assert(bar2.read(0x111014) == 1)
  }

  run("identification and PS filter, from both sides", 4) { s =>
    import s._
    for ((bus, base) <- Seq((bar2, 0x100000), (ps, 0))) {
      assert(bus.read(base) == BigInt("4D52444E", 16))
      assert(bus.read(base + 8) == 0x65432100L && bus.read(base + 0xc) == BigInt("cafe0123", 16))
      assert(bus.read(base + 0x14) == (12 << 16 | 32 << 8 | 2))
      assert(bus.read(base + 0x18) == (16 << 16 | 256))
    }
    ps.write(0x2140 + 8 * 3, BigInt("0019c201", 16))
    ps.write(0x2144 + 8 * 3, BigInt("80000e00", 16))
    ps.write(0x2100, 5)
    settle()
    assert(dut.filter(0).address(3).toBigInt == BigInt("0e000019c201", 16))
    assert(dut.filter(0).valid.toInt == 8 && dut.filter(0).enable.toBoolean && dut.filter(0).allMulticast.toBoolean)
    assert(dut.filter(1).valid.toInt == 0 && !dut.filter(1).enable.toBoolean)
    // The host reads it and cannot change it.
    assert(bar2.read(0x102100) == 5)
    assert(bar2.writeFull(0x102100, 0) == 2)
    assert(ps.read(0x2100) == 5 && ps.read(0x34) == 1)
    // Both at once, against each other.
    val both = Seq((bar2, 0x100000 + 0x24, dut.hostClock), (ps, 0x2140, dut.psClock)).map { case (bus, at, _) =>
      fork {
        for (i <- 0 until 100) {
          bus.write(at, 77 * i)
          assert(bus.read(at) == 77 * i)
        }
      }
    }
    both.foreach(_.join())
    println(s"slowest read ${ps.slowest} ps cycles, ${bar2.slowest} host cycles")
  }

  run("any address, any strobe, any function is answered", 5) { s =>
    import s._
    assert(bar2.writeFull(0x100024, BigInt("ffffffff", 16), strb = 7) == 2 && bar2.read(0x100024) == 0)
    for (_ <- 0 until 400) {
      val address = random.nextInt(4) match {
        case 0 => BigInt(32, random)
        case 1 => BigInt(0x100000 + random.nextInt(0x14000))
        case 2 => BigInt(random.nextInt(0x10000))
        case _ => BigInt(0x200000 + random.nextInt(0x20000))
      }
      val function = if (random.nextInt(3) == 0) random.nextInt(256) else random.nextInt(4)
      if (random.nextBoolean()) bar2.readFull(address, function)
      else bar2.writeFull(address, BigInt(32, random), function, random.nextInt(16))
      if (random.nextInt(4) == 0) {
        if (random.nextBoolean()) ps.readFull(random.nextInt(0x10000))
        else ps.writeFull(random.nextInt(0x10000), BigInt(32, random), strb = random.nextInt(16))
      }
    }
    val before = bar2.read(0x100030)
    assert(bar2.read(0x10f000) == 0 && bar2.read(0x102ffc) == 0)
    assert(bar2.read(0x100030) == before + 2)
    assert(bar2.read(0x100003) == BigInt("4D52444E", 16), "the lowest two address bits do not matter")
  }

  run("a VF sees its own page and nothing else", 6) { s =>
    import s._
    bar2.write(0x207000, 32 << 16 | 6)
    for (_ <- 0 until 20) {
      val bar = BigInt(20, random) << 12
      assert(bar2.read(bar, 7) == BigInt("4D52444E", 16))
      assert(bar2.read(bar + 8, 7) == 7)
      assert(bar2.read(bar + 0xc, 7) == 5)
      assert(bar2.read(bar + 0x10, 7) == 1)
      assert(bar2.read(bar + 0x14, 7) == 6 && bar2.read(bar + 0x14, 8) == 0)
      bar2.write(bar + 4 * random.nextInt(1024), BigInt(32, random), 4 + random.nextInt(8))
      assert(bar2.read(bar + 8, 200) == 0)
    }
    bar2.write(0x207004, 0, 7)
    assert(bar2.read(0x207004) == 1 && bar2.read(0x200004) == 15)
  }

  run("a ps clock that stops does not stop the host", 7) { s =>
    import s._
    bar2.write(0x100024, 1)
    for (_ <- 0 until 3) {
      // Hold the ps side in reset in the middle of an access: the request is lost or repeated, never left hanging.
      val reset = fork {
        dut.hostClock.waitSampling(random.nextInt(20))
        dut.psClock.assertReset()
        dut.hostClock.waitSampling(2000)
        dut.psClock.deassertReset()
      }
      assert(bar2.readFull(0x100000)._1 != 0)
      for (_ <- 0 until 3) {
        val (data, resp) = bar2.readFull(0x100000)
        assert(data == absent && resp == 2)
      }
      assert(bar2.writeFull(0x100024, 2) == 2)
      assert(bar2.read(0x10) == 0x331, "the rest goes on")
      reset.join()
      dut.hostClock.waitSampling(400)
      assert(bar2.read(0x100000) == BigInt("4D52444E", 16))
      assert(bar2.read(0x100024) == 0, "no write is repeated after the reset")
      bar2.write(0x100024, 3)
      assert(bar2.read(0x100024) == 3)
    }
  }
}
