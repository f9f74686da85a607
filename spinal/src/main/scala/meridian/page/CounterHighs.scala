// SPDX-License-Identifier: Apache-2.0
package meridian.page

import meridian.ShellParam
import meridian.bus._
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif.RegInst

import scala.collection.mutable.ListBuffer

/** The readers of 64-bit counters that have two registers each, low and high word. */
object CounterReader {

  /** The PS, and each PF. */
  val count = 1 + ShellParam().pfs

  /** Who makes an access: 0 the PS, 1 on the PFs. */
  def of(command: RegCommand): UInt = command.fromHost ? (command.function.take(2).asUInt +^ 1) | U(0, 3 bits)
}

/** Keeps the high words of a page's 64-bit counters: a read of a low word keeps the high word of that cycle for the same
  * reader, whatever others read meanwhile. A reader has one place for all counters of the page, so it reads both words of
  * one before it goes to the next.
  *
  * Latency: the high word can be read from the cycle after on.
  *
  * @param reader  who makes the access under way, CounterReader.of
  * @param readers how many there are
  */
class CounterHighs(reader: UInt, readers: Int = CounterReader.count) extends Area {
  private val highs = Vec.fill(readers)(Reg(Bits(32 bits)) init 0)
  private val counters = ListBuffer[(Bool, Bits)]()

  /** The high word for the reader of the access under way.
    *
    * @param low   the register with the counter's low word
    * @param value the counter, 64 bits
    */
  def of(low: RegInst, value: UInt): Bits = {
    counters += ((low.hitDoRead, value(63 downto 32).asBits))
    highs(reader.resized)
  }

  Component.current.addPrePopTask { () =>
    when(counters.map(_._1).orR) {
      highs(reader.resized) := counters.map { case (hit, high) => high.andMask(hit) }.reduceBalancedTree(_ | _)
    }
  }
}
