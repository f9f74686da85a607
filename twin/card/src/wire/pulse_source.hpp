// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/ptp/grandmaster_clock.hpp"

namespace meridian {

extern const std::string_view pulse_help;

/// What drives the pin for external timestamps: the pulse of a receiver at each second of a clock of its own, or the
/// card's own pulse per second or periodic output.
class PulseSource {
 public:
  /// text: as in pulse_help. What is wrong is an InputError.
  PulseSource(const std::string& text, std::uint64_t seed);

  enum class Output { pps, perout };

  /// Whether this output of the card's is at the pin.
  bool loops(Output output) const { return loop_ == output; }

  /// Of the next edge in twin time; never for a loop.
  std::uint64_t next_ps() const { return next_ps_; }

  /// Level from next_ps() on.
  bool advance();

 private:
  void find_second();

  GrandmasterClock clock_{{}};
  std::optional<Output> loop_;
  bool level_ = false;
  std::uint64_t width_ps_ = 0;
  std::uint64_t rise_ps_ = 0;
  std::uint64_t next_ps_;
};

}  // namespace meridian
