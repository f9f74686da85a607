// SPDX-License-Identifier: Apache-2.0
package meridian.dma.engine

import meridian.bus.BarBus
import meridian.dma.{DmaParam, Doorbell, InterruptRequest, PcieHost}
import meridian.dma.pcie._
import meridian.host.FrameSim._
import org.scalatest.funsuite.AnyFunSuite
import spinal.core._
import spinal.core.sim._
import spinal.lib._
import spinal.lib.bus.amba4.axilite._

/** The engine at the pins of the block, with the streams of a host behind them. */
abstract class DmaEngineBench extends AnyFunSuite {
  val p = DmaParam(vfs = Seq(2, 2, 0, 1), queues = 16)

  class Bench extends Component {
    val cq = slave(Stream(Fragment(CqBeat())))
    val cc = master(Stream(Fragment(CcBeat())))
    val engine = new DmaEngine(p)
    val pins = engine.io.pcie
    engine.io.skip := 1
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
    pins.s_axis_rq_tready := 15
    val passed = in Bool () // the block passes on a write that it has
    pins.pcie_rq_seq_num0 := 1
    pins.pcie_rq_seq_num_vld0 := passed
    pins.pcie_rq_seq_num1 := 1
    pins.pcie_rq_seq_num_vld1 := False
    pins.m_axis_rc_tvalid := False
    Seq(pins.m_axis_rc_tdata, pins.m_axis_rc_tkeep, pins.m_axis_rc_tuser).foreach(_ := 0)
    pins.m_axis_rc_tlast := False
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
    val msixEnable, msixMask = in Bits (4 bits)
    val vfMsixEnable, vfMsixMask = in Bits (252 bits)
    pins.cfg_interrupt_msix_enable := msixEnable
    pins.cfg_interrupt_msix_mask := msixMask
    pins.cfg_interrupt_msix_vf_enable := vfMsixEnable
    pins.cfg_interrupt_msix_vf_mask := vfMsixMask
    val rq = master(Flow(Bits(256 bits)))
    rq.valid := pins.s_axis_rq_tvalid
    rq.payload := pins.s_axis_rq_tdata
    val pfDone = out Bits (4 bits)
    pfDone := pins.cfg_flr_done
    val vfDone = master(Flow(UInt(8 bits)))
    vfDone.valid := pins.cfg_vf_flr_done
    vfDone.payload := pins.cfg_vf_flr_func_num
    val interrupt = master(Flow(InterruptRequest()))
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
    val asked = Flow(UInt(8 bits))
    asked.valid := qdma.usr_flr_set
    asked.payload := qdma.usr_flr_fnc
    val answers = asked.toStream.queue(32).haltWhen(!flrAnswers)
    answers.ready := True
    qdma.usr_flr_done_vld := answers.valid
    qdma.usr_flr_done_fnc := answers.payload
    val axil = master(AxiLite4(BarBus.config))
    axil <> engine.io.axil
    val awuser, aruser = out Bits (BarBus.userBits bits)
    awuser := engine.io.awuser
    aruser := engine.io.aruser
    val idle = out Bool ()
    idle := engine.io.idle
    val told = master(Flow(UInt(8 bits)))
    told.valid := qdma.usr_flr_set
    told.payload := qdma.usr_flr_fnc
  }

  protected var bar2 = Option.empty[AxiLiteMemory] // of the test that runs

  lazy val compiled = SimConfig.compile {
    val bench = new Bench
    import bench.engine._
    Seq(slots.ends, slots.takes, slots.io.rung, slots.io.port.offer.complete).foreach(_.simPublic())
    Seq(bar.io.value.valid, bar.io.value.ready, order.io.value.valid, order.io.taken).foreach(_.simPublic())
    Seq(order.io.ordered.valid, order.io.ordered.ready).foreach(_.simPublic())
    Seq(doorbells.io.doorbell.valid, doorbells.io.doorbell.ready, doorbells.map.io.known).foreach(_.simPublic())
    doorbells.io.rings.simPublic()
    doorbells.kind.simPublic()
    bench
  }

  /** A context command writes the queues of a function to its map. */
  def giveQueues(host: PcieHost, function: Int, first: Int, count: Int): Unit = {
    for ((value, i) <- Seq[Long](first, count, 0, 0, 0, 0, 0, 0).zipWithIndex) {
      host.write(0, 0x804 + 4 * i, value)
      host.write(0, 0x824 + 4 * i, 0xffffffffL)
    }
    host.write(0, 0x844, function << 7 | 1 << 5 | 0xc << 1)
    host.read(0, 0x844)
  }

  def run(name: String)(body: (Bench, PcieHost, ClockDomain) => Unit): Unit = compiled.doSim(name, 7) { dut =>
    val cd = clocked(dut)
    dut.functionStatus #= 0x4444
    dut.passed #= true
    dut.vfStatus #= (BigInt(1) << 504) - 1
    dut.pfInProcess #= 0
    dut.vfInProcess #= 0
    dut.flrAnswers #= true
    dut.msixEnable #= 15
    dut.msixMask #= 0
    dut.vfMsixEnable #= (BigInt(1) << 252) - 1
    dut.vfMsixMask #= 0
    val host = new PcieHost(dut.cq, dut.cc, cd)
    val registers = new AxiLiteMemory(dut.axil, dut.awuser, dut.aruser, cd, 0.5f)
    bar2 = Some(registers)
    cd.waitSampling(2)
    body(dut, host, cd)
  }
}
