// SPDX-License-Identifier: Apache-2.0
package meridian.shell

import meridian.ShellParam
import meridian.dma.pcie.Pcie4Pins
import meridian.mac.{MacRxPins, MacTxPins}
import meridian.psport.PsAxi
import meridian.qdma.QdmaPins
import meridian.regs.CardRegs
import meridian.transceiver.TransceiverPins
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._
import spinal.lib.bus.amba4.axilite._

/** One MAC port at the shell's border, with the names of the MAC IP; its clocks come from the IP. */
case class PortPins(p: ShellParam) extends Bundle {
  val mac_rx_clk, mac_rx_reset, mac_tx_clk, mac_tx_reset = in Bool ()
  val rx_axis_tvalid = in Bool ()
  val rx_axis_tdata = in Bits (64 bits)
  val rx_axis_tkeep = in Bits (8 bits)
  val rx_axis_tlast, rx_axis_tuser = in Bool ()
  val rx_ptp_tstamp_valid = in Bool ()
  val rx_ptp_tstamp = in Bits (80 bits)
  val ctl_rx_systemtimerin = out Bits (80 bits)
  val tx_axis_tready = in Bool ()
  val tx_axis_tvalid = out Bool ()
  val tx_axis_tdata = out Bits (64 bits)
  val tx_axis_tkeep = out Bits (8 bits)
  val tx_axis_tlast, tx_axis_tuser = out Bool ()
  val tx_ptp_1588op = out Bits (2 bits)
  val tx_ptp_tag_field = out Bits (16 bits)
  val tx_ptp_tstamp_valid = in Bool ()
  val tx_ptp_tstamp_tag = in Bits (16 bits)
  val tx_ptp_tstamp = in Bits (80 bits)
  val ctl_tx_systemtimerin = out Bits (80 bits)
  val mac_link_up = in Bool ()

  /** Resets the data path of the receiver, from a register of ps_clk: high for 1 us, see RxRecovery. */
  val mac_rx_restart = out Bool ()

  /** The transceiver, in a shell with the self-test. */
  val gt = p.selfTest generate master(TransceiverPins())

  /** Cycles that one edge stands for: 1, but for a simulation that skips idle time. */
  val sim_skip_mac_rx, sim_skip_mac_tx = in UInt (32 bits)

  /** The receive pins as the blocks use them; the system timer is not part of it. */
  def driveRx(rx: MacRxPins): Unit = {
    rx.tvalid := rx_axis_tvalid
    rx.tdata := rx_axis_tdata
    rx.tkeep := rx_axis_tkeep
    rx.tlast := rx_axis_tlast
    rx.tuser := rx_axis_tuser
    rx.tstampValid := rx_ptp_tstamp_valid
    rx.tstamp.assignFromBits(rx_ptp_tstamp)
  }

  def connectTx(tx: MacTxPins): Unit = {
    tx_axis_tvalid := tx.tvalid
    tx_axis_tdata := tx.tdata
    tx_axis_tkeep := tx.tkeep
    tx_axis_tlast := tx.tlast
    tx_axis_tuser := tx.tuser
    tx_ptp_1588op := tx.ptpOp
    tx_ptp_tag_field := tx.ptpTag
    tx.tready := tx_axis_tready
    tx.tstampValid := tx_ptp_tstamp_valid
    tx.tstampTag := tx_ptp_tstamp_tag
    tx.tstamp.assignFromBits(tx_ptp_tstamp)
  }
}

/** All pins of the shell. The names are those of the vendor's IP, so that a wrapper connects them by name. */
case class ShellPins(p: ShellParam) extends Bundle {
  val axi_aclk, axi_aresetn = in Bool ()
  val ps_clk, ps_resetn = in Bool ()
  val port = Vec(PortPins(p), p.ports)
  val qdma = !p.ownDma generate master(QdmaPins(p.hostBytes, p.hasBoxes))

  /** BAR2 accesses as the QDMA IP hands them on; the function is in the user bits. */
  val m_axil = !p.ownDma generate slave(AxiLite4(addressWidth = 32, dataWidth = 32))
  val m_axil_awuser, m_axil_aruser = !p.ownDma generate (in Bits (55 bits))

  /** The integrated block for PCIe, in a shell with a DMA engine of its own. Its user_clk is axi_aclk. */
  val pcie = p.ownDma generate Pcie4Pins()

  val s_axil_ps = slave(AxiLite4(CardRegs.axiConfig))
  val m_axi_ps = master(Axi4(PsAxi.config))
  val ps_irq = out Bool ()

  val pps_out, perout_out = out Bool ()
  val ext_ts_in = in Bool ()

  /** Identification, constants of the build: seconds since 1970, first 32 bits of the git hash. */
  val build_date, build_hash = in Bits (32 bits)

  val sim_skip_ps = in UInt (32 bits)
  val sim_skip_host = (p.boxTime || p.ownDma) generate (in UInt (32 bits))

  /** Nothing moves: but for timers, nothing will unless a pin changes. */
  val idle = out Bool ()

  /** Cycles of ps_clk until a timer moves something; all ones: none. For a simulation that skips idle time. */
  val sim_quiet_cycles = out UInt (32 bits)

  /** The same of the DMA engine's timers, in cycles of the host clock. */
  val sim_quiet_host = p.ownDma generate (out UInt (32 bits))
}

object ShellPins {

  /** From SpinalHDL's names to those of the IP, applied in this order. */
  private val renaming = Seq(
    "^(io_)?(qdma_|pcie_)?" -> "",
    "^port_(\\d)_(.*)$" -> "$2_$1",
    "^(m_axil|s_axil_ps|m_axi_ps)_(aw|ar|w|b|r)_(payload_)?" -> "$1_$2",
    "^([ms]_axis_\\w*)_(valid|ready)$" -> "$1_t$2",
    "^(tm_dsc_sts|dsc_crdt_in)_valid$" -> "$1_vld",
    "^(tm_dsc_sts|dsc_crdt_in)_ready$" -> "$1_rdy",
    "_payload_" -> "_",
    "^gt_drp_drp" -> "gt_drp"
  )

  /** Renames the pins of the component under construction when it is finished. */
  def rename(pins: ShellPins): Unit = Component.current.addPrePopTask { () =>
    for (pin <- pins.flatten)
      pin.setName(renaming.foldLeft(pin.getName()) { case (name, (from, to)) => name.replaceAll(from, to) })
  }
}
