// SPDX-License-Identifier: Apache-2.0
// A reset, active high, that comes at once and leaves with the clock, three cycles after its cause.
`default_nettype none
module reset_sync (
    input  wire clk,
    input  wire cause,
    output wire reset
);
  (* ASYNC_REG = "TRUE" *) reg [2:0] flops = 3'b111;
  always @(posedge clk or posedge cause)
    if (cause) flops <= 3'b111;
    else flops <= {flops[1:0], 1'b0};
  assign reset = flops[2];
endmodule
`default_nettype wire
