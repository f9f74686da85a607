// SPDX-License-Identifier: Apache-2.0
#include "shell/clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t rebase_at_fs = std::uint64_t{1} << 60;

}  // namespace

ClockSetting ClockSetting::make(std::string name, std::uint64_t nominal_fs, double ppm, std::uint64_t phase_fs) {
  if (!(std::abs(ppm) <= 1000.0)) throw InputError("clock " + name + ": choose -1000 to 1000 ppm");
  const auto period = std::llround(static_cast<double>(nominal_fs) / (1.0 + ppm * 1e-6));
  return {std::move(name), static_cast<std::uint64_t>(period), phase_fs};
}

ClockScheduler::ClockScheduler(std::vector<ClockSetting> clocks, bool falling_edges) : falling_edges_(falling_edges) {
  if (clocks.empty() || clocks.size() > 32) throw InputError("choose 1 to 32 clocks");
  for (auto& setting : clocks) {
    if (setting.period_fs < 2) throw InputError("clock " + setting.name + ": the period must be 2 fs or more");
    if (setting.phase_fs >= rebase_at_fs) throw InputError("clock " + setting.name + ": the phase is too far");
    Clock clock;
    clock.setting = std::move(setting);
    clock.next_rise = clock.setting.phase_fs;
    clock.next_fall = falling_edges ? clock.next_rise + clock.setting.period_fs / 2 : never;
    clocks_.push_back(std::move(clock));
  }
}

ClockEdge ClockScheduler::advance() {
  std::uint64_t next = never;
  for (const auto& clock : clocks_) next = std::min({next, clock.next_rise, clock.next_fall});
  ClockEdge edge;
  for (std::size_t i = 0; i < clocks_.size(); ++i) {
    auto& clock = clocks_[i];
    if (clock.next_rise == next) {
      edge.rising |= 1U << i;
      clock.next_rise += clock.setting.period_fs;
      ++clock.cycles;
    }
    if (clock.next_fall == next) {
      edge.falling |= 1U << i;
      clock.next_fall += clock.setting.period_fs;
    }
  }
  now_fs_ = next;
  if (now_fs_ >= rebase_at_fs) rebase();
  return edge;
}

std::vector<std::uint32_t> ClockScheduler::jump(std::uint64_t duration_fs) {
  std::vector<std::uint32_t> left_out;
  for (auto& clock : clocks_) {
    const std::uint64_t periods = duration_fs / clock.setting.period_fs;
    if (periods >= std::numeric_limits<std::uint32_t>::max()) throw InputError("a jump of time is too far");
    clock.next_rise += periods * clock.setting.period_fs;
    if (falling_edges_) clock.next_fall += periods * clock.setting.period_fs;
    clock.cycles += periods;
    left_out.push_back(static_cast<std::uint32_t>(periods));
  }
  return left_out;
}

void ClockScheduler::rebase() {
  const std::uint64_t shift_ps = now_fs_ / 1000;
  const std::uint64_t shift_fs = shift_ps * 1000;
  epoch_ps_ += shift_ps;
  now_fs_ -= shift_fs;
  for (auto& clock : clocks_) {
    clock.next_rise -= shift_fs;
    if (falling_edges_) clock.next_fall -= shift_fs;
  }
}

}  // namespace meridian
