// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import meridian.dma.DmaParam
import spinal.core._
import spinal.lib._

/** Carries function level resets of the block to [[meridian.dma.context.FunctionReset]], and tells the block when they are
  * done (PG213, "Configuration Control Interface").
  *
  * The block holds a function's in_process until it is told. Functions are looked at in turn, one in two cycles. A PF is
  * done when it and all of its VFs are; cfg_flr_done is held until the block lets in_process go, cfg_vf_flr_done is a pulse
  * with the VF's number, in each round until then. A function whose in_process is low for a cycle is asked for anew.
  */
class FlrBridge(p: DmaParam) extends Component {
  val io = new Bundle {
    val pfInProcess = in Bits (4 bits)
    val pfDone = out Bits (4 bits)
    val vfInProcess = in Bits (252 bits)
    val vfDone = master(Flow(DmaParam.functionType()))
    val request = master(Stream(DmaParam.functionType()))
    val inReset = out Bits (p.functions bits) // the function's or its PF's in_process
    val held = in Bits (p.functions bits) // FunctionReset has not let the function go
  }

  val inProcess = RegNext(io.vfInProcess.resize(p.functions - DmaParam.firstVf) ## io.pfInProcess) init 0
  io.inReset := Vec((0 until p.functions).map { f =>
    (f +: (0 until p.pfs).filter(p.vfsOf(_).contains(f))).map(inProcess(_)).orR
  }).asBits
  val asked = RegInit(B(0, p.functions bits)) // the reset was begun
  val told = RegInit(B(0, 4 bits)) // of PFs: the block is told that it is done
  val function = Reg(DmaParam.functionType()) init 0
  val place = function.resize(log2Up(p.functions) bits)
  val acts = RegInit(False)
  acts := !acts

  // Read a cycle before it is acted on; requests are seen as held three cycles after they are taken.
  val isInProcess = RegNext(inProcess(place))
  val isAsked = RegNext(asked(place))
  val isPf = function < DmaParam.firstVf
  val isHeld = RegNext(io.held(place))

  io.request.valid := acts && isInProcess && !isAsked
  io.request.payload := function
  io.vfDone.valid := False
  io.vfDone.payload := function - (DmaParam.firstVf - p.firstVfDone)
  asked := asked & inProcess
  told := told & inProcess(3 downto 0)
  when(acts) {
    val next = (function === p.functions - 1) ? U(0, 8 bits) | function + 1
    function := next
    when(isInProcess && inProcess(place)) {
      when(!isAsked) {
        asked(place) := io.request.ready
      } elsewhen (!isHeld) {
        when(isPf)(told(function(1 downto 0)) := True)
        io.vfDone.valid := !isPf
      }
    }
  }
  io.pfDone := told & inProcess(3 downto 0)
}
