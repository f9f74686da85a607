// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace meridian {

/// SplitMix64: small, fast, and the same on every machine for a seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// 0 to bound - 1.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }

  /// 0 up to, but not, 1.
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// True in percent of 100 cases; draws nothing for 0 and 100.
  bool percent(unsigned percent) { return percent >= 100 || (percent != 0 && below(100) < percent); }

 private:
  std::uint64_t state_;
};

}  // namespace meridian
