// SPDX-License-Identifier: Apache-2.0
package meridian.mac.pause

import spinal.core._
import spinal.lib._

/** When a class of received frames asks its senders to stop, and when to go on. */
case class PauseThresholds(fillBits: Int) extends Bundle {
  val xoff = UInt(fillBits bits) // at this fill or more they are to stop; 0: never
  val xon = UInt(fillBits bits) // at this fill or less they may go on
}

/** Decides from how full the receive buffer of each class is whether its senders are to stop, with a hysteresis: between
  * the two thresholds nothing changes. If they do not leave room for that, so that both hold, senders are stopped.
  *
  * Above `xoff` there has to be room for what comes until the senders have stopped: a frame of the longest that they began,
  * one of ours that PauseSender waits for, the cable twice, and what 802.3 31B.3.7 grants the other end.
  *
  * Latency: 1 cycle. io.xoff is from registers, so that each bit may cross clocks by itself.
  */
class PausePolicy(fillBits: Int) extends Component {
  val io = new Bundle {
    val fill = in Vec (UInt(fillBits bits), Pause.classes)
    val thresholds = in Vec (PauseThresholds(fillBits), Pause.classes)
    val xoff = out Bits (Pause.classes bits)
  }
  for (i <- 0 until Pause.classes) {
    val (fill, at) = (io.fill(i), io.thresholds(i))
    val xoff = RegInit(False)
    xoff clearWhen (fill <= at.xon)
    xoff setWhen (fill >= at.xoff)
    when(at.xoff === 0)(xoff := False)
    io.xoff(i) := xoff
  }
}
