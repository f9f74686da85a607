// SPDX-License-Identifier: Apache-2.0
// A box at the host that reads and writes host memory by itself, checks what it reads, and measures how long that takes.
// Frames pass as they are. It needs the DMA engine of our own.
//
// A run gives COUNT commands of BYTES bytes each, of either direction or of both at once, to addresses in a region of memory:
// one behind the other or at random, multiples of 64 bytes. Words that it writes, of 8 bytes, have their own address, modified
// by PATTERN. Of words that it reads it keeps the exclusive or.
//
// Registers, 32 bits each:
//   0x00 control   write 1 to start: bit 0 reads, bit 1 writes, bit 2 at random; reads: bit 31 a run is under way
//   0x04 queue     bits 10:0: in whose name it reads (its H2C context) and writes (its C2H context); bits 26:16: how many
//                  queues from this on have a command by turns, less one, a power of two less one
//   0x08 bytes     of a command, 1 to 65535
//   0x0c count     of commands of a direction
//   0x10 0x14      address of the region, low and high half
//   0x18 mask      size of the region less one, a power of two; offsets are below it
//   0x1c gap       cycles from a command to the next, at least
//   0x20 pattern   for what is written
//   0x24 cycles    of the run
//   0x28 0x2c      exclusive or of what was read, low and high half
//   of reads 0x40, of writes 0x60: +0 commands that have ended, +4 of those that failed, and from a command to its end, in
//   cycles: +8 least, +c most, +10 and +14 the sum of all
module host_memory #(
    parameter DATA_BITS = 256
) (
    input  wire                   clk,
    input  wire                   rst,
    // from the receive filter to the host
    input  wire                   s_axis_rx_tvalid,
    output wire                   s_axis_rx_tready,
    input  wire [  DATA_BITS-1:0] s_axis_rx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_rx_tkeep,
    input  wire                   s_axis_rx_tlast,
    input  wire [7:0]             s_axis_rx_tuser_function,
    input  wire [10:0]            s_axis_rx_tuser_queue,
    input  wire [63:0]            s_axis_rx_tuser_completion,
    output wire                   m_axis_rx_tvalid,
    input  wire                   m_axis_rx_tready,
    output wire [  DATA_BITS-1:0] m_axis_rx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_rx_tkeep,
    output wire                   m_axis_rx_tlast,
    output wire [7:0]             m_axis_rx_tuser_function,
    output wire [10:0]            m_axis_rx_tuser_queue,
    output wire [63:0]            m_axis_rx_tuser_completion,
    // from the host to the transmit filter
    input  wire                   s_axis_tx_tvalid,
    output wire                   s_axis_tx_tready,
    input  wire [  DATA_BITS-1:0] s_axis_tx_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_tx_tkeep,
    input  wire                   s_axis_tx_tlast,
    input  wire [10:0]            s_axis_tx_tuser_queue,
    input  wire [31:0]            s_axis_tx_tuser_request,
    output wire                   m_axis_tx_tvalid,
    input  wire                   m_axis_tx_tready,
    output wire [  DATA_BITS-1:0] m_axis_tx_tdata,
    output wire [DATA_BITS/8-1:0] m_axis_tx_tkeep,
    output wire                   m_axis_tx_tlast,
    output wire [10:0]            m_axis_tx_tuser_queue,
    output wire [31:0]            m_axis_tx_tuser_request,
    // reads of host memory
    output wire                   m_axis_dma_read_tvalid,
    input  wire                   m_axis_dma_read_tready,
    output wire [63:0]            m_axis_dma_read_tuser_address,
    output wire [15:0]            m_axis_dma_read_tuser_bytes,
    output wire [10:0]            m_axis_dma_read_tuser_queue,
    input  wire                   s_axis_dma_read_tvalid,
    output wire                   s_axis_dma_read_tready,
    input  wire [  DATA_BITS-1:0] s_axis_dma_read_tdata,
    input  wire [DATA_BITS/8-1:0] s_axis_dma_read_tkeep,
    input  wire                   s_axis_dma_read_tlast,
    input  wire                   s_axis_dma_read_tuser_error,
    // writes of host memory
    output wire                   m_axis_dma_write_tvalid,
    input  wire                   m_axis_dma_write_tready,
    output wire [  DATA_BITS-1:0] m_axis_dma_write_tdata,
    output wire                   m_axis_dma_write_tlast,
    output wire [63:0]            m_axis_dma_write_tuser_address,
    output wire [15:0]            m_axis_dma_write_tuser_bytes,
    output wire [10:0]            m_axis_dma_write_tuser_queue,
    input  wire                   s_axis_dma_written_tvalid,
    input  wire                   s_axis_dma_written_tuser_error,
    // registers
    input  wire [15:0]            s_axil_awaddr,
    input  wire                   s_axil_awvalid,
    output wire                   s_axil_awready,
    input  wire [31:0]            s_axil_wdata,
    input  wire [3:0]             s_axil_wstrb,
    input  wire                   s_axil_wvalid,
    output wire                   s_axil_wready,
    output wire [1:0]             s_axil_bresp,
    output reg                    s_axil_bvalid,
    input  wire                   s_axil_bready,
    input  wire [15:0]            s_axil_araddr,
    input  wire                   s_axil_arvalid,
    output wire                   s_axil_arready,
    output reg  [31:0]            s_axil_rdata,
    output wire [1:0]             s_axil_rresp,
    output reg                    s_axil_rvalid,
    input  wire                   s_axil_rready
);
  localparam BOX_ID = 32'h484d454d;  // the letters HMEM
  localparam BOX_VERSION = 1;

  assign s_axis_rx_tready           = m_axis_rx_tready;
  assign m_axis_rx_tvalid           = s_axis_rx_tvalid;
  assign m_axis_rx_tdata            = s_axis_rx_tdata;
  assign m_axis_rx_tkeep            = s_axis_rx_tkeep;
  assign m_axis_rx_tlast            = s_axis_rx_tlast;
  assign m_axis_rx_tuser_function   = s_axis_rx_tuser_function;
  assign m_axis_rx_tuser_queue      = s_axis_rx_tuser_queue;
  assign m_axis_rx_tuser_completion = s_axis_rx_tuser_completion;
  assign s_axis_tx_tready           = m_axis_tx_tready;
  assign m_axis_tx_tvalid           = s_axis_tx_tvalid;
  assign m_axis_tx_tdata            = s_axis_tx_tdata;
  assign m_axis_tx_tkeep            = s_axis_tx_tkeep;
  assign m_axis_tx_tlast            = s_axis_tx_tlast;
  assign m_axis_tx_tuser_queue      = s_axis_tx_tuser_queue;
  assign m_axis_tx_tuser_request    = s_axis_tx_tuser_request;

  reg [10:0] queue, others;
  wire [10:0] read_turn, write_turn;
  reg [15:0] bytes, gap;
  reg [31:0] count, mask, pattern, cycles;
  reg [63:0] base, seen;
  reg at_random;
  wire [1:0] begins;  // of reads, of writes
  wire [1:0] going, ended;
  wire [31:0] found[0:1][0:7];

  // Reads.
  wire [63:0] read_offset, write_offset;
  assign m_axis_dma_read_tuser_address = base + read_offset;
  assign m_axis_dma_read_tuser_bytes   = bytes;
  assign m_axis_dma_read_tuser_queue   = queue + (read_turn & others);
  assign s_axis_dma_read_tready        = 1;
  host_memory_run reads (
      .clk, .rst, .begins(begins[0]), .count, .mask, .gap, .at_random, .bytes,
      .valid(m_axis_dma_read_tvalid), .given(m_axis_dma_read_tvalid && m_axis_dma_read_tready),
      .offset(read_offset), .turn(read_turn), .ended(s_axis_dma_read_tvalid && s_axis_dma_read_tlast), .failed(s_axis_dma_read_tuser_error),
      .going(going[0]), .found(found[0])
  );
  integer i;
  reg [63:0] words;
  always @* begin
    words = 0;
    for (i = 0; i < DATA_BITS / 8; i = i + 1)
      if (s_axis_dma_read_tkeep[i]) words[8*(i%8)+:8] = words[8*(i%8)+:8] ^ s_axis_dma_read_tdata[8*i+:8];
  end

  // Writes: beats of a command, each word with its address.
  reg [11:0] beat;
  wire [11:0] last_beat = (bytes - 16'd1) >> $clog2(DATA_BITS / 8);
  wire [63:0] word_address = base + write_offset + {47'd0, beat, 5'd0};
  assign m_axis_dma_write_tuser_address = base + write_offset;
  assign m_axis_dma_write_tuser_bytes   = bytes;
  assign m_axis_dma_write_tuser_queue   = queue + (write_turn & others);
  assign m_axis_dma_write_tlast         = beat == last_beat;
  genvar w;
  generate
    for (w = 0; w < DATA_BITS / 64; w = w + 1) begin : word
      assign m_axis_dma_write_tdata[64*w+:64] = (word_address + 8 * w) ^ {pattern, pattern};
    end
  endgenerate
  wire beat_given = m_axis_dma_write_tvalid && m_axis_dma_write_tready;
  host_memory_run writes (
      .clk, .rst, .begins(begins[1]), .count, .mask, .gap, .at_random, .bytes,
      .valid(m_axis_dma_write_tvalid), .given(beat_given && m_axis_dma_write_tlast),
      .offset(write_offset), .turn(write_turn), .ended(s_axis_dma_written_tvalid), .failed(s_axis_dma_written_tuser_error),
      .going(going[1]), .found(found[1])
  );

  // Registers.
  wire register_write = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  wire register_read = s_axil_arvalid && !s_axil_rvalid;
  assign begins = register_write && s_axil_awaddr == 0 && going == 0 ? s_axil_wdata[1:0] : 2'd0;
  always @(posedge clk) begin
    if (beat_given) beat <= m_axis_dma_write_tlast ? 0 : beat + 1;
    if (begins != 0) begin
      at_random <= s_axil_wdata[2];
      cycles <= 0;
      seen <= 0;
    end else begin
      if (going != 0) cycles <= cycles + 1;
      if (s_axis_dma_read_tvalid) seen <= seen ^ words;
    end
    if (register_write && going == 0)
      case (s_axil_awaddr)
        16'h04: {others, queue} <= {s_axil_wdata[26:16], s_axil_wdata[10:0]};
        16'h08: bytes <= s_axil_wdata[15:0];
        16'h0c: count <= s_axil_wdata;
        16'h10: base[31:0] <= s_axil_wdata;
        16'h14: base[63:32] <= s_axil_wdata;
        16'h18: mask <= s_axil_wdata;
        16'h1c: gap <= s_axil_wdata[15:0];
        16'h20: pattern <= s_axil_wdata;
        default: ;
      endcase
    if (rst) begin
      {queue, others, bytes, count, base, mask, gap, pattern, cycles, seen, at_random} <= 0;
      beat <= 0;
    end
  end

  // AXI4-Lite: address and data of a write are taken together.
  assign s_axil_awready = register_write;
  assign s_axil_wready  = register_write;
  assign s_axil_arready = register_read;
  assign s_axil_bresp   = 0;
  assign s_axil_rresp   = 0;
  always @(posedge clk) begin
    if (s_axil_bready) s_axil_bvalid <= 0;
    if (s_axil_rready) s_axil_rvalid <= 0;
    if (register_write) s_axil_bvalid <= 1;
    if (register_read) begin
      s_axil_rvalid <= 1;
      case (s_axil_araddr)
        16'h00: s_axil_rdata <= {going != 0, 28'd0, at_random, 2'd0};
        16'h04: s_axil_rdata <= {5'd0, others, 5'd0, queue};
        16'h08: s_axil_rdata <= {16'd0, bytes};
        16'h0c: s_axil_rdata <= count;
        16'h10: s_axil_rdata <= base[31:0];
        16'h14: s_axil_rdata <= base[63:32];
        16'h18: s_axil_rdata <= mask;
        16'h1c: s_axil_rdata <= {16'd0, gap};
        16'h20: s_axil_rdata <= pattern;
        16'h24: s_axil_rdata <= cycles;
        16'h28: s_axil_rdata <= seen[31:0];
        16'h2c: s_axil_rdata <= seen[63:32];
        default:
          s_axil_rdata <= s_axil_araddr >= 16'h40 && s_axil_araddr < 16'h80 ?
            found[s_axil_araddr[5]][s_axil_araddr[4:2]] : 0;
      endcase
    end
    if (rst) {s_axil_bvalid, s_axil_rvalid} <= 0;
  end
endmodule

// The commands of a direction: when the next is given, where it goes, and what has ended.
module host_memory_run (
    input  wire        clk,
    input  wire        rst,
    input  wire        begins,
    input  wire [31:0] count,
    input  wire [31:0] mask,
    input  wire [15:0] gap,
    input  wire        at_random,
    input  wire [15:0] bytes,
    output reg         valid,
    input  wire        given,
    output wire [63:0] offset,
    output wire [10:0] turn,
    input  wire        ended,
    input  wire        failed,
    output reg         going,
    output wire [31:0] found[0:7]
);
  reg [31:0] now, left, done, errors, least, most, draw;
  reg [63:0] sum;
  reg [31:0] place;
  reg [15:0] wait_for;
  // Commands end in their order: the time of each waits until it does.
  reg [31:0] start[0:255];
  reg [7:0] head, tail;
  reg fresh;  // the command is offered for the first cycle
  wire [7:0] under_way = head - tail;
  wire room = under_way < 250;
  wire [31:0] took = now - start[tail];
  wire [31:0] stride = ({16'd0, bytes} + 63) & ~32'd63;
  assign turn = left[10:0];
  assign offset = {32'd0, place & mask & ~32'd63};
  assign found[0] = done;
  assign found[1] = errors;
  assign found[2] = least;
  assign found[3] = most;
  assign found[4] = sum[31:0];
  assign found[5] = sum[63:32];
  assign found[6] = 0;
  assign found[7] = 0;

  always @(posedge clk) begin
    now <= now + 1;
    draw <= {draw[30:0], draw[31] ^ draw[21] ^ draw[1] ^ draw[0]};
    if (begins) begin
      going <= count != 0;
      left <= count;
      {done, errors, most, sum, place} <= 0;
      least <= 32'hffffffff;
      wait_for <= 0;
    end
    if (wait_for != 0) wait_for <= wait_for - 1;
    // A gap of n: the next is offered n cycles behind the one before.
    if (given || !valid) begin
      valid <= 0;
      if (left != 0 && !begins && room && wait_for <= 1 && !(given && left == 1)) begin
        valid <= 1;
        fresh <= 1;
        wait_for <= gap;
        if (given) left <= left - 1;
        if (at_random) place <= draw ^ {draw[15:0], draw[31:16]};
        else if (given) place <= place + stride;
      end else if (given) begin
        left <= left - 1;
        if (!at_random) place <= place + stride;
      end
    end
    if (valid && fresh) begin
      start[head] <= now;
      head <= head + 1;
      fresh <= given && left > 1;
    end
    if (ended && going) begin
      tail <= tail + 1;
      done <= done + 1;
      if (failed) errors <= errors + 1;
      if (took < least) least <= took;
      if (took > most) most <= took;
      sum <= sum + {32'd0, took};
      if (done + 1 == count) going <= 0;
    end
    if (rst) begin
      {now, left, done, errors, least, most, sum, place, wait_for, head, tail, valid, fresh, going} <= 0;
      draw <= 32'h1badb002;
    end
  end
endmodule
