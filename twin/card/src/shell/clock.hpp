// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meridian {

/// One clock: a rising edge at phase and then every period, both in femtoseconds.
///
/// An oscillator that is off by some ppm is a period that is off; rounding to a femtosecond leaves 0.4 ppb at 2.56 ns.
struct ClockSetting {
  std::string name;
  std::uint64_t period_fs = 0;
  std::uint64_t phase_fs = 0;

  /// nominal_fs off by ppm (a fast clock has a positive ppm, hence a shorter period).
  static ClockSetting make(std::string name, std::uint64_t nominal_fs, double ppm = 0.0, std::uint64_t phase_fs = 0);
};

/// What happens at one moment: bit i of a mask is clock i.
struct ClockEdge {
  std::uint32_t rising = 0;
  std::uint32_t falling = 0;
};

/// Scheduler of several clocks: walks through the distinct moments at which at least one clock has an edge.
///
/// Deterministic: the same settings give the same edges. Falling edges are reported only when asked for; nothing in the
/// shell works on them, and each costs an evaluation.
class ClockScheduler {
 public:
  explicit ClockScheduler(std::vector<ClockSetting> clocks, bool falling_edges = false);

  /// Goes to the next moment with an edge.
  ClockEdge advance();

  /// Lets time pass without edges: each clock's next edge moves on by as many whole periods as fit into duration_fs.
  /// Phases stay. Returns the edges left out, by clock.
  std::vector<std::uint32_t> jump(std::uint64_t duration_fs);

  /// Moment of the edge last reported, in picoseconds (rounded down) and the femtoseconds above it.
  std::uint64_t now_ps() const { return epoch_ps_ + now_fs_ / 1000; }
  std::uint32_t now_fs_in_ps() const { return static_cast<std::uint32_t>(now_fs_ % 1000); }

  std::size_t size() const { return clocks_.size(); }
  const ClockSetting& setting(std::size_t clock) const { return clocks_[clock].setting; }

  /// Rising edges of a clock so far.
  std::uint64_t cycles(std::size_t clock) const { return clocks_[clock].cycles; }

 private:
  struct Clock {
    ClockSetting setting;
    std::uint64_t next_rise = 0;
    std::uint64_t next_fall = 0;
    std::uint64_t cycles = 0;
  };

  void rebase();

  std::vector<Clock> clocks_;
  bool falling_edges_;
  std::uint64_t now_fs_ = 0;    // since the epoch
  std::uint64_t epoch_ps_ = 0;  // 64 bits of femtoseconds are five hours only, so the epoch moves
};

}  // namespace meridian
