// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import meridian.frame.{FrameStream, PacketBuffer}
import meridian.meta.{HostTxMeta, RxMeta, RxStamp, TxSender}
import spinal.core._
import spinal.lib._

/** What software sets for a box, and what it is told. */
case class BoxControl() extends Bundle with IMasterSlave {
  val reset = Bool() // holds the box in reset
  val limit = UInt(BoxGuard.limitBits bits) // cycles after which a box that takes nothing hangs; see BoxWatch
  val ready = Bool() // the box is out of reset and takes frames
  val rxHung, txHung = Bool() // until the box is reset
  val counted = Bits(BoxGuard.counts.size bits) // a pulse a frame
  override def asMaster(): Unit = {
    out(reset, limit)
    in(ready, rxHung, txHung, counted)
  }
}

object BoxGuard {
  val limitBits = 28
  val resetCycles = 16

  /** Bytes of an Ethernet header: the transmit filter lets such frames pass, and the port pads them. */
  val leastTx = 14

  /** Cycles of which a box may make use behind its last beat before a simulation skips time: 2 to this power. */
  val quietBits = 12

  /** Cycles in which a box may still send what it has of a function that is reset, at the host. */
  val flushCycles = 4096

  /** A function as OpenNIC codes it in tuser_src and tuser_dst. */
  def codeOf(p: ShellParam, function: UInt): Bits =
    Vec((0 until 16).map(i => if (i < p.pfs) function === i else False)).asBits

  /** These are counted only at the host. */
  val countsAtHost = Seq(
    "rx_denied" -> "frames of the box at the host, among rx_sent, for a queue that is not of the function it named, or of a function that is switched off",
    "rx_no_buffer" -> "frames of the box at the host, among rx_sent, whose queue had too few free buffers",
    "tx_invalid" -> "frames of the host that a box at the host is not shown: marked bad by the DMA engine, shorter than an Ethernet header, longer than max_frame, or of a queue that no function has"
  )

  /** In the order of BoxControl.counted; of a box at the wire without those of `countsAtHost`. */
  val counts: Seq[(String, String)] = Seq(
    "rx_passed" -> "received frames that the box took",
    "rx_dropped" -> "received frames that were discarded, as the box was hung or in reset",
    "rx_sent" -> "frames of the box for the host",
    "rx_refused" -> "frames of the box for the host that broke a rule, or were cut by a reset of the box",
    "tx_passed" -> "frames of the host that the box took",
    "tx_dropped" -> "frames of the host that were discarded, as the box was hung or in reset",
    "tx_sent" -> "frames of the box for the wire",
    "tx_refused" -> "frames of the box for the wire that broke a rule, or were cut by a reset of the box"
  ) ++ countsAtHost
}

/** What is kept of a frame for the host beside its bytes: when it came, as its box says. */
case class RxStored(p: ShellParam) extends Bundle {
  val stamp = p.stampsAtHost generate RxStamp()
}

/** What is kept of a frame of the host beside its bytes. */
case class TxStored(p: ShellParam) extends Bundle {
  val paced = Bool()
  val sender = TxSender(p)
}

/** Everything around the user's module of a port, at the wire. What it does harms its own port only, but for one thing: a
  * box that takes the host's frames slower than the line holds up the transmit of all ports to its own pace. That lasts
  * until the box hangs, and a box hangs that takes less than a tenth of the line rate.
  *
  * Received frames go from the port to the box, and what the box makes of them into a buffer of their own, which hands on
  * whole frames, and no more than the wire could bring. So a box that stops within a frame holds up nobody. Frames of the
  * host are stored before the box, as the transmit filter knows a frame only at its end, and as the pacer knows this
  * buffer as that of the port. Behind the box they go to the buffer of the port, which takes whole frames only.
  * [[BoxOutlet]] tells what a frame of the box has to keep. A box that does not take frames of a direction hangs
  * ([[BoxWatch]]); then all frames of that direction are discarded until software resets the box. The same is so while it
  * is in reset, and until it says that it is ready.
  *
  * Latency beside that of the box: receive, from the last beat of the box to the first at `toHost`, 6 cycles; transmit,
  * from the last beat at `fromHost` to the first at the box, 5 cycles, and from each beat of the box to the same at
  * `toWire` 1 cycle. Either way a frame is stored once, which takes a cycle a beat. Throughput: one beat a cycle.
  * Back-pressure: a box that does not take received frames fills the port's buffer, which loses its own frames; one that
  * does not take frames of the host fills their buffer, and then stalls the transmit filter of all ports until it hangs.
  */
class BoxGuard(p: ShellParam, port: Int) extends Component {
  val io = new Bundle {
    val fromWire = slave(FrameStream(p.hostBytes, RxMeta.ofPort(p)))
    val toHost = master(FrameStream(p.hostBytes, RxMeta(p)))
    val fromHost = slave(FrameStream(p.hostBytes, HostTxMeta(p)))
    val toWire = master(FrameStream(p.hostBytes, HostTxMeta(p)))

    /** Beats of paced frames in front of the box. */
    val paced = out(p.txBeatsType())
    val streams = master(BoxStreams(p))
    val boxReset = out Bool ()
    val boxReady = in Bool ()
    val control = slave(BoxControl())
    val idle = out Bool ()
  }
  val smallestFrame = 64
  private val cd = ClockDomain.current

  val core = new BoxCore(p, io.streams, io.control, io.boxReset, io.boxReady, p.minFrame)

  val receive = new Area {
    val gate = core.inlets.rx.gate
    gate.io.frames.arbitrationFrom(io.fromWire)
    gate.io.frames.data := io.fromWire.data
    gate.io.frames.mty := io.fromWire.mty
    gate.io.frames.last := io.fromWire.last
    io.streams.rxInfo.size := io.fromWire.meta.length
    io.streams.rxInfo.source := B(1 << (6 + port), 16 bits)
    io.streams.rxInfo.destination := 0
    io.streams.rxStamp := io.fromWire.meta.stamp

    val stored = HardType(RxStored(p))
    val buffer = new PacketBuffer(p.hostBytes, p.rxBufferBytes, stored, p.rxBufferBytes / smallestFrame, cd, cd)
    val made = core.outlets.rx.io.frames
    buffer.io.push.arbitrationFrom(made)
    buffer.io.push.data := made.data
    buffer.io.push.mty := made.mty
    buffer.io.push.last := made.last
    if (p.stampsAtHost) buffer.io.push.meta.stamp := core.beside(io.streams.rxOut, io.streams.rxOutStamp)
    buffer.io.drop := made.meta.drop
    buffer.io.abort := False

    val pace = new WirePace(p.lineRate, p.hostMhz, p.maxFrame)
    val first = RegNextWhen(io.toHost.last, io.toHost.fire) init True
    io.toHost.arbitrationFrom(buffer.io.pop.haltWhen(first && !pace.io.may))
    pace.io.begins.valid := io.toHost.fire && first
    pace.io.begins.payload := buffer.io.pop.length
    io.toHost.data := buffer.io.pop.data
    io.toHost.mty := buffer.io.pop.mty
    io.toHost.last := buffer.io.pop.last
    io.toHost.meta.port := port
    io.toHost.meta.length := buffer.io.pop.length
    io.toHost.meta.source.fromWire()
    if (p.stampsAtHost) io.toHost.meta.stamp := buffer.io.pop.meta.stamp
  }

  val transmit = new Area {
    val stored = HardType(TxStored(p))
    val buffer = new PacketBuffer(
      p.hostBytes,
      p.txBufferBytes,
      stored,
      p.txBufferBytes / smallestFrame,
      cd,
      cd,
      marks = Seq((frame: TxStored) => frame.paced)
    )
    buffer.io.push.arbitrationFrom(io.fromHost)
    buffer.io.push.data := io.fromHost.data
    buffer.io.push.mty := io.fromHost.mty
    buffer.io.push.last := io.fromHost.last
    buffer.io.push.meta.paced := io.fromHost.meta.paced
    buffer.io.push.meta.sender := io.fromHost.meta.sender
    buffer.io.drop := io.fromHost.meta.drop
    buffer.io.abort := False
    io.paced := buffer.io.marked.head

    val gate = core.inlets.tx.gate
    gate.io.frames.arbitrationFrom(buffer.io.pop)
    gate.io.frames.data := buffer.io.pop.data
    gate.io.frames.mty := buffer.io.pop.mty
    gate.io.frames.last := buffer.io.pop.last
    val sender = buffer.io.pop.meta.sender
    io.streams.txInfo.size := buffer.io.pop.length
    io.streams.txInfo.source := BoxGuard.codeOf(p, sender.function)
    io.streams.txInfo.destination := 0
    io.streams.txSender := sender

    val made = core.outlets.tx.io.frames
    io.toWire.arbitrationFrom(made)
    io.toWire.data := made.data
    io.toWire.mty := made.mty
    io.toWire.last := made.last
    io.toWire.meta.drop := made.meta.drop
    io.toWire.meta.paced := False
    io.toWire.meta.sender.assignFromBits(B(0, widthOf(TxSender(p)) bits))
  }

  io.control.counted := core.counted()
  io.idle := core.quiet && receive.buffer.io.idle && transmit.buffer.io.idle
}
