// SPDX-License-Identifier: Apache-2.0
// What a receiver of the Ethernet IP says of its link, in registers. They are cleared by the receiver's reset at once, as
// its clock may stand while it is in reset: a link that was there would seem to be there still.
`default_nettype none
module link_state (
    input  wire clk,
    input  wire reset,
    input  wire status,
    input  wire remote_fault,
    output reg  link_up,
    output reg  remote_fault_seen
);
  always @(posedge clk or posedge reset)
    if (reset) begin
      link_up <= 1'b0;
      remote_fault_seen <= 1'b0;
    end else begin
      link_up <= status;
      remote_fault_seen <= remote_fault;
    end
endmodule
`default_nettype wire
