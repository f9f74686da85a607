// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.mactable._
import meridian.filter.vlan._
import meridian.frame.FrameStream
import meridian.meta.{HostTxMeta, TxCopy, TxDecision, TxMeta, TxRecord}
import meridian.queue._
import meridian.settings.{FunctionFlags, PortFlags, PsFilterConfig, TxTagWrite}
import spinal.core._
import spinal.lib._

/** Decides which frames of the host may leave, and by which port. Each frame makes one record, with the first verdict
  * of this list that applies:
  *
  *   - noFunction: the queue belongs to nobody (no port is known, the record says 0)
  *   - hostDisabled: the port's transmit from the host is switched off
  *   - disabled: the function is switched off or in reset
  *   - linkDown: the port has no link
  *   - runt: less than 14 bytes, or no byte at all
  *   - error: marked bad by the DMA engine
  *   - oversize: more than maxFrame bytes
  *   - spoof: source address or VLAN are not the function's, or a function that is put into a VLAN brings a tag
  *   - controlFrame: PAUSE, PFC or another frame that controls the link, which the function may not send
  *   - hairpin: unicast to the function that sends it
  *   - sent, or what [[TxRoute]] makes of it: switched or toPs; vebFull or psFull if its buffer had no room
  *
  * What stays inside the card, alone or beside the frame on the wire, leaves at `copy`, and nothing there can stall.
  *
  * The VLAN is that of an 802.1Q tag (0x8100), 0 without one. If a PF put the function into a VLAN, or a frame requests
  * a tag, the frame gets one behind its addresses; verdict, counters and maxFrame are for the frame with it. A frame
  * that ends inside its header is decided as it goes out, padded with zeros. The state at a frame's first beat decides;
  * hostDisabled and linkDown also cut a frame that is being sent.
  *
  * Latency: macLatency + queueLatency + 6 cycles from beat to beat. Throughput: one beat a cycle, no bubble. Only a
  * full transmit buffer stalls the input, and so the frames of all ports, behind a buffer of 32 beats. Frames of paced
  * queues do not fill it (see [[meridian.pacing.PacerEngine]]); those of others may, unless the shell has the option
  * `egress`: then they are lost ([[meridian.egress.EgressAdmission]]). Frames of any length pass through.
  *
  * `flush` asks when every frame begun before it has left; `flushed` answers with a pulse. A new request replaces an
  * unanswered one.
  */
class TxFilter(p: ShellParam, macLatency: Int, queueLatency: Int) extends Component {
  val depth = 32
  require(
    macLatency + queueLatency + 10 <= depth,
    s"macLatency $macLatency and queueLatency $queueLatency: $depth beats of buffer do not cover more than ${depth - 10} cycles"
  )

  val io = new Bundle {
    val h2c = slave(FrameStream(p.hostBytes, TxMeta(p)))
    val paced = in Bool () // so is the queue of the first beat taken TxLookup.pacedLatency cycles ago
    val owner = master(QueueLookup(p))
    val mac = master(MacLookup(p))
    val destination = master(MacLookup(p))
    val psFilter = in(Vec(PsFilterConfig(p), p.ports))
    val functions = in(FunctionFlags(p))
    val tag = slave(Flow(TxTagWrite(p)))
    val ports = in(Vec(PortFlags(p), p.ports))
    val tx = Vec(master(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports)
    val copy = master(Flow(Fragment(TxCopy(p))))
    val copyLost = in(TxCopyLost())
    val queueFull = p.egress generate (in Bits (p.ports bits)) // see TxExit
    val record = master(Flow(TxRecord(p)))
    val idle = out Bool ()
    val flush = in Bool ()
    val flushed = out Bool ()
  }

  val beat = io.h2c.payload
  val first = RegNextWhen(beat.last, io.h2c.fire) init True

  val words = new StreamFifo(Fragment(TxWord(p)), depth, withAsyncRead = true)
  // Back-pressure begins with a register; two beats may come before it knows of those that came.
  val room = RegNext(words.io.occupancy < depth - 3) init False
  io.h2c.ready := room
  words.io.push.valid := io.h2c.valid && room
  assert(!words.io.push.valid || words.io.push.ready, "a beat found no room", FAILURE)
  words.io.push.last := beat.last
  words.io.push.data := beat.data
  words.io.push.mty := beat.mty
  words.io.push.error := beat.meta.error
  words.io.push.zero := beat.meta.zero

  val lookup = new TxLookup(p, macLatency, queueLatency)
  lookup.io.paced := io.paced
  lookup.io.owner <> io.owner
  lookup.io.mac <> io.mac
  lookup.io.destination <> io.destination
  lookup.io.psFilter := io.psFilter
  lookup.io.functions := io.functions
  lookup.io.tag << io.tag
  lookup.io.ports := io.ports

  val header = new Area {
    val short = beat.last && beat.mty > p.hostBytes - 16 // a tag, if there is one, is not whole
    val shorter = beat.last && beat.mty > p.hostBytes - 15
    def byteAt(i: Int) = beat.data(8 * i, 8 bits)
    val tagged = byteAt(12) === 0x81 && byteAt(13) === 0x00
    val serviceTagged = byteAt(12) === 0x88 && byteAt(13) === 0xa8
    def isControl(at: Int) = byteAt(at) === 0x88 && byteAt(at + 1) === 0x08
    val hasInner = !(beat.last && beat.mty > p.hostBytes - 18)
    val high = byteAt(14)(3 downto 0).andMask(!shorter)
    val low = byteAt(15).andMask(!short)

    lookup.io.header.valid := io.h2c.fire && first
    lookup.io.header.queue := beat.meta.queue
    lookup.io.header.destination := beat.data(0, 48 bits)
    lookup.io.header.source := beat.data(48, 48 bits)
    lookup.io.header.tagged := tagged
    lookup.io.header.vid := (high ## low).asUInt.andMask(tagged)
    if (p.egress) lookup.io.header.pcp := byteAt(14)(7 downto 5).asUInt.andMask(tagged && !shorter)
    lookup.io.header.macControl := isControl(12) || (tagged || serviceTagged) && hasInner && isControl(16)
    lookup.io.header.tag := beat.meta.tag
    lookup.io.header.unfilled := beat.meta.unfilled
    lookup.io.header.runt := beat.last && (beat.meta.zero || beat.mty > p.hostBytes - 14)
  }

  // A frame keeps its first beat among the words until its decision is taken, so this cannot overflow.
  val decisions = new StreamFifo(TxDecision(p), depth, withAsyncRead = true)
  decisions.io.push.valid := lookup.io.decision.valid
  decisions.io.push.payload := lookup.io.decision.payload
  assert(!lookup.io.decision.valid || decisions.io.push.ready, "a decision found no room", FAILURE)

  val inserter = new VlanInsert(p)
  inserter.io.words << words.io.pop
  inserter.io.decisions << decisions.io.pop

  val exit = new TxExit(p)
  exit.io.beats << inserter.io.beats
  exit.io.ports := io.ports
  exit.io.tx <> io.tx
  exit.io.copy >> io.copy
  exit.io.copyLost := io.copyLost
  if (p.egress) exit.io.queueFull := io.queueFull
  exit.io.record >> io.record

  val flushing = new FlushPoint(log2Up(depth) + 1)
  flushing.io.begin := io.h2c.fire && first
  flushing.io.end := exit.io.beats.fire && exit.io.beats.last
  flushing.io.flush := io.flush
  io.flushed := flushing.io.flushed
  io.idle := flushing.io.idle
}
