// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import spinal.core.sim._

import scala.util.Random

/** A function's page: queues, flags, port, VLAN, link and hash. */
class FunctionRegsTest extends RegsSuite {
  run("functions have their defaults after reset, flags and port in their pages, and lose them in a reset", 2) { s =>
    import s._
    assert(dut.flags.broadcast.toInt == 0xfff && dut.flags.promiscuous.toInt == 15)
    assert(dut.flags.allMulticast.toInt == 15 && dut.flags.trusted.toInt == 15 && dut.flags.control.toInt == 15)
    assert((0 until 12).map(dut.flags.port(_).toInt) == Seq(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    for (f <- 0 until 12) assert(bar2.read(0x200004 + 0x1000 * f, random.nextInt(4)) == (if (f < 4) 31 else 1))
    val flags = Array.tabulate(12)(f => if (f < 4) 31 else 1)
    val port = Array.tabulate(12)(f => if (f == 1) 1 else 0)
    for (_ <- 0 until 60) {
      val f = random.nextInt(12)
      val page = 0x200000 + 0x1000 * f
      if (random.nextBoolean()) {
        flags(f) = random.nextInt(32)
        bar2.write(page + 4, flags(f))
        if (f < 4) flags(f) |= 16 // a PF may send control frames, whatever its driver knows of them
      } else {
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
        dut.flags.trusted,
        dut.flags.control
      ).map(_.toInt >> f & 1)
      assert(got == (0 until 5).map(flags(f) >> _ & 1))
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
    assert(bar2.read(0x202004) == 31)
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
}
