// SPDX-License-Identifier: Apache-2.0
#include "transceiver/eye_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace meridian {
namespace {

constexpr double bit_ps = 2560.0 / 66;
constexpr unsigned width = 32;

/// A scan as a program does it, of a place in the eye.
struct Scan {
  EyeScan lane{bit_ps, 7};
  std::uint64_t now = 0;

  void prepare(unsigned prescale) {
    const std::uint16_t masks[] = {0xffff, 0xffff, 0xffff, 0, 0};
    for (unsigned i = 0; i < 5; ++i) {
      lane.write(drp::es_sdata_mask0 + i, masks[i], now);
      lane.write(drp::es_sdata_mask5 + i, 0xffff, now);
    }
    lane.write(drp::es_control, static_cast<std::uint16_t>(drp::es_enables | prescale), now);
  }
  void begin(int across, int up) {
    lane.write(drp::es_horz_offset, static_cast<std::uint16_t>((across & 0x7ff) << 4), now);
    lane.write(drp::rx_eyescan_vs, static_cast<std::uint16_t>(std::abs(up) << 2 | (up < 0 ? 1 << 10 : 0)), now);
    const std::uint16_t control = lane.read(drp::es_control, now);
    lane.write(drp::es_control, control & ~drp::es_run & 0xffff, now);
    lane.write(drp::es_control, control | drp::es_run, now);
  }
  bool done() const { return (lane.read(drp::es_control_status, now) & 1U) != 0; }

  /// The error rate it finds.
  double rate(int across, int up, unsigned prescale) {
    begin(across, up);
    now += 1'000'000'000'000;
    EXPECT_TRUE(done());
    const double samples = lane.read(drp::es_sample_count, now);
    return lane.read(drp::es_error_count, now) / (samples * std::pow(2.0, 1 + prescale) * width);
  }
};

TEST(EyeScan, CountsForAsLongAsItsWordsTake) {
  Scan scan;
  scan.prepare(3);
  scan.lane.receiver_reset();
  scan.begin(0, 0);
  const double ps = 65535.0 * 16 * width * bit_ps;
  scan.now = static_cast<std::uint64_t>(ps) - 1000;
  EXPECT_FALSE(scan.done());
  EXPECT_EQ(scan.lane.read(drp::es_sample_count, scan.now), 0);
  scan.now += 2000;
  EXPECT_TRUE(scan.done());
  EXPECT_EQ(scan.lane.read(drp::es_sample_count, scan.now), 65535);
  EXPECT_EQ(scan.lane.read(drp::es_error_count, scan.now), 0);
}

TEST(EyeScan, FindsTheModelledEye) {
  Scan scan;
  Eye eye;
  eye.width = 0.5;
  eye.height = 100;
  scan.lane.set_eye(eye);
  const unsigned prescale = 8;
  scan.prepare(prescale);
  scan.lane.receiver_reset();
  EXPECT_EQ(scan.rate(0, 0, prescale), 0);
  for (const auto& [across, up] : {std::pair{12, 0}, {-12, 0}, {0, 38}, {0, -38}, {9, 25}}) {
    const double wanted = eye.error_rate(across / 64.0, up);
    ASSERT_GT(wanted, 1e-7);
    EXPECT_NEAR(std::log10(scan.rate(across, up, prescale)), std::log10(wanted), 0.1) << across << ", " << up;
  }
  for (const auto& [across, up] : {std::pair{16, 0}, {-32, 0}, {0, 60}, {0, -127}})
    EXPECT_NEAR(scan.rate(across, up, prescale), 0.5, 0.01) << across << ", " << up;
}

TEST(EyeScan, SeesNoEyeWithoutASignal) {
  Scan scan;
  scan.lane.set_signal(false);
  scan.prepare(0);
  scan.lane.receiver_reset();
  EXPECT_NEAR(scan.rate(0, 0, 0), 0.5, 0.01);
}

TEST(EyeScan, RunsOnlyIfItWasEnabledBeforeTheReceiversReset) {
  Scan scan;
  scan.lane.receiver_reset();
  scan.prepare(0);
  scan.begin(0, 0);
  scan.now += 1'000'000'000'000;
  EXPECT_FALSE(scan.done());
  scan.lane.receiver_reset();
  scan.begin(0, 0);
  scan.now += 1'000'000'000'000;
  EXPECT_TRUE(scan.done());
}

}  // namespace
}  // namespace meridian
