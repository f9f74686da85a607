// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "base/random.hpp"
#include "wire/ptp/ptp_message.hpp"

namespace meridian {

struct GrandmasterClockSetting {
  std::int64_t offset_ns = 0;  // at twin time 0
  double drift_ppb = 0;        // it runs that much fast, up to +-10^7
  double wander_ns = 0;        // bound of the random walk around the line, both ways
  double wander_ppb = 0;       // and of its steepness
  std::uint64_t seed = 1;
};

/// A clock that runs on a line, offset + twin time * (1 + drift), with a bounded random walk around it: each 10 ms a
/// step drawn evenly within the steepness, reflected at the bound, straight in between.
class GrandmasterClock {
 public:
  explicit GrandmasterClock(const GrandmasterClockSetting& setting);

  /// What it shows at a moment of twin time, exact to a picosecond. A moment may lie up to 100 ms before the latest
  /// one asked for; older wander is forgotten.
  PtpInstant at(std::int64_t twin_ps);

 private:
  double wander_ps(std::int64_t twin_ps);

  static constexpr std::int64_t step_ps = 10'000'000'000;
  static constexpr std::size_t kept = 12;
  GrandmasterClockSetting setting_;
  Random random_;
  std::deque<double> walk_{0.0};  // at whole steps
  std::int64_t first_ = 0;        // step of the first of them
};

}  // namespace meridian
