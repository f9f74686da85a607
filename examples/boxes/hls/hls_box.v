// SPDX-License-Identifier: Apache-2.0
// A box around a module of Vitis HLS: the block works on the frames of the host, and received frames pass as they are. It
// has the names that the compiler gives to ports, which are not those of a box, and its reset is active low.
module hls_box #(
    parameter DATA_BITS = 256
) (
    input  wire                   clk,
    input  wire                   rst,
    // from the wire
    input  wire                   s_axis_rx_tvalid,
    output wire                   s_axis_rx_tready,
    input  wire [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  wire                   s_axis_rx_tlast,
    // to the host
    output wire                   m_axis_rx_tvalid,
    input  wire                   m_axis_rx_tready,
    output wire [  DATA_BITS-1:0] m_axis_rx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output wire                   m_axis_rx_tlast,
    // from the host
    input  wire                   s_axis_tx_tvalid,
    output wire                   s_axis_tx_tready,
    input  wire [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  wire                   s_axis_tx_tlast,
    // to the wire
    output wire                   m_axis_tx_tvalid,
    input  wire                   m_axis_tx_tready,
    output wire [  DATA_BITS-1:0] m_axis_tx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output wire                   m_axis_tx_tlast
);
  localparam BOX_ID = 32'h484C5330;  // the letters HLS0
  localparam BOX_VERSION = 1;

  assign m_axis_rx_tvalid = s_axis_rx_tvalid;
  assign m_axis_rx_tdata  = s_axis_rx_tdata;
  assign m_axis_rx_tkeep  = s_axis_rx_tkeep;
  assign m_axis_rx_tlast  = s_axis_rx_tlast;
  assign s_axis_rx_tready = m_axis_rx_tready;

  // The compiler's module has no parameter: DATA_BITS is that of its synthesis.
  dscp_marker #(DATA_BITS) marker (
      .ap_clk       (clk),
      .ap_rst_n     (!rst),
      .source_TDATA (s_axis_tx_tdata),
      .source_TVALID(s_axis_tx_tvalid),
      .source_TREADY(s_axis_tx_tready),
      .source_TKEEP (s_axis_tx_tkeep),
      .source_TSTRB (s_axis_tx_tkeep),
      .source_TLAST (s_axis_tx_tlast),
      .sink_TDATA   (m_axis_tx_tdata),
      .sink_TVALID  (m_axis_tx_tvalid),
      .sink_TREADY  (m_axis_tx_tready),
      .sink_TKEEP   (m_axis_tx_tkeep),
      .sink_TSTRB   (),
      .sink_TLAST   (m_axis_tx_tlast)
  );
endmodule
