// SPDX-License-Identifier: Apache-2.0
package meridian.regs

import meridian.meta.TxVerdict
import meridian.regs.counters._
import spinal.core._
import spinal.core.sim._

import scala.collection.mutable

/** Counters of functions, of frames that are nobody's, and of single events. */
class FunctionCountersTest extends RegsSuite {
  run("counters of functions, and of ports without function, count each record by its verdict", 8) { s =>
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
          val verdict = meridian.meta.RxVerdict.elements(random.nextInt(9))
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
            if (verdict == meridian.meta.RxVerdict.delivered) {
              expected((slot, "rx_bytes")) += length
              if (copies) expected((slot, "rx_copies")) += 1
            }
          }
        }
        val verdict = meridian.meta.TxVerdict.elements(random.nextInt(meridian.meta.TxVerdict.elements.size))
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
        import meridian.meta.TxVerdict
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
    assert(bar2.read(0x200800 + 8 * 9) == 0 && bar2.read(0x200800 + 8 * 31) == 0 && bar2.read(0x200800 + 8 * 44) == 0)
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
}
