// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "wire/pulse_source.hpp"
#include "wire/wire_end.hpp"

namespace meridian {
namespace {

constexpr std::int64_t second_ps = 1'000'000'000'000;

TEST(PulseSource, RisesAtEachSecondOfItsClock) {
  const GrandmasterClockSetting setting{
      .offset_ns = -300'000'123, .drift_ppb = 7'000'000, .wander_ns = 500, .wander_ppb = 2000, .seed = 5};
  PulseSource source("pps:offset_ns=-300000123,drift_ppb=7000000,wander_ns=500,wander_ppb=2000,seed=5,width=3ms", 1);
  GrandmasterClock clock(setting);
  for (std::int64_t second = 0; second < 50; ++second) {
    const std::uint64_t rise = source.next_ps();
    const PtpInstant at = clock.at(static_cast<std::int64_t>(rise));
    EXPECT_LE(std::abs((at.ns - second * second_ps / 1000) * 1000 + at.ps), 2) << second;
    EXPECT_TRUE(source.advance());
    EXPECT_EQ(source.next_ps(), rise + 3'000'000'000);
    EXPECT_FALSE(source.advance());
  }
}

TEST(PulseSource, ALoopHasNoTimesOfItsOwn) {
  const PulseSource source("loop", 1);
  EXPECT_TRUE(source.loops(PulseSource::Output::pps));
  EXPECT_FALSE(source.loops(PulseSource::Output::perout));
  EXPECT_TRUE(PulseSource("loop:pin=perout", 1).loops(PulseSource::Output::perout));
  EXPECT_FALSE(PulseSource("pps", 1).loops(PulseSource::Output::pps));
  EXPECT_EQ(source.next_ps(), never_ps);
}

TEST(PulseSource, RefusesWhatItIsNot) {
  EXPECT_THROW(PulseSource("gps", 1), InputError);
  EXPECT_THROW(PulseSource("loop:width=1ms", 1), InputError);
  EXPECT_THROW(PulseSource("loop:pin=ext_ts", 1), InputError);
  EXPECT_THROW(PulseSource("pps:width=600ms", 1), InputError);
  EXPECT_THROW(PulseSource("pps:drift_ppb=2e7", 1), InputError);
  EXPECT_THROW(PulseSource("pps:rate=2", 1), InputError);
}

}  // namespace
}  // namespace meridian
