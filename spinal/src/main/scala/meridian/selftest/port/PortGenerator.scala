// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.TakenFrame
import meridian.ptp.PtpTime
import meridian.selftest._
import spinal.core._
import spinal.lib._

object PortGenerator {

  /** The source address of test frames, first byte on the wire lowest: locally administered, 02, MRDN, port. */
  def source(port: Int): BigInt = BigInt(port) << 40 | BigInt("4e44524d02", 16)

  /** A time as test frames carry it: nanoseconds in 29:0, seconds above. */
  def stamp(time: PtpTime): UInt = time.seconds(33 downto 0) @@ time.nanoseconds(29 downto 0)
}

/** Sends test frames at the MAC's side, numbered from 0 on, in the transmit clock of the MAC.
  *
  * It begins when `run` rises and the MAC has the time of the PHC. When run falls no further frame begins, 2 cycles
  * later; that under way is made to its end. After a reset it waits until run has been low.
  *
  * Latency: 5 cycles from run to the first beat. Throughput: one beat a cycle, no bubble between frames. Back-pressure
  * passes through.
  */
class PortGenerator(p: ShellParam, port: Int) extends Component {
  val io = new Bundle {
    val run = in Bool ()
    val plan = in(PortTestPlan(p))
    val time = in(PtpTime())
    val timeKnown = in Bool ()
    val frames = master(FrameStream(p.macBytes, HardType(new NoData)))
    val ready, going, complete = out Bool () // as PortTestTx has them
  }
  val rested = RegInit(False) setWhen !io.run
  val go = RegNext(io.run && rested && io.timeKnown) init False
  val settings = SelfTestSettings(p)
  settings.flatten.foreach(field => field.assignFromBits(B(0, widthOf(field) bits)))
  settings.sizeFirst.allowOverride() := io.plan.sizeFirst
  settings.sizeStep.allowOverride() := io.plan.sizeStep
  settings.sizeLast.allowOverride() := io.plan.sizeLast
  settings.interval.allowOverride() := io.plan.interval
  settings.rate.allowOverride() := io.plan.rate
  settings.burst.allowOverride() := io.plan.burst
  settings.frames.allowOverride() := io.plan.frames

  val plan = new FramePlan(p)
  plan.io.run := go
  plan.io.settings := settings
  plan.io.last := 0
  val pace = new FramePace(p, cycles = 1)
  pace.io.run := go
  pace.io.settings := settings

  val maker = new PortFrameMaker(p)
  maker.io.label := io.plan.label
  maker.io.destination := io.plan.destination
  maker.io.source := B(PortGenerator.source(port), 48 bits)
  maker.io.stamp := PortGenerator.stamp(io.time)
  val number = Reg(UInt(TakenFrame.sequenceBits bits)) init 0
  when(maker.io.job.fire)(number := number + 1)
  when(!go)(number := 0)
  val job = plan.io.frames.haltWhen(!pace.io.open)
  maker.io.job.arbitrationFrom(job)
  maker.io.job.length := job.length
  maker.io.job.sequence := number.resized
  pace.io.begun.valid := maker.io.job.fire
  pace.io.begun.payload := maker.io.job.length
  io.frames << maker.io.frames

  val busy = maker.io.inFrame || maker.io.frames.valid
  io.ready := RegNext(rested && !io.run && !busy) init False
  io.going := RegNext(go || busy) init False
  io.complete := RegNext(go && plan.io.complete && !busy) init False
}
