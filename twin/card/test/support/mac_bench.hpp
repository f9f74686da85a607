// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mac/mac_rx.hpp"
#include "mac/mac_tx.hpp"

namespace meridian {

constexpr std::uint64_t period_ps = 2560;  // 25 Gb/s

inline Bytes numbered(std::size_t length, std::uint8_t first = 0) {
  Bytes bytes(length);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

/// A stamp of a bench's timer, which is rounded down, is that of the moment: a delimiter in the second lane ends 1.28
/// ns before its edge, of which whole nanoseconds are taken off.
inline void expect_stamp(std::uint32_t stamp_ns, std::uint64_t sfd_ps) {
  const double error = stamp_ns - static_cast<double>(sfd_ps) / 1000;
  EXPECT_GT(error, -1.0);
  EXPECT_LT(error, 0.281);
}

/// Receive pins that nobody drives but the model.
struct RxBench {
  std::uint8_t tvalid = 0, tkeep = 0, tlast = 0, tuser = 0, tstamp_valid = 0;
  std::uint64_t tdata = 0;
  std::array<std::uint32_t, 3> tstamp{}, timer{};
  MacRx mac{MacRxPins{tvalid, tdata, tkeep, tlast, tuser, tstamp_valid, tstamp, timer}, static_cast<double>(period_ps)};
  std::uint64_t cycle = 0;

  /// One cycle; the timer shows the nanoseconds of its edge.
  void tick() {
    timer[0] = static_cast<std::uint32_t>(cycle * period_ps / 1000);
    mac.drive(cycle * period_ps);
    ++cycle;
  }
};

/// A shell that always has a frame to send.
struct TxBench {
  std::uint8_t tready = 0, tvalid = 0, tkeep = 0, tlast = 0, tuser = 0, ptp_op = 0, tstamp_valid = 0;
  std::uint16_t ptp_tag = 0, tstamp_tag = 0;
  std::uint64_t tdata = 0;
  std::array<std::uint32_t, 3> tstamp{}, timer{};
  MacTx mac{
      MacTxPins{tready, tvalid, tdata, tkeep, tlast, tuser, ptp_op, ptp_tag, tstamp_valid, tstamp_tag, tstamp, timer},
      "tx", static_cast<double>(period_ps)};
  std::uint64_t cycle = 0;
  std::size_t offset = 0;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> stamps;  // tag and nanoseconds that came back

  /// One cycle in which the next beat of the frame is offered; true when the frame ended.
  bool tick(const Bytes& frame) {
    tvalid = offset < frame.size();
    const std::size_t left = frame.size() - offset;
    tdata = load_word(frame, offset);
    tkeep = static_cast<std::uint8_t>(left >= 8 ? 0xffU : (1U << left) - 1);
    tlast = left <= 8;
    return edge(frame.size());
  }

  bool edge(std::size_t length) {
    timer[0] = static_cast<std::uint32_t>(cycle * period_ps / 1000);
    const bool taken = tvalid != 0 && tready != 0;
    mac.sample(cycle * period_ps);
    mac.drive();
    if (tstamp_valid != 0) stamps.emplace_back(tstamp_tag, tstamp[0]);
    ++cycle;
    if (!taken) return false;
    offset += 8;
    if (offset < length) return false;
    offset = 0;
    return true;
  }
};

}  // namespace meridian
