// SPDX-License-Identifier: Apache-2.0
// A box at the host that keeps received frames, at most 256 beats, while its register 0 is 1; then irq is high.
// Registers 8 and 12 are nanoseconds and seconds of the time as of the last read of register 4, which says whether it
// is known.
module holding_host_box #(
    parameter DATA_BITS = 256
) (
    input  logic                   clk,
    input  logic                   rst,
    output logic                   irq,
    input  logic [79:0]            phc_time,
    input  logic                   phc_time_valid,
    input  logic                   s_axis_rx_tvalid,
    output logic                   s_axis_rx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  logic                   s_axis_rx_tlast,
    input  logic [7:0]             s_axis_rx_tuser_function,
    input  logic [10:0]            s_axis_rx_tuser_queue,
    input  logic [63:0]            s_axis_rx_tuser_completion,
    output logic                   m_axis_rx_tvalid,
    input  logic                   m_axis_rx_tready,
    output logic [  DATA_BITS-1:0] m_axis_rx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output logic                   m_axis_rx_tlast,
    output logic [7:0]             m_axis_rx_tuser_function,
    output logic [10:0]            m_axis_rx_tuser_queue,
    output logic [63:0]            m_axis_rx_tuser_completion,
    input  logic                   s_axis_tx_tvalid,
    output logic                   s_axis_tx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  logic                   s_axis_tx_tlast,
    input  logic [10:0]            s_axis_tx_tuser_queue,
    input  logic [31:0]            s_axis_tx_tuser_request,
    output logic                   m_axis_tx_tvalid,
    input  logic                   m_axis_tx_tready,
    output logic [  DATA_BITS-1:0] m_axis_tx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output logic                   m_axis_tx_tlast,
    output logic [10:0]            m_axis_tx_tuser_queue,
    output logic [31:0]            m_axis_tx_tuser_request,
    input  logic [15:0]            s_axil_awaddr,
    input  logic                   s_axil_awvalid,
    output logic                   s_axil_awready,
    input  logic [31:0]            s_axil_wdata,
    input  logic [3:0]             s_axil_wstrb,
    input  logic                   s_axil_wvalid,
    output logic                   s_axil_wready,
    output logic [1:0]             s_axil_bresp,
    output logic                   s_axil_bvalid,
    input  logic                   s_axil_bready,
    input  logic [15:0]            s_axil_araddr,
    input  logic                   s_axil_arvalid,
    output logic                   s_axil_arready,
    output logic [31:0]            s_axil_rdata,
    output logic [1:0]             s_axil_rresp,
    output logic                   s_axil_rvalid,
    input  logic                   s_axil_rready
);
  localparam WIDTH = DATA_BITS + DATA_BITS / 8 + 1 + 8 + 11 + 64;
  logic [WIDTH-1:0] beats[256], came;
  logic [8:0] written, read;
  logic holds;
  assign s_axis_rx_tready = written - read != 256;
  assign m_axis_rx_tvalid = written != read && !holds;
  assign came = {s_axis_rx_tdata, s_axis_rx_tkeep, s_axis_rx_tlast, s_axis_rx_tuser_function, s_axis_rx_tuser_queue,
                 s_axis_rx_tuser_completion};
  assign {m_axis_rx_tdata, m_axis_rx_tkeep, m_axis_rx_tlast, m_axis_rx_tuser_function, m_axis_rx_tuser_queue,
          m_axis_rx_tuser_completion} = beats[read[7:0]];
  always_ff @(posedge clk) begin
    if (s_axis_rx_tvalid && s_axis_rx_tready) begin
      beats[written[7:0]] <= came;
      written <= written + 1;
    end
    if (m_axis_rx_tvalid && m_axis_rx_tready) read <= read + 1;
    if (s_axil_awready) holds <= s_axil_wdata[0];
    if (rst) {written, read, holds} <= 0;
  end

  assign s_axis_tx_tready        = m_axis_tx_tready;
  assign m_axis_tx_tvalid        = s_axis_tx_tvalid;
  assign m_axis_tx_tdata         = s_axis_tx_tdata;
  assign m_axis_tx_tkeep         = s_axis_tx_tkeep;
  assign m_axis_tx_tlast         = s_axis_tx_tlast;
  assign m_axis_tx_tuser_queue   = s_axis_tx_tuser_queue;
  assign m_axis_tx_tuser_request = s_axis_tx_tuser_request;

  assign s_axil_awready = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  assign s_axil_wready  = s_axil_awready;
  assign s_axil_arready = s_axil_arvalid && !s_axil_rvalid;
  assign s_axil_bresp   = 0;
  assign s_axil_rresp   = 0;
  assign irq            = holds;
  logic [79:0] time_seen;
  logic [1:0] register;
  always_comb
    case (register)
      0: s_axil_rdata = 32'(holds);
      1: s_axil_rdata = 32'(time_seen != 0);
      2: s_axil_rdata = time_seen[31:0];
      default: s_axil_rdata = time_seen[63:32];
    endcase
  always_ff @(posedge clk) begin
    if (s_axil_arready) register <= s_axil_araddr[3:2];
    if (s_axil_arready && s_axil_araddr[3:2] == 1) time_seen <= phc_time_valid ? phc_time : '0;
    if (s_axil_bready) s_axil_bvalid <= 0;
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (s_axil_awready) s_axil_bvalid <= 1;
    if (s_axil_arready) s_axil_rvalid <= 1;
    if (rst) {s_axil_bvalid, s_axil_rvalid} <= 0;
  end
endmodule
