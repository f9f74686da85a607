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
  * with the VF's number, which counts from 4 as target functions do.
  */
class FlrBridge(p: DmaParam) extends Component {
  val io = new Bundle {
    val pfInProcess = in Bits (4 bits)
    val pfDone = out Bits (4 bits)
    val vfInProcess = in Bits (252 bits)
    val vfDone = master(Flow(DmaParam.functionType()))
    val request = master(Stream(DmaParam.functionType()))
    val open = in Bits (p.functions bits)
  }

  val inProcess = RegNext(io.vfInProcess.resize(p.functions - DmaParam.firstVf) ## io.pfInProcess) init 0
  val asked, told = RegInit(B(0, p.functions bits)) // the reset was begun, the block was told that it is done
  val function = Reg(DmaParam.functionType()) init 0
  val place = function.resize(log2Up(p.functions) bits)
  val acts = RegInit(False)
  acts := !acts

  val families = Vec((0 until 4).map { pf =>
    val members = if (pf < p.pfs) BigInt(1) << pf | p.vfsOf(pf).map(BigInt(1) << _).sum else BigInt(0)
    RegNext((io.open & B(members, p.functions bits)).orR)
  })
  // Read a cycle before it is acted on; requests are seen as open two cycles after they are taken.
  val isInProcess = RegNext(inProcess(place))
  val isAsked = RegNext(asked(place))
  val isTold = RegNext(told(place))
  val isPf = function < DmaParam.firstVf
  val isOpen = RegNext(isPf ? families(function(1 downto 0)) | io.open(place))

  io.request.valid := acts && isInProcess && !isAsked
  io.request.payload := function
  io.vfDone.valid := False
  io.vfDone.payload := function
  when(acts) {
    val next = (function === p.functions - 1) ? U(0, 8 bits) | function + 1
    function := next
    when(!isInProcess) {
      asked(place) := False
      told(place) := False
    } elsewhen (!isAsked) {
      asked(place) := io.request.ready
    } elsewhen (!isOpen && !isTold) {
      told(place) := True
      io.vfDone.valid := !isPf
    }
  }
  io.pfDone := told(3 downto 0) & inProcess(3 downto 0)
}
