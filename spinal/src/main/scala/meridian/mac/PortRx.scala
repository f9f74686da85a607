// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.crossing.Crossing
import meridian.frame._
import meridian.meta.{MacRxRecord, PsRxMeta, RxMeta}
import meridian.selftest.port.PortTestRx
import meridian.settings.PsFilterConfig
import spinal.core._
import spinal.lib._

/** The receive side of a port: [[MacRx]], its two buffers and every crossing out of the receive clock of the MAC.
  *
  * Latency, tlast at the pins to the first beat of the frame: 3 macRx cycles, then 4 cycles of host or ps and the phase
  * of the clocks. Throughput: one beat a cycle at the pins, one a cycle at host and at ps. A sink that is not ready
  * fills its own buffer, then loses its own frames. A reset of host empties the host buffer and loses what comes for
  * it meanwhile (counted as hostOverflow); the PS path does not see it.
  */
class PortRx(p: ShellParam, port: Int, val macRxCd: ClockDomain, val hostCd: ClockDomain, val psCd: ClockDomain)
    extends Component {
  require(port >= 0 && port < p.ports, s"port is $port: the shell has ${p.ports}")

  val io = new Bundle {
    val pins = slave(MacRxPins())
    val host = master(FrameStream(p.hostBytes, RxMeta.ofPort(p)))
    val hostIdle = out Bool ()
    val ps = master(FrameStream(p.psBytes, PsRxMeta(p)))
    val psIdle = out Bool ()

    /** Ps clock; addresses are quasi-static. */
    val psFilter = in(PsFilterConfig(p))

    /** Ps clock; anything may change at any time. */
    val psLimit = in(PsLimit())

    /** Receive clock of the MAC; see FrameBucket. */
    val skip = in UInt (32 bits)

    /** Receive clock of the MAC; see TimeCrossing. */
    val timeKnown = in Bool ()

    /** Ps clock; the label is quasi-static. */
    val test = p.selfTest generate in(PortTestRx())

    /** Ps clock. */
    val record = master(Stream(MacRxRecord(p)))
  }

  /** Frames that are counted in the buffer: of each priority, and those that are lossless. */
  private val marks: Seq[HostStored => Bool] =
    if (p.sendsPause)
      (0 until pause.Pause.classes).map(i => (frame: HostStored) => frame.priority === i) :+
        ((frame: HostStored) => frame.lossless)
    else Nil
  val smallestFrame = 64 // descriptors for as many frames as the memory holds of this size
  val hostBuffer = new PacketBuffer(
    p.hostBytes,
    p.rxBufferBytes,
    HardType(HostStored(p)),
    p.rxBufferBytes / smallestFrame,
    macRxCd,
    hostCd,
    marks = marks
  )
  val psBuffer = new PacketBuffer(
    p.psBytes,
    p.psBufferBytes,
    HardType(PsStored()),
    p.psBufferBytes / smallestFrame,
    macRxCd,
    psCd
  )
  val records = new CrossingFifo(MacRxRecord(p), 32, macRxCd, psCd)

  val macRx = macRxCd on new Area {
    val filter = PsFilterConfig.crossed(p, io.psFilter)
    val mac = new MacRx(p)
    mac.io.pins <> io.pins
    mac.io.psFilter := filter
    mac.io.psLimit := PsLimit.crossed(io.psLimit)
    mac.io.skip := io.skip
    mac.io.timeKnown := io.timeKnown
    if (p.selfTest) {
      mac.io.test.armed := BufferCC(io.test.armed, False)
      mac.io.test.label := Crossing.held(
        io.test.label,
        "The label of a port test changes only while the checker is not armed and is looked at only while it is."
      )
    }
    mac.io.hostUp := hostBuffer.io.up
    hostBuffer.io.push << mac.io.host
    hostBuffer.io.abort := mac.io.hostAbort
    hostBuffer.io.drop := False
    mac.io.psUp := psBuffer.io.up
    mac.io.psHalfFull := psBuffer.io.occupancy >= psBuffer.words / 2
    psBuffer.io.push << mac.io.ps
    psBuffer.io.abort := mac.io.psAbort
    psBuffer.io.drop := False
    // Runts may come faster than records are taken; the next record has the number of those that found no room.
    val uncounted = Reg(UInt(16 bits)) init 0
    records.io.push.valid := mac.io.record.valid
    records.io.push.payload := mac.io.record.payload
    records.io.push.payload.uncounted.allowOverride() := uncounted
    when(mac.io.record.valid && !records.io.push.ready && !uncounted.andR)(uncounted := uncounted + 1)
    when(records.io.push.fire || !records.io.up)(uncounted := 0)
  }

  io.host.arbitrationFrom(hostBuffer.io.pop)
  io.host.data := hostBuffer.io.pop.data
  io.host.mty := hostBuffer.io.pop.mty
  io.host.last := hostBuffer.io.pop.last
  io.host.meta.port := port
  io.host.meta.length := hostBuffer.io.pop.length
  io.host.meta.source.fromWire()
  if (p.stamps) io.host.meta.stamp := hostBuffer.io.pop.meta.stamp
  io.hostIdle := hostBuffer.io.idle

  io.ps.arbitrationFrom(psBuffer.io.pop)
  io.ps.data := psBuffer.io.pop.data
  io.ps.mty := psBuffer.io.pop.mty
  io.ps.last := psBuffer.io.pop.last
  io.ps.meta.length := psBuffer.io.pop.length
  io.ps.meta.timestamp := psBuffer.io.pop.meta.stamp.time
  io.ps.meta.timestampValid := psBuffer.io.pop.meta.stamp.valid
  io.ps.meta.inside := False
  io.ps.meta.bulk := psBuffer.io.pop.meta.bulk
  io.psIdle := psBuffer.io.idle

  io.record << records.io.pop

  /** Receive clock of the MAC. */
  val flow = p.egress generate master(pause.PauseLook())
  if (p.egress) flow <> macRx.mac.flow

  /** Receive clock of the MAC. */
  val fill = p.sendsPause generate master(pause.PauseFill())
  if (p.sendsPause) macRxCd on new Area {
    private val bits = pause.PauseRegs.fillBits
    private def inUnits(words: UInt): UInt =
      RegNext((words * p.hostBytes >> log2Up(pause.PauseRegs.fillUnit)).resize(bits)) init 0
    val lossless = hostBuffer.io.marked.last
    fill.all := inUnits(lossless)
    for ((to, words) <- fill.classes.zip(hostBuffer.io.marked)) to := inUnits(words)
    val admission = new pause.PauseAdmission(bits)
    admission.io.fill := inUnits(RegNext(hostBuffer.io.occupancy - lossless) init 0)
    admission.io.lossy := fill.lossy
    admission.io.pfc := fill.pfc
    admission.io.priority << macRx.mac.io.priority
    macRx.mac.io.lossless := admission.io.lossless
    macRx.mac.io.hostRefused := admission.io.refused
  }
}
