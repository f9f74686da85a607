// SPDX-License-Identifier: Apache-2.0
package meridian.egress

import meridian.ShellParam
import meridian.frame.FrameStream
import meridian.meta.HostTxMeta
import spinal.core._
import spinal.lib._

/** Lets frames of the host into the queues of a port, or drops them whole at the tail (host clock).
  *
  * A frame of a queue that is not paced never waits. If its class has no room for one of its beats, what is stored of it
  * is taken back with its last beat, and `lost` pulses. A frame of a paced queue waits for room, as the pacer sees to it
  * that there is some. While a store is not in use, as the MAC is in reset, all frames are lost. A frame that is not to be
  * sent anyway (meta.drop) is not told as lost.
  *
  * The class of a frame is that of its first beat.
  *
  * Latency: 0 cycles, combinational. Throughput: one beat a cycle, also of a frame that is lost.
  */
class EgressAdmission(p: ShellParam) extends Component {
  val io = new Bundle {
    val input = slave(FrameStream(p.hostBytes, HardType(HostTxMeta(p))))
    val stores = Vec(master(EgressStore(p)), EgressClass.count)

    /** With the last beat of input, a bit a class: the frame found no room. */
    val lost = out Bits (EgressClass.count bits)
  }
  val input = io.input
  val first = RegNextWhen(input.last, input.fire) init True
  val begun = RegNextWhen(input.meta.high, input.fire && first)
  val high = Mux(first, input.meta.high, begun)
  val chosen = io.stores.zipWithIndex.map { case (store, i) => (store, high === Bool(i == 1)) }
  def ofChosen(flag: EgressStore => Bool): Bool = chosen.map { case (store, is) => flag(store) && is }.orR

  val gone = RegInit(False)
  val room = ofChosen(_.push.ready)
  val noRoom = gone || !ofChosen(_.up) || !input.meta.paced && (!room || ofChosen(_.full))
  val ends = input.fire && input.last
  input.ready := room || noRoom
  when(input.fire || !first)(gone := noRoom)
  when(ends)(gone := False)

  for (((store, is), i) <- chosen.zipWithIndex) {
    store.push.valid := input.valid && is && !noRoom
    store.push.last := input.last
    store.push.data := input.data
    store.push.mty := input.mty
    store.push.meta := input.meta.paced
    store.drop := input.meta.drop
    store.abort := ends && is && noRoom
    io.lost(i) := ends && is && noRoom && !input.meta.drop
  }
}
