// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import spinal.core.sim._

import scala.collection.mutable

/** Who may reach what, from both sides: the host with its VFs, and the PS; resets and stopped clocks between them. */
class RegAccessTest extends RegsSuite {
  run("identification is read from both sides, and the PS filter is written by the PS", 4) { s =>
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
    // What became of a receiver without lock, of each port its own.
    dut.rxReset #= 2
    dut.rxResets(0) #= 0x123456
    dut.rxResets(1) #= 7
    settle()
    assert(ps.read(0x2008) == 0x12345600L && bar2.read(0x103008) == 0x701)
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

  run("both clocks of a MAC and the PTP clock are latched together, by either side", 12) { s =>
    import s._
    var begins = 0
    dut.psClock.onSamplings {
      for (i <- 0 until 2) {
        assert(dut.rxClock(i).begin.toBoolean == dut.txClock(i).begin.toBoolean)
        if (dut.rxClock(i).begin.toBoolean) begins += 1
      }
    }
    for ((bus, at, i, number) <- Seq((ps, 0x2000, 0, 1), (bar2, 0x103000, 1, 1), (ps, 0x2000, 0, 2))) {
      val base = begins
      dut.time.seconds #= BigInt("123489abcdef", 16) + number
      dut.time.nanoseconds #= 987654320L + number
      bus.write(at + 0x30, 0xfffe)
      assert(begins == base && dut.cardIdle.toBoolean, "only bit 0 latches")
      bus.write(at + 0x30, 1)
      assert(begins == base + 1)
      // Of one of them the answer comes later, and nothing of the simulation's time may be left out until then.
      for (clock <- Seq(dut.rxClock(i), dut.txClock(i))) {
        clock.busy #= true
        clock.still #= false
      }
      dut.time.nanoseconds #= 1
      settle()
      for (clocks <- Seq(dut.rxClock, dut.txClock)) {
        assert(!dut.cardIdle.toBoolean)
        assert(bus.read(at + 0x30) == (number << 16 | 0x100))
        bus.write(at + 0x30, 1)
        assert(begins == base + 1, "a latch is under way")
        clocks(i).busy #= false
        settle()
      }
      assert(dut.cardIdle.toBoolean)
      dut.rxClock(i).count #= 0x89000000L + number
      dut.txClock(i).count #= 0x76000000L + number
      dut.rxClock(i).still #= number == 1
      dut.txClock(i).still #= number == 2
      settle()
      for ((bus, at) <- Seq((ps, 0x2000 + 0x1000 * i), (bar2, 0x102000 + 0x1000 * i))) {
        assert(bus.read(at + 0x30) == (number << 16 | number << 9))
        assert(bus.read(at + 0x34) == 0x89000000L + number && bus.read(at + 0x38) == 0x76000000L + number)
        assert(bus.read(at + 0x3c) == 987654320L + number && bus.read(at + 0x40) == 0x89abcdefL + number)
        for (word <- 0x34 to 0x40 by 4) bus.write(at + word, 5)
        assert(bus.read(at + 0x34) == 0x89000000L + number && bus.read(at + 0x3c) == 987654320L + number)
      }
    }
    assert(ps.read(0x2030) >> 16 == 2 && ps.read(0x3030) >> 16 == 1 && ps.read(0x34) == 0, "no write was refused")
  }

  run("an address of the PS stands still while others may look at it, however it is written", 73) { s =>
    import s._
    val apart = 8 // cycles: more than three of the slowest clock that looks
    val entries = for (port <- 0 until 2; i <- 0 until p.psAddresses) yield (port, i)
    val valid = mutable.Map[(Int, Int), Boolean]().withDefaultValue(false)
    val address = mutable.Map[(Int, Int), BigInt]().withDefaultValue(0)
    val fell, changed = mutable.Map[(Int, Int), Long]().withDefaultValue(-1000L)
    var cycle, changes, rises = 0L
    dut.psClock.onSamplings {
      cycle += 1
      for (entry @ (port, i) <- entries) {
        val now = dut.filter(port).valid.toBigInt.testBit(i)
        val value = dut.filter(port).address(i).toBigInt
        if (value != address(entry)) {
          assert(!now && !valid(entry), s"address $i of port $port changes while it is valid")
          assert(
            cycle - fell(entry) >= apart,
            s"address $i of port $port was valid ${cycle - fell(entry)} cycles before"
          )
          changed(entry) = cycle
          changes += 1
        }
        if (now && !valid(entry)) {
          assert(cycle - changed(entry) >= apart, s"address $i of port $port has just changed, and is valid")
          rises += 1
        }
        if (!now && valid(entry)) fell(entry) = cycle
        valid(entry) = now
        address(entry) = value
      }
    }
    for (round <- 0 until 120) {
      val entry @ (port, i) = entries(random.nextInt(entries.size))
      val (low, high) = (0x2140 + 0x1000 * port + 8 * i, 0x2144 + 0x1000 * port + 8 * i)
      val wanted = BigInt(48, random)
      // As drivers do: all of it goes with the valid bit, and comes with it.
      if (random.nextInt(4) != 0) ps.write(high, 0)
      else ps.write(high, (ps.read(high) & 0xffff) | (if (random.nextBoolean()) BigInt(1) << 31 else 0))
      val stays = ps.read(high).testBit(31)
      ps.write(low, wanted & 0xffffffffL)
      ps.write(high, wanted >> 32 | BigInt(1) << 31)
      if (random.nextBoolean()) {
        dut.psClock.waitSampling(20)
        assert(valid(entry) && (stays || address(entry) == wanted))
        assert((ps.read(high) & 0xffff) == address(entry) >> 32 && ps.read(low) == (address(entry) & 0xffffffffL))
      }
    }
    assert(changes > 60 && rises > 60, s"$changes changes, $rises times valid")
  }

  run("an address of a PF is written by either side and outlives resets of both", 11) { s =>
    import s._
    val entries = for (port <- 0 until 2; pf <- 0 until PortRegs.hostAddresses) yield (port, pf)
    def low(entry: (Int, Int)) = 0x2010 + 0x1000 * entry._1 + 8 * entry._2
    val written = mutable.Map[(Int, Int), BigInt]()
    def check(): Unit = for (entry <- entries) {
      val wanted = written.getOrElse(entry, BigInt(0))
      for ((bus, base) <- Seq((bar2, 0x100000), (ps, 0))) {
        assert(bus.read(base + low(entry)) == (wanted & 0xffffffffL), s"$entry")
        assert(bus.read(base + low(entry) + 4) == wanted >> 32, s"$entry")
      }
    }
    check()
    for (entry <- random.shuffle(entries)) {
      val wanted = BigInt(48, random) | BigInt(random.nextInt(2)) << 63
      val (bus, base) = if (random.nextBoolean()) (bar2, 0x100000) else (ps, 0)
      bus.write(base + low(entry), wanted & 0xffffffffL)
      bus.write(base + low(entry) + 4, wanted >> 32)
      written(entry) = wanted
    }
    ps.write(0x2100, 1)
    check()
    dut.psClock.assertReset()
    dut.hostClock.waitSampling(100)
    dut.psClock.deassertReset()
    dut.hostClock.assertReset()
    dut.psClock.waitSampling(100)
    dut.hostClock.deassertReset()
    dut.hostClock.waitSampling(400)
    assert(ps.read(0x2100) == 0, "there was a reset")
    check()
    bar2.readFull(0x102010, 7)
    bar2.write(0x102010, 5, 7)
    check()
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
    assert(bar2.read(0x207004) == 1 && bar2.read(0x200004) == 31) // as after reset
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
}
