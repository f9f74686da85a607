// SPDX-License-Identifier: Apache-2.0
// The 10G/25G Ethernet IP: a core a port in one quad. Its ports towards the shell are the shell's, so that the top connects
// them by name. The shell receives in the clock that comes with the data, and stamps in it.
`default_nettype none
module ethernet_wrapper #(
    parameter int PORTS = 4,
    // Largest frame with FCS.
    parameter bit [14:0] MAX_PACKET = 15'd9604
) (
    input  wire refclk_p,
    input  wire refclk_n,
    input  wire dclk,
    input  wire dclk_reset,
    input  wire [PORTS-1:0] gt_rxp,
    input  wire [PORTS-1:0] gt_rxn,
    output wire [PORTS-1:0] gt_txp,
    output wire [PORTS-1:0] gt_txn
`define PORT(N) \
    , output wire mac_rx_clk_``N \
    , output wire mac_rx_reset_``N \
    , output wire mac_tx_clk_``N \
    , output wire mac_tx_reset_``N \
    , output wire rx_axis_tvalid_``N \
    , output wire [63:0] rx_axis_tdata_``N \
    , output wire [7:0] rx_axis_tkeep_``N \
    , output wire rx_axis_tlast_``N \
    , output wire rx_axis_tuser_``N \
    , output wire rx_ptp_tstamp_valid_``N \
    , output wire [79:0] rx_ptp_tstamp_``N \
    , input  wire [79:0] ctl_rx_systemtimerin_``N \
    , output wire tx_axis_tready_``N \
    , input  wire tx_axis_tvalid_``N \
    , input  wire [63:0] tx_axis_tdata_``N \
    , input  wire [7:0] tx_axis_tkeep_``N \
    , input  wire tx_axis_tlast_``N \
    , input  wire tx_axis_tuser_``N \
    , input  wire [1:0] tx_ptp_1588op_``N \
    , input  wire [15:0] tx_ptp_tag_field_``N \
    , output wire tx_ptp_tstamp_valid_``N \
    , output wire [15:0] tx_ptp_tstamp_tag_``N \
    , output wire [79:0] tx_ptp_tstamp_``N \
    , input  wire [79:0] ctl_tx_systemtimerin_``N \
    , output wire mac_link_up_``N \
    , input  wire mac_rx_restart_``N
`include "each_port.svh"
`ifdef MERIDIAN_SELF_TEST
    , input  wire ps_clk
`define PORT(N) \
    , input  wire [2:0] gt_loopback_in_``N \
    , input  wire [3:0] gt_txprbssel_``N \
    , input  wire [3:0] gt_rxprbssel_``N \
    , input  wire gt_txprbsforceerr_``N \
    , input  wire gt_rxprbscntreset_``N \
    , output wire gt_rxprbserr_``N \
    , input  wire gt_eyescanreset_``N \
    , input  wire gt_drpen_``N \
    , input  wire gt_drpwe_``N \
    , input  wire [9:0] gt_drpaddr_``N \
    , input  wire [15:0] gt_drpdi_``N \
    , output wire [15:0] gt_drpdo_``N \
    , output wire gt_drprdy_``N \
    , input  wire gt_tx_restart_``N
`include "each_port.svh"
`endif
);
  // The other side is told when nothing is received here, and gets idles while it says so of us (IEEE 802.3, clause 46).
  // The shell resets a receiver that finds no lock, each lane's alone; the IP wants that in the free running clock.
`define PORT(N) \
  wire status_``N, remote_fault_``N, link_up_``N, remote_fault_seen_``N; \
  wire linked_``N, send_rfi_``N, send_idle_``N, restart_``N; \
  link_state link_state_``N ( \
      .clk(mac_rx_clk_``N), \
      .reset(mac_rx_reset_``N), \
      .status(status_``N), \
      .remote_fault(remote_fault_``N), \
      .link_up(link_up_``N), \
      .remote_fault_seen(remote_fault_seen_``N) \
  ); \
  assign mac_link_up_``N = link_up_``N; \
  flag_sync link_sync_``N (.clk(mac_tx_clk_``N), .in(link_up_``N), .out(linked_``N)); \
  assign send_rfi_``N = !linked_``N; \
  flag_sync fault_sync_``N (.clk(mac_tx_clk_``N), .in(remote_fault_seen_``N), .out(send_idle_``N)); \
  flag_sync restart_sync_``N (.clk(dclk), .in(mac_rx_restart_``N), .out(restart_``N));
`include "each_port.svh"

`ifdef MERIDIAN_SELF_TEST
`define PORT(N) \
  wire tx_restart_``N; \
  flag_sync tx_restart_sync_``N (.clk(dclk), .in(gt_tx_restart_``N), .out(tx_restart_``N));
`include "each_port.svh"
`endif

  xxv_ethernet_0 ethernet (
`ifdef MERIDIAN_SELF_TEST
// Pins that come with ADD_GT_CNTRL_STS_PORTS. The registers of the transceivers are in the clock of the PS's side. Levels
// of the transmitter and its equaliser are those that the transceiver wizard gives them without these pins.
`define PORT(N) \
      .gt_loopback_in_``N(gt_loopback_in_``N), \
      .gtwiz_reset_tx_datapath_``N(tx_restart_``N), \
      .gt_txprbssel_``N(gt_txprbssel_``N), \
      .gt_rxprbssel_``N(gt_rxprbssel_``N), \
      .gt_txprbsforceerr_``N(gt_txprbsforceerr_``N), \
      .gt_rxprbscntreset_``N(gt_rxprbscntreset_``N), \
      .gt_rxprbserr_``N(gt_rxprbserr_``N), \
      .gt_eyescanreset_``N(gt_eyescanreset_``N), \
      .gt_eyescantrigger_``N(1'b0), \
      .gt_drpclk_``N(ps_clk), \
      .gt_drpen_``N(gt_drpen_``N), \
      .gt_drpwe_``N(gt_drpwe_``N), \
      .gt_drpaddr_``N(gt_drpaddr_``N), \
      .gt_drpdi_``N(gt_drpdi_``N), \
      .gt_drpdo_``N(gt_drpdo_``N), \
      .gt_drprdy_``N(gt_drprdy_``N), \
      .gt_txdiffctrl_``N(5'b11000), \
      .gt_txmaincursor_``N(7'b1000000), \
      .gt_txprecursor_``N(5'd0), \
      .gt_txpostcursor_``N(5'd0), \
      .gt_txinhibit_``N(1'b0), \
      .gt_txpolarity_``N(1'b0), \
      .gt_txlatclk_``N(1'b0), \
      .gt_txpcsreset_``N(1'b0), \
      .gt_txpmareset_``N(1'b0), \
      .gt_txbufstatus_``N(), \
      .gt_rxlpmen_``N(1'b0), \
      .gt_rxcdrhold_``N(1'b0), \
      .gt_rxdfeagchold_``N(1'b0), \
      .gt_rxdfelpmreset_``N(1'b0), \
      .gt_rxpolarity_``N(1'b0), \
      .gt_rxrate_``N(3'd0), \
      .gt_rxslide_in_``N(1'b0), \
      .gt_rxcommadeten_``N(1'b0), \
      .gt_rxlatclk_``N(1'b0), \
      .gt_rxpcsreset_``N(1'b0), \
      .gt_rxpmareset_``N(1'b0), \
      .gt_rxbufreset_``N(1'b0), \
      .gt_rxbufstatus_``N(), \
      .gt_rxstartofseq_``N(), \
      .gt_pcsrsvdin_``N(16'd0), \
      .gt_dmonitorout_``N(), \
      .gt_eyescandataerror_``N(),
`else
`define PORT(N) \
      .gt_loopback_in_``N(3'b000), \
      .gtwiz_reset_tx_datapath_``N(1'b0),
`endif
`include "each_port.svh"
`define PORT(N) \
      .gt_rxp_in_``N(gt_rxp[N]), \
      .gt_rxn_in_``N(gt_rxn[N]), \
      .gt_txp_out_``N(gt_txp[N]), \
      .gt_txn_out_``N(gt_txn[N]), \
      .rx_axis_tvalid_``N(rx_axis_tvalid_``N), \
      .rx_axis_tdata_``N(rx_axis_tdata_``N), \
      .rx_axis_tkeep_``N(rx_axis_tkeep_``N), \
      .rx_axis_tlast_``N(rx_axis_tlast_``N), \
      .rx_axis_tuser_``N(rx_axis_tuser_``N), \
      .ctl_rx_systemtimerin_``N(ctl_rx_systemtimerin_``N), \
      .tx_axis_tready_``N(tx_axis_tready_``N), \
      .tx_axis_tvalid_``N(tx_axis_tvalid_``N), \
      .tx_axis_tdata_``N(tx_axis_tdata_``N), \
      .tx_axis_tkeep_``N(tx_axis_tkeep_``N), \
      .tx_axis_tlast_``N(tx_axis_tlast_``N), \
      .tx_axis_tuser_``N(tx_axis_tuser_``N), \
      .ctl_tx_systemtimerin_``N(ctl_tx_systemtimerin_``N), \
      .rx_ptp_tstamp_valid_out_``N(rx_ptp_tstamp_valid_``N), \
      .rx_ptp_tstamp_out_``N(rx_ptp_tstamp_``N), \
      .tx_ptp_1588op_in_``N(tx_ptp_1588op_``N), \
      .tx_ptp_tag_field_in_``N(tx_ptp_tag_field_``N), \
      .tx_ptp_tstamp_valid_out_``N(tx_ptp_tstamp_valid_``N), \
      .tx_ptp_tstamp_tag_out_``N(tx_ptp_tstamp_tag_``N), \
      .tx_ptp_tstamp_out_``N(tx_ptp_tstamp_``N), \
      .rx_clk_out_``N(mac_rx_clk_``N), \
      .tx_clk_out_``N(mac_tx_clk_``N), \
      .user_rx_reset_``N(mac_rx_reset_``N), \
      .user_tx_reset_``N(mac_tx_reset_``N), \
      .rx_core_clk_``N(mac_rx_clk_``N), \
      .rx_reset_``N(1'b0), \
      .tx_reset_``N(1'b0), \
      .gtwiz_reset_rx_datapath_``N(restart_``N), \
      .txoutclksel_in_``N(3'b101), \
      .rxoutclksel_in_``N(3'b101), \
      .tx_preamblein_``N(56'd0), \
      .rx_preambleout_``N(), \
      .tx_unfout_``N(), \
      .rxrecclkout_``N(), \
      .gtpowergood_out_``N(), \
      .ctl_rx_enable_``N(1'b1), \
      .ctl_rx_check_preamble_``N(1'b1), \
      .ctl_rx_check_sfd_``N(1'b1), \
      .ctl_rx_delete_fcs_``N(1'b1), \
      .ctl_rx_ignore_fcs_``N(1'b0), \
      .ctl_rx_max_packet_len_``N(MAX_PACKET), \
      .ctl_rx_min_packet_len_``N(8'd64), \
      .ctl_rx_custom_preamble_enable_``N(1'b0), \
      .ctl_rx_process_lfi_``N(1'b0), \
      .ctl_rx_force_resync_``N(1'b0), \
      .ctl_rx_test_pattern_``N(1'b0), \
      .ctl_rx_test_pattern_enable_``N(1'b0), \
      .ctl_rx_data_pattern_select_``N(1'b0), \
      .ctl_tx_enable_``N(1'b1), \
      .ctl_tx_fcs_ins_enable_``N(1'b1), \
      .ctl_tx_ignore_fcs_``N(1'b0), \
      .ctl_tx_ipg_value_``N(4'd12), \
      .ctl_tx_custom_preamble_enable_``N(1'b0), \
      .ctl_tx_send_rfi_``N(send_rfi_``N), \
      .ctl_tx_send_idle_``N(send_idle_``N), \
      .ctl_tx_send_lfi_``N(1'b0), \
      .ctl_tx_test_pattern_``N(1'b0), \
      .ctl_tx_test_pattern_enable_``N(1'b0), \
      .ctl_tx_test_pattern_select_``N(1'b0), \
      .ctl_tx_data_pattern_select_``N(1'b0), \
      .ctl_tx_test_pattern_seed_a_``N(58'd0), \
      .ctl_tx_test_pattern_seed_b_``N(58'd0), \
      .stat_rx_status_``N(status_``N), \
      .stat_rx_remote_fault_``N(remote_fault_``N), \
      .stat_tx_ptp_fifo_read_error_``N(), \
      .stat_tx_ptp_fifo_write_error_``N(),
`include "each_port.svh"
      .gt_refclk_p(refclk_p),
      .gt_refclk_n(refclk_n),
      .gt_refclk_out(),
      .sys_reset(dclk_reset),
      .dclk(dclk)
  );
endmodule
`default_nettype wire
