// SPDX-License-Identifier: Apache-2.0
// A box that counts frames by protocol, in each direction. All frames pass as they are, without a cycle of latency.
//
// Registers, 32 bits each: 0x00 + 4 k frames received of kind k, 0x40 + 4 k frames of the host, for the kinds 0 ARP,
// 1 IPv4 with ICMP, 2 IPv4 with TCP, 3 IPv4 with UDP, 4 other IPv4, 5 IPv6, 6 others. A write to any of them clears all.
module packet_counter #(
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
    output wire                   m_axis_tx_tlast,
    // registers
    input  wire [15:0]            s_axil_awaddr,
    input  wire                   s_axil_awvalid,
    output wire                   s_axil_awready,
    input  wire [31:0]            s_axil_wdata,
    input  wire [3:0]             s_axil_wstrb,
    input  wire                   s_axil_wvalid,
    output wire                   s_axil_wready,
    output wire [1:0]             s_axil_bresp,
    output reg                    s_axil_bvalid,
    input  wire                   s_axil_bready,
    input  wire [15:0]            s_axil_araddr,
    input  wire                   s_axil_arvalid,
    output wire                   s_axil_arready,
    output reg  [31:0]            s_axil_rdata,
    output wire [1:0]             s_axil_rresp,
    output reg                    s_axil_rvalid,
    input  wire                   s_axil_rready
);
  localparam BOX_ID = 32'h434E5430;  // the letters CNT0
  localparam BOX_VERSION = 1;
  localparam KINDS = 7;

  assign m_axis_rx_tvalid = s_axis_rx_tvalid;
  assign m_axis_rx_tdata  = s_axis_rx_tdata;
  assign m_axis_rx_tkeep  = s_axis_rx_tkeep;
  assign m_axis_rx_tlast  = s_axis_rx_tlast;
  assign s_axis_rx_tready = m_axis_rx_tready;
  assign m_axis_tx_tvalid = s_axis_tx_tvalid;
  assign m_axis_tx_tdata  = s_axis_tx_tdata;
  assign m_axis_tx_tkeep  = s_axis_tx_tkeep;
  assign m_axis_tx_tlast  = s_axis_tx_tlast;
  assign s_axis_tx_tready = m_axis_tx_tready;

  // Byte 0 of a frame is in bits 7:0. What decides is in the first 32 bytes, behind at most one VLAN tag;
  // a short frame ends before, and what is there then is no part of it.
  function [2:0] kind(input [255:0] head, input [31:0] keep);
    reg [15:0] kind_type;
    reg [7:0]  protocol;
    begin
      kind_type = {head[8*12+:8], head[8*13+:8]};
      protocol  = keep[23] ? head[8*23+:8] : 0;
      if (kind_type == 16'h8100) begin
        kind_type = keep[17] ? {head[8*16+:8], head[8*17+:8]} : 0;
        protocol  = keep[27] ? head[8*27+:8] : 0;
      end
      case (kind_type)
        16'h0806: kind = 0;
        16'h0800: kind = protocol == 1 ? 1 : protocol == 6 ? 2 : protocol == 17 ? 3 : 4;
        16'h86DD: kind = 5;
        default:  kind = 6;
      endcase
    end
  endfunction

  reg [31:0] rx_count[0:KINDS-1];
  reg [31:0] tx_count[0:KINDS-1];
  reg rx_first, tx_first;
  wire rx_moves = s_axis_rx_tvalid && s_axis_rx_tready;
  wire tx_moves = s_axis_tx_tvalid && s_axis_tx_tready;
  wire [2:0] rx_kind = kind(s_axis_rx_tdata[255:0], s_axis_rx_tkeep[31:0]);
  wire [2:0] tx_kind = kind(s_axis_tx_tdata[255:0], s_axis_tx_tkeep[31:0]);
  wire writes = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  wire reads = s_axil_arvalid && !s_axil_rvalid;
  integer i;

  always @(posedge clk) begin
    if (rx_moves) rx_first <= s_axis_rx_tlast;
    if (tx_moves) tx_first <= s_axis_tx_tlast;
    if (rx_moves && rx_first) rx_count[rx_kind] <= rx_count[rx_kind] + 1;
    if (tx_moves && tx_first) tx_count[tx_kind] <= tx_count[tx_kind] + 1;
    if (writes || rst)
      for (i = 0; i < KINDS; i = i + 1) begin
        rx_count[i] <= 0;
        tx_count[i] <= 0;
      end
    if (rst) {rx_first, tx_first} <= 2'b11;
  end

  // AXI4-Lite: address and data of a write are taken together.
  assign s_axil_awready = writes;
  assign s_axil_wready  = writes;
  assign s_axil_arready = reads;
  assign s_axil_bresp   = 0;
  assign s_axil_rresp   = 0;
  wire [3:0] index = s_axil_araddr[5:2];
  always @(posedge clk) begin
    if (s_axil_bready) s_axil_bvalid <= 0;
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (writes) s_axil_bvalid <= 1;
    if (reads) begin
      s_axil_rvalid <= 1;
      s_axil_rdata  <= 0;
      if (index < KINDS && s_axil_araddr < 16'h80)
        s_axil_rdata <= s_axil_araddr[6] ? tx_count[index[2:0]] : rx_count[index[2:0]];
    end
    if (rst) {s_axil_bvalid, s_axil_rvalid} <= 0;
  end
endmodule
