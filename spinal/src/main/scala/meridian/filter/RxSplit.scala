// SPDX-License-Identifier: Apache-2.0
package meridian.filter

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.{RxMeta, RxStamp, RxTarget}
import meridian.promise.Promise
import spinal.core._
import spinal.lib._

/** Holds the beats of received frames until the lookups have decided about their frame, and then sends them on.
  *
  * Decisions come in the order of the frames, each behind the first beat of its frame, and are always taken. A frame
  * that is delivered leaves at `unicast`, as fast as that is ready, and one to be copied at `copy`, which is always
  * ready. Any other is discarded, one beat a cycle. Latency: at least 2 cycles. Throughput: one beat a cycle, no
  * bubble.
  *
  * io.copyStamp: when the frame at `copy` came, if the module at the host is told. io.unicastMayCome: a beat waits whose frame may have to leave at `unicast`. io.ended: the last beat of a frame
  * leaves. io.empty: no beat waits.
  *
  * @param beats number of beats that can wait
  */
class RxSplit(p: ShellParam, beats: Int) extends Component {
  val io = new Bundle {
    val rx = slave(FrameStream(p.hostBytes, RxMeta(p)))
    val decision = slave(Flow(RxDecision(p)))
    val unicast = master(FrameStream(p.hostBytes, RxTarget(p, p.stampsAtHost)))
    val copy = master(Flow(Fragment(Bits(8 * p.hostBytes bits))))
    val copyStamp = p.stampsAtHost generate out(RxStamp())
    val unicastMayCome = out(Bool())
    val ended = out(Bool())
    val empty = out(Bool())
  }
  // A frame whose decision is on its way has at least one beat here, so there is always a place for the decision.
  val waiting = StreamFifo(Fragment(BeatData(p, p.stampsAtHost)), beats, latency = 1)
  val decisions = StreamFifo(RxDecision(p), beats, latency = 0)
  waiting.io.push.arbitrationFrom(io.rx)
  waiting.io.push.last := io.rx.last
  waiting.io.push.data := io.rx.fragment.data
  waiting.io.push.mty := io.rx.fragment.mty
  if (p.stampsAtHost) waiting.io.push.stamp := io.rx.meta.stamp
  decisions.io.push.valid := io.decision.valid
  decisions.io.push.payload := io.decision.payload

  val beat = waiting.io.pop
  val decision = decisions.io.pop
  val decided = beat.valid && decision.valid
  beat.ready := decision.valid && (io.unicast.ready || !decision.deliver)
  decision.ready := beat.fire && beat.last
  io.unicast.valid := decided && decision.deliver
  io.unicast.last := beat.last
  io.unicast.fragment.data := beat.data
  io.unicast.fragment.mty := beat.mty
  io.unicast.fragment.meta.assignSomeByName(decision.target)
  io.copy.valid := decided && decision.copy
  io.copy.last := beat.last
  io.copy.fragment := beat.data
  if (p.stampsAtHost) {
    io.unicast.meta.stamp := beat.stamp
    io.copyStamp := beat.stamp
  }
  io.unicastMayCome := beat.valid
  io.ended := beat.fire && beat.last
  io.empty := waiting.io.occupancy === 0

  val promises = new Area {
    val one = io.decision.deliver && io.decision.copy
    Promise(!io.decision.valid || !one, "a frame is delivered and copied")
    val begins = io.rx.fire && (RegNextWhen(io.rx.last, io.rx.fire) init True)
    val undecided = Reg(UInt(log2Up(beats) + 1 bits)) init 0
    undecided := undecided + U(begins) - U(io.decision.valid)
    Promise(!io.decision.valid || undecided =/= 0, "a decision of a frame that has not come")
  }
  assert(!io.decision.valid || decisions.io.push.ready, "a decision is lost", FAILURE)
}

/** A beat without what is known of the whole frame, but for when it came. */
case class BeatData(p: ShellParam, stamped: Boolean = false) extends Bundle {
  val data = Bits(8 * p.hostBytes bits)
  val mty = UInt(log2Up(p.hostBytes) bits)
  val stamp = stamped generate RxStamp() // the same in all beats
}
