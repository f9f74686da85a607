// SPDX-License-Identifier: Apache-2.0
// OpenNIC's box of the 250 MHz side, with whatever plug-in it includes, as a box at the wire of one port: its adapter is
// the wire, and its QDMA is the host. It needs a shell with beats of 64 bytes. docs/user-logic.md says how to build it.
//
// PF 0 and CMAC port 0 of OpenNIC are those of this instance, whatever the port of the card. Registers are at the
// plug-in's own addresses. Both clocks of the box are the host's. The latency is that of the plug-in.
module opennic_box (
    input  wire         clk,
    input  wire         rst,
    output wire         box_rst_done,
    // from the wire
    input  wire         s_axis_rx_tvalid,
    output wire         s_axis_rx_tready,
    input  wire [511:0] s_axis_rx_tdata,
    input  wire [63:0]  s_axis_rx_tkeep,
    input  wire         s_axis_rx_tlast,
    input  wire [15:0]  s_axis_rx_tuser_size,
    input  wire [15:0]  s_axis_rx_tuser_src,
    input  wire [15:0]  s_axis_rx_tuser_dst,
    // to the host
    output wire         m_axis_rx_tvalid,
    input  wire         m_axis_rx_tready,
    output wire [511:0] m_axis_rx_tdata,
    output wire [63:0]  m_axis_rx_tkeep,
    output wire         m_axis_rx_tlast,
    output wire [15:0]  m_axis_rx_tuser_size,
    output wire [15:0]  m_axis_rx_tuser_src,
    output wire [15:0]  m_axis_rx_tuser_dst,
    // from the host
    input  wire         s_axis_tx_tvalid,
    output wire         s_axis_tx_tready,
    input  wire [511:0] s_axis_tx_tdata,
    input  wire [63:0]  s_axis_tx_tkeep,
    input  wire         s_axis_tx_tlast,
    input  wire [15:0]  s_axis_tx_tuser_size,
    input  wire [15:0]  s_axis_tx_tuser_src,
    input  wire [15:0]  s_axis_tx_tuser_dst,
    // to the wire
    output wire         m_axis_tx_tvalid,
    input  wire         m_axis_tx_tready,
    output wire [511:0] m_axis_tx_tdata,
    output wire [63:0]  m_axis_tx_tkeep,
    output wire         m_axis_tx_tlast,
    output wire [15:0]  m_axis_tx_tuser_size,
    output wire [15:0]  m_axis_tx_tuser_src,
    output wire [15:0]  m_axis_tx_tuser_dst,
    // registers
    input  wire [15:0]  s_axil_awaddr,
    input  wire         s_axil_awvalid,
    output wire         s_axil_awready,
    input  wire [31:0]  s_axil_wdata,
    input  wire [3:0]   s_axil_wstrb,
    input  wire         s_axil_wvalid,
    output wire         s_axil_wready,
    output wire [1:0]   s_axil_bresp,
    output wire         s_axil_bvalid,
    input  wire         s_axil_bready,
    input  wire [15:0]  s_axil_araddr,
    input  wire         s_axil_arvalid,
    output wire         s_axil_arready,
    output wire [31:0]  s_axil_rdata,
    output wire [1:0]   s_axil_rresp,
    output wire         s_axil_rvalid,
    input  wire         s_axil_rready
);
  localparam BOX_ID = 32'h4F4E4943;  // the letters ONIC
  localparam BOX_VERSION = 1;

  wire [15:0] modules_done;
  wire        done;
  // For two cycles after a reset, the modules still say that they are done with the one before.
  reg [1:0]   after = 0;
  always @(posedge clk) after <= rst ? 2'd0 : after == 2'd3 ? 2'd3 : after + 2'd1;
  assign box_rst_done = after == 2'd3 && done && &modules_done;

  box_250mhz #(
      .USE_PHYS_FUNC(1),
      .NUM_PHYS_FUNC(1),
      .NUM_QDMA     (1),
      .NUM_CMAC_PORT(1)
  ) box (
      .s_axil_awvalid(s_axil_awvalid),
      .s_axil_awaddr ({16'd0, s_axil_awaddr}),
      .s_axil_awready(s_axil_awready),
      .s_axil_wvalid (s_axil_wvalid),
      .s_axil_wdata  (s_axil_wdata),
      .s_axil_wready (s_axil_wready),
      .s_axil_bvalid (s_axil_bvalid),
      .s_axil_bresp  (s_axil_bresp),
      .s_axil_bready (s_axil_bready),
      .s_axil_arvalid(s_axil_arvalid),
      .s_axil_araddr ({16'd0, s_axil_araddr}),
      .s_axil_arready(s_axil_arready),
      .s_axil_rvalid (s_axil_rvalid),
      .s_axil_rdata  (s_axil_rdata),
      .s_axil_rresp  (s_axil_rresp),
      .s_axil_rready (s_axil_rready),

      .s_axis_qdma_h2c_tvalid    (s_axis_tx_tvalid),
      .s_axis_qdma_h2c_tdata     (s_axis_tx_tdata),
      .s_axis_qdma_h2c_tkeep     (s_axis_tx_tkeep),
      .s_axis_qdma_h2c_tlast     (s_axis_tx_tlast),
      .s_axis_qdma_h2c_tuser_size(s_axis_tx_tuser_size),
      .s_axis_qdma_h2c_tuser_src (s_axis_tx_tuser_src),
      .s_axis_qdma_h2c_tuser_dst (s_axis_tx_tuser_dst),
      .s_axis_qdma_h2c_tready    (s_axis_tx_tready),

      .m_axis_qdma_c2h_tvalid    (m_axis_rx_tvalid),
      .m_axis_qdma_c2h_tdata     (m_axis_rx_tdata),
      .m_axis_qdma_c2h_tkeep     (m_axis_rx_tkeep),
      .m_axis_qdma_c2h_tlast     (m_axis_rx_tlast),
      .m_axis_qdma_c2h_tuser_size(m_axis_rx_tuser_size),
      .m_axis_qdma_c2h_tuser_src (m_axis_rx_tuser_src),
      .m_axis_qdma_c2h_tuser_dst (m_axis_rx_tuser_dst),
      .m_axis_qdma_c2h_tready    (m_axis_rx_tready),

      .m_axis_adap_tx_250mhz_tvalid    (m_axis_tx_tvalid),
      .m_axis_adap_tx_250mhz_tdata     (m_axis_tx_tdata),
      .m_axis_adap_tx_250mhz_tkeep     (m_axis_tx_tkeep),
      .m_axis_adap_tx_250mhz_tlast     (m_axis_tx_tlast),
      .m_axis_adap_tx_250mhz_tuser_size(m_axis_tx_tuser_size),
      .m_axis_adap_tx_250mhz_tuser_src (m_axis_tx_tuser_src),
      .m_axis_adap_tx_250mhz_tuser_dst (m_axis_tx_tuser_dst),
      .m_axis_adap_tx_250mhz_tready    (m_axis_tx_tready),

      .s_axis_adap_rx_250mhz_tvalid    (s_axis_rx_tvalid),
      .s_axis_adap_rx_250mhz_tdata     (s_axis_rx_tdata),
      .s_axis_adap_rx_250mhz_tkeep     (s_axis_rx_tkeep),
      .s_axis_adap_rx_250mhz_tlast     (s_axis_rx_tlast),
      .s_axis_adap_rx_250mhz_tuser_size(s_axis_rx_tuser_size),
      .s_axis_adap_rx_250mhz_tuser_src (s_axis_rx_tuser_src),
      .s_axis_adap_rx_250mhz_tuser_dst (s_axis_rx_tuser_dst),
      .s_axis_adap_rx_250mhz_tready    (s_axis_rx_tready),

      .mod_rstn    ({16{~rst}}),
      .mod_rst_done(modules_done),
      .box_rstn    (~rst),
      .box_rst_done(done),
      .axil_aclk   (clk),
      .axis_aclk   (clk)
  );
endmodule
