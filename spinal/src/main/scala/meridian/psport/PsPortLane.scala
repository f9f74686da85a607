// SPDX-License-Identifier: Apache-2.0
package meridian.psport

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{PsRxMeta, PsTxMeta, TxTimestamp}
import meridian.veb.PsVebEvents
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

/** The rings, timestamps, interrupt causes and counters of one Ethernet port. Latency and throughput are those of
  * RxEngine, TxReader and TxSender.
  */
class PsPortLane(p: ShellParam, cyclesPerMicrosecond: Int, patience: Int) extends Component {
  val bufferWords = 1 << log2Up(p.maxFrame / 8 + 4 * PsAxi.lineBeats)
  val io = new Bundle {
    val rx = slave(FrameStream(8, PsRxMeta(p)))
    val tx = master(FrameStream(8, PsTxMeta()))
    val veb = in(PsVebEvents())
    val txTimestamp = slave(Stream(TxTimestamp()))
    val control = slave(PsPortControl())
    val reads = Vec(master(Axi4ReadOnly(PsAxi.readConfig(p.ports))), PsAxi.readersPerPort)
    val writes = Vec(master(Axi4WriteOnly(PsAxi.writeConfig(p.ports))), PsAxi.writersPerPort)
    val interrupt = out Bool ()
    val skip = in UInt (32 bits)
    val idle = out Bool ()
    val timerCycles = out UInt (32 bits)
  }
  val counters = new PsPortCounters

  val rx = new Area {
    val ring = new RingState
    val fetch = new DescriptorFetch(PsAxi.readConfig(p.ports))
    val engine = new RxEngine(p, PsAxi.writeConfig(p.ports))
    val completions = new CompletionWriter(PsAxi.writeConfig(p.ports))
    ring.io.control := io.control.rx
    ring.io.quiet := fetch.io.idle && engine.io.idle && completions.io.idle
    ring.io.descriptorError := fetch.io.readError
    ring.io.producerError := fetch.io.producerError
    ring.io.completionError := completions.io.failed
    fetch.io.config := ring.io.config
    fetch.io.producer := io.control.rx.producer
    engine.io.config := ring.io.config
    engine.io.frames << io.rx
    engine.io.descriptor << fetch.io.descriptor
    engine.io.index := fetch.io.index
    engine.io.empty := fetch.io.empty
    engine.io.halfPosted := fetch.io.halfPosted
    engine.io.quarterPosted := fetch.io.quarterPosted
    completions.io.config := ring.io.config
    completions.io.command << engine.io.completion
    io.reads(0) <> fetch.io.axi
    io.writes(0) <> engine.io.axi
    io.writes(1) <> completions.io.axi
    io.control.rxStatus.running := ring.io.running
    io.control.rxStatus.error := ring.io.error
    io.control.rxStatus.consumer := completions.io.consumer
    val idle = ring.io.quiet && ring.io.settled && fetch.io.atRest && engine.io.atRest && !io.rx.valid
    val payloadError = RegNext(engine.io.axi.b.fire && PsAxi.isError(engine.io.axi.b.resp)) init False
  }

  val tx = new Area {
    val ring = new RingState
    val fetch = new DescriptorFetch(PsAxi.readConfig(p.ports))
    val reader = new TxReader(p, PsAxi.readConfig(p.ports), bufferWords)
    val sender = new TxSender(p, bufferWords, patience)
    val completions = new CompletionWriter(PsAxi.writeConfig(p.ports))
    ring.io.control := io.control.tx
    ring.io.quiet := fetch.io.idle && reader.io.idle && sender.io.idle && completions.io.idle
    ring.io.descriptorError := fetch.io.readError
    ring.io.producerError := fetch.io.producerError
    ring.io.completionError := completions.io.failed
    fetch.io.config := ring.io.config
    fetch.io.producer := io.control.tx.producer
    reader.io.config := ring.io.config
    reader.io.descriptor << fetch.io.descriptor
    reader.io.index := fetch.io.index
    reader.io.released := sender.io.released
    sender.io.open := ring.io.config.open
    sender.io.word << reader.io.word
    sender.io.frame << reader.io.frame
    io.tx << sender.io.tx
    completions.io.config := ring.io.config
    completions.io.command << sender.io.completion
    io.reads(1) <> fetch.io.axi
    io.reads(2) <> reader.io.axi
    io.writes(2) <> completions.io.axi
    io.control.txStatus.running := ring.io.running
    io.control.txStatus.error := ring.io.error
    io.control.txStatus.consumer := completions.io.consumer
    val idle =
      ring.io.quiet && ring.io.settled && fetch.io.atRest && !fetch.io.descriptor.valid && sender.io.atRest
  }

  val timestamps = new TimestampFifo
  timestamps.io.push << io.txTimestamp
  timestamps.io.pop := io.control.timestampPop
  io.control.timestampValid := timestamps.io.head.valid
  io.control.timestampTag := timestamps.io.head.tag
  io.control.timestamp := timestamps.io.head.timestamp

  val interrupt = new Area {
    val rxCause, txCause = new InterruptCoalescer(cyclesPerMicrosecond)
    for ((cause, done) <- Seq(rxCause -> rx.completions.io.done, txCause -> tx.completions.io.done)) {
      cause.io.event := done
      cause.io.skip := io.skip
    }
    rxCause.io.control := io.control.rxCoalesce
    txCause.io.control := io.control.txCoalesce
    rxCause.io.clear := io.control.interruptClear.rx
    txCause.io.clear := io.control.interruptClear.tx
    val error = RegInit(False)
    when(io.control.interruptClear.error)(error := False)
    error setWhen (rx.ring.io.failed || tx.ring.io.failed || counters.io.events.busErrors =/= 0 || timestamps.io.lost)
    io.control.interruptStatus.rx := rxCause.io.status
    io.control.interruptStatus.tx := txCause.io.status
    io.control.interruptStatus.txTimestamp := timestamps.io.head.valid
    io.control.interruptStatus.error := error
    val raised = (io.control.interruptStatus.asBits & io.control.interruptEnable.asBits).orR
    io.interrupt := RegNext(raised) init False
    val settled = raised === io.interrupt && !timestamps.io.lost
    io.timerCycles := rxCause.io.remaining.min(txCause.io.remaining)
  }

  val events = counters.io.events
  events.rxDone << rx.engine.io.done
  events.rxDisabled := rx.engine.io.dropDisabled
  events.rxNoDescriptor := rx.engine.io.dropNoDescriptor
  events.rxInside := rx.engine.io.dropInside
  events.rxBufferSmall := rx.engine.io.dropBufferSmall
  events.txDone << tx.sender.io.done
  events.veb := io.veb
  events.timestampsLost := timestamps.io.lost
  // Two of the readers cannot respond in one cycle, nor two of the writers.
  events.busErrors := U(rx.fetch.io.busError || tx.fetch.io.busError || tx.reader.io.busError).resize(2 bits) +
    U(rx.payloadError || rx.completions.io.failed || tx.completions.io.failed)
  io.control.counters := counters.io.counters

  io.idle := rx.idle && tx.idle && interrupt.settled && !io.txTimestamp.valid
}
