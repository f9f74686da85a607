// SPDX-License-Identifier: Apache-2.0
#include "wire/ptp/grandmaster_clock.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace meridian {

GrandmasterClock::GrandmasterClock(const GrandmasterClockSetting& setting) : setting_(setting), random_(setting.seed) {
  if (!(std::abs(setting.drift_ppb) <= 1e7)) throw InputError("grandmaster: the drift must be within 10000000 ppb");
  if (!(setting.wander_ns >= 0 && setting.wander_ns <= 1e9 && setting.wander_ppb >= 0 && setting.wander_ppb <= 1e7))
    throw InputError("grandmaster: wander is 0 to 1000000000 ns and 0 to 10000000 ppb");
}

double GrandmasterClock::wander_ps(std::int64_t twin_ps) {
  if (setting_.wander_ns == 0 || setting_.wander_ppb == 0 || twin_ps <= 0) return 0;
  const std::int64_t step = twin_ps / step_ps;
  const double bound = setting_.wander_ns * 1000;
  const double most = std::min(setting_.wander_ppb * 1e-9 * static_cast<double>(step_ps), bound);
  while (first_ + static_cast<std::int64_t>(walk_.size()) < step + 2) {
    double next = walk_.back() + (2 * random_.fraction() - 1) * most;
    if (next > bound) next = 2 * bound - next;
    if (next < -bound) next = -2 * bound - next;
    walk_.push_back(next);
    if (walk_.size() <= kept) continue;
    walk_.pop_front();
    ++first_;
  }
  if (step < first_) return walk_.front();
  const auto index = static_cast<std::size_t>(step - first_);
  const double part = static_cast<double>(twin_ps % step_ps) / static_cast<double>(step_ps);
  return walk_[index] + (walk_[index + 1] - walk_[index]) * part;
}

PtpInstant GrandmasterClock::at(std::int64_t twin_ps) {
  const double off_ps = static_cast<double>(twin_ps) * setting_.drift_ppb * 1e-9 + wander_ps(twin_ps);
  const std::int64_t ps = twin_ps + std::llround(off_ps);
  std::int64_t ns = ps / 1000;
  std::int64_t rest = ps % 1000;
  if (rest < 0) {
    rest += 1000;
    --ns;
  }
  return {ns + setting_.offset_ns, static_cast<std::uint32_t>(rest)};
}

}  // namespace meridian
