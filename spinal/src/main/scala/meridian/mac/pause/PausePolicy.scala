// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import meridian.crossing.Crossing
import spinal.core._
import spinal.lib._

/** When received frames ask their senders to stop, and when to go on. */
case class PauseThresholds(fillBits: Int) extends Bundle {
  val xoff = UInt(fillBits bits) // at this fill or more they are to stop; 0: never
  val xon = UInt(fillBits bits) // at this fill or less they may go on
}

/** When the receive buffer of a port is too full. It changes only while nothing is sent. */
case class PauseBufferConfig(fillBits: Int = PauseRegs.fillBits) extends Bundle {
  val all = PauseThresholds(fillBits) // for every class, by the frames of all lossless ones
  val classes = Vec(PauseThresholds(fillBits), Pause.classes) // for a class, by its own frames
  val lossy = UInt(fillBits bits) // from this fill on by their own, frames of other classes find no room; 0: never
}

/** Decides from how full the receive buffer is, and how full of each class, which senders are to stop, with a hysteresis:
  * between the two thresholds nothing changes. If they do not leave room for that, so that both hold, senders are stopped.
  * The thresholds of a class keep it from taking the room of others. Those of all classes keep what was promised, as the
  * line brings no more than one rate, whatever the classes are.
  *
  * Beside `all.xoff`, `lossy` and a frame of the longest there has to be room for what comes until the senders have stopped:
  * a frame of the longest that they began, one of ours that PauseSender waits for, the cable twice, and what 802.3 31B.3.7
  * grants the other end.
  *
  * Latency: 2 cycles. io.xoff is from registers, so that each bit may cross clocks by itself.
  */
class PausePolicy(fillBits: Int) extends Component {
  val io = new Bundle {
    val all = in UInt (fillBits bits)
    val fill = in Vec (UInt(fillBits bits), Pause.classes)
    val thresholds = in(PauseBufferConfig(fillBits))

    /** Something is sent. Thresholds are looked at only while it is. */
    val on = in Bool ()
    val xoff = out Bits (Pause.classes bits)
  }
  private def decide(fill: UInt, at: PauseThresholds): Bool = {
    val xoff = RegInit(False)
    xoff clearWhen (fill <= at.xon)
    xoff setWhen (fill >= at.xoff)
    when(at.xoff === 0 || !io.on)(xoff := False)
    xoff
  }
  val all = decide(io.all, io.thresholds.all)
  val classes = for ((fill, at) <- io.fill.zip(io.thresholds.classes)) yield decide(fill, at) || all
  io.xoff := RegNext(classes.asBits()) init 0
}

/** Whether a frame is lossless, which is one of a class with PFC, or any while PAUSE is sent; and whether another finds room
  * in the receive buffer.
  *
  * Latency: 1 cycle. What is told of a frame stays until the next one is known.
  */
class PauseAdmission(fillBits: Int) extends Component {
  val io = new Bundle {

    /** Of the frames that are not lossless. */
    val fill = in UInt (fillBits bits)

    /** See PauseBufferConfig; read only while pfc is not 0. */
    val lossy = in UInt (fillBits bits)

    /** The classes of which PFC is sent. */
    val pfc = in Bits (Pause.classes bits)

    /** Of a frame, once. */
    val priority = slave(Flow(UInt(log2Up(Pause.classes) bits)))
    val lossless = out Bool ()
    val refused = out Bool ()
  }
  val full = RegNext(io.fill >= io.lossy && io.lossy =/= 0 && io.pfc.orR) init False
  io.lossless.setAsReg() init True
  when(io.priority.valid)(io.lossless := io.pfc(io.priority.payload) || !io.pfc.orR)
  io.refused := full && !io.lossless
}

object PauseBufferConfig {

  /** Brings what was set in another clock into the current one. */
  def crossed(from: PauseBufferConfig): PauseBufferConfig =
    Crossing.held(
      from,
      "Thresholds of a receive buffer change only while no flow control is sent and are looked at only while it is."
    )
}
