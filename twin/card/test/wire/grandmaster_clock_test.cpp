// SPDX-License-Identifier: Apache-2.0
#include "wire/ptp/grandmaster_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace meridian {
namespace {

TEST(GrandmasterClock, RunsOnItsLine) {
  GrandmasterClock clock({.offset_ns = -7, .drift_ppb = -100'000});
  EXPECT_EQ(clock.at(0), (PtpInstant{-7, 0}));
  EXPECT_EQ(clock.at(1'000'000'000'000), (PtpInstant{999'900'000 - 7, 0}));
  EXPECT_EQ(clock.at(1'234), (PtpInstant{1 - 7, 234}));
  EXPECT_EQ(clock.at(86'400LL * 1'000'000'000'000), (PtpInstant{86'400'000'000'000 - 8'640'000'000 - 7, 0}));
  GrandmasterClock now({.offset_ns = 1'800'000'000'000'000'000});
  EXPECT_EQ(now.at(1'500), (PtpInstant{1'800'000'000'000'000'001, 500}));
  EXPECT_THROW(GrandmasterClock({.drift_ppb = 2e7}), InputError);
}

TEST(GrandmasterClock, WandersWithinItsBounds) {
  GrandmasterClock clock({.wander_ns = 200, .wander_ppb = 1000, .seed = 3});
  GrandmasterClock same({.wander_ns = 200, .wander_ppb = 1000, .seed = 3});
  GrandmasterClock other({.wander_ns = 200, .wander_ppb = 1000, .seed = 4});
  double before = 0, most = 0, least = 0;
  bool differs = false;
  constexpr std::int64_t step = 7'000'000'000;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    const std::int64_t ps = i * step;
    const PtpInstant shown = clock.at(ps);
    EXPECT_EQ(shown, same.at(ps));
    differs |= !(shown == other.at(ps));
    const double off_ns =
        static_cast<double>(shown.ns - ps / 1000) + (shown.ps - static_cast<double>(ps % 1000)) / 1000;
    ASSERT_LE(std::abs(off_ns), 200.001);
    ASSERT_LE(std::abs(off_ns - before), 1000e-9 * step / 1000 + 0.002);
    before = off_ns;
    most = std::max(most, off_ns);
    least = std::min(least, off_ns);
    if (i % 100 == 50) {
      EXPECT_EQ(clock.at(ps - 50'000'000), same.at(ps - 50'000'000));
    }
  }
  EXPECT_TRUE(differs);
  EXPECT_GT(most, 100);  // and it does go somewhere
  EXPECT_LT(least, -100);
}

}  // namespace
}  // namespace meridian
