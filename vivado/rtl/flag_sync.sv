// SPDX-License-Identifier: Apache-2.0
// One bit of another clock, two cycles late; constrained by tcl/crossings.tcl.
`default_nettype none
module flag_sync (
    input  wire clk,
    input  wire in,
    output wire out
);
  (* ASYNC_REG = "TRUE" *) reg [1:0] flops;
  always @(posedge clk) flops <= {flops[0], in};
  assign out = flops[1];
endmodule
`default_nettype wire
