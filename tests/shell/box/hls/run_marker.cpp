// SPDX-License-Identifier: Apache-2.0
// Runs dscp_marker.cpp on the frames of its standard input, a line of hexadecimal digits each, and prints what it makes
// of them in the same way.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "ap_axi_sdata.h"
#include "hls_stream.h"

using Beat = ap_axiu<DATA_BITS, 0, 0, 0>;
void dscp_marker(hls::stream<Beat>& source, hls::stream<Beat>& sink);

namespace {
constexpr int kBytes = DATA_BITS / 8;

/// The frame's next beat, through the block and back into the line.
void step(std::string& line, size_t at) {
  hls::stream<Beat> source, sink;
  Beat beat;
  size_t count = std::min<size_t>(kBytes, line.size() / 2 - at);
  for (size_t i = 0; i < count; i++) {
    beat.data.range(8 * i + 7, 8 * i) = std::stoul(line.substr(2 * (at + i), 2), nullptr, 16);
    auto keep = beat.keep.range(i / 8 * 8 + 7, i / 8 * 8);
    keep = keep.to_uint() | 1u << i % 8;
  }
  beat.last = at + count == line.size() / 2;
  source.write(beat);
  dscp_marker(source, sink);
  beat = sink.read();
  for (size_t i = 0; i < count; i++) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", beat.data.range(8 * i + 7, 8 * i).to_uint());
    line.replace(2 * (at + i), 2, digits);
  }
}
}  // namespace

int main() try {
  for (std::string line; std::getline(std::cin, line);) {
    for (size_t at = 0; at < line.size() / 2; at += kBytes) step(line, at);
    std::cout << line << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << "run_marker: " << error.what() << '\n';
  return 1;
}
