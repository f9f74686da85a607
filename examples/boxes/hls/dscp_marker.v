// SPDX-License-Identifier: Apache-2.0
// A stub: it stands for the module that Vitis HLS makes of dscp_marker.cpp, as that compiler is not part of this project.
// It has the ports of that module and does the same to frames, but it was written by hand and its timing is another: each
// beat is held for a cycle. Put the files of the compiler in its place.
module dscp_marker #(
    parameter DATA_BITS = 256
) (
    input  wire                   ap_clk,
    input  wire                   ap_rst_n,
    input  wire [  DATA_BITS-1:0] source_TDATA,
    input  wire                   source_TVALID,
    output wire                   source_TREADY,
    input  wire [DATA_BITS/8-1:0] source_TKEEP,
    input  wire [DATA_BITS/8-1:0] source_TSTRB,
    input  wire                   source_TLAST,
    output reg  [  DATA_BITS-1:0] sink_TDATA,
    output reg                    sink_TVALID,
    input  wire                   sink_TREADY,
    output reg  [DATA_BITS/8-1:0] sink_TKEEP,
    output reg  [DATA_BITS/8-1:0] sink_TSTRB,
    output reg                    sink_TLAST
);
  localparam EXPEDITED = 6'd46;

  reg first;
  wire moves = source_TVALID && source_TREADY;
  wire [7:0] old = source_TDATA[8*15+:8];
  wire [7:0] marked = {EXPEDITED, old[1:0]};
  wire [15:0] checksum = {source_TDATA[8*24+:8], source_TDATA[8*25+:8]};
  // ~(~checksum + ~old + new), in ones' complement.
  wire [17:0] sum = {2'b0, ~checksum} + {2'b0, 8'hFF, ~old} + {10'b0, marked};
  wire [16:0] once = {1'b0, sum[15:0]} + {15'b0, sum[17:16]};
  wire [15:0] fresh = ~(once[15:0] + {15'b0, once[16]});
  wire is_udp = source_TDATA[8*12+:16] == 16'h0008 && source_TDATA[8*14+4+:4] == 4 && source_TDATA[8*23+:8] == 17 &&
      source_TKEEP[25];

  assign source_TREADY = !sink_TVALID || sink_TREADY;
  always @(posedge ap_clk) begin
    if (sink_TREADY) sink_TVALID <= 0;
    if (moves) begin
      sink_TVALID <= 1;
      sink_TDATA  <= source_TDATA;
      sink_TKEEP  <= source_TKEEP;
      sink_TSTRB  <= source_TSTRB;
      sink_TLAST  <= source_TLAST;
      first       <= source_TLAST;
      if (first && is_udp) begin
        sink_TDATA[8*15+:8]  <= marked;
        sink_TDATA[8*24+:16] <= {fresh[7:0], fresh[15:8]};
      end
    end
    if (!ap_rst_n) begin
      sink_TVALID <= 0;
      first       <= 1;
    end
  end
endmodule
