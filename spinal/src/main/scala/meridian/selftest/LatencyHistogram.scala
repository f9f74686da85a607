// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import spinal.core._
import spinal.lib._

object LatencyHistogram {
  val bins = 64
  val countBits = 32

  /** Four bins an octave: a latency below 4 is a bin of its own; with n = floor(log2(latency)) from 2 on the bin is
    * 4 * (n - 1) and the two bits behind the highest. The last takes all from 114,688 cycles on.
    *
    * Latency 1 cycle: the place of the highest bit is found first.
    */
  def bin(latency: UInt): UInt = {
    val highest = 16
    val octaves = 2 to highest
    val is = RegNext(Vec(octaves.map(n => latency(n) && !latency(highest downto n).drop(1).orR)).asBits)
    val beyond = RegNext(latency.drop(highest + 1).orR)
    val kept = RegNext(latency(highest downto 0))
    val bins = octaves.map(n => U(4 * (n - 1), 6 bits) | kept(n - 1 downto n - 2).resize(6))
    val found = bins.zipWithIndex.map { case (bin, i) => bin.andMask(is(i)) }
    val low = kept(1 downto 0).resize(6).andMask(!is.orR)
    Mux(beyond, U(LatencyHistogram.bins - 1, 6 bits), (found :+ low).reduceBalancedTree(_ | _))
  }
}

/** Counts latencies by their size, as [[LatencyHistogram.bin]] has it, and keeps the counts of the window shown.
  *
  * A latency is of the window that ends in its cycle or later. Latency: 3 cycles. Throughput: one a cycle. Counts have 32
  * bits and wrap. Two banks of distributed RAM, of which a bit a bin tells whether it holds anything, so that nothing has
  * to be cleared.
  */
class LatencyHistogram extends Component {
  import LatencyHistogram._
  val io = new Bundle {
    val sample = slave(Flow(UInt(64 bits)))
    val end = in Bool () // with the last cycle of a window
    val show = in Bool () // with end: it is shown from now on; else it is forgotten
    val restart = in Bool () // nothing is counted or shown
    val index = in UInt (6 bits)
    val count = out UInt (countBits bits) // of the window shown, in the same cycle
  }
  val bin = RegNext(LatencyHistogram.bin(io.sample.payload))
  private def late(signal: Bool) = Delay(signal, 2, init = False)
  val valid = late(io.sample.valid)
  val (end, show) = (late(io.end), late(io.show))
  val memory = Mem(UInt(countBits bits), 2 * bins)
  val bank = RegInit(False)
  val filled, shown = Reg(Bits(bins bits)) init 0
  val here = UIntToOh(bin, bins).andMask(valid)
  val before = memory.readAsync((bank ## bin).asUInt)
  memory.write((bank ## bin).asUInt, before.andMask((filled & here).orR) + 1, valid)
  filled := filled | here
  when(end) {
    filled := 0
    when(show) {
      shown := filled | here
      bank := !bank
    }
  }
  when(io.restart) {
    filled := 0
    shown := 0
  }
  io.count := memory.readAsync((!bank ## io.index).asUInt).andMask(shown(io.index))
}
