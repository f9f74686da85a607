// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "mac/wire_cursor.hpp"

namespace meridian {

/// What every end knows of the wire it is at.
struct WireSetting {
  unsigned gbps = 25;  // 10 or 25
  std::uint64_t seed = 1;

  constexpr std::uint64_t byte_ps() const { return 8000 / gbps; }

  /// What a frame (length without FCS) costs in a stream without a pause.
  constexpr std::uint64_t frame_ps(std::size_t length) const { return wire::cost(length) * byte_ps(); }
};

/// For an end that fills the wire: how much of what it handed over still waits at the MAC. Enough must, that the wire
/// never runs dry before the next poll; more would only delay what others send.
class Ahead {
 public:
  explicit Ahead(const WireSetting& setting) : setting_(setting) {}

  /// pending as poll() has it.
  void update(std::size_t pending) {
    while (lengths_.size() > pending) {
      ahead_ps_ -= setting_.frame_ps(lengths_.front());
      lengths_.pop_front();
    }
  }

  void add(std::size_t length) {
    lengths_.push_back(length);
    ahead_ps_ += setting_.frame_ps(length);
  }

  bool full() const { return ahead_ps_ >= enough_ps && lengths_.size() >= 4; }

  /// When to look again, with half of it gone.
  std::uint64_t again_ps(std::uint64_t now_ps) const { return now_ps + ahead_ps_ / 2 + 1; }

 private:
  static constexpr std::uint64_t enough_ps = 1'000'000;
  WireSetting setting_;
  std::deque<std::size_t> lengths_;
  std::uint64_t ahead_ps_ = 0;
};

/// How long before its time a frame is handed over.
constexpr std::uint64_t hand_over_ps = 1'000'000;

/// Frames handed over and not begun that an end with times of its own may have at most; with more it waits.
constexpr std::size_t most_pending = 1024;

}  // namespace meridian
