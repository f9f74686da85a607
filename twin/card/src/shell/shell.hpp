// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "VShell.h"
#include "VShell___024root.h"
#include "shell/pins.hpp"
#include "verilated.h"

#if !defined(PORTS) || PORTS < 1 || PORTS > 4
#error "define PORTS as 1 to 4, as the Verilog was generated"
#endif
#if !defined(LINE_RATE) || (LINE_RATE != 10 && LINE_RATE != 25)
#error "define LINE_RATE as 10 or 25, as the Verilog was generated"
#endif
#if !defined(HOST_BYTES) || (HOST_BYTES != 32 && HOST_BYTES != 64)
#error "define HOST_BYTES as 32 or 64, as the Verilog was generated"
#endif
#if !defined(VFS)
#error "define VFS as the VFs of each PF, as 2,2,0,0, or as 0,0,0,0 if the Verilog was generated without them"
#endif
#if !defined(HOST_MHZ) || (HOST_MHZ != 125 && HOST_MHZ != 250)
#error "define HOST_MHZ as 125 or 250, as the Verilog was generated"
#endif

namespace meridian {

constexpr unsigned shell_ports = PORTS;
constexpr unsigned shell_host_bytes = HOST_BYTES;
constexpr unsigned shell_line_rate = LINE_RATE;
constexpr unsigned shell_host_mhz = HOST_MHZ;
constexpr std::array<unsigned, 4> shell_vfs = {VFS};  // of each PF; none: all are PF 0's

/// Clock, reset and MAC pins of one port.
struct ShellPort {
  Pin rx_clk;
  Pin rx_reset;
  Pin tx_clk;
  Pin tx_reset;
  Pin link_up;
  Pin rx_restart;
  Pin32 rx_skip;
  Pin32 tx_skip;
  MacRxPins rx;
  MacTxPins tx;
};

/// The Verilated shell with its pins in groups that do not depend on port count and width.
///
/// Verilator gives each pin a member of its own name, so the port's number must be in the source: hence the one macro.
class Shell {
 public:
  explicit Shell(VerilatedContext& context) : model_(std::make_unique<VShell>(&context, "shell")) {}
  ~Shell() { model_->final(); }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  VShell& model() { return *model_; }
  void eval() { model_->eval(); }

  std::vector<ShellPort> ports() {
    VShell& s = *model_;
#define MERIDIAN_SHELL_PORT(i)                                                                                   \
  ShellPort {                                                                                                    \
    s.mac_rx_clk_##i, s.mac_rx_reset_##i, s.mac_tx_clk_##i, s.mac_tx_reset_##i, s.mac_link_up_##i,               \
        s.mac_rx_restart_##i, s.sim_skip_mac_rx_##i, s.sim_skip_mac_tx_##i,                                      \
        MacRxPins{s.rx_axis_tvalid_##i,      s.rx_axis_tdata_##i,                                                \
                  s.rx_axis_tkeep_##i,       s.rx_axis_tlast_##i,                                                \
                  s.rx_axis_tuser_##i,       s.rx_ptp_tstamp_valid_##i,                                          \
                  wide(s.rx_ptp_tstamp_##i), wide(s.ctl_rx_systemtimerin_##i)},                                  \
        MacTxPins {                                                                                              \
      s.tx_axis_tready_##i, s.tx_axis_tvalid_##i, s.tx_axis_tdata_##i, s.tx_axis_tkeep_##i, s.tx_axis_tlast_##i, \
          s.tx_axis_tuser_##i, s.tx_ptp_1588op_##i, s.tx_ptp_tag_field_##i, s.tx_ptp_tstamp_valid_##i,           \
          s.tx_ptp_tstamp_tag_##i, wide(s.tx_ptp_tstamp_##i), wide(s.ctl_tx_systemtimerin_##i)                   \
    }                                                                                                            \
  }
    return {
        MERIDIAN_SHELL_PORT(0),
#if PORTS > 1
        MERIDIAN_SHELL_PORT(1),
#endif
#if PORTS > 2
        MERIDIAN_SHELL_PORT(2),
#endif
#if PORTS > 3
        MERIDIAN_SHELL_PORT(3),
#endif
    };
#undef MERIDIAN_SHELL_PORT
  }

  /// Of each port; none in a shell without the self-test.
  std::vector<TransceiverPins> transceivers() { return transceivers_of(*model_); }

  /// None in a shell with the DMA engine of its own.
  std::optional<QdmaPins> qdma() { return qdma_of(*model_); }
  std::optional<AxilPins> pf_bus() { return pf_bus_of(*model_); }

  /// None in a shell for the QDMA IP.
  std::optional<PciePins> pcie() { return pcie_of(*model_); }

  /// Likewise. They are what streams.vlt names.
  std::optional<InnerStreamPins> inner_streams() { return inner_streams_of(*model_); }

  /// None in a shell without a user's module.
  std::optional<UserInterruptPins> user_interrupts() { return user_interrupts_of(*model_); }

  /// Cycles that an edge of the host clock stands for, which matter to a shell whose user's module has the time, and to
  /// one with the DMA engine of its own.
  void set_host_skip(std::uint32_t cycles) { set_host_skip_of(*model_, cycles); }

  /// Cycles of the host clock until a timer of the DMA engine moves something; all ones: none does.
  std::uint32_t host_quiet() const { return host_quiet_of(*model_); }

  AxilPins ps_bus() {
    VShell& s = *model_;
    return {s.s_axil_ps_awaddr,  nullptr,           s.s_axil_ps_awprot, s.s_axil_ps_awvalid,
            s.s_axil_ps_awready, s.s_axil_ps_wdata, s.s_axil_ps_wstrb,  s.s_axil_ps_wvalid,
            s.s_axil_ps_wready,  s.s_axil_ps_bresp, s.s_axil_ps_bvalid, s.s_axil_ps_bready,
            s.s_axil_ps_araddr,  nullptr,           s.s_axil_ps_arprot, s.s_axil_ps_arvalid,
            s.s_axil_ps_arready, s.s_axil_ps_rdata, s.s_axil_ps_rresp,  s.s_axil_ps_rvalid,
            s.s_axil_ps_rready};
  }

  AxiPins ps_memory() {
    VShell& s = *model_;
    return {s.m_axi_ps_awaddr,  s.m_axi_ps_awid,    s.m_axi_ps_awlen,   s.m_axi_ps_awsize, s.m_axi_ps_awburst,
            s.m_axi_ps_awvalid, s.m_axi_ps_awready, s.m_axi_ps_wdata,   s.m_axi_ps_wstrb,  s.m_axi_ps_wlast,
            s.m_axi_ps_wvalid,  s.m_axi_ps_wready,  s.m_axi_ps_bid,     s.m_axi_ps_bresp,  s.m_axi_ps_bvalid,
            s.m_axi_ps_bready,  s.m_axi_ps_araddr,  s.m_axi_ps_arid,    s.m_axi_ps_arlen,  s.m_axi_ps_arsize,
            s.m_axi_ps_arburst, s.m_axi_ps_arvalid, s.m_axi_ps_arready, s.m_axi_ps_rdata,  s.m_axi_ps_rid,
            s.m_axi_ps_rresp,   s.m_axi_ps_rlast,   s.m_axi_ps_rvalid,  s.m_axi_ps_rready};
  }

 private:
  template <class Model>
  static std::vector<TransceiverPins> transceivers_of(Model& s) {
    std::vector<TransceiverPins> found;
#define MERIDIAN_TRANSCEIVER(i)                                                                             \
  if constexpr (requires { s.gt_loopback_in_##i; })                                                         \
    found.push_back({s.gt_loopback_in_##i, s.gt_txprbssel_##i, s.gt_rxprbssel_##i, s.gt_txprbsforceerr_##i, \
                     s.gt_rxprbscntreset_##i, s.gt_rxprbserr_##i, s.gt_eyescanreset_##i, s.gt_drpen_##i,    \
                     s.gt_drpwe_##i, s.gt_drpaddr_##i, s.gt_drpdi_##i, s.gt_drpdo_##i, s.gt_drprdy_##i,     \
                     s.gt_tx_restart_##i});
    MERIDIAN_TRANSCEIVER(0)
    MERIDIAN_TRANSCEIVER(1)
    MERIDIAN_TRANSCEIVER(2)
    MERIDIAN_TRANSCEIVER(3)
#undef MERIDIAN_TRANSCEIVER
    return found;
  }

  template <class Model>
  static std::optional<QdmaPins> qdma_of(Model& s) {
    if constexpr (requires { s.m_axis_h2c_tdata; }) {
      static_assert(sizeof s.m_axis_h2c_tdata == HOST_BYTES, "HOST_BYTES is not what the Verilog was generated for");
      static_assert(sizeof s.s_axis_c2h_tdata == HOST_BYTES, "HOST_BYTES is not what the Verilog was generated for");
      return QdmaPins{
          H2cPins{wide(s.m_axis_h2c_tdata), s.m_axis_h2c_tcrc, s.m_axis_h2c_tuser_qid, s.m_axis_h2c_tuser_port_id,
                  s.m_axis_h2c_tuser_err, s.m_axis_h2c_tuser_mdata, s.m_axis_h2c_tuser_mty,
                  s.m_axis_h2c_tuser_zero_byte, s.m_axis_h2c_tlast, s.m_axis_h2c_tvalid, s.m_axis_h2c_tready},
          C2hPins{wide(s.s_axis_c2h_tdata), s.s_axis_c2h_tlast, s.s_axis_c2h_mty, s.s_axis_c2h_ctrl_marker,
                  s.s_axis_c2h_ctrl_port_id, s.s_axis_c2h_ctrl_len, s.s_axis_c2h_ctrl_qid, s.s_axis_c2h_ctrl_has_cmpt,
                  s.s_axis_c2h_tvalid, s.s_axis_c2h_tready},
          CmptPins{wide(s.s_axis_c2h_cmpt_tdata), s.s_axis_c2h_cmpt_size, s.s_axis_c2h_cmpt_dpar,
                   s.s_axis_c2h_cmpt_ctrl_qid, s.s_axis_c2h_cmpt_ctrl_cmpt_type, s.s_axis_c2h_cmpt_ctrl_wait_pld_pkt_id,
                   s.s_axis_c2h_cmpt_ctrl_port_id, s.s_axis_c2h_cmpt_ctrl_marker, s.s_axis_c2h_cmpt_ctrl_user_trig,
                   s.s_axis_c2h_cmpt_tvalid, s.s_axis_c2h_cmpt_tready},
          C2hStatusPins{s.axis_c2h_status_drop, s.axis_c2h_status_last, s.axis_c2h_status_cmp, s.axis_c2h_status_error,
                        s.axis_c2h_status_qid, s.axis_c2h_status_valid},
          TmStatusPins{s.tm_dsc_sts_port_id, s.tm_dsc_sts_qen, s.tm_dsc_sts_byp, s.tm_dsc_sts_dir, s.tm_dsc_sts_mm,
                       s.tm_dsc_sts_error, s.tm_dsc_sts_qid, s.tm_dsc_sts_avl, s.tm_dsc_sts_qinv, s.tm_dsc_sts_irq_arm,
                       s.tm_dsc_sts_pidx, s.tm_dsc_sts_vld, s.tm_dsc_sts_rdy},
          CreditPins{s.dsc_crdt_in_crdt, s.dsc_crdt_in_qid, s.dsc_crdt_in_dir, s.dsc_crdt_in_fence, s.dsc_crdt_in_vld,
                     s.dsc_crdt_in_rdy},
          FlrPins{s.usr_flr_fnc, s.usr_flr_set, s.usr_flr_done_fnc, s.usr_flr_done_vld}};
    } else {
      return std::nullopt;
    }
  }

  template <class Model>
  static std::optional<AxilPins> pf_bus_of(Model& s) {
    if constexpr (requires { s.m_axil_awaddr; })
      return AxilPins{s.m_axil_awaddr,  &s.m_axil_awuser, s.m_axil_awprot, s.m_axil_awvalid, s.m_axil_awready,
                      s.m_axil_wdata,   s.m_axil_wstrb,   s.m_axil_wvalid, s.m_axil_wready,  s.m_axil_bresp,
                      s.m_axil_bvalid,  s.m_axil_bready,  s.m_axil_araddr, &s.m_axil_aruser, s.m_axil_arprot,
                      s.m_axil_arvalid, s.m_axil_arready, s.m_axil_rdata,  s.m_axil_rresp,   s.m_axil_rvalid,
                      s.m_axil_rready};
    else
      return std::nullopt;
  }

  template <class Model>
  static std::optional<PciePins> pcie_of(Model& s) {
    if constexpr (requires { s.m_axis_cq_tdata; })
      return PciePins{wide(s.m_axis_cq_tdata),
                      s.m_axis_cq_tkeep,
                      wide(s.m_axis_cq_tuser),
                      s.m_axis_cq_tlast,
                      s.m_axis_cq_tvalid,
                      s.m_axis_cq_tready,
                      s.pcie_cq_np_req,
                      wide(s.s_axis_cc_tdata),
                      s.s_axis_cc_tkeep,
                      s.s_axis_cc_tlast,
                      s.s_axis_cc_tvalid,
                      s.s_axis_cc_tready,
                      wide(s.s_axis_rq_tdata),
                      s.s_axis_rq_tkeep,
                      s.s_axis_rq_tuser,
                      s.s_axis_rq_tlast,
                      s.s_axis_rq_tvalid,
                      s.s_axis_rq_tready,
                      s.pcie_rq_seq_num0,
                      s.pcie_rq_seq_num_vld0,
                      s.pcie_rq_seq_num1,
                      s.pcie_rq_seq_num_vld1,
                      wide(s.m_axis_rc_tdata),
                      s.m_axis_rc_tkeep,
                      wide(s.m_axis_rc_tuser),
                      s.m_axis_rc_tlast,
                      s.m_axis_rc_tvalid,
                      s.m_axis_rc_tready,
                      s.cfg_function_status,
                      wide(s.cfg_vf_status),
                      s.cfg_max_payload,
                      s.cfg_max_read_req,
                      s.cfg_flr_in_process,
                      s.cfg_flr_done,
                      wide(s.cfg_vf_flr_in_process),
                      s.cfg_vf_flr_func_num,
                      s.cfg_vf_flr_done,
                      s.cfg_interrupt_msix_enable,
                      s.cfg_interrupt_msix_mask,
                      wide(s.cfg_interrupt_msix_vf_enable),
                      wide(s.cfg_interrupt_msix_vf_mask)};
    else
      return std::nullopt;
  }

  template <class Model>
  static std::optional<InnerStreamPins> inner_streams_of(Model& s) {
    if constexpr (requires { s.m_axis_cq_tdata; }) {
      auto& root = *s.rootp;
#define MERIDIAN_INNER(name) root.Shell__DOT__dma__DOT__io_qdma_##name
      return InnerStreamPins{wide(MERIDIAN_INNER(m_axis_h2c_payload_tdata)),
                             MERIDIAN_INNER(m_axis_h2c_payload_tuser_mty),
                             MERIDIAN_INNER(m_axis_h2c_payload_tuser_zero_byte),
                             MERIDIAN_INNER(m_axis_h2c_payload_tlast),
                             MERIDIAN_INNER(m_axis_h2c_valid),
                             MERIDIAN_INNER(m_axis_h2c_ready),
                             wide(MERIDIAN_INNER(s_axis_c2h_payload_tdata)),
                             MERIDIAN_INNER(s_axis_c2h_payload_mty),
                             MERIDIAN_INNER(s_axis_c2h_payload_tlast),
                             MERIDIAN_INNER(s_axis_c2h_valid),
                             MERIDIAN_INNER(s_axis_c2h_ready),
                             MERIDIAN_INNER(s_axis_c2h_cmpt_valid),
                             MERIDIAN_INNER(s_axis_c2h_cmpt_ready)};
#undef MERIDIAN_INNER
    } else {
      return std::nullopt;
    }
  }

  template <class Model>
  static std::optional<UserInterruptPins> user_interrupts_of(Model& s) {
    if constexpr (requires { s.usr_irq_in_vld; })
      return UserInterruptPins{s.usr_irq_in_vld, s.usr_irq_in_vec, s.usr_irq_in_fnc, s.usr_irq_out_ack,
                               s.usr_irq_out_fail};
    else
      return std::nullopt;
  }

  template <class Model>
  static void set_host_skip_of(Model& s, std::uint32_t cycles) {
    if constexpr (requires { s.sim_skip_host; }) s.sim_skip_host = cycles;
  }

  template <class Model>
  static std::uint32_t host_quiet_of(const Model& s) {
    if constexpr (requires { s.sim_quiet_host; })
      return s.sim_quiet_host;
    else
      return ~std::uint32_t{0};
  }

  template <std::size_t words>
  static WidePin wide(VlWide<words>& pin) {
    return {pin.data(), words};
  }

  std::unique_ptr<VShell> model_;
};

}  // namespace meridian
