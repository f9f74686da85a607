// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace meridian {

/// Times on an Ethernet wire in bytes of its MAC clock: eight a cycle, at 10 Gb/s (156.25 MHz) and at 25 Gb/s
/// (390.625 MHz) alike. One direction of one port.
namespace wire {

constexpr std::uint64_t bytes_per_cycle = 8;
constexpr std::uint64_t preamble = 8;  // with the start-of-frame delimiter
constexpr std::uint64_t fcs = 4;
constexpr std::uint64_t gap = 12;
constexpr std::uint64_t lane = 4;  // a frame starts in byte 0 or 4 of a 64b/66b block

/// Bytes of wire time that a frame (length without FCS) costs when frames follow each other without a pause.
constexpr std::uint64_t cost(std::uint64_t length) {
  return preamble + length + fcs + gap;
}

/// Wire time at which a clock cycle begins.
constexpr std::uint64_t cycle_start(std::uint64_t cycle) {
  return cycle * bytes_per_cycle;
}

}  // namespace wire

/// Where the next frame may start: aligned to a lane, and with the deficit idle count of IEEE 802.3 46.3.1.4, by which
/// gaps are 9 to 15 bytes and 12 on the average.
class WireCursor {
 public:
  /// Start (first byte of the preamble) of the next frame, not before earliest. Asks only; commit() takes it.
  std::uint64_t next_start(std::uint64_t earliest) const { return plan(earliest).start; }

  /// The frame that next_start(earliest) told of is sent; length is without FCS.
  void commit(std::uint64_t earliest, std::uint64_t length) {
    const Plan p = plan(earliest);
    deficit_ = p.deficit;
    end_ = p.start + wire::preamble + length + wire::fcs;
    used_ = true;
  }

 private:
  struct Plan {
    std::uint64_t start;
    unsigned deficit;
  };

  Plan plan(std::uint64_t earliest) const {
    const std::uint64_t ideal = used_ ? end_ + wire::gap : 0;
    if (earliest > ideal) return {(earliest + wire::lane - 1) / wire::lane * wire::lane, deficit_};
    const auto over = static_cast<unsigned>(ideal % wire::lane);
    if (deficit_ + over < wire::lane) return {ideal - over, deficit_ + over};
    return {ideal + wire::lane - over, deficit_ + over - static_cast<unsigned>(wire::lane)};
  }

  std::uint64_t end_ = 0;  // of the last frame, after its FCS
  unsigned deficit_ = 0;   // bytes by which the gaps so far fall short of 12 each
  bool used_ = false;
};

}  // namespace meridian
