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
    for (flow <- Seq(dut.rxRecord, dut.rxCopyRecord)) flow.valid #= false
    dut.txRecord.valid #= false
    dut.c2hDrop #= false
    dut.released.valid #= false
    dut.macRx.foreach(_.valid #= false)
    dut.macTx.foreach(_.valid #= false)
    val bar2 = new RegMaster(dut.bar2, dut.hostClock, Some(dut.awuser), Some(dut.aruser), random)
    val ps = new RegMaster(dut.ps, dut.psClock, random = random)
    val ranges = mutable.Queue[(Int, Int, Int)]()
    val indirection = mutable.Map[(Int, Int), Int]()
    val key = mutable.Map[(Int, Int), BigInt]()
    val group = mutable.Map[(Int, Int), BigInt]()
    val switches = mutable.Map[Int, Boolean]()
    val rate = mutable.Map[(Int, Boolean), Long]()
    val paced, offload = mutable.Map[Int, Boolean]()
    val tag = mutable.Map[Int, (Boolean, Int)]()
    var takeRanges = true
    dut.hostClock.onSamplings {
      if (dut.range.valid.toBoolean && dut.range.ready.toBoolean)
        ranges += ((dut.range.function.toInt, dut.range.base.toInt, dut.range.count.toInt))
      dut.range.ready #= takeRanges && random.nextInt(4) == 0
      if (dut.indirection.valid.toBoolean)
        indirection((dut.indirection.function.toInt, dut.indirection.index.toInt)) = dut.indirection.queue.toInt
      if (dut.key.valid.toBoolean) key((dut.key.function.toInt, dut.key.word.toInt)) = dut.key.data.toBigInt
      if (dut.rate.valid.toBoolean)
        rate((dut.rate.function.toInt, dut.rate.minimum.toBoolean)) = dut.rate.rate.toLong
      if (dut.tag.valid.toBoolean)
        tag(dut.tag.function.toInt) = (dut.tag.tag.insert.toBoolean, dut.tag.tag.tci.toInt)
      if (dut.switches.valid.toBoolean) {
        switches(dut.switches.queue.toInt) = dut.switches.completion16.toBoolean
        paced(dut.switches.queue.toInt) = dut.switches.paced.toBoolean
        offload(dut.switches.queue.toInt) = dut.switches.transmitOffload.toBoolean
      }
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

  run("a function's vlan register: nothing at first, and kept beside flags and port", 62) { s =>
    import s._
    for (f <- 0 until p.functions) assert(bar2.read(0x200018 + 0x1000 * f) == 0 && !tag(f)._1)
    bar2.write(0x205018, BigInt("ffffffff", 16))
    bar2.write(0x204018, 0x16005)
    bar2.write(0x202018, 1 << 17)
    settle()
    assert(dut.flags.strip.toBigInt == 0x24 && dut.flags.insert.toBigInt == 0x30)
    assert(tag(5) == (true, 0xffff) && tag(4) == (true, 0x6005) && !tag(2)._1)
    bar2.write(0x205004, 0xa)
    bar2.write(0x205008, 1)
    bar2.write(0x202018, 0)
    settle()
    assert(dut.flags.strip.toBigInt == 0x20)
    assert(Seq(0x04, 0x08, 0x18).map(at => bar2.read(0x205000 + at)) == Seq(0xa, 1, 0x3ffff))
    assert(bar2.read(0x204018) == 0x16005 && bar2.read(0x202018) == 0)
    dut.functionReset #= 1 << 5 // the VLAN is the PF's business
    settle()
    dut.functionReset #= 0
    settle()
    assert(bar2.read(0x205018) == 0x3ffff && tag(5)._1 && dut.flags.insert.toBigInt == 0x30)
    assert(bar2.read(0x202004) == 15)
  }

  run("a function's link: its port's at first, and down disables it", 63) { s =>
    import s._
    def linkAt(function: Int) = 0x20001c + 0x1000 * function
    def seen(function: Int) = bar2.read(0x20000c + 0x1000 * function)
    for (f <- 0 until p.functions) assert(bar2.read(linkAt(f)) == 0)
    for (f <- Seq(4, 5)) bar2.write(0x200000 + 0x1000 * f, f << 20 | 2)
    settle()
    assert(dut.flags.enable.toBigInt == 0x30 && seen(4) == 5 && seen(5) == 5)
    bar2.write(linkAt(5), 2)
    settle()
    assert(dut.flags.enable.toBigInt == 0x10 && seen(5) == 0 && bar2.read(0xc, 5) == 25 << 8)
    assert(bar2.writeFull(linkAt(5), 3) == 2 && bar2.read(linkAt(5)) == 2, "a state that is none is refused")
    dut.macLinkUp #= 0
    bar2.write(linkAt(5), 1)
    settle()
    assert(dut.flags.enable.toBigInt == 0x30 && seen(4) == 1 && seen(5) == 5)
    bar2.write(linkAt(5), 0)
    settle()
    assert(seen(5) == 1 && bar2.read(0x205004) == 1 && bar2.read(0x205018) == 0)
  }

  run("the order of a function's hash: OpenNIC's at first", 61) { s =>
    import s._
    assert(bar2.read(0x201628) == 0)
    for (f <- 0 until p.functions) assert(key((f, 10)) == 0)
    bar2.write(0x203628, 1)
    bar2.write(0x203624, 0x55) // the last word of the key stands before it
    settle()
    for (f <- 0 until p.functions) assert(bar2.read(0x200628 + 0x1000 * f) == (if (f == 3) 1 else 0))
    assert(key((3, 10)) == 1 && key((3, 9)) == 0x55)
    assert(bar2.read(0x1628) == absent, "OpenNIC has nothing there")
  }

  run("switches of queues: off at first, kept, and lost with the queue in a reset", 60) { s =>
    import s._
    def at(queue: Int) = 0x120000 + 4 * queue
    assert(bar2.read(at(p.queues - 1)) == 0) // waits until all are written
    assert(switches == (0 until p.queues).map(_ -> false).toMap)
    val chosen = Seq.fill(40)(random.nextInt(p.queues)).toSet
    for (queue <- chosen) bar2.write(at(queue), BigInt("ffffffff", 16))
    for (queue <- 0 until p.queues) assert(bar2.read(at(queue)) == (if (chosen(queue)) 7 else 0), s"queue $queue")
    for (switch <- Seq(switches, paced, offload)) assert((0 until p.queues).filter(switch).toSet == chosen)
    val taken = chosen.take(20) + (chosen.max + 1) % p.queues
    val clearing = fork(for (queue <- taken) {
      dut.released.valid #= true
      dut.released.payload #= queue
      dut.hostClock.waitSampling()
      dut.released.valid #= false
    })
    // An access meanwhile waits, and neither is lost.
    bar2.write(at(chosen.last), 1)
    clearing.join()
    bar2.write(at(chosen.last), 1)
    settle()
    val left = chosen -- taken + chosen.last
    def wanted(queue: Int) = if (queue == chosen.last) 1 else 7 // completion16 alone, or all
    for (queue <- chosen) assert(bar2.read(at(queue)) == (if (left(queue)) wanted(queue) else 0), s"queue $queue")
    assert((0 until p.queues).filter(switches).toSet == left)
    assert((0 until p.queues).filter(offload).toSet == left - chosen.last)
    bar2.write(at(p.queues), 1) // a queue that the card has not: it shows no other
    assert(bar2.read(at(p.queues)) == 0 && bar2.read(at(0)) == (if (left(0)) wanted(0) else 0))
    assert(bar2.read(0x112030) == 0, "unmapped")
    assert(switches.keySet.forall(_ < p.queues))
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

  run("rates of functions and switches of queues", 11) { s =>
    import s._
    def rateAt(function: Int, minimum: Boolean) = 0x200010 + 0x1000 * function + (if (minimum) 4 else 0)
    def switchAt(queue: Int) = 0x120000 + 4 * queue
    val places = for (f <- 0 until p.functions; minimum <- Seq(false, true)) yield (f, minimum)
    for ((f, minimum) <- places) assert(bar2.read(rateAt(f, minimum)) == 0 && rate((f, minimum)) == 0)
    val wanted = places.map(_ -> random.nextInt(1 << 26).toLong).toMap
    for (((f, minimum), value) <- wanted) bar2.write(rateAt(f, minimum), value)
    for (((f, minimum), value) <- wanted) assert(bar2.read(rateAt(f, minimum)) == value)
    assert(bar2.writeFull(rateAt(5, false), 1L << 26) == 2, "more than the card can count is refused")
    bar2.write(0x10, 77, 4) // a VF has no such register
    settle()
    assert(rate == wanted)

    assert(bar2.read(switchAt(0)) == 0)
    assert(paced.size == p.queues && !paced.values.exists(identity))
    for (queue <- Seq(3, 200, 255, 256, 2047)) bar2.write(switchAt(queue), 4)
    for (queue <- Seq(3, 4, 200, 255, 256, 2047))
      assert(bar2.read(switchAt(queue)) == (if (Seq(3, 200, 255).contains(queue)) 4 else 0))
    assert(paced.filter(_._2).keySet == Set(3, 200, 255))
    dut.released.valid #= true
    dut.released.payload #= 200
    dut.hostClock.waitSampling()
    dut.released.valid #= false
    settle()
    assert(bar2.read(switchAt(200)) == 0 && bar2.read(switchAt(3)) == 4)
    assert(paced.filter(_._2).keySet == Set(3, 255))
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
      val got = Seq(
        dut.flags.broadcast,
        dut.flags.allMulticast,
        dut.flags.promiscuous,
        dut.flags.trusted
      ).map(_.toInt >> f & 1)
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
    // However short it is.
    dut.functionReset #= 1 << 2
    dut.hostClock.waitSampling()
    dut.functionReset #= 0
    settle()
    assert(dut.flags.enable.toInt == 0 && ranges.last == ((2, 0, 0)) && bar2.read(0x202000) == 0)
    bar2.write(0x202000, 3)
    settle()
    assert(dut.flags.enable.toInt == 1 << 2 && ranges.last == ((2, 0, 3)))
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
    assert(dut.macCommand.query.port.toInt == 1 && dut.macCommand.query.vid.toInt == 0x123)
    assert(dut.macCommand.anyVlan.toBoolean)
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
    // The same with the PTP clock: it is the PS that sets it, and nobody else.
    var sets = 0
    dut.psClock.onSamplings { if (dut.clockSet.toBoolean) sets += 1 }
    ps.write(0x1028, 5)
    assert(bar2.writeFull(0x101028, 9) == 2 && bar2.writeFull(0x101000, 2) == 2)
    assert(ps.read(0x1028) == 5 && bar2.read(0x101028) == 5 && sets == 0 && ps.read(0x34) == 3)
    ps.write(0x1000, 2)
    assert(sets == 1)
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
      assert(bar2.read(bar + 0xc, 7) == (25 << 8 | 5))
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

  run("a reset of the host does not reach the card's registers", 10) { s =>
    import s._
    ps.write(0x24, 77)
    for (i <- 0 until 6) {
      if (random.nextBoolean()) bar2.read(0x100000)
      // In the middle of a write of the host, or of a read.
      dut.bar2.aw.addr #= 0x100024
      dut.bar2.ar.addr #= 0x108000
      dut.bar2.w.strb #= 15
      dut.bar2.w.data #= 5
      dut.bar2.aw.valid #= i % 2 == 0
      dut.bar2.w.valid #= i % 2 == 0
      dut.bar2.ar.valid #= i % 2 == 1
      dut.hostClock.waitSampling(random.nextInt(25))
      dut.hostClock.assertReset()
      dut.bar2.aw.valid #= false
      dut.bar2.w.valid #= false
      dut.bar2.ar.valid #= false
      dut.psClock.waitSampling(40) // the host clock does not sample in reset
      val before = ps.read(0x24)
      assert(before == 77 || before == 5)
      dut.hostClock.deassertReset()
      dut.hostClock.waitSampling(40)
      assert(ps.read(0x24) == before)
      assert(bar2.read(0x100024) == before)
      ps.write(0x24, 77)
    }
  }

  private def counter(bus: RegMaster, address: BigInt, function: Int = 0): BigInt =
    bus.read(address, function) | bus.read(address + 4, function) << 32

  run("counters of functions and of ports without function", 8) { s =>
    import s._
    bar2.read(0x200000) // the counters are cleared by then
    val expected = mutable.Map[(Int, String), BigInt]().withDefaultValue(0)
    def name(
        rx: Boolean,
        verdict: SpinalEnumElement[_]
    ) = (if (rx) "rx_" else "tx_") + FunctionCounters.snake(verdict.getName())
    var pushing = true
    val traffic = fork {
      for (_ <- 0 until 3000) {
        for ((flow, copies) <- Seq(dut.rxRecord -> false, dut.rxCopyRecord -> true)) {
          val verdict = meridian.filter.RxVerdict.elements(random.nextInt(9))
          val (function, port, length) = (random.nextInt(12), random.nextInt(2), 60 + random.nextInt(9000))
          val has = random.nextInt(4) != 0
          flow.valid #= random.nextInt(4) != 0
          flow.verdict #= verdict
          flow.function #= function
          flow.functionValid #= has
          flow.port #= port
          flow.copy #= copies
          flow.length #= length
          sleep(0)
          if (flow.valid.toBoolean) {
            val slot = if (has) function else 12 + port
            expected((slot, name(true, verdict))) += 1
            if (verdict == meridian.filter.RxVerdict.delivered) {
              expected((slot, "rx_bytes")) += length
              if (copies) expected((slot, "rx_copies")) += 1
            }
          }
        }
        val verdict = meridian.filter.TxVerdict.elements(random.nextInt(meridian.filter.TxVerdict.elements.size))
        val (function, port, length) = (random.nextInt(12), random.nextInt(2), 60 + random.nextInt(9000))
        val has = random.nextInt(4) != 0
        dut.txRecord.valid #= true
        dut.txRecord.verdict #= verdict
        dut.txRecord.function #= function
        dut.txRecord.functionValid #= has
        dut.txRecord.port #= port
        dut.txRecord.length #= length
        val slot = if (has) function else 12 + port
        expected((slot, name(false, verdict))) += 1
        import meridian.filter.TxVerdict
        if (Set[TxVerdict.E](TxVerdict.sent, TxVerdict.switched, TxVerdict.toPs)(verdict))
          expected((slot, "tx_bytes")) += length
        val unfilled = random.nextBoolean()
        dut.txRecord.unfilled #= unfilled
        if (unfilled && Set[TxVerdict.E](TxVerdict.sent, TxVerdict.switched, TxVerdict.toPs)(verdict))
          expected((slot, "tx_offload_skipped")) += 1
        val kinds = Seq(
          (dut.txRecord.toFunctions, "tx_copies_switched", "tx_copies_veb_full"),
          (dut.txRecord.toPs, "tx_copies_to_ps", "tx_copies_ps_full")
        )
        for ((copy, good, full) <- kinds) {
          val (made, lost) = (random.nextBoolean(), random.nextBoolean())
          copy.made #= made
          copy.full #= lost
          if (made) expected((slot, if (lost) full else good)) += 1
        }
        dut.hostClock.waitSampling()
      }
      Seq(dut.rxRecord, dut.rxCopyRecord).foreach(_.valid #= false)
      dut.txRecord.valid #= false
      pushing = false
    }
    while (pushing) bar2.read(0x200800 + 8 * random.nextInt(64)) // reads take nothing away
    traffic.join()
    settle()
    for (c <- FunctionCounters.names) {
      for (f <- 0 until 12)
        assert(
          counter(bar2, 0x200000 + 0x1000 * f + c.offset) == expected((f, c.name)),
          s"${c.name} of $f"
        )
      for (f <- 4 until 12) assert(counter(bar2, c.offset, f) == expected((f, c.name)), s"${c.name} as VF $f sees it")
      for (i <- 0 until 2)
        assert(
          counter(bar2, 0x113000 + 0x1000 * i + c.offset) == expected((12 + i, c.name)),
          s"${c.name} of port $i"
        )
    }
    assert(bar2.read(0x200800 + 8 * 9) == 0 && bar2.read(0x200800 + 8 * 30) == 0 && bar2.read(0x200800 + 8 * 44) == 0)
    // Single events.
    bar2.write(0x5000, 1, 7)
    dut.c2hDrop #= true
    dut.hostClock.waitSampling(5)
    dut.c2hDrop #= false
    settle()
    val events = HostEvents.names.zipWithIndex.map { case ((n, _), i) => n -> counter(bar2, 0x112000 + 8 * i) }.toMap
    assert(events("c2h_drop") == 5 && events("vf_write_refused") == 1 && events("write_refused") == 0)
    bar2.read(0x112ffc)
    assert(counter(bar2, 0x112000 + 8 * 6) == events("unmapped") + 1)
  }

  run("counters of ports, since reset and from tick to tick", 9) { s =>
    import s._
    ps.read(0x8000)
    var frames = List[(Int, Boolean, String => BigInt)]()
    def bins(length: Int): String = {
      val limits = Seq(64, 127, 255, 511, 1023, 1518, 1522, 1548, 2047, 4095, 8191, 9215)
      if (length < 64) "small"
      else if (length == 64) "size_64"
      else if (length > 9215) "large"
      else limits.sliding(2).collectFirst { case Seq(a, b) if length > a && length <= b => s"size_${a + 1}_$b" }.get
    }
    def some(yes: Boolean): BigInt = if (yes) 1 else 0
    var slowest = 0
    def push(stream: spinal.lib.Stream[_]): Unit = {
      stream.valid #= true
      var cycles = 0
      do { dut.psClock.waitSampling(); cycles += 1; assert(cycles < 300) } while (!stream.ready.toBoolean)
      slowest = slowest max cycles
      stream.valid #= false
    }
    def traffic(count: Int): Unit = (for (port <- 0 until 2)
      yield Seq(
        fork {
          for (i <- 0 until count) {
            val r = dut.macRx(port)
            r.payload.randomize()
            val length = random.nextInt(20) match {
              case 0           => 65535
              case n if n < 10 => 50 + random.nextInt(30)
              case _           => random.nextInt(10000)
            }
            r.length #= length
            r.badFcs #= random.nextInt(6) == 0
            r.runt #= random.nextInt(6) == 0
            r.oversize #= random.nextInt(6) == 0
            sleep(0)
            val m = r.payload
            val (fcs, runt, over) = (m.badFcs.toBoolean, m.runt.toBoolean, m.oversize.toBoolean)
            val good = !(fcs || runt || over)
            val cast = if (m.broadcast.toBoolean) "broadcast" else if (m.multicast.toBoolean) "multicast" else "unicast"
            val (vlan, host, toPs, ho, po) = (
              m.vlan.toBoolean,
              m.forHost.toBoolean,
              m.forPs.toBoolean,
              m.hostOverflow.toBoolean,
              m.psOverflow.toBoolean
            )
            push(r)
            frames :+= ((
              port,
              true,
              {
                case "frames"                                    => 1
                case "bytes"                                     => length + 4
                case "good_frames"                               => some(good)
                case "good_bytes"                                => if (good) length + 4 else 0
                case "vlan"                                      => some(good && vlan)
                case c @ ("unicast" | "multicast" | "broadcast") => some(good && c == cast)
                case "bad_fcs" | "packet_bad_fcs"                => some(fcs)
                case "runt"                                      => some(runt && !fcs)
                case "oversize"                                  => some(over && !runt && !fcs)
                case "to_host"                                   => some(good && host && !ho)
                case "host_overflow"                             => some(good && host && ho)
                case "to_ps"                                     => some(good && toPs && !po)
                case "ps_overflow"                               => some(good && toPs && po)
                case "nowhere"                                   => some(good && !host && !toPs)
                case bin                                         => some(bin == bins(length + 4))
              }
            ))
          }
        },
        fork {
          for (i <- 0 until count) {
            val t = dut.macTx(port)
            t.payload.randomize()
            val length = 60 + random.nextInt(if (random.nextBoolean()) 5 else 9540)
            t.length #= length
            sleep(0)
            val cast = if (t.broadcast.toBoolean) "broadcast" else if (t.multicast.toBoolean) "multicast" else "unicast"
            val (vlan, fromPs) = (t.vlan.toBoolean, t.fromPs.toBoolean)
            push(t)
            frames :+= ((
              port,
              false,
              {
                case "frames" | "good_frames"                    => 1
                case "bytes" | "good_bytes"                      => length + 4
                case "vlan"                                      => some(vlan)
                case c @ ("unicast" | "multicast" | "broadcast") => some(c == cast)
                case "from_ps"                                   => some(fromPs)
                case "from_host"                                 => some(!fromPs)
                case bin                                         => some(bin == bins(length + 4))
              }
            ))
          }
        }
      )).flatten.foreach(_.join())
    def expect(port: Int, c: PortCounters.Sum, since: Int): BigInt =
      frames.drop(since).collect { case (`port`, c.rx, f) => f(c.name.drop(3)) }.sum
    def checkAll(since: Int): Unit = for (port <- 0 until 2) {
      for ((at, c) <- PortCounters.offsets) {
        assert(counter(ps, 0x8000 + 0x1000 * port + at) == expect(port, c, 0), s"${c.name} of port $port")
      }
      for ((at, c) <- PortCounters.cmacOffsets) {
        assert(
          counter(bar2, 0x8000 + 0x4000 * port + at) == expect(port, c, since),
          s"${c.name} of port $port since the tick"
        )
      }
    }
    traffic(300)
    assert(slowest <= 6, s"a record took $slowest cycles")
    dut.psClock.waitSampling(30)
    for (port <- 0 until 2) bar2.write(0x82b0 + 0x4000 * port, 1)
    checkAll(0)
    val mark = frames.size
    traffic(100)
    dut.psClock.waitSampling(30)
    assert(
      bar2.read(0x8500) == expect(0, PortCounters.sums.find(_.name == "tx_frames").get, 0) - 100,
      "held until the next tick"
    )
    for (port <- 0 until 2) bar2.write(0x82b0 + 0x4000 * port, 1)
    checkAll(mark)
    for (port <- 0 until 2) bar2.write(0x82b0 + 0x4000 * port, 1)
    checkAll(frames.size)
    assert(bar2.read(0x108000) == frames.count(f => f._1 == 0 && f._2))
    println(s"slowest read ${ps.slowest} ps cycles, ${bar2.slowest} host cycles; slowest record $slowest ps cycles")
  }
}
