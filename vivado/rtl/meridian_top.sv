// SPDX-License-Identifier: Apache-2.0
// The FPGA: the shell between the PCIe IP, the Ethernet ports and the processing system. Wires have the names of the
// shell's pins, so that shell and wrappers connect by name (.*).
`default_nettype none
// Wires that a build for debugging keeps under their names, for tcl/debug.tcl.
`ifdef MERIDIAN_DEBUG
`define PROBED (* mark_debug = "true" *)
`else
`define PROBED
`endif
module meridian_top #(
    parameter int LANES = 8,
    parameter int PORTS = 4,
    parameter int HOST_BYTES = 32,
    // Identification registers: seconds since 1970 and first 32 bits of the git commit.
    parameter bit [31:0] BUILD_DATE = 32'd0,
    parameter bit [31:0] BUILD_HASH = 32'd0
) (
    input  wire pcie_refclk_p,
    input  wire pcie_refclk_n,
    input  wire pcie_perstn,
    input  wire [LANES-1:0] pcie_rxp,
    input  wire [LANES-1:0] pcie_rxn,
    output wire [LANES-1:0] pcie_txp,
    output wire [LANES-1:0] pcie_txn,
    input  wire eth_refclk_p,
    input  wire eth_refclk_n,
    input  wire [PORTS-1:0] eth_rxp,
    input  wire [PORTS-1:0] eth_rxn,
    output wire [PORTS-1:0] eth_txp,
    output wire [PORTS-1:0] eth_txn,
`ifdef MERIDIAN_SFP_TX_ENABLE
    output wire [PORTS-1:0] sfp_tx_enable,
`endif
`ifdef MERIDIAN_PTP_PINS
    output wire pps_out,
    output wire perout_out,
    input  wire ext_ts_in,
`endif
    input  wire pl_clk_p,
    input  wire pl_clk_n
);
  wire axi_aclk, axi_aresetn;
  wire ps_clk, dclk, locked, pl_resetn0, ps_reset_high, dclk_reset_high;
`ifdef MERIDIAN_OWN_DMA
`include "pcie_wires.svh"
`else
`include "qdma_wires.svh"
`endif
`include "ethernet_wires.svh"
`include "ps_wires.svh"
  wire ps_resetn = !ps_reset_high;
  wire [31:0] build_date = BUILD_DATE;
  wire [31:0] build_hash = BUILD_HASH;
`ifdef MERIDIAN_SFP_TX_ENABLE
  assign sfp_tx_enable = '1;
`endif

  clk_wiz_0 clocks (
      .clk_in1_p(pl_clk_p),
      .clk_in1_n(pl_clk_n),
      .clk_out1(ps_clk),
      .clk_out2(dclk),
      .locked(locked)
  );
  // The PS holds its logic in reset until it has been told to let go.
  reset_sync ps_reset (.clk(ps_clk), .cause(!locked || !pl_resetn0), .reset(ps_reset_high));
  reset_sync dclk_reset (.clk(dclk), .cause(!locked), .reset(dclk_reset_high));

`ifdef MERIDIAN_OWN_DMA
  pcie_wrapper #(.LANES(LANES), .HOST_BYTES(HOST_BYTES)) pcie (
`else
  qdma_wrapper #(.LANES(LANES), .HOST_BYTES(HOST_BYTES)) qdma (
`endif
      .refclk_p(pcie_refclk_p),
      .refclk_n(pcie_refclk_n),
      .perstn(pcie_perstn),
      .pci_exp_rxp(pcie_rxp),
      .pci_exp_rxn(pcie_rxn),
      .pci_exp_txp(pcie_txp),
      .pci_exp_txn(pcie_txn),
      .*
  );
  ethernet_wrapper #(.PORTS(PORTS)) ethernet (
      .refclk_p(eth_refclk_p),
      .refclk_n(eth_refclk_n),
      .dclk_reset(dclk_reset_high),
      .gt_rxp(eth_rxp),
      .gt_rxn(eth_rxn),
      .gt_txp(eth_txp),
      .gt_txn(eth_txn),
      .*
  );
  ps_wrapper ps (.*);

  // Pins of a simulation: an edge stands for one cycle here.
  wire [31:0] sim_skip_ps = 32'd1;
`ifdef MERIDIAN_OWN_DMA
  wire [31:0] sim_skip_host = 32'd1;
`elsif MERIDIAN_USER_BOX
  // Only a shell whose user's module has the time has it.
  /* verilator lint_off UNUSEDSIGNAL */
  wire [31:0] sim_skip_host = 32'd1;
  /* verilator lint_on UNUSEDSIGNAL */
`endif
`define PORT(N) \
  wire [31:0] sim_skip_mac_rx_``N = 32'd1; \
  wire [31:0] sim_skip_mac_tx_``N = 32'd1;
`include "each_port.svh"
  Shell shell (
`ifndef MERIDIAN_PTP_PINS
      .pps_out(),
      .perout_out(),
      .ext_ts_in(1'b0),
`endif
`ifdef MERIDIAN_OWN_DMA
      .sim_quiet_host(),
`endif
      .idle(),
      .sim_quiet_cycles(),
      .*
  );
endmodule
`undef PROBED
`default_nettype wire
