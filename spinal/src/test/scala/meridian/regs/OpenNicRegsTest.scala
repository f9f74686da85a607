// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import spinal.core.sim._

/** The registers of OpenNIC's map, as its driver meets them. */
class OpenNicRegsTest extends RegsSuite {
  run("registers answer what the OpenNIC driver does at probe", 1) { s =>
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
}
