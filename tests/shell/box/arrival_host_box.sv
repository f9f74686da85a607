// SPDX-License-Identifier: Apache-2.0
// A box at the host that writes the time of arrival into received frames of EtherType 0x88B5: 32 bits of seconds and 32 of
// nanoseconds in network order, from byte 24 on, or ones if the time is not known. All else passes as it is.
module arrival_host_box #(
    parameter DATA_BITS = 256
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   s_axis_rx_tvalid,
    output logic                   s_axis_rx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  logic                   s_axis_rx_tlast,
    input  logic [79:0]            s_axis_rx_tuser_time,
    input  logic                   s_axis_rx_tuser_time_valid,
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
    output logic [31:0]            m_axis_tx_tuser_request
);
  assign s_axis_tx_tready           = m_axis_tx_tready;
  assign m_axis_tx_tvalid           = s_axis_tx_tvalid;
  assign m_axis_tx_tdata            = s_axis_tx_tdata;
  assign m_axis_tx_tkeep            = s_axis_tx_tkeep;
  assign m_axis_tx_tlast            = s_axis_tx_tlast;
  assign m_axis_tx_tuser_queue      = s_axis_tx_tuser_queue;
  assign m_axis_tx_tuser_request    = s_axis_tx_tuser_request;

  assign s_axis_rx_tready           = m_axis_rx_tready;
  assign m_axis_rx_tvalid           = s_axis_rx_tvalid;
  assign m_axis_rx_tkeep            = s_axis_rx_tkeep;
  assign m_axis_rx_tlast            = s_axis_rx_tlast;
  assign m_axis_rx_tuser_function   = s_axis_rx_tuser_function;
  assign m_axis_rx_tuser_queue      = s_axis_rx_tuser_queue;
  assign m_axis_rx_tuser_completion = s_axis_rx_tuser_completion;

  logic first;
  logic [63:0] stamp;
  assign stamp = s_axis_rx_tuser_time_valid ? s_axis_rx_tuser_time[63:0] : '1;
  always_comb begin
    m_axis_rx_tdata = s_axis_rx_tdata;
    if (first && s_axis_rx_tdata[8*12+:16] == 16'hB588)
      for (int i = 0; i < 8; i++) m_axis_rx_tdata[8*(24+i)+:8] = stamp[8*(7-i)+:8];
  end
  always_ff @(posedge clk) begin
    if (s_axis_rx_tvalid && s_axis_rx_tready) first <= s_axis_rx_tlast;
    if (rst) first <= 1;
  end
endmodule
