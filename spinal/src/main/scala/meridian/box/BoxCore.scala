// SPDX-License-Identifier: Apache-2.0
package meridian.box

import meridian.ShellParam
import spinal.core._
import spinal.lib._

/** What the guards of both places have in common: the reset of a box, what lets frames to it and takes its own, the verdict
  * that it hangs, and the counters.
  *
  * @param boxReset of the box
  * @param boxReady what the box says
  * @param leastRx  bytes that a frame of the box for the host has at least
  * @param moves    something else moves between box and shell
  */
class BoxCore(
    p: ShellParam,
    streams: BoxStreams,
    control: BoxControl,
    boxReset: Bool,
    boxReady: Bool,
    leastRx: Int,
    moves: Bool = False
) extends Area {
  val state = new Area {
    val cycles = Reg(UInt(log2Up(BoxGuard.resetCycles + 1) bits)) init 0
    val reset = RegInit(True)
    val open = RegInit(False)
    when(cycles =/= BoxGuard.resetCycles)(cycles := cycles + 1)
    when(control.reset)(cycles := 0)
    reset := cycles =/= BoxGuard.resetCycles
    open := !reset && boxReady && !control.reset
    boxReset := reset
    control.ready := open
  }

  val outlets = new Area {
    val rx = new BoxOutlet(p.hostBytes, leastRx, p.maxFrame)
    rx.io.box << streams.rxOut
    val tx = new BoxOutlet(p.hostBytes, BoxGuard.leastTx, p.maxFrame)
    tx.io.box << streams.txOut
    for (outlet <- Seq(rx, tx)) outlet.io.open := state.open
    val held = streams.rxOut.isStall || streams.txOut.isStall
  }

  val inlets = new Area {
    def inlet(box: Stream[Fragment[BoxBeat]]) = new Area {
      val gate = new BoxInlet(p.hostBytes)
      gate.io.box >> box
      val watch = new BoxWatch(BoxGuard.limitBits, BoxWatch.perBeat(p))
      watch.io.offered := box.valid
      watch.io.taken := box.ready
      watch.io.held := outlets.held
      watch.io.limit := control.limit
      watch.io.clear := state.reset
      gate.io.open := state.open && !watch.io.hung
    }
    val rx = inlet(streams.rxIn)
    val tx = inlet(streams.txIn)
    control.rxHung := rx.watch.io.hung
    control.txHung := tx.watch.io.hung
  }

  /** What a box says of a frame beside its beats, as the outlet has them. */
  def beside[T <: Data](box: Stream[Fragment[BoxBeat]], said: T): T = RegNextWhen(said, box.fire)

  /** A pulse for each counter; those of a box at the host are given. */
  def counted(atHost: Bool*): Bits = {
    val both =
      for ((inlet, outlet) <- Seq((inlets.rx.gate, outlets.rx), (inlets.tx.gate, outlets.tx)))
        yield Seq(inlet.io.passed, inlet.io.dropped, outlet.io.sent, outlet.io.dropped)
    val more = if (atHost.isEmpty) BoxGuard.countsAtHost.map(_ => False) else atHost
    RegNext(Vec(both.flatten ++ more).asBits) init 0
  }

  /** What a box has in itself does not show: after its last beat it is given some time. */
  val quiet = {
    val cycles = Reg(UInt(BoxGuard.quietBits bits)) init 0
    val frames = Seq(streams.rxIn, streams.txIn, streams.rxOut, streams.txOut).map(_.valid).orR
    when(frames || moves || state.reset)(cycles := 0) elsewhen (!cycles.andR)(cycles := cycles + 1)
    cycles.andR
  }
}
