// SPDX-License-Identifier: Apache-2.0
// A box at the host that sends every frame back, without a register between its streams: a frame of the host to the queue
// that has sent it, a received frame by the queue that its bytes 14 and 15 name.
module looping_host_box #(
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
    output logic [7:0]             m_axis_rx_tuser_function,
    output logic [10:0]            m_axis_rx_tuser_queue,
    output logic [63:0]            m_axis_rx_tuser_completion,
    input  logic                   s_axis_tx_tvalid,
    output logic                   s_axis_tx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  logic                   s_axis_tx_tlast,
    input  logic [7:0]             s_axis_tx_tuser_function,
    input  logic [10:0]            s_axis_tx_tuser_queue,
    output logic                   m_axis_tx_tvalid,
    input  logic                   m_axis_tx_tready,
    output logic [  DATA_BITS-1:0] m_axis_tx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output logic                   m_axis_tx_tlast,
    output logic [10:0]            m_axis_tx_tuser_queue,
    output logic [31:0]            m_axis_tx_tuser_request
);
  assign s_axis_tx_tready           = m_axis_rx_tready;
  assign m_axis_rx_tvalid           = s_axis_tx_tvalid;
  assign m_axis_rx_tdata            = s_axis_tx_tdata;
  assign m_axis_rx_tkeep            = s_axis_tx_tkeep;
  assign m_axis_rx_tlast            = s_axis_tx_tlast;
  assign m_axis_rx_tuser_function   = s_axis_tx_tuser_function;
  assign m_axis_rx_tuser_queue      = s_axis_tx_tuser_queue;
  assign m_axis_rx_tuser_completion = 0;

  assign s_axis_rx_tready           = m_axis_tx_tready;
  assign m_axis_tx_tvalid           = s_axis_rx_tvalid;
  assign m_axis_tx_tdata            = s_axis_rx_tdata;
  assign m_axis_tx_tkeep            = s_axis_rx_tkeep;
  assign m_axis_tx_tlast            = s_axis_rx_tlast;
  assign m_axis_tx_tuser_request    = 0;
  logic first;
  logic [10:0] named;
  assign m_axis_tx_tuser_queue = first ? s_axis_rx_tdata[8*14+:11] : named;
  always_ff @(posedge clk) begin
    if (s_axis_rx_tvalid && s_axis_rx_tready) begin
      if (first) named <= s_axis_rx_tdata[8*14+:11];
      first <= s_axis_rx_tlast;
    end
    if (rst) first <= 1;
  end
endmodule
