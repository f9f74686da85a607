// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shell/pins.hpp"

namespace meridian {

/// PTP time as the MAC carries it in 80 bits: {seconds[79:32], nanoseconds[31:0]}.
struct PtpTime {
  std::uint64_t seconds = 0;
  std::uint32_t nanoseconds = 0;

  static PtpTime sample(WidePin pin) { return {(std::uint64_t{pin[2] & 0xffffU} << 32) | pin[1], pin[0]}; }

  void drive(WidePin pin) const {
    pin[0] = nanoseconds;
    pin[1] = static_cast<std::uint32_t>(seconds);
    pin[2] = static_cast<std::uint32_t>(seconds >> 32) & 0xffffU;
  }

  /// Less than a second.
  PtpTime plus(std::uint32_t ns) const {
    PtpTime sum{seconds, nanoseconds + ns};
    if (sum.nanoseconds >= 1'000'000'000U) {
      sum.nanoseconds -= 1'000'000'000U;
      ++sum.seconds;
    }
    return sum;
  }

  /// Less than a second; not below 0.
  PtpTime minus(std::uint32_t ns) const {
    if (seconds == 0 && nanoseconds < ns) return {};
    if (nanoseconds >= ns) return {seconds, nanoseconds - ns};
    return {seconds - 1, nanoseconds + 1'000'000'000U - ns};
  }

  bool operator==(const PtpTime&) const = default;
};

}  // namespace meridian
