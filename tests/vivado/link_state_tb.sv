// SPDX-License-Identifier: Apache-2.0
// Steps of link_state.sv; ends with an error at the first that is not as it should be.
`default_nettype none
module link_state_tb;
  logic clk = 0, reset = 0, status = 0, remote_fault = 0;
  wire link_up, remote_fault_seen;
  link_state dut (.*);

  task automatic edges(int count);
    for (int i = 0; i < count; i++) begin
      #1 clk = 1;
      #1 clk = 0;
    end
  endtask
  task automatic expected(bit up, bit fault, string what);
    if (link_up !== up || remote_fault_seen !== fault) begin
      $display("%s: link_up %b, remote_fault_seen %b", what, link_up, remote_fault_seen);
      $fatal;
    end
  endtask

  initial begin
    status = 1;
    remote_fault = 1;
    edges(2);
    expected(1, 1, "a link comes");
    // The clock stands.
    #5 reset = 1;
    #1 expected(0, 0, "reset, and no edge of the clock");
    #5 reset = 0;
    #1 expected(0, 0, "out of reset, and no edge yet");
    edges(1);
    expected(1, 1, "the link again");
    status = 0;
    remote_fault = 0;
    edges(1);
    expected(0, 0, "the link goes");
    $finish;
  end
endmodule
`default_nettype wire
