// SPDX-License-Identifier: Apache-2.0
// A box that does what its register 0 says: 0 passes frames on, 1 takes nothing, 2 sends without a pause, frames and beats
// that are none among them, and interrupts again and again, 3 answers no access to its registers any more. With 4 more it
// does so after a reset, too. With 8 more it is not ready until a reset.
module hostile_box #(
    parameter DATA_BITS = 256
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   s_axis_rx_tvalid,
    output logic                   s_axis_rx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  logic                   s_axis_rx_tlast,
    output logic                   m_axis_rx_tvalid,
    input  logic                   m_axis_rx_tready,
    output logic [  DATA_BITS-1:0] m_axis_rx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output logic                   m_axis_rx_tlast,
    input  logic                   s_axis_tx_tvalid,
    output logic                   s_axis_tx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  logic                   s_axis_tx_tlast,
    output logic                   m_axis_tx_tvalid,
    input  logic                   m_axis_tx_tready,
    output logic [  DATA_BITS-1:0] m_axis_tx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output logic                   m_axis_tx_tlast,
    input  logic [15:0]            s_axil_awaddr,
    input  logic                   s_axil_awvalid,
    output logic                   s_axil_awready,
    input  logic [31:0]            s_axil_wdata,
    input  logic [3:0]             s_axil_wstrb,
    input  logic                   s_axil_wvalid,
    output logic                   s_axil_wready,
    output logic [1:0]             s_axil_bresp,
    output logic                   s_axil_bvalid,
    input  logic                   s_axil_bready,
    input  logic [15:0]            s_axil_araddr,
    input  logic                   s_axil_arvalid,
    output logic                   s_axil_arready,
    output logic [31:0]            s_axil_rdata,
    output logic [1:0]             s_axil_rresp,
    output logic                   s_axil_rvalid,
    input  logic                   s_axil_rready,
    output logic                   irq,
    output logic                   box_rst_done
);
  logic [1:0] mood;
  logic       stays = 0;
  logic       unready = 0;
  logic [31:0] noise;
  wire passes = mood == 0 || mood == 3;
  wire floods = mood == 2;

  always_ff @(posedge clk) begin
    noise <= {noise[30:0], noise[31] ^ noise[21] ^ noise[1] ^ noise[0]};
    if (s_axil_awvalid && s_axil_awready) {unready, stays, mood} <= s_axil_wdata[3:0];
    if (rst) begin
      if (!stays) mood <= 0;
      unready <= 0;
      noise <= 1;
    end
  end

  assign s_axis_rx_tready = floods || passes && m_axis_rx_tready;
  assign m_axis_rx_tvalid = floods || passes && s_axis_rx_tvalid;
  assign m_axis_rx_tdata  = floods ? {DATA_BITS / 32{noise}} : s_axis_rx_tdata;
  assign m_axis_rx_tkeep  = floods && noise[5:0] == 0 ? noise : floods ? '1 : s_axis_rx_tkeep;
  assign m_axis_rx_tlast  = floods ? noise[11:6] == 0 : s_axis_rx_tlast;
  assign s_axis_tx_tready = floods || passes && m_axis_tx_tready;
  assign m_axis_tx_tvalid = floods ? noise[0] : passes && s_axis_tx_tvalid;
  assign m_axis_tx_tdata  = floods ? {DATA_BITS / 32{noise}} : s_axis_tx_tdata;
  assign m_axis_tx_tkeep  = floods && noise[15:12] == 0 ? noise : floods ? '1 : s_axis_tx_tkeep;
  assign m_axis_tx_tlast  = floods ? noise[9:6] == 0 : s_axis_tx_tlast;

  assign s_axil_awready = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid && mood != 3;
  assign s_axil_wready  = s_axil_awready;
  assign s_axil_arready = s_axil_arvalid && !s_axil_rvalid && mood != 3;
  assign s_axil_bresp   = 0;
  assign s_axil_rresp   = 0;
  assign s_axil_rdata   = 32'(mood);
  assign irq            = floods && noise[0];
  assign box_rst_done   = !unready;
  always_ff @(posedge clk) begin
    if (s_axil_bready) s_axil_bvalid <= 0;
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (s_axil_awready) s_axil_bvalid <= 1;
    if (s_axil_arready) s_axil_rvalid <= 1;
    if (rst) {s_axil_bvalid, s_axil_rvalid} <= 0;
  end
endmodule
