// SPDX-License-Identifier: Apache-2.0
#include "shell/clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "qdma/qdma_ip.hpp"
#include "qdma/state/csr.hpp"
#include "shell/card_clocks.hpp"

namespace meridian {
namespace {

TEST(ClockScheduler, WalksThroughDistinctMomentsInOrder) {
  ClockScheduler clocks({{"a", 4'000, 0}, {"b", 6'000, 2'000}});
  struct Expected {
    std::uint64_t ps;
    std::uint32_t rising;
  };
  // a: 0 4 8 12 16 20; b: 2 8 14 20
  for (const Expected e : {Expected{0, 1}, {2, 2}, {4, 1}, {8, 3}, {12, 1}, {14, 2}, {16, 1}, {20, 3}}) {
    const ClockEdge edge = clocks.advance();
    EXPECT_EQ(clocks.now_ps(), e.ps);
    EXPECT_EQ(edge.rising, e.rising);
    EXPECT_EQ(edge.falling, 0U);
  }
}

TEST(HostClock, IsWhatTheShellWasGeneratedForAndWhatTimersOfTheIpCount) {
  for (const auto& [mhz, period_fs] : {std::pair{250U, 4'000'000U}, {125U, 8'000'000U}}) {
    EXPECT_EQ(clock_settings({}, 1, mhz)[host_clock].period_fs, period_fs);
    EXPECT_EQ(clock_settings({}, 1, mhz)[ps_clock].period_fs, 4'000'000U);
    QdmaSetting setting;
    setting.user_mhz = mhz;
    Csr csr(setting);
    csr.write(reg::timer_count, 3);
    EXPECT_EQ(csr.timer_ps(0), 3U * 25U * period_fs / 1000);
  }
}

TEST(ClockScheduler, ReportsFallingEdgesWhenAskedTo) {
  ClockScheduler clocks({{"a", 4'000, 1'000}}, true);
  for (unsigned i = 0; i < 6; ++i) {
    const ClockEdge edge = clocks.advance();
    EXPECT_EQ(clocks.now_ps(), 1 + 2 * i);
    EXPECT_EQ(edge.rising, i % 2 == 0 ? 1U : 0U);
    EXPECT_EQ(edge.falling, i % 2 == 0 ? 0U : 1U);
  }
}

TEST(ClockScheduler, KeepsExactCountOverLongTimes) {
  // 390.625 MHz has 2.56 ns: a million cycles of it are 640,000 cycles of 250 MHz, to the femtosecond.
  ClockScheduler clocks({{"mac", 2'560'000, 0}, {"host", 4'000'000, 0}});
  ClockEdge edge;
  do edge = clocks.advance();
  while (clocks.cycles(0) <= 1'000'000);
  EXPECT_EQ(clocks.now_ps(), 2'560'000'000U);
  EXPECT_EQ(clocks.now_fs_in_ps(), 0U);
  EXPECT_EQ(clocks.cycles(1), 640'001U);
  EXPECT_EQ(edge.rising, 3U);
}

TEST(ClockScheduler, GoesOnBeyondTheRangeOfFemtoseconds) {
  const std::uint64_t hour_fs = 3'600'000'000'000'000'000U / 8;
  ClockScheduler clocks({{"slow", hour_fs, 7}});
  for (int i = 0; i < 200; ++i) clocks.advance();  // 25 hours
  EXPECT_EQ(clocks.now_ps(), 199 * (hour_fs / 1000));
  EXPECT_EQ(clocks.now_fs_in_ps(), 7U);
}

TEST(ClockSetting, TurnsPpmIntoAPeriod) {
  EXPECT_EQ(ClockSetting::make("c", 4'000'000).period_fs, 4'000'000U);
  EXPECT_EQ(ClockSetting::make("c", 4'000'000, 100).period_fs, 3'999'600U);
  EXPECT_EQ(ClockSetting::make("c", 2'560'000, -50).period_fs, 2'560'128U);
  EXPECT_THROW(ClockSetting::make("c", 4'000'000, 5000), InputError);
}

TEST(ClockScheduler, RefusesClocksThatCannotBe) {
  EXPECT_THROW(ClockScheduler({}), InputError);
  EXPECT_THROW(ClockScheduler({{"c", 0, 0}}), InputError);
}

}  // namespace
}  // namespace meridian
