// SPDX-License-Identifier: Apache-2.0
package meridian.pacing

import meridian.promise.Promise
import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** The bytes on their way to each port, as the sum of the shares of the functions that send there.
  *
  * A visit takes the share of one function out and puts a new one in. `begins` takes the old share out of the port to
  * which it was added, and samples `port`, to which the new one will belong; a function that is bound to another port
  * in the middle of a visit is counted there from its next visit on. From PortTotals.latency cycles after `begins` on,
  * `others` is what the other functions have on their way to the sampled port. `ends` adds `share`; it may come in that
  * cycle or later.
  *
  * `function` is set two cycles before `begins` and stays until `ends`. Between the two, `totals` do not include its
  * share. A port that does not exist has no total, and its `others` are 0.
  *
  * ready 2^functionBits cycles after reset; there must be no visit before.
  */
class PortTotals(p: ShellParam, functionBits: Int, shareBits: Int, val totalBits: Int) extends Component {
  val io = new Bundle {
    val function = in UInt (functionBits bits)
    val port = in(p.portType())
    val begins, ends = in Bool ()
    val share = in UInt (shareBits bits)
    val sampled = out(p.portType()) // from the cycle after begins on
    val others = out UInt (totalBits bits)
    val totals = out Vec (UInt(totalBits bits), p.ports)
    val ready = out Bool ()
  }

  case class Share() extends Bundle {
    val bytes = UInt(shareBits bits)
    val port = p.portType()
  }
  val clearing = Reg(UInt(functionBits + 1 bits)) init 0
  io.ready := clearing.msb
  when(!io.ready)(clearing := clearing + 1)

  val port = RegNextWhen(io.port, io.begins)
  val next = Share()
  next.bytes := io.share
  next.port := port
  val data = Share()
  data.assignFromBits(next.asBits.andMask(io.ready))
  val shares = Mem(Share(), 1 << functionBits)
  shares.write(io.ready ? io.function | clearing.resized, data, io.ends || !io.ready)
  val last = RegNext(shares.readSync(io.function))

  val totals = Vec(Reg(UInt(totalBits bits)) init 0, p.ports)
  val others = Reg(UInt(totalBits bits))
  when(RegNext(io.begins, False)) {
    others := totals.zipWithIndex.map { case (total, i) => total.andMask(port === i) }.reduce(_ | _)
  }
  for ((total, i) <- totals.zipWithIndex) {
    when(io.begins && last.port === i)(total := total - last.bytes)
    when(io.ends && port === i)(total := others + io.share)
  }
  io.sampled := port
  io.others := others
  io.totals := totals

  val promised = new Area {
    val visiting = RegInit(False)
    when(io.begins)(visiting := True)
    when(io.ends)(visiting := False)
    val age = Promise.since(io.begins, PortTotals.latency - 1)
    val rested = Promise.since(io.ends || !io.ready, 2) // what the visit before has written is read then
    val same = io.function === RegNext(io.function)
    Promise(!visiting || same, "the function changes in its visit")
    Promise(!io.begins || io.ready && !visiting && same && RegNext(same, False), "a visit begins too early")
    Promise(!io.begins || rested === 2, "a visit begins while the one before is written")
    Promise(!io.ends || visiting && !io.begins, "a visit ends that has not begun")
    Promise(!io.ends || age === PortTotals.latency - 1, "a visit ends before the total of others is known")
  }
}

object PortTotals {
  val latency = 2
}
