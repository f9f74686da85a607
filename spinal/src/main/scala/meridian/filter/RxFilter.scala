// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.copies._
import meridian.filter.mactable._
import meridian.filter.vlan._
import meridian.frame.{FrameStream, PriorityMerge}
import meridian.meta.{C2hMeta, RxMeta, RxRecord}
import meridian.queue._
import meridian.settings.{FunctionFlags, GroupWrite, HashKeyWrite, IndirectionWrite, PortFlags}
import spinal.core._
import spinal.lib._

object RxFilter {

  /** Cycles from the beat that completes a frame's header to the frame's first beat at c2h. */
  def latency(macLatency: Int, rangeLatency: Int, queueLatency: Int, creditLatency: Int): Int =
    2 + macLatency + RxLookup.queueLatency(rangeLatency, queueLatency, creditLatency)

  /** Beats that wait for their frame's decision. */
  val waitingBeats = 32

  /** Unicast frames after which a copy that is ready goes first. */
  val copyAfter = 64
}

/** Decides for every received frame to which functions and queues it goes, or that it is dropped, and reports the
  * result.
  *
  * Latency: 2 + macLatency + max(rangeLatency, 4) + queueLatency + creditLatency cycles from the beat that completes
  * the header (the frame's last, or its third at 32 bytes a beat, its second at 64) to the first beat at c2h. That is
  * 16 with the shell's tables (4, 2, 2 and 4), and 14 with 4, 2, 2 and 2. Throughput: one beat and one frame a cycle,
  * without a bubble. Back-pressure: rx stalls only if c2h is not ready or is busy with a copy. A frame that is dropped
  * or stored passes at full speed, also while a copy leaves at c2h.
  *
  * A frame for several functions is stored in the replicator, or cut if that has no room. Copies leave in the gaps that
  * unicast leaves at c2h, at frame boundaries. A copy that has started is not interrupted; while it leaves, up to 32
  * beats of rx wait here, so that rx need not stall. A copy that is ready goes first after 64 unicast frames, and one
  * that waits for its lookups stops rx for one beat after 48. Copies cost unicast no more than that.
  *
  * A tagged frame of a function that strips tags leaves without its tag, and is 4 bytes shorter for everything behind
  * the lookup of its function. Each frame makes one record and each copy one copyRecord, when it is decided. `idle`: no
  * frame or copy is inside.
  */
class RxFilter(p: ShellParam, macLatency: Int, rangeLatency: Int, queueLatency: Int, creditLatency: Int)
    extends Component {
  val latency = RxFilter.latency(macLatency, rangeLatency, queueLatency, creditLatency)
  require(
    latency + 4 <= RxFilter.waitingBeats,
    s"the lookups make a frame wait $latency cycles: too long for ${RxFilter.waitingBeats} waiting beats"
  )
  val io = new Bundle {
    val rx = slave(FrameStream(p.hostBytes, RxMeta(p)))
    val c2h = master(FrameStream(p.hostBytes, C2hMeta(p, p.stampsAtHost)))
    val record = master(Flow(RxRecord(p)))
    val copyRecord = master(Flow(RxRecord(p)))
    val functions = in(FunctionFlags(p))
    val ports = in(Vec(PortFlags(p), p.ports))
    val indirection = slave(Flow(IndirectionWrite(p)))
    val hashKey = slave(Flow(HashKeyWrite(p)))
    val group = slave(Flow(GroupWrite(p)))
    val mac = master(MacLookup(p))
    val range = master(RangeLookup(p))
    val owner = master(QueueLookup(p))
    val credit = master(CreditLookup(p))
    val idle = out(Bool())

    /** Asks when every frame and copy begun before it has left at c2h; `flushed` answers with a pulse. */
    val flush = in(Bool())
    val flushed = out(Bool())
  }
  val header = new HeaderExtract(p)
  val lookup = new RxLookup(p, macLatency, rangeLatency, queueLatency, creditLatency)
  val replicator = new Replicator(p, p.copyBufferBytes / p.hostBytes)

  val rx = io.rx.haltWhen(lookup.io.hold)
  header.io.beat << rx.toFlowFire
  lookup.io.header << header.io.header
  lookup.io.hashInput := header.io.hashInput
  lookup.io.functions := io.functions
  lookup.io.ports := io.ports
  lookup.io.indirection << io.indirection
  lookup.io.hashKey << io.hashKey
  lookup.io.group << io.group
  lookup.io.mac <> io.mac
  lookup.io.range <> io.range
  lookup.io.owner <> io.owner
  lookup.io.credit <> io.credit
  lookup.io.record >> io.record
  lookup.io.copyRecord >> io.copyRecord
  lookup.io.reserve >> replicator.io.reserve
  lookup.io.reserved := replicator.io.reserved
  lookup.io.list <> replicator.io.list
  lookup.io.copy << replicator.io.request
  lookup.io.copyDecision >> replicator.io.decision

  val split = new RxSplit(p, RxFilter.waitingBeats)
  split.io.rx << rx
  split.io.decision << lookup.io.decision
  split.io.copy >> replicator.io.write
  if (p.stampsAtHost) replicator.io.stamp := split.io.copyStamp

  val merge = new PriorityMerge(split.io.unicast.fragmentType, RxFilter.copyAfter)
  merge.io.first << split.io.unicast
  merge.io.firstThere := split.io.unicastMayCome
  merge.io.second << replicator.io.frame
  val strip = new VlanStrip(p)
  strip.io.in << merge.io.out
  strip.io.next << merge.io.next
  io.c2h << strip.io.out

  val rxInFrame = RegNextWhen(!io.rx.last, io.rx.fire) init False
  val flushing = new Area {
    val frames = new FlushPoint(log2Up(RxFilter.waitingBeats) + 1)
    frames.io.begin := io.rx.fire && !rxInFrame
    frames.io.end := split.io.ended
    val copies = new FlushPoint(log2Up(Replicator.copiesAhead) + 1)
    copies.io.begin := lookup.io.copyDecision.valid && lookup.io.copyDecision.deliver
    copies.io.end := replicator.io.frame.fire && replicator.io.frame.last
    // Behind the decisions: what has gone into the merge and is not out of it.
    val leaving = new FlushPoint(2)
    leaving.io.begin := Seq(split.io.unicast, replicator.io.frame).map(frame => frame.fire && frame.last).orR
    leaving.io.end := io.c2h.fire && io.c2h.last
    val chain = new FlushChain(2)
    chain.io.flush := io.flush
    chain.io.answer(0) := FlushPoint.all(chain.io.ask(0), frames, copies)
    chain.io.answer(1) := FlushPoint.all(chain.io.ask(1), leaving)
    io.flushed := chain.io.flushed
  }
  val stored = !replicator.io.empty || replicator.io.frame.valid
  io.idle := !rxInFrame && split.io.empty && !stored && !merge.io.out.valid
}
