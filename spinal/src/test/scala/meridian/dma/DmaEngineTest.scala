// SPDX-License-Identifier: Apache-2.0
package meridian.dma

import meridian.dma.pcie._
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._

/** The engine at the pins of the block, with the streams of a host behind them. */
class DmaEngineTest extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)

  class Bench extends Component {
    val cq = slave(Stream(Fragment(CqBeat())))
    val cc = master(Stream(Fragment(CcBeat())))
    val engine = new DmaEngine(p)
    val pins = engine.io.pcie
    pins.m_axis_cq_tvalid := cq.valid
    pins.m_axis_cq_tdata := cq.data
    pins.m_axis_cq_tkeep := cq.keep
    pins.m_axis_cq_tuser := cq.user
    pins.m_axis_cq_tlast := cq.last
    cq.ready := pins.m_axis_cq_tready
    cc.valid := pins.s_axis_cc_tvalid
    cc.data := pins.s_axis_cc_tdata
    cc.keep := pins.s_axis_cc_tkeep
    cc.last := pins.s_axis_cc_tlast
    pins.s_axis_cc_tready := B(4 bits, default -> cc.ready)
    val functionStatus = in Bits (16 bits)
    val vfStatus = in Bits (504 bits)
    val pfInProcess = in Bits (4 bits)
    val vfInProcess = in Bits (252 bits)
    val flrAnswers = in Bool ()
    pins.cfg_function_status := functionStatus
    pins.cfg_vf_status := vfStatus
    pins.cfg_max_payload := 1
    pins.cfg_max_read_req := 2
    pins.cfg_flr_in_process := pfInProcess
    pins.cfg_vf_flr_in_process := vfInProcess
    val pfDone = out Bits (4 bits)
    pfDone := pins.cfg_flr_done
    val vfDone = master(Flow(UInt(8 bits)))
    vfDone.valid := pins.cfg_vf_flr_done
    vfDone.payload := pins.cfg_vf_flr_func_num
    val interrupt = master(Stream(InterruptRequest()))
    interrupt << engine.io.interrupt
    val doorbell = master(Flow(Doorbell()))
    doorbell << engine.io.doorbell
    // The shell.
    val qdma = engine.io.qdma
    private def silent[T <: Data](stream: Stream[T]): Unit = {
      stream.valid := False
      stream.payload.assignDontCare()
    }
    qdma.m_axis_h2c.ready := True
    qdma.tm_dsc_sts.ready := True
    silent(qdma.s_axis_c2h)
    silent(qdma.s_axis_c2h_cmpt)
    silent(qdma.dsc_crdt_in)
    val asked = Delay(qdma.usr_flr_set && flrAnswers, 20, init = False)
    qdma.usr_flr_done_vld := asked
    qdma.usr_flr_done_fnc := Delay(qdma.usr_flr_fnc, 20)
    val told = master(Flow(UInt(8 bits)))
    told.valid := qdma.usr_flr_set
    told.payload := qdma.usr_flr_fnc
  }

  lazy val compiled = SimConfig.compile(new Bench)
  def run(name: String)(body: (Bench, PcieHost, ClockDomain) => Unit): Unit = compiled.doSim(name, 7) { dut =>
    val cd = clocked(dut)
    dut.functionStatus #= 0x4444
    dut.vfStatus #= (BigInt(1) << 504) - 1
    dut.pfInProcess #= 0
    dut.vfInProcess #= 0
    dut.flrAnswers #= true
    dut.interrupt.ready #= true
    val host = new PcieHost(dut.cq, dut.cc, cd)
    cd.waitSampling(2)
    body(dut, host, cd)
  }

  test("the identifier is read through the pins of the block") {
    run("identifier") { (_, host, _) =>
      val answer = host.read(HostRequest.read(0, 0x0, tag = 0x5a).copy(requester = 0x1234))
      assert(answer.status == 0 && answer.tag == 0x5a && answer.requester == 0x1234 && answer.byteCount == 4)
      assert(answer.words == Seq(0x1fd30000L))
    }
  }
}
