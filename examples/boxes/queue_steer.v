// SPDX-License-Identifier: Apache-2.0
// A box at the host: it counts received frames by function and by queue, drops those of one EtherType, and moves those of
// one queue to another. Frames of the host pass as they are.
//
// Registers, 32 bits each: 0x0000 the EtherType that is dropped, 0 for none; 0x0004 in bits 10:0 the queue whose frames are
// moved, in bits 26:16 the queue that gets them, in bit 31 whether; 0x0008 frames dropped; 0x000C frames moved;
// 0x2000 + 4 f frames for function f, 0x4000 + 4 q frames for queue q, before any is dropped or moved.
module queue_steer #(
    parameter DATA_BITS = 256
) (
    input  wire                   clk,
    input  wire                   rst,
    output wire                   box_rst_done,
    // from the receive filter
    input  wire                   s_axis_rx_tvalid,
    output wire                   s_axis_rx_tready,
    input  wire [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  wire                   s_axis_rx_tlast,
    input  wire [7:0]             s_axis_rx_tuser_function,
    input  wire [10:0]            s_axis_rx_tuser_queue,
    input  wire [63:0]            s_axis_rx_tuser_completion,
    // to the host
    output wire                   m_axis_rx_tvalid,
    input  wire                   m_axis_rx_tready,
    output wire [  DATA_BITS-1:0] m_axis_rx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output wire                   m_axis_rx_tlast,
    output wire [7:0]             m_axis_rx_tuser_function,
    output wire [10:0]            m_axis_rx_tuser_queue,
    output wire [63:0]            m_axis_rx_tuser_completion,
    // from the host
    input  wire                   s_axis_tx_tvalid,
    output wire                   s_axis_tx_tready,
    input  wire [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  wire                   s_axis_tx_tlast,
    input  wire [10:0]            s_axis_tx_tuser_queue,
    input  wire [31:0]            s_axis_tx_tuser_request,
    // to the transmit filter
    output wire                   m_axis_tx_tvalid,
    input  wire                   m_axis_tx_tready,
    output wire [  DATA_BITS-1:0] m_axis_tx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output wire                   m_axis_tx_tlast,
    output wire [10:0]            m_axis_tx_tuser_queue,
    output wire [31:0]            m_axis_tx_tuser_request,
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
  localparam BOX_ID = 32'h53544552;  // the letters STER
  localparam BOX_VERSION = 1;

  reg [15:0] drop_type;
  reg [10:0] move_from, move_to;
  reg move;
  reg [31:0] dropped, moved;
  reg first, dropping;

  // Byte 0 of a frame is in bits 7:0.
  wire [15:0] frame_type = {s_axis_rx_tdata[8*12+:8], s_axis_rx_tdata[8*13+:8]};
  wire drop = first ? drop_type != 0 && frame_type == drop_type : dropping;
  wire moves = move && s_axis_rx_tuser_queue == move_from;
  wire taken = s_axis_rx_tvalid && s_axis_rx_tready;

  assign s_axis_rx_tready           = drop || m_axis_rx_tready;
  assign m_axis_rx_tvalid           = s_axis_rx_tvalid && !drop;
  assign m_axis_rx_tdata            = s_axis_rx_tdata;
  assign m_axis_rx_tkeep            = s_axis_rx_tkeep;
  assign m_axis_rx_tlast            = s_axis_rx_tlast;
  assign m_axis_rx_tuser_function   = s_axis_rx_tuser_function;
  assign m_axis_rx_tuser_queue      = moves ? move_to : s_axis_rx_tuser_queue;
  assign m_axis_rx_tuser_completion = s_axis_rx_tuser_completion;
  assign s_axis_tx_tready           = m_axis_tx_tready;
  assign m_axis_tx_tvalid           = s_axis_tx_tvalid;
  assign m_axis_tx_tdata            = s_axis_tx_tdata;
  assign m_axis_tx_tkeep            = s_axis_tx_tkeep;
  assign m_axis_tx_tlast            = s_axis_tx_tlast;
  assign m_axis_tx_tuser_queue      = s_axis_tx_tuser_queue;
  assign m_axis_tx_tuser_request    = s_axis_tx_tuser_request;

  // A reset clears one counter a cycle; the box is ready when all are.
  reg [31:0] by_queue[0:2047];
  reg [31:0] by_function[0:255];
  reg [11:0] cleared;
  assign box_rst_done = cleared[11];
  wire counts = taken && s_axis_rx_tlast;
  always @(posedge clk) begin
    if (!cleared[11]) begin
      by_queue[cleared[10:0]] <= 0;
      by_function[cleared[7:0]] <= 0;
      cleared <= cleared + 1;
    end else if (counts) begin
      by_queue[s_axis_rx_tuser_queue] <= by_queue[s_axis_rx_tuser_queue] + 1;
      by_function[s_axis_rx_tuser_function] <= by_function[s_axis_rx_tuser_function] + 1;
    end
    if (rst) cleared <= 0;
  end

  wire writes = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  wire reads = s_axil_arvalid && !s_axil_rvalid;
  always @(posedge clk) begin
    if (taken) begin
      first <= s_axis_rx_tlast;
      dropping <= drop;
    end
    if (counts && drop) dropped <= dropped + 1;
    if (counts && !drop && moves) moved <= moved + 1;
    if (writes && s_axil_awaddr == 16'h0000) drop_type <= s_axil_wdata[15:0];
    if (writes && s_axil_awaddr == 16'h0004)
      {move, move_to, move_from} <= {s_axil_wdata[31], s_axil_wdata[26:16], s_axil_wdata[10:0]};
    if (rst) begin
      first <= 1;
      drop_type <= 0;
      {move, move_to, move_from} <= 0;
      {dropped, moved} <= 0;
    end
  end

  // AXI4-Lite: address and data of a write are taken together.
  assign s_axil_awready = writes;
  assign s_axil_wready  = writes;
  assign s_axil_arready = reads;
  assign s_axil_bresp   = 0;
  assign s_axil_rresp   = 0;
  always @(posedge clk) begin
    if (s_axil_bready) s_axil_bvalid <= 0;
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (writes) s_axil_bvalid <= 1;
    if (reads) begin
      s_axil_rvalid <= 1;
      case (s_axil_araddr[15:13])
        3'd0:
          case (s_axil_araddr[3:2])
            2'd0: s_axil_rdata <= drop_type;
            2'd1: s_axil_rdata <= {move, 4'b0, move_to, 5'b0, move_from};
            2'd2: s_axil_rdata <= dropped;
            2'd3: s_axil_rdata <= moved;
          endcase
        3'd1: s_axil_rdata <= by_function[s_axil_araddr[9:2]];
        default: s_axil_rdata <= by_queue[s_axil_araddr[12:2]];
      endcase
    end
    if (rst) {s_axil_bvalid, s_axil_rvalid} <= 0;
  end
endmodule
