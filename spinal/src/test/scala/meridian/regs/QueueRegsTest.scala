// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import spinal.core.sim._

/** Switches of queues, and the rates that go with them. */
class QueueRegsTest extends RegsSuite {
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

  run("rates of functions and switches of queues are kept, and those that are not there refused", 11) { s =>
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
}
