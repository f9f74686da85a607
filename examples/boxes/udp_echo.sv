// SPDX-License-Identifier: Apache-2.0
// A box that answers UDP echo requests (RFC 862) in hardware: a received frame with IPv4, without options, that is no
// fragment and goes to UDP port 7 of a unicast address, is sent back with addresses and ports exchanged. Its checksums
// stay right. All other frames pass. A received frame takes one cycle more. It answers for any MAC and IP address, as it
// knows none of its own. A request from port 7 is no request: two that echo would never end.
module udp_echo #(
    parameter DATA_BITS = 256
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   s_axis_rx_tvalid,
    output logic                   s_axis_rx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  logic                   s_axis_rx_tlast,
    output logic                   m_axis_rx_tvalid,
    input  logic                   m_axis_rx_tready,
    output logic [  DATA_BITS-1:0] m_axis_rx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output logic                   m_axis_rx_tlast,
    input  logic                   s_axis_tx_tvalid,
    output logic                   s_axis_tx_tready,
    input  logic [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  logic [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  logic                   s_axis_tx_tlast,
    output logic                   m_axis_tx_tvalid,
    input  logic                   m_axis_tx_tready,
    output logic [  DATA_BITS-1:0] m_axis_tx_tdata,
    output logic [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output logic                   m_axis_tx_tlast
);
  localparam logic [31:0] BOX_ID = 32'h4543484F;  // the letters ECHO
  localparam logic [31:0] BOX_VERSION = 1;
  localparam logic [15:0] ECHO_PORT = 7;

  typedef struct packed {
    logic                   last;
    logic [DATA_BITS/8-1:0] keep;
    logic [  DATA_BITS-1:0] data;
  } beat_t;

  // Beats of 32 bytes split the header, which has 38: the first beat waits for the second one.
  beat_t held;
  logic full, first;
  logic [2*DATA_BITS-1:0] head, swapped;
  assign head = {s_axis_rx_tdata, held.data};

  function automatic logic [7:0] at(logic [2*DATA_BITS-1:0] frame, int unsigned index);
    return frame[8*index+:8];
  endfunction

  wire is_request = !head[0] && {at(head, 12), at(head, 13), at(head, 14)} == 24'h080045 &&
      ({at(head, 20), at(head, 21)} & 16'h3FFF) == 0 && at(head, 23) == 17 && {at(head, 36), at(head, 37)} == ECHO_PORT &&
      {at(head, 34), at(head, 35)} != ECHO_PORT;

  always_comb begin
    swapped = head;
    swapped[8*0+:48]  = head[8*6+:48];
    swapped[8*6+:48]  = head[8*0+:48];
    swapped[8*26+:32] = head[8*30+:32];
    swapped[8*30+:32] = head[8*26+:32];
    swapped[8*34+:16] = head[8*36+:16];
    swapped[8*36+:16] = head[8*34+:16];
  end

  // Where the frame in `held` goes; it is decided with its first beat.
  logic echoes_since, echo_ready;
  wire echoes = first ? is_request : echoes_since;
  wire known = full && (held.last || s_axis_rx_tvalid);
  wire moves = known && (echoes ? echo_ready : m_axis_rx_tready);
  assign s_axis_rx_tready = !full || moves && !held.last || moves && s_axis_rx_tvalid;
  assign m_axis_rx_tvalid = known && !echoes;
  assign m_axis_rx_tdata  = held.data;
  assign m_axis_rx_tkeep  = held.keep;
  assign m_axis_rx_tlast  = held.last;
  wire rewrites = first && echoes && !held.last;

  always_ff @(posedge clk) begin
    if (moves) begin
      full <= 0;
      first <= held.last;
      echoes_since <= echoes;
    end
    if (s_axis_rx_tvalid && s_axis_rx_tready) begin
      full <= 1;
      held.last <= s_axis_rx_tlast;
      held.keep <= s_axis_rx_tkeep;
      held.data <= moves && rewrites ? swapped[DATA_BITS+:DATA_BITS] : s_axis_rx_tdata;
    end
    if (rst) begin
      full  <= 0;
      first <= 1;
    end
  end

  // Answers and frames of the host share the wire, frame by frame; where both wait they take turns.
  logic tx_open, tx_is_echo;
  wire echo_valid = known && echoes;
  wire echo_turn = tx_open ? tx_is_echo : echo_valid && !(tx_is_echo && s_axis_tx_tvalid);
  assign echo_ready = echo_turn && m_axis_tx_tready;
  assign s_axis_tx_tready = !echo_turn && m_axis_tx_tready;
  assign m_axis_tx_tvalid = echo_turn ? echo_valid : s_axis_tx_tvalid;
  assign m_axis_tx_tdata  = !echo_turn ? s_axis_tx_tdata : first ? swapped[DATA_BITS-1:0] : held.data;
  assign m_axis_tx_tkeep  = echo_turn ? held.keep : s_axis_tx_tkeep;
  assign m_axis_tx_tlast  = echo_turn ? held.last : s_axis_tx_tlast;
  always_ff @(posedge clk) begin
    if (m_axis_tx_tvalid) begin  // who has offered a beat keeps his turn to the end of the frame
      tx_open <= !(m_axis_tx_tready && m_axis_tx_tlast);
      tx_is_echo <= echo_turn;
    end
    if (rst) {tx_open, tx_is_echo} <= 0;
  end
endmodule
