// SPDX-License-Identifier: Apache-2.0
package meridian.selftest.port

import meridian.ShellParam
import meridian.bus.RegPort
import meridian.meta.{MacRxRecord, MacTxRecord}
import spinal.core._
import spinal.lib._

/** The test of a port at the MAC's side: registers, control and counters (ps clock); only in a shell with the option
  * `selfTest`. [[PortGenerator]] and [[FrameTaker]] are its hands in the clocks of the MAC.
  *
  * See [[PortTestControl]] and [[PortJudge]] for latencies. The shell is not idle while a test is under way, so a
  * simulation skips none of it.
  */
class PortTest(
    p: ShellParam,
    watchCycles: Int = PortTestControl.watchCycles,
    answerCycles: Int = PortTestControl.answerCycles
) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(10))
    val link = in Bool ()
    val received = slave(Stream(MacRxRecord(p)))
    val sent = slave(Flow(MacTxRecord(p)))
    val tx = master(PortTestTx(p))
    val rx = out(PortTestRx())
    val idle = out Bool ()
  }
  val regs = new PortTestRegs(p)
  val control = new PortTestControl(p, watchCycles, answerCycles)
  val judge = new PortJudge(p)
  regs.io.bus << io.bus
  val port = regs.io.port

  control.io.start := port.start
  control.io.stop := port.stop
  control.io.off := port.off
  control.io.settings := port.settings
  control.io.link := io.link
  val ofHost = io.sent.valid && !io.sent.fromPs && !io.sent.ofTest
  val forHost = io.received.fire && io.received.forHost
  control.io.traffic := RegNext(ofHost || forHost) init False
  val ofPs = io.sent.valid && io.sent.fromPs
  val forPs = io.received.fire && io.received.forPs
  control.io.psTraffic := RegNext(ofPs || forPs) init False
  control.io.ready := BufferCC(io.tx.ready, False)
  control.io.going := BufferCC(io.tx.going, False)
  control.io.complete := BufferCC(io.tx.complete, False)
  control.io.sentFrames := judge.io.sentFrames
  io.tx.run := control.io.run
  io.tx.plan := control.io.plan
  io.rx.armed := control.io.armed
  io.rx.label := control.io.plan.label

  judge.io.counts := control.io.counts
  judge.io.restart := control.io.restart
  judge.io.received << io.received
  judge.io.sent << io.sent
  judge.io.question << port.question
  port.answer := judge.io.answer
  port.least := judge.io.least
  port.most := judge.io.most
  port.state := control.io.state
  port.refusal := control.io.refusal
  port.end := control.io.end
  port.cut := control.io.cut
  io.idle := control.io.state === PortTestState.idle
}
