// SPDX-License-Identifier: Apache-2.0
// A few clock crossings for vivado/probe.tcl: a bit and a word without synchroniser, a word with a clock enable, a bit
// with a synchroniser, one with logic before it; and an instance with a wire that is too narrow, which Vivado reports.
`default_nettype none
module probe (
    input  wire clk_a,
    input  wire clk_b,
    input  wire [7:0] in,
    output wire [19:0] out
);
  reg bit_a, flag_a, other_a;
  reg [7:0] word_a, held_a;
  always @(posedge clk_a) begin
    bit_a <= in[0];
    flag_a <= in[1];
    other_a <= in[2];
    word_a <= in;
    held_a <= ~in;
  end

  (* ASYNC_REG = "TRUE" *) reg [1:0] flag_b;
  (* ASYNC_REG = "TRUE" *) reg [1:0] mixed_b;
  reg seen_b;
  reg bit_b;
  reg [7:0] word_b, held_b;
  always @(posedge clk_b) begin
    flag_b <= {flag_b[0], flag_a};
    mixed_b <= {mixed_b[0], other_a & word_a[0]};
    seen_b <= flag_b[1];
    bit_b <= bit_a;
    word_b <= word_a;
    if (flag_b[1] != seen_b) held_b <= held_a;
  end
  wire narrow;
  probe_part part (.in(in[3:0]), .out(narrow));
  assign out = {word_b, held_b, bit_b, flag_b[1], mixed_b[1], seen_b ^ narrow};
endmodule

module probe_part (
    input  wire [7:0] in,
    output wire out
);
  assign out = ^in;
endmodule
`default_nettype wire
