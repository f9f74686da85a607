// SPDX-License-Identifier: Apache-2.0
package meridian.dma.pcie

import spinal.core._
import spinal.lib._

/** Pins of the integrated block for PCIe (pcie4_uscale_plus, PG213) that the engine needs, seen from it: 256 bit, data
  * aligned to double words, no straddling. Names and widths are the block's.
  */
case class Pcie4Pins() extends Bundle {
  val m_axis_cq_tdata = in Bits (256 bits)
  val m_axis_cq_tkeep = in Bits (8 bits)
  val m_axis_cq_tuser = in Bits (88 bits)
  val m_axis_cq_tlast = in Bool ()
  val m_axis_cq_tvalid = in Bool ()
  val m_axis_cq_tready = out Bool ()
  val pcie_cq_np_req = out Bits (2 bits)

  val s_axis_cc_tdata = out Bits (256 bits)
  val s_axis_cc_tkeep = out Bits (8 bits)
  val s_axis_cc_tuser = out Bits (33 bits)
  val s_axis_cc_tlast = out Bool ()
  val s_axis_cc_tvalid = out Bool ()
  val s_axis_cc_tready = in Bits (4 bits) // all bits are the same

  val s_axis_rq_tdata = out Bits (256 bits)
  val s_axis_rq_tkeep = out Bits (8 bits)
  val s_axis_rq_tuser = out Bits (62 bits)
  val s_axis_rq_tlast = out Bool ()
  val s_axis_rq_tvalid = out Bool ()
  val s_axis_rq_tready = in Bits (4 bits) // all bits are the same
  val pcie_rq_seq_num0, pcie_rq_seq_num1 = in UInt (6 bits)
  val pcie_rq_seq_num_vld0, pcie_rq_seq_num_vld1 = in Bool ()

  val m_axis_rc_tdata = in Bits (256 bits)
  val m_axis_rc_tkeep = in Bits (8 bits)
  val m_axis_rc_tuser = in Bits (75 bits)
  val m_axis_rc_tlast = in Bool ()
  val m_axis_rc_tvalid = in Bool ()
  val m_axis_rc_tready = out Bool ()

  val cfg_function_status = in Bits (16 bits)
  val cfg_vf_status = in Bits (504 bits)
  val cfg_max_payload = in UInt (2 bits)
  val cfg_max_read_req = in UInt (3 bits)
  val cfg_flr_in_process = in Bits (4 bits)
  val cfg_flr_done = out Bits (4 bits)
  val cfg_vf_flr_in_process = in Bits (252 bits)
  val cfg_vf_flr_func_num = out UInt (8 bits)
  val cfg_vf_flr_done = out Bool ()
  val cfg_interrupt_msix_enable = in Bits (4 bits)
  val cfg_interrupt_msix_mask = in Bits (4 bits)
  val cfg_interrupt_msix_vf_enable = in Bits (252 bits)
  val cfg_interrupt_msix_vf_mask = in Bits (252 bits)

  /** The requests as a stream. */
  def cq: Stream[Fragment[CqBeat]] = {
    val stream = Stream(Fragment(CqBeat()))
    stream.valid := m_axis_cq_tvalid
    stream.data := m_axis_cq_tdata
    stream.keep := m_axis_cq_tkeep
    stream.user := m_axis_cq_tuser
    stream.last := m_axis_cq_tlast
    m_axis_cq_tready := stream.ready
    stream
  }

  /** Sends the completions. */
  def cc(stream: Stream[Fragment[CcBeat]]): Unit = {
    s_axis_cc_tvalid := stream.valid
    s_axis_cc_tdata := stream.data
    s_axis_cc_tkeep := stream.keep
    s_axis_cc_tuser := 0 // neither discontinued, nor with parity
    s_axis_cc_tlast := stream.last
    stream.ready := s_axis_cc_tready(0)
  }

  /** Sends requests of the engine. */
  def rq(stream: Stream[Fragment[RqBeat]]): Unit = {
    s_axis_rq_tvalid := stream.valid
    s_axis_rq_tdata := stream.data
    s_axis_rq_tkeep := stream.keep
    // The sequence number of a request is 1 if it is posted, of a read 0: the lowest bit of its kind.
    s_axis_rq_tuser := B(0, 37 bits) ## stream.data(75) ## B(0, 16 bits) ## stream.lastBe ## stream.firstBe
    s_axis_rq_tlast := stream.last
    stream.ready := s_axis_rq_tready(0)
  }

  /** How many posted requests completions cannot pass any more, since this cycle. */
  def passed: UInt = (pcie_rq_seq_num_vld0 && pcie_rq_seq_num0 === 1).asUInt +^
    (pcie_rq_seq_num_vld1 && pcie_rq_seq_num1 === 1).asUInt

  /** What has come for them. */
  def rc: Stream[Fragment[RcBeat]] = {
    val stream = Stream(Fragment(RcBeat()))
    stream.valid := m_axis_rc_tvalid
    stream.data := m_axis_rc_tdata
    stream.keep := m_axis_rc_tkeep
    stream.user := m_axis_rc_tuser
    stream.last := m_axis_rc_tlast
    m_axis_rc_tready := stream.ready
    stream
  }
}

/** A beat of completer requests. */
case class CqBeat() extends Bundle {
  val data = Bits(256 bits)
  val keep = Bits(8 bits) // of double words
  val user = Bits(88 bits)

  def firstBe: Bits = user(3 downto 0)
  def lastBe: Bits = user(7 downto 4)
  def byteEnable: Bits = user(39 downto 8) // of data
  def sop: Bool = user(40)
  def discontinue: Bool = user(41)
  def tph: Bits = user(52 downto 42) // present, type, steering tag
}

/** A beat of completer completions. */
case class CcBeat() extends Bundle {
  val data = Bits(256 bits)
  val keep = Bits(8 bits)
}

/** Fields of the descriptor that is a request's first 128 bits (PG213, "Completer Request Descriptor Formats"). */
case class RequestDescriptor(bits: Bits) {
  def address: UInt = bits(63 downto 2).asUInt // in double words
  def addressType: Bits = bits(1 downto 0)
  def dwords: UInt = bits(74 downto 64).asUInt
  def kind: UInt = bits(78 downto 75).asUInt
  def requester: Bits = bits(95 downto 80)
  def tag: Bits = bits(103 downto 96)
  def function: UInt = bits(111 downto 104).asUInt
  def bar: UInt = bits(114 downto 112).asUInt
  def aperture: UInt = bits(120 downto 115).asUInt // the BAR has 2 to the power of it in bytes
  def trafficClass: Bits = bits(123 downto 121)
  def attributes: Bits = bits(126 downto 124)
}

object RequestKind {
  val memoryRead = 0
  val memoryWrite = 1
  val ioRead = 2
  val ioWrite = 3
  val atomics = Seq(4, 5, 6)
  val lockedRead = 7
  val messages = Seq(12, 13, 14)

  /** Those that nobody answers: writes to memory, messages, and the number that is reserved. */
  val posted = memoryWrite +: messages :+ 15
}

/** What an answer is made of: the request, and for one that is served how much is answered. */
case class CompletionHeader() extends Bundle {
  val request = Bits(128 bits) // its descriptor
  val unsupported = Bool()
  val firstBe, lastBe = Bits(4 bits)
  val tph = Bits(11 bits)
  val lowerAddress = UInt(7 bits)
  val byteCount = UInt(13 bits)
  val dwords = UInt(11 bits) // that follow as answers; 0 if unsupported
}
