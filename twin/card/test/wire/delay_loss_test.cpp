// SPDX-License-Identifier: Apache-2.0
#include "wire/delay_loss.hpp"

#include <gtest/gtest.h>

#include <map>

#include "ptp_slave.hpp"
#include "wire/make_wire_end.hpp"
#include "wire/ptp/grandmaster.hpp"
#include "wire/traffic/traffic_end.hpp"
#include "wire_ends.hpp"

namespace meridian {
namespace {

constexpr std::uint64_t ms = 1'000'000'000;

TEST(DelayLoss, DelaysExactlyAtFullRate) {
  auto end = make_wire_end("traffic:count=5000,delay_in=50us", {});
  WireBench bench(*end);
  bench.run_until(ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 5000U);
  for (const auto& frame : frames) EXPECT_EQ(frame.sfd_ps - mark_of(frame).sent_ps, 50'000'000U);
  EXPECT_EQ(frames.back().sfd_ps - frames.front().sfd_ps, 4999U * 84 * 320);
  EXPECT_TRUE(end->done());
}

TEST(DelayLoss, JitterKeepsTheOrder) {
  auto end = make_wire_end("traffic:count=2000,rate=1Mpps,delay_in=1us,jitter_in=5us", {});
  WireBench bench(*end);
  bench.run_until(10 * ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 2000U);
  std::uint64_t least = never_ps, most = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    EXPECT_EQ(mark_of(frames[i]).sequence, i);
    const std::uint64_t late = frames[i].sfd_ps - (i * 1'000'000 + 8 * 320);
    least = std::min(least, late);
    most = std::max(most, late);
  }
  EXPECT_GE(least, 1'000'000U);
  EXPECT_LE(most, 6'200'000U);  // and a frame's time when two would meet
  EXPECT_GT(most - least, 4'000'000U);
}

TEST(DelayLoss, LosesDuplicatesAndReordersByItsShares) {
  const auto run = [](const char* seed) {
    TrafficSetting traffic;
    traffic.count = 20'000;
    traffic.line_share = 0.4;
    DelayLossSetting faults;
    faults.seed = static_cast<std::uint64_t>(seed[0]);
    faults.in = {.delay_ps = 3'000'000, .loss = 0.1, .duplicate = 0.05, .reorder = 0.02, .reorder_ps = 2'000'000};
    DelayLoss end(std::make_unique<TrafficEnd>(traffic, WireSetting{}), faults, {});
    WireBench bench(end);
    bench.run_until(10 * ms);
    TrafficEnd judge(TrafficSetting{.send = false}, {});
    std::vector<std::uint32_t> sequences;
    for (const auto& frame : bench.take()) {
      TxFrame back;
      back.bytes = frame.bytes;
      judge.receive(back);
      sequences.push_back(mark_of(frame).sequence);
    }
    const auto& counts = end.statistics().in;
    const auto& sink = judge.sink().statistics();
    EXPECT_EQ(counts.frames, 20'000U);
    EXPECT_NEAR(static_cast<double>(counts.lost), 2000, 200);
    EXPECT_NEAR(static_cast<double>(counts.duplicated), 900, 150);
    EXPECT_NEAR(static_cast<double>(counts.reordered), 360, 90);
    EXPECT_EQ(sink.received + counts.lost, 20'000U);
    EXPECT_EQ(sink.duplicates, counts.duplicated);
    EXPECT_NEAR(static_cast<double>(sink.reordered), static_cast<double>(counts.reordered), 60);
    EXPECT_EQ(sink.corrupt, 0U);
    return sequences;
  };
  const auto first = run("a");
  EXPECT_EQ(first, run("a"));
  EXPECT_NE(first, run("b"));
}

TEST(DelayLoss, WorksOutwardToo) {
  std::vector<TxFrame> kept;
  DelayLossSetting faults;
  faults.out = {.delay_ps = 7'000'000, .loss = 0.25, .duplicate = 0.1};
  DelayLoss end(std::make_unique<KeepEnd>(kept), faults, {});
  WireBench bench(end);
  std::vector<std::uint64_t> sent;
  for (unsigned i = 0; i < 4000; ++i) {
    sent.push_back(bench.now_ps());
    bench.send(Bytes(60, static_cast<std::uint8_t>(i)));
    bench.run_for(1'000'000);
  }
  EXPECT_FALSE(end.done());
  bench.run_for(20'000'000);
  EXPECT_TRUE(end.done());
  const auto& counts = end.statistics().out;
  EXPECT_NEAR(static_cast<double>(counts.lost), 1000, 120);
  EXPECT_NEAR(static_cast<double>(counts.duplicated), 300, 80);
  EXPECT_EQ(kept.size(), 4000 - counts.lost + counts.duplicated);
  std::map<std::uint64_t, unsigned> times;
  for (const auto& frame : kept) ++times[frame.t_ps];
  unsigned exact = 0;
  for (const auto ps : sent) exact += static_cast<unsigned>(times.count(ps + 7'000'000));
  EXPECT_EQ(exact, 4000 - counts.lost);
}

TEST(DelayLoss, KeepsPtpExact) {
  for (const bool two_step : {false, true}) {
    GrandmasterSetting setting;
    setting.two_step = two_step;
    setting.log_sync = -6;
    DelayLossSetting faults;
    faults.in = {.delay_ps = 12'345'000, .loss = 0.3};
    DelayLoss end(std::make_unique<Grandmaster>(setting, WireSetting{}), faults, {});
    WireBench bench(end);
    bench.run_until(4'000 * ms);
    std::map<unsigned, std::uint64_t> arrival;  // of Syncs by sequence
    unsigned compared = 0;
    for (const auto& frame : bench.take()) {
      expect_checksums(frame.bytes, 42);
      const auto message = slave_read(frame, 42);
      if (message.type == 0) arrival[message.sequence] = frame.sfd_ps;
      if (message.type != (two_step ? 8U : 0U) || arrival.count(message.sequence) == 0) continue;
      const double t1 = static_cast<double>(message.timestamp_ns) + message.correction_ns;
      EXPECT_NEAR(static_cast<double>(arrival[message.sequence]) / 1000 - t1, 12345, 0.02);
      ++compared;
    }
    EXPECT_GT(compared, 100U);
  }
}

/// Messages that tell when others left, and those, which may come later.
struct TwoStep {
  std::map<unsigned, SlaveMessage> events, follow_ups;  // by sequence

  void add(const SlaveMessage& message, unsigned event) {
    if (message.type == event) events[message.sequence] = message;
    if (message.type == event + 8 - (event == 3 ? 1 : 0)) follow_ups[message.sequence] = message;
  }

  /// Every follow-up agrees with its event message, which came `in_order` ns after it left, or `late` ns later still.
  /// How many came before it.
  unsigned check(double in_order, double late) const {
    unsigned overtook = 0, held_back = 0;
    for (const auto& [sequence, follow_up] : follow_ups) {
      const auto& event = events.at(sequence);
      const double left = static_cast<double>(follow_up.timestamp_ns) + follow_up.correction_ns;
      const double way = static_cast<double>(event.t_ps) / 1000 - left;
      const bool is_late = way > in_order + late / 2;
      EXPECT_NEAR(way, is_late ? in_order + late : in_order, 1) << sequence;
      held_back += is_late ? 1U : 0U;
      overtook += follow_up.t_ps < event.t_ps ? 1U : 0U;
    }
    EXPECT_GT(held_back, overtook);
    return overtook;
  }
};

TEST(DelayLoss, FollowUpsThatOvertakeTellWhenTheOtherLeft) {
  GrandmasterSetting setting;
  setting.transport = PtpTransport::ethernet;
  setting.log_sync = -6;
  setting.log_announce = 10;
  setting.follow_up_ps = 20'000'000;
  DelayLossSetting faults;
  faults.in = {.delay_ps = 3'000'000, .reorder = 0.5, .reorder_ps = 30'000'000};
  DelayLoss end(std::make_unique<Grandmaster>(setting, WireSetting{}), faults, {});
  WireBench bench(end);
  TwoStep sync, answer;
  for (unsigned round = 0; round < 200; ++round) {
    bench.run_for(15 * ms + 4 * ms / 10);
    bench.send(slave_frame(slave_request(0x2, 54, round), 14, true));
    bench.run_for(ms / 10);
    for (const auto& frame : bench.take()) {
      const auto message = slave_read(frame, 14);
      sync.add(message, 0);
      answer.add(message, 3);
    }
  }
  EXPECT_GT(sync.check(3000, 30'000), 30U);
  EXPECT_GT(answer.check(3000, 30'000), 30U);
}

TEST(DelayLoss, ASecondOfTwoIsWholeWithoutTheFirst) {
  DelayLossSetting faults;
  faults.in = {.duplicate = 1};
  DelayLoss end(std::make_unique<Grandmaster>(GrandmasterSetting{}, WireSetting{}), faults, {});
  auto frames = end.poll(2'000'000, 0);
  ASSERT_EQ(frames.size(), 4U);  // Announce and Sync
  for (const unsigned second : {1U, 3U}) {
    const std::size_t length = frames[second].bytes.size();
    frames[second].on_start(frames[second].bytes, 3'000'000);  // a reset of the card's MAC dropped the first
    EXPECT_EQ(frames[second].bytes.size(), length);
    expect_checksums(frames[second].bytes, 42);
  }
}

}  // namespace
}  // namespace meridian
