// SPDX-License-Identifier: Apache-2.0
// hostile_box at the host: while it floods, each of its beats is for another queue and function, of all that there could be.
module hostile_host_box #(
    parameter DATA_BITS = 256
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   s_axis_rx_tvalid,
    output logic                   s_axis_rx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  logic                   s_axis_rx_tlast,
    input  logic [7:0]             s_axis_rx_tuser_function,
    input  logic [10:0]            s_axis_rx_tuser_queue,
    input  logic [63:0]            s_axis_rx_tuser_completion,
    output logic                   m_axis_rx_tvalid,
    input  logic                   m_axis_rx_tready,
    output logic [  DATA_BITS-1:0] m_axis_rx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output logic                   m_axis_rx_tlast,
    output logic [7:0]             m_axis_rx_tuser_function,
    output logic [10:0]            m_axis_rx_tuser_queue,
    output logic [63:0]            m_axis_rx_tuser_completion,
    input  logic                   s_axis_tx_tvalid,
    output logic                   s_axis_tx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  logic                   s_axis_tx_tlast,
    input  logic [10:0]            s_axis_tx_tuser_queue,
    input  logic [31:0]            s_axis_tx_tuser_request,
    output logic                   m_axis_tx_tvalid,
    input  logic                   m_axis_tx_tready,
    output logic [  DATA_BITS-1:0] m_axis_tx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output logic                   m_axis_tx_tlast,
    output logic [10:0]            m_axis_tx_tuser_queue,
    output logic [31:0]            m_axis_tx_tuser_request,
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
  logic [31:0] noise;
  always_ff @(posedge clk) begin
    noise <= {noise[30:0], noise[31] ^ noise[21] ^ noise[1] ^ noise[0]};
    if (rst) noise <= 32'h1234567;
  end
  wire floods = box.floods;
  assign m_axis_rx_tuser_function   = floods ? 8'(noise[2:0]) : s_axis_rx_tuser_function;
  assign m_axis_rx_tuser_queue      = floods ? noise[20:10] >> noise[3:1] : s_axis_rx_tuser_queue;
  assign m_axis_rx_tuser_completion = floods ? {2{noise}} : s_axis_rx_tuser_completion;
  assign m_axis_tx_tuser_queue      = floods ? noise[20:10] >> noise[3:1] : s_axis_tx_tuser_queue;
  assign m_axis_tx_tuser_request    = floods ? noise : s_axis_tx_tuser_request;
  hostile_box #(.DATA_BITS(DATA_BITS)) box (.*);
endmodule
