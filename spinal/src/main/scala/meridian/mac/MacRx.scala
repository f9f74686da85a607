// SPDX-License-Identifier: Apache-2.0
package meridian.mac

import meridian.ShellParam
import meridian.frame._
import meridian.meta.{MacRxRecord, RxStamp}
import meridian.ptp.PtpFinder
import meridian.selftest.port.{FrameTaker, PortTestRx}
import meridian.settings.PsFilterConfig
import spinal.core._
import spinal.lib._

/** What is kept of a received frame beside its bytes on its way to the host. */
case class HostStored(p: ShellParam) extends Bundle {
  val stamp = p.stamps generate RxStamp()

  /** PCP of the outer tag, 0 without a tag, and what [[pause.PauseAdmission]] makes of it. */
  val priority = p.sendsPause generate UInt(3 bits)
  val lossless = p.sendsPause generate Bool()
}

/** What is kept of a frame beside its bytes on its way to the PS. */
case class PsStored() extends Bundle {
  val stamp = RxStamp()
  val bulk = Bool() // see PsRxMeta
}

/** Checks received frames and splits them between PS and host, in the receive clock of the MAC.
  *
  * Every frame is written into the buffer of the PS and into that of the host while it comes in. Its last beat commits
  * it in the buffers where it belongs and rolls it back in the others. Bad, runt and oversize frames are rolled back in
  * both. A frame that finds no room in one buffer is lost there only. The second half of the PS's buffer is for frames
  * to an address that the PS listed, so that a storm of others leaves room for them. With limits on, that half is for
  * PTP only, and [[PsPolicer]] limits the rest.
  *
  * Latency: 2 cycles from the pins to a push, 3 cycles to the record. Throughput: one beat a cycle, frames back to
  * back. There is no back-pressure: a frame whose push is not ready is lost.
  */
class MacRx(p: ShellParam) extends Component {
  val io = new Bundle {
    val pins = slave(MacRxPins())
    val psFilter = in(PsFilterConfig(p))
    val psLimit = in(PsLimit())
    val skip = in UInt (32 bits) // see FrameBucket
    val timeKnown = in Bool () // the MAC stamps with the PHC's time; frames that began before have no timestamp
    val test = p.selfTest generate in(PortTestRx()) // in this clock
    val host = master(FrameStream(p.hostBytes, HardType(HostStored(p))))
    val hostAbort = out Bool ()
    val hostUp = in Bool ()

    /** A frame's priority, and what is said of it a cycle later; see [[pause.PauseAdmission]]. */
    val priority = p.sendsPause generate master(Flow(UInt(3 bits)))
    val lossless = p.sendsPause generate in(Bool())
    val hostRefused = p.sendsPause generate in(Bool())
    val ps = master(FrameStream(p.psBytes, HardType(PsStored())))
    val psAbort = out Bool ()
    val psUp = in Bool ()

    /** Half of the PS buffer or more is in use. */
    val psHalfFull = in Bool ()

    /** multicast, broadcast, vlan, forHost and forPs are False for a frame that is dropped as bad, runt or oversize. */
    val record = master(Flow(MacRxRecord(p)))
  }

  val input = new Area {
    val beat = Flow(RxBeat())
    beat.valid := RegNext(io.pins.tvalid) init False
    beat.last := RegNext(io.pins.tlast)
    beat.data := RegNext(io.pins.tdata)
    // The bytes below the lowest 0 of tkeep; only the last beat may have one.
    val lowestGap = OHMasking.first(~io.pins.tkeep)
    val count = Mux(io.pins.tkeep.andR || !io.pins.tlast, U(8, 4 bits), OHToUInt(lowestGap).resize(4))
    beat.count := RegNext(count)
    beat.error := RegNext(io.pins.tuser || !io.pins.tkeep(0)) // a last beat of no byte is no frame of the MAC
    val stamp = RegNext(io.pins.tstamp)
    val stampValid = RegNext(io.pins.tstampValid) init False
    val timeKnown = RegNext(io.timeKnown) init False
    val lastBeat = beat.valid && beat.last
  }
  import input.{beat, lastBeat}

  val check = new FrameCheck(p)
  check.io.beat << beat

  val classifier = new PsClassifier(p)
  classifier.io.config := io.psFilter
  classifier.io.query.valid := beat.valid && check.io.first
  classifier.io.query.payload := beat.data(47 downto 0)
  // A frame that is no runt has its last beat 7 cycles after its first, 4 after the result.
  val destination = classifier.io.result

  val vlan = Reg(Bool())
  val tpid = beat.data(39 downto 32) ## beat.data(47 downto 40)
  when(beat.valid && check.io.second)(vlan := PtpFinder.isTag(tpid))
  val priority = p.sendsPause generate Reg(UInt(3 bits))
  if (p.sendsPause) {
    val tagged = beat.data(53, 3 bits).asUInt
    val known = beat.valid && check.io.second
    when(known)(priority := Mux(PtpFinder.isTag(tpid), tagged, U(0)))
    io.priority.valid := RegNext(known, False)
    io.priority.payload := priority
  }

  val policer = new PsPolicer(p)
  policer.io.limit := io.psLimit
  policer.io.skip := io.skip
  policer.io.beat << beat
  policer.io.first := check.io.first
  policer.io.vlan := vlan

  val timestamp = new Area {
    val held = Reg(RxStamp())
    held.valid init False
    val now = RxStamp()
    // The MAC stamps a frame where it begins, and may tell so as late as with its end.
    val knownBefore = RegNextWhen(input.timeKnown, check.io.first)
    val known = Mux(check.io.first, input.timeKnown, knownBefore)
    now.valid := input.stampValid && known || (held.valid && !check.io.first)
    now.time := Mux(input.stampValid, input.stamp, held.time)
    val inFrame = beat.valid || !check.io.first
    when(inFrame)(held := now)
    when(lastBeat)(held.valid := False)
  }

  val taker = p.selfTest generate new FrameTaker(p)

  /** Of flow control: its frames are for nobody behind the MAC. */
  val flow = p.egress generate master(pause.PauseLook())

  /** Not for a buffer, as a frame of the port's test or of flow control is for none. */
  private def unwanted(drop: Bool): Bool = {
    val others = if (p.selfTest) drop || taker.io.take else drop
    if (p.egress) others || flow.take else others
  }

  // Verdict on the last beat, beside the words it decides of.
  val bad = beat.error || check.io.result.runt || check.io.result.oversize
  val refused = io.psHalfFull && !Mux(io.psLimit.enable, policer.io.ptp, destination.exact)
  val verdict = new Area {
    val valid = RegNext(lastBeat) init False
    val dropHost = RegNext(unwanted(bad || !destination.forHost))
    val dropPs = RegNext(unwanted(bad || !destination.forPs || refused || !policer.io.may))
    val psRefused = RegNext(refused)
    val psPoliced = RegNext(!refused && !policer.io.may)
    val ptp = RegNext(policer.io.ptp)
    val good = RegNext(!bad)
    val destinationHeld = RegNext(destination)
    val vlanHeld = RegNext(vlan)
    val error = RegNext(beat.error)
    val check = RegNext(MacRx.this.check.io.result)
    val count = RegNext(beat.count)
  }
  policer.io.pass := verdict.valid && !verdict.dropPs

  val mty = (U(8, 4 bits) - beat.count).resize(3)

  val host = new Area {
    val upsizer = new FrameUpsizer(p.macBytes, p.hostBytes, HardType(HostStored(p)))
    upsizer.io.input.valid := beat.valid
    upsizer.io.input.data := beat.data
    upsizer.io.input.mty := mty
    upsizer.io.input.last := beat.last
    if (p.stamps) upsizer.io.input.meta.stamp := timestamp.now
    if (p.sendsPause) {
      upsizer.io.input.meta.priority := priority
      upsizer.io.input.meta.lossless := io.lossless
    }
    val dropper = new FrameDropper(p.hostBytes, HardType(HostStored(p)))
    dropper.io.input << upsizer.io.output
    dropper.io.drop := verdict.dropHost
    dropper.io.up := io.hostUp
    if (p.sendsPause) dropper.io.refused := io.hostRefused
    io.host << dropper.io.push
    io.hostAbort := dropper.io.abort
  }

  val ps = new Area {
    val dropper = new FrameDropper(p.psBytes, HardType(PsStored()))
    dropper.io.input.valid := RegNext(beat.valid) init False
    dropper.io.input.data := RegNext(beat.data)
    dropper.io.input.mty := RegNext(mty)
    dropper.io.input.last := RegNext(beat.last)
    dropper.io.input.meta.stamp := RegNext(timestamp.now)
    dropper.io.input.meta.bulk := RegNext(io.psLimit.enable && !policer.io.ptp) // right with the last beat
    dropper.io.drop := verdict.dropPs
    dropper.io.up := io.psUp
    io.ps << dropper.io.push
    io.psAbort := dropper.io.abort
  }

  val told = new Area {
    val record = MacRxRecord(p)
    val destination = verdict.destinationHeld
    record.length := verdict.check.length(verdict.count)
    record.badFcs := verdict.error
    record.runt := verdict.check.runt
    record.oversize := verdict.check.oversize
    record.multicast := verdict.good && destination.multicast
    record.broadcast := verdict.good && destination.broadcast
    record.vlan := verdict.good && verdict.vlanHeld
    record.forHost := verdict.good && destination.forHost
    record.forPs := verdict.good && destination.forPs
    record.hostOverflow := record.forHost && host.dropper.io.lost
    record.psOverflow := record.forPs && !verdict.psPoliced && (ps.dropper.io.lost || verdict.psRefused)
    record.psPoliced := record.forPs && verdict.psPoliced
    record.ptp := verdict.ptp
    record.uncounted := 0
    io.record.valid := RegNext(verdict.valid) init False
    io.record.payload := RegNext(record)
    if (p.selfTest) {
      taker.io.armed := io.test.armed
      taker.io.label := io.test.label
      taker.io.beat << beat
      taker.io.stamp := timestamp.now
      taker.io.length := record.length
      record.test.assignFromBits(B(0, widthOf(record.test) bits))
      when(RegNext(taker.io.take)) {
        record.forHost := False
        record.forPs := False
      }
      // The record waits for what the taker finds out.
      val more = FrameTaker.latency - 2
      io.record.valid.allowOverride() := Delay(verdict.valid, 1 + more, init = False)
      io.record.payload.allowOverride() := Delay(record, 1 + more)
      io.record.payload.test.allowOverride() := taker.io.result
    }
    if (p.egress) {
      flow.beat << beat
      flow.bad := bad
      when(RegNext(flow.take)) {
        record.forHost := False
        record.forPs := False
      }
    }
  }
}
