// SPDX-License-Identifier: Apache-2.0
package meridian.host

import meridian.ShellParam
import meridian.meta.FrameHash
import meridian.qdma.CmptPins
import meridian.settings.QueueSwitchWrite
import spinal.core._
import spinal.lib._

/** What a completion tells of its frame. */
case class CompletionEntry(p: ShellParam) extends Bundle {
  val queue = p.queueType()
  val length = p.lengthType()
  val packet = UInt(16 bits) // running number of the frame over all queues
  val hash = FrameHash()
  val stripped = Bool()
  val tci = Bits(16 bits)
}

/** Turns entries into completions of the QDMA IP, laid out as CompletionLayout says: 8 bytes, or 16 for a queue that
  * asks for them. Which, is looked up when the completion leaves. Parity is odd over each 32 bits; the IP alters colour and error later and accounts for it.
  *
  * Latency 3 cycles from an entry's verdict when empty, one completion a cycle. It holds `depth` entries, so that a stall of the completion
  * channel reaches the data only when they are all waiting; less than 16 would do so while verdicts are made.
  */
class Completion(p: ShellParam, depth: Int) extends Component {
  require(isPow2(depth) && depth >= 16 && depth <= 64, s"depth is $depth: choose a power of two, 16 to 64")

  val io = new Bundle {
    val entries = slave(Stream(CompletionEntry(p)))
    val verdicts = slave(Flow(ChecksumVerdict())) // one an entry, in their order, not before it
    val cmpt = master(Stream(CmptPins()))
    val switches = slave(Flow(QueueSwitchWrite(p)))
  }

  val fifo = new StreamFifo(CompletionEntry(p), depth, withAsyncRead = true)
  fifo.io.push << io.entries

  // No more verdicts wait than entries.
  val verdicts = new StreamFifo(ChecksumVerdict(), depth, withAsyncRead = true)
  verdicts.io.push.valid := io.verdicts.valid
  verdicts.io.push.payload := io.verdicts.payload
  val pop = StreamJoin(fifo.io.pop, verdicts.io.pop)

  val wideQueues = Mem(Bool(), p.queues)
  wideQueues.write(io.switches.queue.resized, io.switches.completion16, io.switches.valid)
  val wide = wideQueues.readSync(pop._1.queue.resized, enable = pop.ready)
  val asked = pop.m2sPipe()
  val entry = asked._1
  val checksum = asked._2
  val pins = CmptPins()
  val data = CompletionLayout.entry(
    CompletionLayout.used -> True.asBits,
    CompletionLayout.length -> entry.length.asBits,
    CompletionLayout.end -> True.asBits,
    CompletionLayout.openNicLength -> entry.length.asBits,
    CompletionLayout.packet -> entry.packet.asBits,
    CompletionLayout.hash -> entry.hash.value,
    CompletionLayout.vlanTci -> entry.tci,
    CompletionLayout.hashType -> entry.hash.kind.asBits,
    CompletionLayout.vlanStripped -> entry.stripped.asBits,
    CompletionLayout.ipChecksum -> checksum.ip.asBits,
    CompletionLayout.l4Checksum -> checksum.l4.asBits,
    CompletionLayout.l4Kind -> checksum.kind.asBits
  )
  pins.tdata := (data(127 downto 64).andMask(wide) ## data(63 downto 0)).resized
  pins.size := wide.asBits.resized // 0: 8 bytes, 1: 16 bytes
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
  io.cmpt << asked.translateWith(pins).m2sPipe()
}
