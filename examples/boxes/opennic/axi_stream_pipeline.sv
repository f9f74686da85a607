// SPDX-License-Identifier: Apache-2.0
// In place of the AXI4-Stream register slice that OpenNIC makes with Vivado under this name: beats of 64 bytes with 48
// bits of tuser. Latency: 1 cycle. Throughput: one beat a cycle. All outputs are registers.
module axi_stream_pipeline (
    input  wire         aclk,
    input  wire         aresetn,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire [511:0] s_axis_tdata,
    input  wire [63:0]  s_axis_tkeep,
    input  wire         s_axis_tlast,
    input  wire [47:0]  s_axis_tuser,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire [511:0] m_axis_tdata,
    output wire [63:0]  m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire [47:0]  m_axis_tuser
);
  // `second` holds the beat that came while `first` was not taken.
  reg [624:0] first, second;
  reg         has_first = 0, has_second = 0;
  wire [624:0] beat = {s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata};
  wire         taken = m_axis_tready || !has_first;

  assign s_axis_tready = !has_second;
  assign m_axis_tvalid = has_first;
  assign {m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata} = first;

  always @(posedge aclk) begin
    if (taken) first <= has_second ? second : beat;
    if (s_axis_tready) second <= beat;
    if (!aresetn) begin
      has_first  <= 0;
      has_second <= 0;
    end else begin
      if (taken) has_first <= has_second || s_axis_tvalid;
      if (taken) has_second <= 0;
      else if (s_axis_tvalid) has_second <= 1;
    end
  end
endmodule
