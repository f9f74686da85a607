// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "mac/wire_cursor.hpp"
#include "support/mac_bench.hpp"

namespace meridian {
namespace {

class WireGaps : public testing::TestWithParam<std::uint64_t> {};

TEST_P(WireGaps, BackToBackFramesCostExactlyTwelveBytesOfGapOnAverage) {
  const std::uint64_t length = GetParam();
  WireCursor cursor;
  cursor.commit(0, length);
  std::uint64_t end = wire::preamble + length + wire::fcs;
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    const std::uint64_t start = cursor.next_start(0);
    EXPECT_EQ(start % 4, 0U);
    EXPECT_GE(start - end, 9U);
    EXPECT_LE(start - end, 15U);
    EXPECT_LE(std::abs(static_cast<long>(start) - static_cast<long>(n * wire::cost(length))), 3);
    cursor.commit(0, length);
    end = start + wire::preamble + length + wire::fcs;
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, WireGaps, testing::Values(60, 61, 62, 63, 64, 1514, 9600));

TEST(WireCursor, StartsLateFramesOnTheNextLane) {
  WireCursor cursor;
  cursor.commit(0, 60);
  EXPECT_EQ(cursor.next_start(1001), 1004U);
  EXPECT_EQ(cursor.next_start(1004), 1004U);
}

TEST(MacRx, GivesContiguousBeatsAtLineRate) {
  for (const std::size_t length : {60U, 61U, 65U, 1514U}) {
    RxBench bench;
    constexpr unsigned count = 400;
    for (unsigned i = 0; i < count; ++i) bench.mac.send({numbered(length, static_cast<std::uint8_t>(i)), 0, false, 0});
    std::vector<std::uint64_t> starts;
    Bytes frame;
    unsigned ended = 0;
    while (!bench.mac.idle()) {
      bench.tick();
      if (bench.tvalid == 0) {
        ASSERT_TRUE(frame.empty()) << "a hole in a frame";
        continue;
      }
      if (frame.empty()) {
        starts.push_back(bench.cycle - 1);
        EXPECT_EQ(bench.tstamp_valid, 1);
        const std::uint64_t sfd_ps = bench.mac.statistics().last_sfd_ps;
        expect_stamp(bench.tstamp[0], sfd_ps);
        const std::uint64_t edge_ps = (bench.cycle - 1) * period_ps;
        EXPECT_TRUE(sfd_ps == edge_ps || sfd_ps + period_ps / 2 == edge_ps) << sfd_ps;
      }
      for (unsigned lane = 0; lane < 8; ++lane)
        if ((bench.tkeep >> lane & 1) != 0) frame.push_back(static_cast<std::uint8_t>(bench.tdata >> (8 * lane)));
      if (bench.tlast == 0) continue;
      EXPECT_EQ(bench.tuser, 0);
      EXPECT_EQ(frame, numbered(length, static_cast<std::uint8_t>(ended)));
      frame.clear();
      ++ended;
    }
    ASSERT_EQ(starts.size(), count);
    const double bytes = 8.0 * static_cast<double>(starts.back() - starts.front()) / (count - 1);
    EXPECT_NEAR(bytes, static_cast<double>(wire::cost(length)), 0.05) << length;
  }
}

TEST(MacRx, MarksBadFramesAndKeepsTheirTime) {
  RxBench bench;
  bench.mac.set_timestamp_delay(3);
  bench.mac.send({numbered(64), 100 * period_ps, true, 0});
  std::uint64_t first = 0;
  std::uint64_t stamped = 0;
  bool bad = false;
  while (!bench.mac.idle()) {
    bench.tick();
    if (bench.tvalid != 0 && first == 0) first = bench.cycle - 1;
    if (bench.tstamp_valid != 0) stamped = bench.cycle - 1;
    if (bench.tlast != 0) bad = bench.tuser != 0;
  }
  EXPECT_EQ(first, 101U);  // the preamble takes a cycle
  EXPECT_EQ(stamped, first + 3);
  EXPECT_EQ(bench.tstamp[0], first * period_ps / 1000);
  EXPECT_TRUE(bad);
}

TEST(MacTx, HoldsTheShellToTheRateOfTheWire) {
  for (const std::size_t length : {60U, 61U, 62U, 63U, 1514U}) {
    TxBench bench;
    const Bytes frame = numbered(length);
    for (unsigned sent = 0; sent < 500;) sent += bench.tick(frame);
    std::vector<std::uint64_t> times;
    while (const auto out = bench.mac.pop()) {
      EXPECT_EQ(out->bytes, frame);
      times.push_back(out->t_ps);
    }
    ASSERT_EQ(times.size(), 500U);
    const double ps = static_cast<double>(times[499] - times[19]) / 480;
    EXPECT_NEAR(ps, static_cast<double>(wire::cost(length)) * 320.0, 10.0) << length;
    // and the shell was really kept waiting: 500 frames took their wire time, less what the store holds
    EXPECT_GE(bench.cycle + MacTx::store_beats + 16, 500 * wire::cost(length) / 8) << length;
  }
}

TEST(MacTx, TakesItsShareOfTheWireAndNoFrameWhenItIsPaused) {
  TxBench bench;
  const Bytes frame = numbered(1514);
  bench.mac.set_share(40);
  for (unsigned sent = 0; sent < 100;) sent += bench.tick(frame);
  const double cycles = static_cast<double>(bench.cycle);
  EXPECT_NEAR(cycles, 100 * static_cast<double>(wire::cost(1514)) / 8 / 0.4, 0.02 * cycles);

  bench.mac.set_share(0);
  for (unsigned tick = 0; tick < 10000; ++tick) EXPECT_FALSE(bench.tick(frame));
  // The frame that waits meanwhile does not change, and goes out with all others.
  bench.mac.set_share(100);
  for (unsigned sent = 0; sent < 100;) sent += bench.tick(frame);
  unsigned out = 0;
  while (const auto gone = bench.mac.pop()) {
    EXPECT_EQ(gone->bytes, frame);
    ++out;
  }
  EXPECT_EQ(out, 200U);
}

TEST(MacTx, EndsAFrameThatHasBegunWhenItIsPaused) {
  TxBench bench;
  const Bytes frame = numbered(1514);
  for (unsigned tick = 0; tick < 20; ++tick) bench.tick(frame);
  bench.mac.set_share(0);
  unsigned sent = 0;
  for (unsigned tick = 0; tick < 1000; ++tick) sent += bench.tick(frame);
  EXPECT_EQ(sent, 1U);
}

TEST(MacTx, RefusesAShareBeyondTheWire) {
  EXPECT_THROW(TxBench().mac.set_share(101), InputError);
}

TEST(MacTx, StampsTheStartOfFrameAndReturnsTheTag) {
  TxBench bench;
  const Bytes frame = numbered(60);
  bench.ptp_op = 2;
  bench.ptp_tag = 0xabcd;
  for (unsigned sent = 0; sent < 2;) {
    sent += bench.tick(frame);
    bench.ptp_tag = sent == 0 ? 0xabcd : 0x1234;
  }
  bench.tvalid = 0;
  for (int i = 0; i < 60; ++i) bench.edge(60);
  ASSERT_EQ(bench.stamps.size(), 2U);
  EXPECT_EQ(bench.stamps[0].first, 0xabcd);
  EXPECT_EQ(bench.stamps[1].first, 0x1234);
  for (const auto& [tag, ns] : bench.stamps) {
    const auto out = bench.mac.pop();
    ASSERT_TRUE(out.has_value());
    EXPECT_EQ(out->ptp_tag, tag);
    EXPECT_NEAR(static_cast<double>(ns), static_cast<double>(out->t_ps) / 1000,
                1.5);  // 1 ns of timer, half of rounding
  }
  EXPECT_TRUE(bench.mac.idle());
}

TEST(MacTx, RefusesAPauseInsideAFrame) {
  TxBench bench;
  const Bytes frame = numbered(64);
  for (int i = 0; i < 4; ++i) bench.tick(frame);
  bench.tvalid = 0;
  EXPECT_THROW(bench.edge(64), CheckError);
}

TEST(MacTx, RefusesShortFramesAndHolesInKeep) {
  TxBench runt;
  EXPECT_THROW(for (int i = 0; i < 20; ++i) runt.tick(numbered(59)), CheckError);
  TxBench half;  // a beat that is not full may only be the last
  half.tick(numbered(64));
  half.tvalid = 1;
  half.tkeep = 0x7f;
  half.tlast = 0;
  EXPECT_THROW(half.edge(64), CheckError);
  for (const unsigned keep : {0x00U, 0xfeU, 0xbfU, 0xf7U, 0x55U}) {
    TxBench hole;
    const Bytes frame = numbered(72);
    while (hole.offset < 64) hole.tick(frame);
    hole.tdata = 0;
    hole.tkeep = static_cast<std::uint8_t>(keep);
    hole.tlast = 1;
    EXPECT_THROW(while (!hole.edge(72)){}, CheckError) << keep;
  }
}

TEST(MacTx, RefusesABeatThatChangesWhileItWaits) {
  const auto waits_with = [](auto change) {
    TxBench bench;
    bench.mac.set_share(0);
    const Bytes frame = numbered(64);
    for (int i = 0; i < 20; ++i) bench.tick(frame);
    ASSERT_EQ(bench.offset, 0U) << "nobody waits";
    change(bench);
    bench.edge(64);
  };
  waits_with([](TxBench&) {});
  EXPECT_THROW(waits_with([](TxBench& bench) { bench.tdata ^= 1; }), CheckError);
  EXPECT_THROW(waits_with([](TxBench& bench) { bench.tkeep = 0x7f; }), CheckError);
  EXPECT_THROW(waits_with([](TxBench& bench) { bench.tlast = 1; }), CheckError);
  EXPECT_THROW(waits_with([](TxBench& bench) { bench.tvalid = 0; }), CheckError);
}

}  // namespace
}  // namespace meridian
