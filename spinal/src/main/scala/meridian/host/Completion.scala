// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** What a completion tells of its frame. */
case class CompletionEntry(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val length = p.lengthType()
  val packet = UInt(16 bits) // running number of the frame over all queues
}

/** Turns entries into 8-byte completions of the QDMA IP. The layout serves every public driver at once:
  *
  * | bits | value |
  * | --- | --- |
  * | 0 | 0, standard format |
  * | 1, 2 | colour and error, written by the IP |
  * | 3 | 1, a descriptor was used |
  * | 19:4 | length |
  * | 20 | 1, end of frame |
  * | 47:32 | length, where the OpenNIC drivers read it |
  * | 63:48 | packet number |
  *
  * The rest is 0. Parity is odd over each 32 bits; the IP alters colour and error later and accounts for it.
  *
  * Latency 2 cycles when empty, one completion a cycle. It holds `depth` entries, so that a stall of the completion
  * channel reaches the data only when they are all waiting.
  */
class Completion(p: ShellParam, depth: Int) extends Component {
  require(isPow2(depth) && depth >= 4 && depth <= 64, s"depth is $depth: choose a power of two, 4 to 64")

  val io = new Bundle {
    val entries = slave(Stream(CompletionEntry(p)))
    val cmpt = master(Stream(CmptPins()))
  }

  val fifo = new StreamFifo(CompletionEntry(p), depth, withAsyncRead = true)
  fifo.io.push << io.entries

  val entry = fifo.io.pop.payload
  val pins = CmptPins()
  val data = entry.packet ## entry.length ## B(0, 11 bits) ## True ## entry.length ## True ## B(0, 3 bits)
  pins.tdata := data.resized
  pins.size := 0
  pins.dpar := pins.tdata.subdivideIn(32 bits).map(!_.xorR).asBits()
  pins.ctrl_qid := entry.queue
  pins.ctrl_cmpt_type := 3 // has a payload and waits for it
  pins.ctrl_wait_pld_pkt_id := entry.packet
  pins.ctrl_port_id := 0
  pins.ctrl_marker := False
  pins.ctrl_user_trig := False
  pins.ctrl_col_idx := 0
  pins.ctrl_err_idx := 0
  pins.ctrl_no_wrb_marker := False
  io.cmpt << fifo.io.pop.translateWith(pins).m2sPipe()
}
