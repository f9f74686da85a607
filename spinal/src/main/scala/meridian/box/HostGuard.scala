// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.frame.{FrameStream, PacketBuffer}
import meridian.meta.{C2hMeta, TxMeta}
import meridian.queue._
import meridian.settings.FunctionFlags
import spinal.core._
import spinal.lib._

/** Everything around the user's module at the host: between the filters and the QDMA streams. It has all ports' frames, so
  * what it does harms the host's traffic of its direction, and nothing else.
  *
  * Received frames come from the filter with their function and queue. What the box makes of them is stored whole, and
  * [[BoxExit]] claims the receive buffers there. So the filter claims none, and the box may drop, shorten, lengthen, make
  * and move frames. Frames of the host are stored before the box, which is told their length; those that could never be
  * sent end there. Behind the box they are stored again, so that the transmit filter only meets whole frames. The box
  * names their queue, and the transmit filter finds the function by it: so the check of the source address holds for
  * what the box sends, too. [[BoxOutlet]] tells what a frame of the box has to keep, [[BoxWatch]] when a box hangs.
  *
  * A function's reset waits BoxGuard.flushCycles in each direction, in which the box gets rid of what it has: it is
  * discarded, because the function has no queues then. What has left the box is waited for to the end.
  *
  * Latency beside that of the box: receive, from the last beat of the box to the first at `toHost`, 6 + 7 cycles;
  * transmit, from the last beat at `fromHost` to the first at the box 8 cycles, from the last beat of the box to the first
  * at `toFilter` 6. Throughput: one beat a cycle. Back-pressure: a box that takes no frames of a direction stalls that
  * direction until it hangs.
  */
class HostGuard(p: ShellParam) extends Component {
  val io = new Bundle {
    val fromFilter = slave(FrameStream(p.hostBytes, C2hMeta(p, p.stampsAtHost)))
    val toHost = master(FrameStream(p.hostBytes, C2hMeta(p)))
    val fromHost = slave(FrameStream(p.hostBytes, TxMeta(p)))
    val toFilter = master(FrameStream(p.hostBytes, TxMeta(p)))
    val functions = in(FunctionFlags(p))
    val rxOwner, txOwner = master(QueueLookup(p))
    val credit = master(CreditLookup(p))
    val paced = in Bool () // so is the queue of the first beat at fromHost QueueTable.latency cycles ago

    /** Beats of paced frames in front of the box. */
    val buffered = out(p.txBeatsType())

    /** Each asks when the frames begun before have left; `flushed` answers with a pulse. */
    val rxFlush, txFlush = in Bool ()
    val rxFlushed, txFlushed = out Bool ()
    val streams = master(BoxStreams(p, atHost = true))
    val boxReset = out Bool ()
    val boxReady = in Bool ()
    val moves = in Bool () default False // a command on host memory, or its answer
    val control = slave(BoxControl())
    val idle = out Bool ()
  }
  val smallestFrame = 64
  private val cd = ClockDomain.current

  // A frame without its tag, and one from inside the card, may have less than a frame of the wire has.
  val core = new BoxCore(p, io.streams, io.control, io.boxReset, io.boxReady, BoxGuard.leastTx, io.moves)

  /** A pulse so many cycles after `ask`; those in which the shell holds up the box do not count. */
  private def grace(ask: Bool, box: Stream[Fragment[BoxBeat]]) = new Area {
    val held = box.isStall && core.state.open
    val cycles = Reg(UInt(log2Up(BoxGuard.flushCycles + 1) bits)) init 0
    val over = RegInit(False)
    over := !held && cycles === 1 && !ask
    when(!held && cycles =/= 0)(cycles := cycles - 1)
    when(ask)(cycles := BoxGuard.flushCycles)
  }

  /** The port of a function as OpenNIC codes it. */
  private def portOf(function: UInt): Bits = {
    val port = io.functions.port(function.resize(log2Up(p.functions)))
    Vec((0 until 16).map(i => if (i >= 6 && i < 6 + p.ports) port === i - 6 else False)).asBits
  }

  /** A buffer of whole frames, and whether all have left it. */
  class Store[T <: Data](meta: HardType[T], depth: Int, marks: Seq[T => Bool] = Nil) extends Area {
    val buffer = new PacketBuffer(p.hostBytes, depth, meta, depth / smallestFrame, cd, cd, marks = marks)
    buffer.io.abort := False
    val push = buffer.io.push
    val flush = new FlushPoint(log2Up(depth / smallestFrame) + 1)
    flush.io.begin := push.fire && push.last && !buffer.io.drop
    flush.io.end := buffer.io.pop.fire && buffer.io.pop.last
    def take(made: Stream[Fragment[meridian.frame.FrameWord[OutletMeta]]], said: T): Unit = {
      push.arbitrationFrom(made)
      push.data := made.data
      push.mty := made.mty
      push.last := made.last
      push.meta := said
      buffer.io.drop := made.meta.drop
    }
  }

  val receive = new Area {
    val gate = core.inlets.rx.gate
    gate.io.frames.arbitrationFrom(io.fromFilter)
    gate.io.frames.data := io.fromFilter.data
    gate.io.frames.mty := io.fromFilter.mty
    gate.io.frames.last := io.fromFilter.last
    val meta = io.fromFilter.meta
    io.streams.rxInfo.size := meta.length
    io.streams.rxInfo.source := portOf(meta.function)
    io.streams.rxInfo.destination := BoxGuard.codeOf(p, meta.function)
    io.streams.rxTarget := BoxTarget.of(p, meta)
    if (p.stampsAtHost) io.streams.rxStamp := meta.stamp

    val store = new Store(HardType(BoxTarget(p)), p.rxBufferBytes)
    store.take(core.outlets.rx.io.frames, core.beside(io.streams.rxOut, io.streams.rxOutTarget))
    val exit = new BoxExit(p, QueueTable.latency, QueueCredit.latency)
    exit.io.frames << store.buffer.io.pop
    exit.io.enable := io.functions.enable
    exit.io.owner <> io.rxOwner
    exit.io.credit <> io.credit
    exit.io.c2h >> io.toHost

    // The box, the buffer behind it, the exit.
    val chain = new FlushChain(3)
    chain.io.flush := io.rxFlush
    val left = grace(chain.io.ask(0), io.streams.rxOut)
    store.flush.io.flush := chain.io.ask(1)
    exit.io.flush := chain.io.ask(2)
    chain.io.answer := exit.io.flushed ## store.flush.io.flushed ## left.over
    io.rxFlushed := chain.io.flushed
  }

  val transmit = new Area {
    val senders = new BoxSenders(p, QueueTable.latency)
    senders.io.frames << io.fromHost
    senders.io.owner <> io.txOwner
    senders.io.paced := io.paced
    val sent = senders.io.sent

    // What could not be sent in any case ends here; the rest is whole, and of a known length.
    val intake = new BoxOutlet(p.hostBytes, BoxGuard.leastTx, p.maxFrame)
    val all = B(p.hostBytes bits, default -> True)
    val none = sent.last && (sent.meta.frame.error || sent.meta.frame.zero || !sent.meta.owned)
    intake.io.open := True
    intake.io.box.arbitrationFrom(sent)
    intake.io.box.last := sent.last
    intake.io.box.data := sent.data
    intake.io.box.keep := Mux(sent.last, all |>> sent.mty, all).andMask(!none)
    val before = new Store(
      HardType(BoxSent(p)),
      p.txBufferBytes,
      Seq((frame: BoxSent) => frame.paced)
    )
    before.take(intake.io.frames, core.beside(intake.io.box, sent.meta))
    io.buffered := before.buffer.io.marked.head

    val gate = core.inlets.tx.gate
    val pop = before.buffer.io.pop
    gate.io.frames.arbitrationFrom(pop)
    gate.io.frames.data := pop.data
    gate.io.frames.mty := pop.mty
    gate.io.frames.last := pop.last
    io.streams.txInfo.size := pop.length
    io.streams.txInfo.source := BoxGuard.codeOf(p, pop.meta.function)
    io.streams.txInfo.destination := portOf(pop.meta.function)
    io.streams.txSender.function := pop.meta.function
    io.streams.txSender.queue := pop.meta.frame.queue
    io.streams.txRequest.queue := pop.meta.frame.queue
    io.streams.txRequest.tci := pop.meta.frame.tag.tci
    io.streams.txRequest.insert := pop.meta.frame.tag.insert
    io.streams.txRequest.unfilled := pop.meta.frame.unfilled

    val behind = new Store(HardType(BoxRequest(p)), p.txBufferBytes)
    behind.take(core.outlets.tx.io.frames, core.beside(io.streams.txOut, io.streams.txOutRequest))
    val out = behind.buffer.io.pop
    io.toFilter.arbitrationFrom(out)
    io.toFilter.data := out.data
    io.toFilter.mty := out.mty
    io.toFilter.last := out.last
    io.toFilter.meta.queue := out.meta.queue
    io.toFilter.meta.tag.tci := out.meta.tci
    io.toFilter.meta.tag.insert := out.meta.insert
    io.toFilter.meta.unfilled := out.meta.unfilled
    io.toFilter.meta.error := False
    io.toFilter.meta.zero := False
    if (p.selfTest) io.toFilter.meta.taken := False
    if (p.segmentation) {
      io.toFilter.meta.more := False
      io.toFilter.meta.refused := False
      io.toFilter.meta.outer := False
    }

    // Up to the buffer before the box, that buffer, the box, the buffer behind it.
    val entering = new FlushPoint(5)
    entering.io.begin := io.fromHost.fire && (RegNextWhen(io.fromHost.last, io.fromHost.fire) init True)
    entering.io.end := intake.io.frames.fire && intake.io.frames.last
    val chain = new FlushChain(4)
    chain.io.flush := io.txFlush
    val left = grace(chain.io.ask(2), io.streams.txOut)
    entering.io.flush := chain.io.ask(0)
    before.flush.io.flush := chain.io.ask(1)
    behind.flush.io.flush := chain.io.ask(3)
    chain.io.answer := behind.flush.io.flushed ## left.over ## before.flush.io.flushed ## entering.io.flushed
    io.txFlushed := chain.io.flushed
  }

  io.control.counted := core.counted(receive.exit.io.denied, receive.exit.io.noBuffer, transmit.intake.io.dropped)
  io.idle := core.quiet && receive.store.buffer.io.idle && receive.exit.io.idle && transmit.entering.io.idle &&
    transmit.before.buffer.io.idle && transmit.behind.buffer.io.idle
}
