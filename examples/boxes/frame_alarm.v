// SPDX-License-Identifier: Apache-2.0
// A box that interrupts when a frame of EtherType 0x88B6 comes in, one of two that IEEE 802 keeps for experiments: once
// for each such frame, or without end if the byte behind the EtherType is 0xFF, until another such frame. So you can try
// what the shell makes of a module that does not stop. All frames pass as they are, in both directions. It has no
// registers, and no latency.
module frame_alarm #(
    parameter DATA_BITS = 256,
    parameter [31:0] BOX_ID = 32'h414C524D  // the letters ALRM
) (
    input  wire clk,
    input  wire rst,
    // from the wire
    input  wire s_axis_rx_tvalid,
    output wire s_axis_rx_tready,
    input  wire [DATA_BITS-1:0] s_axis_rx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  wire s_axis_rx_tlast,
    // to the host
    output wire m_axis_rx_tvalid,
    input  wire m_axis_rx_tready,
    output wire [DATA_BITS-1:0] m_axis_rx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output wire m_axis_rx_tlast,
    // from the host
    input  wire s_axis_tx_tvalid,
    output wire s_axis_tx_tready,
    input  wire [DATA_BITS-1:0] s_axis_tx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  wire s_axis_tx_tlast,
    // to the wire
    output wire m_axis_tx_tvalid,
    input  wire m_axis_tx_tready,
    output wire [DATA_BITS-1:0] m_axis_tx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output wire m_axis_tx_tlast,
    output reg  irq
);
  assign m_axis_rx_tvalid = s_axis_rx_tvalid;
  assign s_axis_rx_tready = m_axis_rx_tready;
  assign m_axis_rx_tdata = s_axis_rx_tdata;
  assign m_axis_rx_tkeep = s_axis_rx_tkeep;
  assign m_axis_rx_tlast = s_axis_rx_tlast;
  assign m_axis_tx_tvalid = s_axis_tx_tvalid;
  assign s_axis_tx_tready = m_axis_tx_tready;
  assign m_axis_tx_tdata = s_axis_tx_tdata;
  assign m_axis_tx_tkeep = s_axis_tx_tkeep;
  assign m_axis_tx_tlast = s_axis_tx_tlast;

  reg first; // the next beat begins a frame
  reg endless;
  wire taken = s_axis_rx_tvalid && s_axis_rx_tready;
  // Byte 0 of a frame is in bits 7 to 0, and the EtherType has its high byte first.
  wire alarm = taken && first && s_axis_rx_tdata[8*12+:16] == 16'hB688;
  always @(posedge clk) begin
    if (rst) begin
      first <= 1'b1;
      endless <= 1'b0;
      irq <= 1'b0;
    end else begin
      if (taken) first <= s_axis_rx_tlast;
      if (alarm) endless <= s_axis_rx_tdata[8*14+:8] == 8'hFF;
      // A rising edge interrupts; a high level does not do so again.
      irq <= alarm || endless && !irq;
    end
  end
endmodule
