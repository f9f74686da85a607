// SPDX-License-Identifier: Apache-2.0
// A block in C++ for Vitis HLS, one direction of a box: IPv4 packets with UDP get the DSCP of expedited forwarding (RFC
// 3246), so that switches send them first. The ECN bits stay, and the header's checksum is brought up to date (RFC
// 1624). All other frames pass as they are. Beats have DATA_BITS, 256 or 512: all that decides is in the first of a
// frame.
//
// Synthesis makes a module with an AXI4-Stream "source", another "sink", ap_clk and ap_rst_n.
#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#ifndef DATA_BITS
#define DATA_BITS 256
#endif

using Beat = ap_axiu<DATA_BITS, 0, 0, 0>;

namespace {
constexpr int kType = 12, kVersion = 14, kService = 15, kProtocol = 23, kChecksum = 24, kLast = 25;
constexpr unsigned kExpedited = 46, kUdp = 17;

unsigned get(const Beat& beat, int byte) {
  return beat.data.range(8 * byte + 7, 8 * byte).to_uint();
}
void set(Beat& beat, int byte, unsigned value) {
  beat.data.range(8 * byte + 7, 8 * byte) = value;
}
}  // namespace

void dscp_marker(hls::stream<Beat>& source, hls::stream<Beat>& sink) {
#pragma HLS INTERFACE mode = axis port = source
#pragma HLS INTERFACE mode = axis port = sink
#pragma HLS INTERFACE mode = ap_ctrl_none port = return
#pragma HLS PIPELINE II = 1
  static bool first = true;
#pragma HLS RESET variable = first
  Beat beat = source.read();
  bool is_udp = get(beat, kType) == 0x08 && get(beat, kType + 1) == 0x00 && get(beat, kVersion) >> 4 == 4 &&
                get(beat, kProtocol) == kUdp && beat.keep[kLast];
  if (first && is_udp) {
    unsigned old = get(beat, kService);
    unsigned marked = kExpedited << 2 | (old & 3);
    // ~(~checksum + ~old + new), in ones' complement.
    unsigned sum = (get(beat, kChecksum) << 8 | get(beat, kChecksum + 1)) ^ 0xFFFF;
    sum += (old ^ 0xFFFF) + marked;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = ((sum & 0xFFFF) + (sum >> 16)) ^ 0xFFFF;
    set(beat, kService, marked);
    set(beat, kChecksum, sum >> 8 & 0xFF);
    set(beat, kChecksum + 1, sum & 0xFF);
  }
  first = beat.last;
  sink.write(beat);
}
