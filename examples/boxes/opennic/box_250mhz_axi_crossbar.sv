// SPDX-License-Identifier: Apache-2.0
// In place of the AXI4-Lite crossbar that OpenNIC's plug-in p2p makes with Vivado under this name, for one port: three
// targets, at 0x0000 and 0x0080 of 128 bytes each, and at 0x1000 of 4 KiB. What is at no target gets DECERR. One access
// at a time, a write before a read. Latency: 1 cycle before the target, none behind it.
module box_250mhz_axi_crossbar (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire [31:0] s_axi_awaddr,
    input  wire [2:0]  s_axi_awprot,
    input  wire        s_axi_awvalid,
    output wire        s_axi_awready,
    input  wire [31:0] s_axi_wdata,
    input  wire [3:0]  s_axi_wstrb,
    input  wire        s_axi_wvalid,
    output wire        s_axi_wready,
    output wire [1:0]  s_axi_bresp,
    output wire        s_axi_bvalid,
    input  wire        s_axi_bready,
    input  wire [31:0] s_axi_araddr,
    input  wire [2:0]  s_axi_arprot,
    input  wire        s_axi_arvalid,
    output wire        s_axi_arready,
    output wire [31:0] s_axi_rdata,
    output wire [1:0]  s_axi_rresp,
    output wire        s_axi_rvalid,
    input  wire        s_axi_rready,
    output wire [95:0] m_axi_awaddr,
    output wire [8:0]  m_axi_awprot,
    output wire [2:0]  m_axi_awvalid,
    input  wire [2:0]  m_axi_awready,
    output wire [95:0] m_axi_wdata,
    output wire [11:0] m_axi_wstrb,
    output wire [2:0]  m_axi_wvalid,
    input  wire [2:0]  m_axi_wready,
    input  wire [5:0]  m_axi_bresp,
    input  wire [2:0]  m_axi_bvalid,
    output wire [2:0]  m_axi_bready,
    output wire [95:0] m_axi_araddr,
    output wire [8:0]  m_axi_arprot,
    output wire [2:0]  m_axi_arvalid,
    input  wire [2:0]  m_axi_arready,
    input  wire [95:0] m_axi_rdata,
    input  wire [5:0]  m_axi_rresp,
    input  wire [2:0]  m_axi_rvalid,
    output wire [2:0]  m_axi_rready
);
  // Targets 0 to 2; 3 stands for none, and answers itself.
  function [1:0] target_of(input [31:0] address);
    target_of = address[31:7] == 0 ? 2'd0 : address[31:7] == 1 ? 2'd1 : address[31:12] == 1 ? 2'd2 : 2'd3;
  endfunction

  reg        busy = 0, write, address, data;
  reg [1:0]  target;
  wire [3:0] chosen = busy ? 4'd1 << target : 4'd0;
  wire       begins = !busy && (s_axi_awvalid && s_axi_wvalid || s_axi_arvalid);
  wire       writes = s_axi_awvalid && s_axi_wvalid;

  // An access to no target is taken at once.
  wire [3:0] awready = {1'b1, m_axi_awready}, wready = {1'b1, m_axi_wready}, arready = {1'b1, m_axi_arready};
  wire [3:0] bvalid = {!address && !data, m_axi_bvalid}, rvalid = {!address, m_axi_rvalid};
  wire [7:0] bresp = {2'b11, m_axi_bresp}, rresp = {2'b11, m_axi_rresp};

  assign m_axi_awaddr  = {3{s_axi_awaddr}};
  assign m_axi_awprot  = {3{s_axi_awprot}};
  assign m_axi_awvalid = chosen[2:0] & {3{write && address && s_axi_awvalid}};
  assign s_axi_awready = busy && write && address && awready[target];
  assign m_axi_wdata   = {3{s_axi_wdata}};
  assign m_axi_wstrb   = {3{s_axi_wstrb}};
  assign m_axi_wvalid  = chosen[2:0] & {3{write && data && s_axi_wvalid}};
  assign s_axi_wready  = busy && write && data && wready[target];
  assign s_axi_bvalid  = busy && write && bvalid[target];
  assign s_axi_bresp   = bresp[2*target+:2];
  assign m_axi_bready  = chosen[2:0] & {3{write && s_axi_bready}};
  assign m_axi_araddr  = {3{s_axi_araddr}};
  assign m_axi_arprot  = {3{s_axi_arprot}};
  assign m_axi_arvalid = chosen[2:0] & {3{!write && address && s_axi_arvalid}};
  assign s_axi_arready = busy && !write && address && arready[target];
  assign s_axi_rvalid  = busy && !write && rvalid[target];
  assign s_axi_rdata   = target == 3 ? 32'hDEADBEEF : m_axi_rdata[32*target+:32];
  assign s_axi_rresp   = rresp[2*target+:2];
  assign m_axi_rready  = chosen[2:0] & {3{!write && s_axi_rready}};

  always @(posedge aclk) begin
    if (begins) begin
      busy    <= 1;
      write   <= writes;
      address <= 1;
      data    <= writes;
      target  <= target_of(writes ? s_axi_awaddr : s_axi_araddr);
    end else begin
      if (s_axi_awready || s_axi_arready) address <= 0;
      if (s_axi_wready) data <= 0;
      if (s_axi_bvalid && s_axi_bready || s_axi_rvalid && s_axi_rready) busy <= 0;
    end
    if (!aresetn) busy <= 0;
  end
endmodule
