// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.filter.vlan._
import meridian.frame.FrameStream
import meridian.meta.{HostTxMeta, TxCopy, TxRecord, TxVerdict}
import meridian.promise.Promise
import meridian.settings.{PerPort, PortFlags}
import spinal.core._
import spinal.lib._

/** With the last beat of a copy: it was to be stored, and found no room. */
case class TxCopyLost() extends Bundle {
  val toFunctions, toPs = Bool()
}

/** Sends frames as they were decided. Frames that pass go to their port, and others are discarded at one beat a cycle;
  * each frame ends in one record. What stays inside the card also leaves at `copy`, one cycle after the beat was taken.
  *
  * `tx.meta.drop` with the last beat makes the packet buffer roll the frame back. It is set for an error that is only
  * known at the end, for the beat that makes a frame too long (the rest is discarded), and for the artificial end of a
  * frame whose port lost its link or was switched off while the frame was sent. So a port that is down blocks nobody:
  * only that artificial end waits, in a place of its own, until the port takes it. The copy of such a frame ends with
  * `drop`.
  *
  * Latency: 1 cycle. Throughput: one beat a cycle, no bubble between frames. Back-pressure: a port whose buffer is full
  * stalls all frames behind (head-of-line blocking). The pacer prevents this for paced frames, and the option `egress`
  * for others: what finds no room is lost, and its record has queueFull beside the verdict sent.
  */
class TxExit(p: ShellParam) extends Component {
  val io = new Bundle {
    val beats = slave(Stream(Fragment(TxBeat(p))))
    val ports = in(Vec(PortFlags(p), p.ports))
    val tx = Vec(master(FrameStream(p.hostBytes, HostTxMeta(p))), p.ports)
    val copy = master(Flow(Fragment(TxCopy(p))))
    val copyLost = in(TxCopyLost())
    val queueFull = p.egress generate (in Bits (p.ports bits)) // with the last beat at tx: the frame found no room
    val record = master(Flow(TxRecord(p)))
  }

  val word = io.beats.payload
  val decision = word.decision
  val first = RegInit(True)

  val port = decision.port
  val enabled = io.ports.map(flags => RegNext(flags.txEnable))
  val up = io.ports.map(flags => RegNext(flags.linkUp && flags.txEnable))
  val portUp = PerPort(up, port)

  val sending = Reg(Bool()) // an unfinished frame still goes to its port
  val wanted = Mux(first, decision.verdict === TxVerdict.sent, sending)
  val passing = wanted && portUp
  val toWire = passing && decision.to.wire
  val ends = Vec(RegInit(False), p.ports) // the port is owed the end of a frame that was cut

  val feeds = Vec(FrameStream(p.hostBytes, HostTxMeta(p)), p.ports)
  for ((feed, i) <- feeds.zipWithIndex) {
    feed.valid := ends(i) || io.beats.valid && toWire && port === i
    feed.last := ends(i) || word.last || word.over
    feed.data := word.data
    feed.mty := word.mty
    feed.meta.drop := ends(i) || word.over || word.error
    // An end that is made up has the mark of the frame that was cut, whatever has come since.
    if (p.box.nonEmpty) {
      feed.meta.sender.function := decision.function
      feed.meta.sender.queue := decision.queue
    }
    feed.meta.paced := ends(i) ? RegNextWhen(feed.meta.paced, feed.fire) | decision.paced
    if (p.twoQueues) feed.meta.high := io.ports(i).high(decision.pcp)
    when(feed.ready)(ends(i) := False)
    io.tx(i) << feed.m2sPipe()
  }

  io.beats.ready := !toWire || PerPort(feeds.zip(ends).map { case (feed, end) => feed.ready && !end }, port)

  val cut, cutByHost = Reg(Bool()) // and whether it was the switch or the link, at that time
  val cutNow = wanted && !portUp
  val cutKnown = cutNow || !first && cut
  val byHost = Mux(cutNow, !PerPort(enabled, port), cutByHost)
  when(io.beats.fire) {
    first := word.last
    sending := passing && !word.over
    cut := cutKnown
    cutByHost := byHost
    for ((end, i) <- ends.zipWithIndex) when(cutNow && !first && decision.to.wire && port === i)(end := True)
  }

  val copy = new Area {
    val valid = RegNext(io.beats.fire && (decision.to.functions || decision.to.ps)) init False
    val next = Fragment(TxCopy(p))
    next.last := word.last
    next.data := word.data
    next.mty := word.mty
    next.port := port
    next.function := decision.function
    next.toFunctions := decision.to.functions
    next.toPs := decision.to.ps
    next.drop := word.over || word.error || cutKnown
    io.copy.valid := valid
    io.copy.payload := RegNext(next)
  }

  val length = new Area {
    val most = (1 << 16) / p.hostBytes
    val beats = Reg(UInt(log2Up(most + 1) bits)) init 0
    when(io.beats.fire) {
      when(word.last)(beats := 0) elsewhen (beats =/= most)(beats := beats + 1)
    }
  }

  val ended = new Area {
    val valid = RegNext(io.beats.fire && word.last) init False
    val full = RegNext(length.beats)
    val mty = RegNext(word.mty)
    val zero = RegNext(word.zero)
    val source = RegNext(decision)
    val verdict = RegNext(decision.verdict)
    val byAddress =
      Seq(TxVerdict.sent, TxVerdict.spoof, TxVerdict.controlFrame, TxVerdict.hairpin).map(decision.verdict === _).orR
    when(byAddress) {
      when(word.over)(verdict := TxVerdict.oversize)
      when(word.error)(verdict := TxVerdict.error)
      when(cutKnown)(verdict := Mux(byHost, TxVerdict.hostDisabled, TxVerdict.linkDown))
    }

    val bytes = (full << log2Up(p.hostBytes)) + (U(p.hostBytes) - mty)
    val lost = io.copyLost // of the beat that ended in the cycle before
    val record = TxRecord(p)
    record.verdict := verdict
    val sent = verdict === TxVerdict.sent
    when(sent && !source.to.wire) {
      record.verdict := Mux(lost.toFunctions, TxVerdict.vebFull(), TxVerdict.switched())
      when(source.to.ps)(record.verdict := Mux(lost.toPs, TxVerdict.psFull(), TxVerdict.toPs()))
    }
    record.toFunctions.made := sent && source.to.wire && source.to.functions
    record.toFunctions.full := lost.toFunctions
    record.toPs.made := sent && source.to.wire && source.to.ps
    record.toPs.full := lost.toPs
    // A frame that finds no room is not held up, so its last beat is at tx in the cycle after it was taken.
    if (p.egress) record.queueFull := sent && source.to.wire && PerPort(io.queueFull.asBools, source.port)
    record.port := source.port
    record.function := source.function
    record.functionValid := source.functionValid
    record.unfilled := source.unfilled
    record.length := Mux(zero, U(0), Mux(bytes > 65535, U(65535), bytes).resize(p.lengthBits))
    io.record.valid := RegNext(valid) init False
    io.record.payload := RegNext(record)
  }

  val promised = new Area {
    val before = RegNextWhen(decision, io.beats.fire)
    val over = RegNextWhen(word.over, io.beats.fire)
    val valid = io.beats.valid
    val somewhere = decision.to.wire || decision.to.functions || decision.to.ps
    val sent = decision.verdict === TxVerdict.sent
    Promise(!valid || first || decision.asBits === before.asBits, "a frame has two decisions")
    Promise(!valid || first || !over || word.over, "a frame that was too long is not any more")
    Promise(!valid || sent === somewhere, "a frame is sent nowhere, or one that is not sent goes somewhere")
    Promise(!valid || !sent || p.below(decision.port, p.ports), "a frame is sent to a port that does not exist")
  }

  if (p.pool) for ((feed, flags) <- feeds.zip(io.ports)) {
    feed.meta.pool.trafficClass := flags.classes.of(decision.pcp)
    feed.meta.pool.group := decision.function.resized
  }
}
