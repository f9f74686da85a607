// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import spinal.core._
import spinal.lib._

object LatencyWindow {

  /** Cycles after reset: a second at 250 MHz, as the published design has it. */
  val defaultCycles = BigInt("EE6B280", 16)

  /** Words of what is shown, in the order of their registers. */
  val words = 8
  val numberBits = 4
}

/** What was measured in a window; all 0 without a frame. */
case class LatencyResult() extends Bundle {
  val max, min, sum, frames = UInt(64 bits)
}

/** Latency counters as those of the QDMA performance design (Xilinx AR 71453).
  *
  * Latencies are gathered in windows of `window` cycles, one after another. At the end of a window what it gathered is
  * shown, if all eight words shown before have been read at least once, or nothing has been shown since `restart`; else
  * it is forgotten, and the next window begins. A new length holds from the next window on; with 0 nothing is measured.
  * Whoever reads words a second time may get some of the next window; `number` tells, as it counts windows shown.
  *
  * Latency: 1 cycle from the last cycle of a window to the result. Throughput: one latency a cycle.
  */
class LatencyWindow extends Component {
  val io = new Bundle {
    val sample = slave(Flow(UInt(64 bits)))
    val window = in UInt (64 bits)
    val continuous = in Bool () // low: nothing is measured
    val restart = in Bool () // high: nothing is measured, and 0 shown
    val read = in Bits (LatencyWindow.words bits) // a word of result is read in this cycle
    val result = out(LatencyResult())
    val index = in UInt (6 bits) // into the histogram of the same window
    val count = out UInt (LatencyHistogram.countBits bits)
    val number = out UInt (LatencyWindow.numberBits bits) // of the window shown
    val measures = out Bool ()
  }
  val left = Reg(UInt(64 bits)) init 0 // cycles, this one included; 0: no window
  val ends = left === 1
  val stops = io.restart || !io.continuous
  when(left === 0 || ends)(left := io.window) otherwise (left := left - 1)
  when(stops)(left := 0)
  val measures = left =/= 0

  def nothing(): LatencyResult = {
    val none = LatencyResult()
    none.flatten.foreach(_.assignFromBits(B(0, 64 bits)))
    none
  }
  val gathered = Reg(LatencyResult()) init nothing()
  val latency = io.sample.payload
  val none = RegInit(True) // no frame yet
  val next = LatencyResult()
  next.max := (io.sample.valid && (none || latency > gathered.max)) ? latency | gathered.max
  next.min := (io.sample.valid && (none || latency < gathered.min)) ? latency | gathered.min
  next.sum := gathered.sum + latency.andMask(io.sample.valid)
  next.frames := gathered.frames + U(io.sample.valid)
  when(measures) {
    gathered := next
    when(io.sample.valid)(none := False)
  }
  when(ends || !measures) {
    gathered := nothing()
    none := True
  }

  val shown = Reg(LatencyResult()) init nothing()
  val unread = Reg(Bits(LatencyWindow.words bits)) init 0
  val shows = ends && unread === 0
  unread := unread & ~io.read
  val number = Reg(UInt(LatencyWindow.numberBits bits)) init 0
  io.number := number
  when(shows) {
    number := number + 1
    shown := next
    unread.setAll()
  }
  when(io.restart) {
    shown := nothing()
    unread := 0
  }
  io.result := shown
  io.measures := measures

  val histogram = new LatencyHistogram
  histogram.io.sample.valid := io.sample.valid && measures
  histogram.io.sample.payload := latency
  histogram.io.end := ends || !measures
  histogram.io.show := shows
  histogram.io.restart := io.restart
  histogram.io.index := io.index
  io.count := histogram.io.count
}
