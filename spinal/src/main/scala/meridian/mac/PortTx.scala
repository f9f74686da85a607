// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.egress.{EgressClass, EgressQueues}
import meridian.egress.pool.{CellFifo, PoolParam, PoolPort}
import meridian.frame._
import meridian.meta.{HostTxMeta, MacTxRecord, PsTxMeta, TxTimestamp}
import meridian.promise.Promise
import meridian.ptp.PtpTime
import meridian.selftest.port.{PortTestTx, TestMerge}
import meridian.settings.PortClasses
import spinal.core._
import spinal.lib._

/** The transmit side of a port: a buffer for the host and one for the PS, [[MacTx]], and every crossing into and out of
  * the transmit clock of the MAC.
  *
  * Latency, last beat taken to first beat at the pins: 6 macTx cycles and the phase of the clocks. Throughput: one
  * beat a cycle at host, ps and pins, no bubble within or between frames. host.ready and ps.ready are low while there
  * is no room in the buffer behind them, or the MAC clock is in reset. A host that is reset loses the frame it was
  * writing; those in the buffer are still sent, and the PS path does not see it.
  *
  * With the option `egress`, [[EgressQueues]] are in the place of the buffer for the host: host.ready is low for frames of
  * paced queues only, and others may be lost. With `pool`, frames come from a pool of all ports by
  * [[meridian.egress.pool.CellFifo]].
  */
class PortTx(p: ShellParam, port: Int, val hostCd: ClockDomain, val psCd: ClockDomain, val macTxCd: ClockDomain)
    extends Component {
  require(port >= 0 && port < p.ports, s"port is $port: the shell has ${p.ports}")

  val io = new Bundle {

    val host = !p.pool generate slave(FrameStream(p.hostBytes, HardType(HostTxMeta(p))))

    /** Host clock: beats of paced frames in the host's buffer, those of a frame that is still written included. */
    val paced = !p.pool generate out(p.txBeatsType())

    /** Host clock, a pulse a frame, by class: it found no room. */
    val lost = p.twoQueues generate (out Bits (EgressClass.count bits))
    val ps = slave(FrameStream(p.psBytes, HardType(PsTxMeta())))
    val pins = master(MacTxPins())

    /** MacTx clock: no frame waits or is being sent. */
    val idle = out Bool ()

    /** Ps clock. */
    val record = master(Stream(MacTxRecord(p)))
    val timestamps = master(Stream(TxTimestamp()))

    /** MacTx clock: the MAC stamps with the PHC's time. Until then the frames of the PS wait. See TimeCrossing. */
    val timeKnown = in Bool ()

    /** Ps clock, and of registers in the clock of MacTx: see PortTestTx. */
    val test = p.selfTest generate slave(PortTestTx(p))

    /** MacTx clock: the time of the PHC that the MAC gets. */
    val time = p.selfTest generate in(PtpTime())

    /** MacTx clock: priorities that the other end has stopped, without those in a storm. One of them stops its whole queue,
      * a cycle later. With a pool, all of them stop the port here, and each its class in the pool.
      */
    val held = p.egress generate (in Bits (PortClasses.priorities bits))

    /** Host clock: priorities of the upper queue. */
    val high = p.twoQueues generate (in Bits (PortClasses.priorities bits))

    /** MacTx clock: frames of flow control. */
    val control = p.sendsPause generate slave(FrameStream(p.macBytes, HardType(new NoData)))

    /** Host clock: from the pool. */
    val cells = p.pool generate slave(PoolPort(PoolParam.ofShell(p)))
  }

  val smallestFrame = 64 // descriptors for as many frames as the memory holds of this size
  val queues = p.twoQueues generate new EgressQueues(p, hostCd, macTxCd)
  val hostBuffer = !p.egress generate new PacketBuffer(
    p.hostBytes,
    p.txBufferBytes,
    HardType(Bool()),
    p.txBufferBytes / smallestFrame,
    hostCd,
    macTxCd,
    marks = Seq((paced: Bool) => paced)
  )
  val cells = p.pool generate new CellFifo(PoolParam.ofShell(p), hostCd, macTxCd)
  if (p.pool) cells.io.port <> io.cells
  else if (p.egress) {
    queues.io.host << io.host
    io.paced := queues.io.paced
    io.lost := queues.io.lost
  } else {
    hostBuffer.io.push.arbitrationFrom(io.host)
    hostBuffer.io.push.data := io.host.data
    hostBuffer.io.push.mty := io.host.mty
    hostBuffer.io.push.last := io.host.last
    hostBuffer.io.push.meta := io.host.meta.paced
    hostBuffer.io.drop := io.host.meta.drop
    hostBuffer.io.abort := False
    io.paced := hostBuffer.io.marked.head
  }

  val psBuffer = new PacketBuffer(
    p.psBytes,
    p.psBufferBytes,
    HardType(PsTxMeta()),
    p.psBufferBytes / smallestFrame,
    psCd,
    macTxCd
  )
  psBuffer.io.push << io.ps
  psBuffer.io.drop := False
  psBuffer.io.abort := False

  val records = new CrossingFifo(MacTxRecord(p), 32, macTxCd, psCd)
  val timestamps = new CrossingFifo(TxTimestamp(), 32, macTxCd, psCd)

  val macTx = macTxCd on new Area {
    val downsizer = new FrameDownsizer(p.hostBytes, p.macBytes, HardType(new NoData))
    if (p.pool) {
      downsizer.io.input.arbitrationFrom(cells.io.pop)
      downsizer.io.input.data := cells.io.pop.data
      downsizer.io.input.mty := cells.io.pop.mty
      downsizer.io.input.last := cells.io.pop.last
    } else if (p.egress) downsizer.io.input << queues.io.classes(0)
    else {
      downsizer.io.input.arbitrationFrom(hostBuffer.io.pop)
      downsizer.io.input.data := hostBuffer.io.pop.data
      downsizer.io.input.mty := hostBuffer.io.pop.mty
      downsizer.io.input.last := hostBuffer.io.pop.last
    }

    val mac = new MacTx(p)
    if (p.pool) mac.io.hostCut := cells.io.pop.meta
    if (p.sendsPause) mac.io.control << io.control
    if (p.twoQueues) {
      val high = new FrameDownsizer(p.hostBytes, p.macBytes, HardType(new NoData)).setName("highDownsizer")
      high.io.input << queues.io.classes(1)
      mac.io.high << high.io.output
    }
    val merge = p.selfTest generate new TestMerge(p, port)
    if (p.selfTest) {
      merge.io.test <> io.test
      merge.io.time := io.time
      merge.io.timeKnown := io.timeKnown
      merge.io.host << downsizer.io.output
      mac.io.host << merge.io.frames
      mac.io.hostIsTest := merge.io.ofTest
    } else mac.io.host << downsizer.io.output
    mac.io.ps.arbitrationFrom(psBuffer.io.pop.haltWhen(!io.timeKnown))
    mac.io.ps.data := psBuffer.io.pop.data
    mac.io.ps.mty := psBuffer.io.pop.mty
    mac.io.ps.last := psBuffer.io.pop.last
    mac.io.ps.meta := psBuffer.io.pop.meta
    mac.io.pins <> io.pins
    if (p.pool) mac.io.closed := B(0, 1 bits) ## RegNext(io.held.andR, False)
    val stop = p.twoQueues generate new Area {
      val high = BufferCC(io.high, B(EgressClass.resetMap, PortClasses.priorities bits))
      val closed = RegNext((io.held & high).orR ## (io.held & ~high).orR) init 0
      mac.io.closed := closed
    }
    val hostIdle = if (p.pool) cells.io.idle else if (p.egress) queues.io.idle else hostBuffer.io.idle
    val controlIdle = if (p.sendsPause) !io.control.valid else True
    io.idle := hostIdle && psBuffer.io.idle && controlIdle && !mac.io.pins.tvalid

    val record = mac.io.record.toStream
    records.io.push << record
    val timestamp = Flow(TxTimestamp())
    timestamp.valid := RegNext(io.pins.tstampValid) init False
    timestamp.tag := RegNext(io.pins.tstampTag)
    timestamp.timestamp := RegNext(io.pins.tstamp)
    val stamped = timestamp.toStream
    timestamps.io.push << stamped
    // A frame takes 8 cycles at the least, and both sinks are faster.
    Promise(!record.valid || record.ready || !records.io.up, "the record of a frame that was sent is lost")
    Promise(!stamped.valid || stamped.ready || !timestamps.io.up, "a transmit timestamp is lost")
  }

  io.record << records.io.pop
  io.timestamps << timestamps.io.pop
}
