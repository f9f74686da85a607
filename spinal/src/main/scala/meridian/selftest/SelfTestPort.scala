// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** What the registers and the self-test tell each other. Master are the registers. */
case class SelfTestPort(p: ShellParam) extends Bundle with IMasterSlave {
  val settings = SelfTestSettings(p)
  val start, stop, off = Bool()
  val by = p.functionType() // the PF whose command it is
  val window = UInt(64 bits)
  val continuous, restart = Bool() // of the measurement of latency
  val read = Bits(LatencyWindow.words bits)
  val index = UInt(6 bits)

  val state = SelfTestState()
  val checks, takes = Bool()
  val refusal = SelfTestRefusal()
  val end = SelfTestEnd()
  val number = UInt(TestFrame.runBits bits)
  val latency = LatencyResult()
  val shown = UInt(LatencyWindow.numberBits bits)
  val count = UInt(LatencyHistogram.countBits bits)
  val sent = Vec(UInt(64 bits), FrameGenerator.counts.size)
  val checked = Vec(UInt(64 bits), FrameChecker.counts.size)

  override def asMaster(): Unit = {
    out(settings, start, stop, off, by, window, continuous, restart, read, index)
    in(state, checks, takes, refusal, end, number, latency, shown, count, sent, checked)
  }
}
