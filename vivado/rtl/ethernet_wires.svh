// SPDX-License-Identifier: Apache-2.0
// Wires between the Ethernet IP and the shell, by the names of the shell's pins.
`define PORT(N) \
  wire mac_rx_clk_``N; \
  wire mac_rx_reset_``N; \
  wire mac_tx_clk_``N; \
  wire mac_tx_reset_``N; \
  `PROBED wire rx_axis_tvalid_``N; \
  `PROBED wire [63:0] rx_axis_tdata_``N; \
  `PROBED wire [7:0] rx_axis_tkeep_``N; \
  `PROBED wire rx_axis_tlast_``N; \
  `PROBED wire rx_axis_tuser_``N; \
  `PROBED wire rx_ptp_tstamp_valid_``N; \
  `PROBED wire [79:0] rx_ptp_tstamp_``N; \
  wire [79:0] ctl_rx_systemtimerin_``N; \
  `PROBED wire tx_axis_tready_``N; \
  `PROBED wire tx_axis_tvalid_``N; \
  `PROBED wire [63:0] tx_axis_tdata_``N; \
  `PROBED wire [7:0] tx_axis_tkeep_``N; \
  `PROBED wire tx_axis_tlast_``N; \
  `PROBED wire tx_axis_tuser_``N; \
  `PROBED wire [1:0] tx_ptp_1588op_``N; \
  `PROBED wire [15:0] tx_ptp_tag_field_``N; \
  `PROBED wire tx_ptp_tstamp_valid_``N; \
  `PROBED wire [15:0] tx_ptp_tstamp_tag_``N; \
  `PROBED wire [79:0] tx_ptp_tstamp_``N; \
  wire [79:0] ctl_tx_systemtimerin_``N; \
  `PROBED wire mac_link_up_``N; \
  `PROBED wire mac_rx_restart_``N;
`include "each_port.svh"
// Of a shell with the self-test.
`ifdef MERIDIAN_SELF_TEST
`define PORT(N) \
  wire [2:0] gt_loopback_in_``N; \
  wire [3:0] gt_txprbssel_``N; \
  wire [3:0] gt_rxprbssel_``N; \
  wire gt_txprbsforceerr_``N; \
  wire gt_rxprbscntreset_``N; \
  wire gt_rxprbserr_``N; \
  wire gt_eyescanreset_``N; \
  wire gt_drpen_``N; \
  wire gt_drpwe_``N; \
  wire [9:0] gt_drpaddr_``N; \
  wire [15:0] gt_drpdi_``N; \
  wire [15:0] gt_drpdo_``N; \
  wire gt_drprdy_``N; \
  wire gt_tx_restart_``N;
`include "each_port.svh"
`endif
