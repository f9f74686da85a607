// SPDX-License-Identifier: Apache-2.0
package meridian.selftest

import meridian.ShellParam
import meridian.bus.RegPort
import meridian.frame.{FrameStream, FrameWord}
import meridian.host.H2cMeta
import meridian.meta.{C2hMeta, RxRecord, TxRecord}
import meridian.queue._
import meridian.settings.{FunctionFlags, QueueRange}
import spinal.core._
import spinal.lib._

object SelfTest {

  /** A waiting frame of the test goes after as many received ones. So test frames of 9,600 bytes take 13 % of the stream
    * from received frames of 60 bytes, if these ask for all of it.
    */
  val testAfter = 1024
}

/** Packet generator towards the host, checker of what the host sends back, and latency counters (host clock); only in a
  * shell with the option `selfTest`.
  *
  * It measures the way from the generator through the DMA engine, host memory, a program that sends frames back, and the
  * DMA engine again. The time stamp is the cycle in which the generator made a frame's first beat, its arrival the one
  * in which its first beat leaves H2cIngress. Of what is measured, the shell itself takes 4 cycles if nothing else is
  * under way: 1 each of FrameMaker, the merge with received frames, C2hEgress and H2cIngress. A cycle is 4 ns at 250 MHz.
  *
  * Budget: one beat a cycle in both directions, at 32 and at 64 bytes, for frames of any length from 60 bytes on; at 250
  * MHz that is 64 or 128 Gb/s, and 125 or 250 million frames a second of the smallest size. See [[FrameGenerator]],
  * [[FrameChecker]], [[LatencyWindow]] and [[SelfTestControl]] for the latency of each.
  *
  * A received frame goes before one of the test, unless [[SelfTest.testAfter]] of them have gone since the test's last.
  * Questions for buffers of received frames go first.
  */
class SelfTest(p: ShellParam, watchCycles: Int = SelfTestControl.watchCycles) extends Component {
  val io = new Bundle {
    val bus = slave(RegPort(12))
    val functions = in(FunctionFlags(p))
    val functionReset = in Bits (p.functions bits)
    val enforce = in Bool ()
    val range = slave(Flow(QueueRange(p)))
    val queuesIdle = in Bool ()
    val owner = master(QueueLookup(p))
    val rx, rxCopies = slave(Flow(RxRecord(p)))
    val tx = slave(Flow(TxRecord(p)))

    val query = master(Stream(CreditQuery(p)))
    val answer = slave(Flow(BufferAnswer(BufferCount.neededBits)))
    val drained = slave(Flow(p.queueType()))
    val giveBack = master(Stream(BufferReturn(p, BufferCount.neededBits)))
    val c2h = master(FrameStream(p.hostBytes, C2hMeta(p)))
    val begun = out Bool ()
    val h2c = slave(Flow(Fragment(FrameWord(p.hostBytes, H2cMeta(p))))) // as they pass
    val take = out Bool () // the frame of the beat at h2c goes no further than to the checker
    val idle = out Bool ()
  }
  val now = Reg(UInt(64 bits)) init 0
  now := now + 1

  val control = new SelfTestControl(p, watchCycles)
  val generator = new FrameGenerator(p)
  val judge = new FrameChecker(p)
  val window = new LatencyWindow
  val regs = new SelfTestRegs(p)
  regs.io.bus << io.bus
  val port = regs.io.port

  control.io.start := port.start
  control.io.by := port.by
  control.io.stop := port.stop
  control.io.off := port.off
  control.io.settings := port.settings
  control.io.window := port.window
  control.io.enable := io.functions.enable
  control.io.ports := io.functions.port
  control.io.functionReset := io.functionReset
  control.io.enforce := io.enforce
  control.io.range << io.range
  control.io.queuesIdle := io.queuesIdle
  control.io.owner <> io.owner
  control.io.rx << io.rx
  control.io.rxCopies << io.rxCopies
  control.io.tx << io.tx
  control.io.complete := generator.io.complete
  control.io.idle := generator.io.idle

  generator.io.go := control.io.go
  generator.io.restart := control.io.restart
  generator.io.run := control.io.run
  generator.io.now := now
  generator.io.clear << control.io.clear
  io.query << generator.io.query
  generator.io.answer << io.answer
  generator.io.drained << io.drained
  io.giveBack << generator.io.giveBack
  io.c2h << generator.io.frames
  io.begun := generator.io.begun

  judge.io.on := control.io.checks
  judge.io.restart := control.io.restart
  judge.io.run := control.io.run
  judge.io.now := now
  judge.io.clear << control.io.clear
  judge.io.beat << io.h2c
  val taking = new Area {
    val first = RegNextWhen(io.h2c.last, io.h2c.valid) init True
    val from = control.io.takes
    val now = from.valid && io.h2c.meta.queue >= from.first && io.h2c.meta.queue <= from.last
    io.take := first ? now | RegNextWhen(now, io.h2c.valid && first)
  }

  window.io.sample << judge.io.latency
  window.io.window := port.window
  window.io.continuous := port.continuous
  window.io.restart := port.restart
  window.io.read := port.read
  window.io.index := port.index

  port.state := control.io.state
  port.checks := control.io.checks
  port.takes := control.io.takes.valid
  port.refusal := control.io.refusal
  port.end := control.io.end
  port.number := control.io.run.number
  port.latency := window.io.result
  port.shown := window.io.number
  port.count := window.io.count
  port.sent := generator.io.counts
  port.checked := judge.io.counts
  io.idle := RegNext(control.io.state === SelfTestState.idle && !window.io.measures) init True
}
