// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import spinal.core._
import spinal.lib._

/** The hash table of the MAC table at any size, with one search port. */
class MacTableHarness(val shape: MacTableShape) extends Component {
  val io = new Bundle {
    val command = slave(Stream(MacSlotCommand(shape)))
    val answer = master(Flow(MacSlotAnswer(shape)))
    val key = in Bits (shape.keyBits bits)
    val hit = out Bool ()
    val value = out Bits (shape.valueBits bits)
    val count = out UInt (shape.countBits bits)
    val ready = out Bool ()
  }

  val update = new MacTableUpdate(shape)
  val search = new MacSearch(shape)
  update.io.command << io.command
  io.answer << update.io.answer
  io.count := update.io.count
  io.ready := update.io.ready
  search.io.enable := update.io.ready
  search.io.key := io.key
  search.io.write := update.io.write
  io.hit := search.io.hit
  io.value := search.io.value
}

object MacTableHarness {

  /** Cycles from key to hit. */
  val latency = 3
}
