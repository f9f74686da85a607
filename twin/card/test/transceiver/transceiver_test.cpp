// SPDX-License-Identifier: Apache-2.0
#include "transceiver/transceiver.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace meridian {
namespace {

constexpr double period_ps = 2560;
constexpr double bit_ps = period_ps / 66;

/// The pins, and a shell that drives them: one clock for all, of 4 ns.
struct Bench {
  std::uint8_t loopback = 0, tx_prbs = 0, rx_prbs = 0, force_error = 0, count_reset = 0, prbs_error = 0;
  std::uint8_t eyescan_reset = 0, drp_en = 0, drp_we = 0, drp_rdy = 0, tx_restart = 0;
  std::uint16_t drp_addr = 0, drp_di = 0, drp_do = 0;
  std::uint64_t now = 0;
  bool in_reset = false;
  Transceiver lane{{loopback, tx_prbs, rx_prbs, force_error, count_reset, prbs_error, eyescan_reset, drp_en, drp_we,
                    drp_addr, drp_di, drp_do, drp_rdy, tx_restart},
                   period_ps,
                   1};

  void step(std::uint64_t ps = 4000) {
    now += ps;
    lane.sample_ps(now, in_reset);
    lane.sample_tx();
    lane.sample_rx(now);
    lane.drive_ps();
    lane.drive_rx();
  }
  void reset() {
    step();
    in_reset = true;
    step();
    EXPECT_FALSE(lane.link(now));
    in_reset = false;
    step();
    step(Transceiver::relock_ps);
    step();
  }
  /// Cycles until the answer; 0: none came.
  unsigned access(unsigned address, bool write = false, std::uint16_t data = 0) {
    drp_en = 1;
    drp_we = write;
    drp_addr = static_cast<std::uint16_t>(address);
    drp_di = data;
    step();
    drp_en = drp_we = 0;
    for (unsigned cycle = 1; cycle < 100; ++cycle) {
      step();
      if (drp_rdy != 0) return cycle;
    }
    return 0;
  }
  std::uint16_t read(unsigned address) {
    EXPECT_EQ(access(address), Transceiver::drp_cycles);
    return drp_do;
  }
  void write(unsigned address, std::uint16_t data) { EXPECT_EQ(access(address, true, data), Transceiver::drp_cycles); }
  std::uint32_t errors() {
    return read(drp::rx_prbs_err_cnt_l) | static_cast<std::uint32_t>(read(drp::rx_prbs_err_cnt_h)) << 16;
  }
};

TEST(Transceiver, LosesItsLockWithALoopbackAndFindsItAfterAReset) {
  Bench bench;
  bench.step();
  EXPECT_TRUE(bench.lane.link(bench.now));
  bench.loopback = 2;
  bench.step();
  EXPECT_TRUE(bench.lane.near());
  EXPECT_FALSE(bench.lane.link(bench.now));
  bench.step(1'000'000'000'000);
  EXPECT_FALSE(bench.lane.link(bench.now)) << "nobody has reset the receiver";
  bench.in_reset = true;
  bench.step();
  bench.loopback = 1;
  bench.step(1'000'000'000);
  EXPECT_FALSE(bench.lane.link(bench.now)) << "the reset lasts";
  bench.in_reset = false;
  bench.step();
  bench.step(Transceiver::relock_ps - 1);
  EXPECT_FALSE(bench.lane.link(bench.now));
  bench.step(1);
  EXPECT_TRUE(bench.lane.link(bench.now));
}

TEST(Transceiver, NeedsNoSignalInANearLoopback) {
  Bench bench;
  bench.lane.set_signal(false);
  bench.step();
  EXPECT_FALSE(bench.lane.link(bench.now));
  for (const int mode : {1, 2}) {
    bench.loopback = static_cast<std::uint8_t>(mode);
    bench.reset();
    EXPECT_TRUE(bench.lane.link(bench.now));
  }
  for (const int mode : {4, 6}) {
    bench.loopback = static_cast<std::uint8_t>(mode);
    bench.reset();
    EXPECT_TRUE(bench.lane.far());
    EXPECT_FALSE(bench.lane.link(bench.now));
  }
}

TEST(Transceiver, DoesNotLockInANearLoopbackIfItIsTold) {
  Bench bench;
  bench.lane.set({.near_locks = false});
  for (const int mode : {1, 2}) {
    bench.loopback = static_cast<std::uint8_t>(mode);
    bench.reset();
    EXPECT_FALSE(bench.lane.link(bench.now));
  }
  bench.loopback = 0;
  bench.reset();
  EXPECT_TRUE(bench.lane.link(bench.now));
}

TEST(Transceiver, DamagesSoManyFramesAsItIsTold) {
  Bench bench;
  EXPECT_FALSE(bench.lane.damages());
  bench.lane.set({.damage = 2});
  EXPECT_TRUE(bench.lane.damages());
  EXPECT_TRUE(bench.lane.damages());
  EXPECT_FALSE(bench.lane.damages());
}

TEST(Transceiver, CountsNothingInALoopbackWithoutErrorsAndForcedErrorsOneByOne) {
  Bench bench;
  bench.loopback = 1;
  bench.tx_prbs = bench.rx_prbs = 5;
  bench.reset();
  EXPECT_FALSE(bench.lane.link(bench.now)) << "a pattern is no frame";
  bench.count_reset = 1;
  bench.step();
  bench.count_reset = 0;
  bench.step(1'000'000'000);
  EXPECT_EQ(bench.errors(), 0U);
  EXPECT_EQ(bench.prbs_error, 0);
  for (int i = 0; i < 3; ++i) {
    bench.force_error = 1;
    bench.step();
    bench.force_error = 0;
    EXPECT_EQ(bench.prbs_error, 1);
    bench.step();
    EXPECT_EQ(bench.prbs_error, 0);
  }
  EXPECT_EQ(bench.errors(), 3U);
}

TEST(Transceiver, CountsByTheErrorRate) {
  for (const double rate : {1e-3, 1e-6, 1e-9}) {
    Bench bench;
    TransceiverSetting setting;
    setting.error_rate = rate;
    setting.peer_pattern = 3;
    bench.lane.set(setting);
    bench.rx_prbs = 3;
    bench.step();
    bench.count_reset = 1;
    bench.step();
    bench.count_reset = 0;
    const double wanted = 1000;
    bench.step(static_cast<std::uint64_t>(wanted / rate * bit_ps));
    EXPECT_NEAR(bench.errors(), wanted, 5 * std::sqrt(wanted)) << rate;
  }
}

TEST(Transceiver, FindsNoPatternWithoutAPeerOrInAnotherPattern) {
  Bench bench;
  for (const unsigned peer : {0U, 4U}) {
    TransceiverSetting setting;
    setting.peer_pattern = peer;
    bench.lane.set(setting);
    bench.rx_prbs = 5;
    bench.step();
    for (int i = 0; i < 100; ++i) {
      bench.step();
      EXPECT_EQ(bench.prbs_error, 1);
    }
    bench.step(10'000'000'000'000);
    EXPECT_EQ(bench.errors(), 0xffffffff) << "the counter stops";
  }
}

TEST(Transceiver, AnswersNoAccessIfItIsTold) {
  Bench bench;
  bench.write(0x123, 0xabcd);
  EXPECT_EQ(bench.read(0x123), 0xabcd);
  TransceiverSetting setting;
  setting.answers = false;
  bench.lane.set(setting);
  EXPECT_EQ(bench.access(0x123), 0U);
  bench.lane.set({});
  EXPECT_EQ(bench.read(0x123), 0xabcd);
}

}  // namespace
}  // namespace meridian
