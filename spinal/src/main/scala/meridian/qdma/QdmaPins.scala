// SPDX-License-Identifier: Apache-2.0
package meridian.qdma

import spinal.core._
import spinal.lib._

/** m_axis_h2c of the QDMA IP: frames from the host. */
case class H2cPins(bytes: Int) extends Bundle {
  val tdata = Bits(8 * bytes bits)
  val tcrc = Bits(32 bits)
  val tuser_qid = UInt(11 bits)
  val tuser_port_id = Bits(3 bits)
  val tuser_err = Bool()
  val tuser_mdata = Bits(32 bits)
  val tuser_mty = UInt(6 bits)
  val tuser_zero_byte = Bool()
  val tlast = Bool()
}

/** s_axis_c2h of the QDMA IP: frames to the host. ctrl_* hold from the first beat, mty with tlast, tcrc with tlast. */
case class C2hPins(bytes: Int) extends Bundle {
  val tdata = Bits(8 * bytes bits)
  val tcrc = Bits(32 bits)
  val tlast = Bool()
  val mty = UInt(6 bits)
  val ctrl_marker = Bool()
  val ctrl_port_id = Bits(3 bits)
  val ctrl_ecc = Bits(7 bits)
  val ctrl_len = UInt(16 bits)
  val ctrl_qid = UInt(11 bits)
  val ctrl_has_cmpt = Bool()
}

/** s_axis_c2h_cmpt of the QDMA IP: one completion a frame. */
case class CmptPins() extends Bundle {
  val tdata = Bits(512 bits)
  val size = Bits(2 bits)
  val dpar = Bits(16 bits)
  val ctrl_qid = UInt(11 bits)
  val ctrl_cmpt_type = Bits(2 bits)
  val ctrl_wait_pld_pkt_id = UInt(16 bits)
  val ctrl_port_id = Bits(3 bits)
  val ctrl_marker = Bool()
  val ctrl_user_trig = Bool()
  val ctrl_col_idx = Bits(3 bits)
  val ctrl_err_idx = Bits(3 bits)
  val ctrl_no_wrb_marker = Bool()
}

/** tm_dsc_sts of the QDMA IP: descriptors a queue has been given, or that it is gone. */
case class TmStatusPins() extends Bundle {
  val port_id = Bits(3 bits)
  val qen = Bool()
  val byp = Bool()
  val c2h = Bool().setPartialName("dir")
  val mm = Bool()
  val error = Bool()
  val qid = UInt(11 bits)
  val avl = UInt(16 bits) // descriptors added since the last message; with qinv, those still held
  val qinv = Bool()
  val irq_arm = Bool()
  val pidx = UInt(16 bits)
}

/** dsc_crdt_in of the QDMA IP: descriptors a queue may fetch, one whose context has credits enabled. */
case class DescriptorCreditPins() extends Bundle {
  val crdt = UInt(16 bits)
  val qid = UInt(11 bits)
  val c2h = Bool().setPartialName("dir")
  val fence = Bool()
}

/** axis_c2h_status of the QDMA IP: what it did with a frame it took. */
case class C2hStatusPins() extends Bundle {
  val drop = Bool()
  val last = Bool()
  val cmp = Bool()
  val error = Bool()
  val qid = UInt(11 bits)
}

/** The user side of the QDMA IP, AXI-Stream with completion, seen from the shell. Names and widths are the IP's.
  *
  * @param interrupts the shell sends interrupts of its own
  */
case class QdmaPins(bytes: Int, interrupts: Boolean = false) extends Bundle with IMasterSlave {
  val m_axis_h2c = Stream(H2cPins(bytes))
  val s_axis_c2h = Stream(C2hPins(bytes))
  val s_axis_c2h_cmpt = Stream(CmptPins())
  val axis_c2h_status = Flow(C2hStatusPins())
  val tm_dsc_sts = Stream(TmStatusPins())
  val dsc_crdt_in = Stream(DescriptorCreditPins())
  val usr_flr_fnc = UInt(8 bits)
  val usr_flr_set = Bool()
  val usr_flr_done_fnc = UInt(8 bits)
  val usr_flr_done_vld = Bool()
  val usr_irq = interrupts generate UserInterruptPins()

  /** Master is the shell. */
  override def asMaster(): Unit = {
    slave(m_axis_h2c, tm_dsc_sts, axis_c2h_status)
    master(s_axis_c2h, s_axis_c2h_cmpt, dsc_crdt_in)
    in(usr_flr_fnc, usr_flr_set)
    out(usr_flr_done_fnc, usr_flr_done_vld)
    if (interrupts) master(usr_irq)
  }
}
