// SPDX-License-Identifier: Apache-2.0
#include "wire/delay_loss.hpp"

#include <gtest/gtest.h>

#include <map>

#include "ptp_slave.hpp"
#include "wire/cable.hpp"
#include "wire/grandmaster.hpp"
#include "wire/make_wire_end.hpp"
#include "wire/mix_end.hpp"
#include "wire/traffic_end.hpp"
#include "wire_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint64_t ms = 1'000'000'000;

/// Keeps what the card sends.
class KeepEnd : public WireEnd {
 public:
  explicit KeepEnd(std::vector<TxFrame>& kept) : kept_(kept) {}
  void receive(const TxFrame& frame) override { kept_.push_back(frame); }
  std::vector<RxFrame> poll(std::uint64_t, std::size_t) override { return {}; }
  std::uint64_t next_ps() const override { return never_ps; }

 private:
  std::vector<TxFrame>& kept_;
};

TrafficMark mark_of(const Arrived& frame) {
  const auto read = traffic_read(frame.bytes);
  EXPECT_TRUE(std::holds_alternative<TrafficMark>(read));
  return std::holds_alternative<TrafficMark>(read) ? std::get<TrafficMark>(read) : TrafficMark{};
}

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

TEST(Cable, JoinsTwoPortsWithExactDelay) {
  auto [a, b] = make_cable({.forth_ps = 5'000'000, .back_ps = 1'000}, {});
  WireBench port_a(*a), port_b(*b);
  port_a.send(Bytes(60, 'x'), true);
  port_a.run_until(2'000'000);
  port_a.send(Bytes(1514, 'y'));
  EXPECT_EQ(b->next_ps(), 5'000'000U - 1'000'000U);
  port_b.run_until(20'000'000);
  const auto frames = port_b.take();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].bytes, Bytes(60, 'x'));
  EXPECT_TRUE(frames[0].bad);
  EXPECT_EQ(frames[0].sfd_ps, 5'000'000U + 2560);  // the first one began with the bench itself
  EXPECT_EQ(frames[1].sfd_ps, 7'000'000U);
  EXPECT_FALSE(frames[1].bad);

  const std::uint64_t known_ps = port_b.now_ps() + 64 * 320;
  port_a.run_until(known_ps);
  port_b.send(Bytes(60, 'z'));
  EXPECT_EQ(port_b.now_ps(), known_ps);
  port_a.run_for(1'000'000);
  const auto back = port_a.take();
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].sfd_ps, known_ps + 2560);  // longer than the cable: it arrives when it is known
  std::map<std::string, double> report;
  a->report([&](std::string_view name, double value) { report.emplace(name, value); });
  EXPECT_EQ(report.at("passed"), 1);
  EXPECT_EQ(report.at("late"), 1);
}

TEST(MixEnd, JoinsAGrandmasterAndTrafficInOrder) {
  auto end =
      make_wire_end("ptp:log_sync=-7,transport=ethernet+traffic:size=1518,count=20000+traffic:id=1,rate=1kpps", {});
  WireBench bench(*end);
  bench.run_until(12 * ms);
  unsigned syncs = 0, follow_ups = 0, first = 0, second = 0;
  std::uint64_t sync_ps = 0;
  for (const auto& frame : bench.take()) {
    if (big_endian(frame.bytes, 12, 2) == 0x88f7) {
      const auto message = slave_read(frame, 14);
      if (message.type == 0) ++syncs, sync_ps = frame.sfd_ps;
      if (message.type != 8) continue;
      ++follow_ups;
      EXPECT_NEAR(static_cast<double>(message.timestamp_ns) + message.correction_ns,
                  static_cast<double>(sync_ps) / 1000, 0.02);
      continue;
    }
    const auto mark = mark_of(frame);
    EXPECT_EQ(mark.sent_ps, frame.sfd_ps);
    if (mark.generator == 0) {
      EXPECT_EQ(mark.sequence, first++);
    } else {
      EXPECT_EQ(mark.sequence, second++);
      // Not kept waiting by the stream for longer than what waits at the MAC.
      EXPECT_LT(frame.sfd_ps - mark.sequence * ms, 4'000'000U);
    }
  }
  EXPECT_EQ(syncs, 2U);
  EXPECT_EQ(follow_ups, 2U);
  EXPECT_EQ(second, 13U);
  EXPECT_EQ(first, 20'000U);
  std::map<std::string, double> report;
  end->report([&](std::string_view name, double value) { report.emplace(name, value); });
  EXPECT_EQ(report.at("traffic.sent"), 20'000);
  EXPECT_EQ(report.at("traffic2.sent"), 13);
  EXPECT_EQ(report.at("ptp.sent_sync"), 2);
}

TEST(MixEnd, SharesTheWireBetweenStreams) {
  auto end = make_wire_end("traffic:size=512+traffic:size=512,id=1", {});
  WireBench bench(*end);
  bench.run_until(ms);
  std::map<unsigned, unsigned> counts;
  for (const auto& frame : bench.take()) ++counts[mark_of(frame).generator];
  EXPECT_NEAR(counts[0], counts[1], 2);
  EXPECT_NEAR(static_cast<double>(counts[0] + counts[1]), 1e9 / ((512 + 20) * 320), 2.0);
}

TEST(MixEnd, GoesOnAfterTheMacDroppedItsFrames) {
  auto end = make_wire_end("traffic+none", {});
  ASSERT_FALSE(end->poll(0, 0).empty());
  // The MAC was reset: none of them will ever begin.
  EXPECT_FALSE(end->poll(1'000'000, 0).empty());
}

TEST(MixEnd, GivesToAll) {
  std::vector<TxFrame> one, two;
  std::vector<MixEnd::Named> ends;
  ends.emplace_back("keep", std::make_unique<KeepEnd>(one));
  ends.emplace_back("keep", std::make_unique<KeepEnd>(two));
  MixEnd end(std::move(ends));
  end.receive({.bytes = Bytes(60)});
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(two.size(), 1U);
  EXPECT_TRUE(end.done());
  EXPECT_FALSE(end.descriptor().has_value());
}

TEST(MakeWireEnd, CapturesWhatPasses) {
  TestFile file(".pcapng");
  {
    auto end = make_wire_end("traffic:count=10,capture=" + file.path(), {});
    WireBench bench(*end);
    bench.run_until(ms);
  }
  auto end = make_wire_end("replay:times=recorded,file=" + file.path(), {});
  WireBench bench(*end);
  bench.run_until(ms);
  EXPECT_EQ(bench.take().size(), 10U);
}

TEST(WireSpecFuzz, AnyTextIsAnEndOrAnInputError) {
  const std::string seeds[] = {
      "none", "ptp:transport=udp6,offset_ns=-5,drift_ppb=1.5,link_delay=1us,asymmetry_ns=10,mac=02:00:00:00:00:01",
      "traffic:size=64/128,rate=50%,count=10,flows=3,vlan=5,proto=tcp,sip=1.2.3.4,delay=1us,loss=0.1",
      "ptp:two_step=0+traffic:size=imix+none:jitter=5", "replay:file=/nowhere,loop=3"};
  const std::string letters = ",:=+\\-./%0123456789abcdefghijklmnopqrstuvwxyz";
  Random random(31);
  unsigned made = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seeds[random.below(5)];
    for (unsigned i = random.below(4); i > 0; --i) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
      const char letter = random.percent(90) ? letters[random.below(static_cast<std::uint32_t>(letters.size()))]
                                             : static_cast<char>(random.next());
      if (random.percent(50)) {
        text[at] = letter;
      } else if (random.percent(50)) {
        text.insert(at, 1, letter);
      } else {
        text.erase(at, 1 + random.below(5));
        if (text.empty()) text = "x";
      }
    }
    try {
      auto end = make_wire_end(text, {});
      ASSERT_NE(end, nullptr);
      for (int i = 0; i < 3 && end->next_ps() != never_ps; ++i) end->poll(end->next_ps(), 0);
      ++made;
    } catch (const InputError& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
  EXPECT_GT(made, 1000U);
}

}  // namespace
}  // namespace meridian
