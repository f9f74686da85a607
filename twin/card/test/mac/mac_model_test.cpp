// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "support/mac_bench.hpp"

namespace meridian {
namespace {

/// What came through the receive pins.
struct Received {
  Bytes bytes;
  bool bad = false;
  std::uint32_t stamp_ns = 0;
};

std::vector<Received> run(RxBench& bench, const std::function<void()>& each_cycle = {}) {
  std::vector<Received> frames;
  Received frame;
  for (unsigned limit = 0; !bench.mac.idle() && limit < 100'000; ++limit) {
    if (each_cycle) each_cycle();
    bench.tick();
    if (bench.tvalid == 0) continue;
    if (bench.tstamp_valid != 0) frame.stamp_ns = bench.tstamp[0];
    for (unsigned lane = 0; lane < 8; ++lane)
      if ((bench.tkeep >> lane & 1) != 0) frame.bytes.push_back(static_cast<std::uint8_t>(bench.tdata >> (8 * lane)));
    if (bench.tlast == 0) continue;
    frame.bad = bench.tuser != 0;
    frames.push_back(std::move(frame));
    frame = {};
  }
  EXPECT_TRUE(bench.mac.idle());
  return frames;
}

TEST(MacRxHook, TellsTheExactEndOfTheDelimiterAndMayPatchTheFrame) {
  RxBench bench;
  std::vector<std::uint64_t> hooks;
  const auto hook = [&](Bytes& bytes, std::uint64_t sfd_ps) {
    hooks.push_back(sfd_ps);
    bytes[0] = static_cast<std::uint8_t>(0xa0 + hooks.size());
  };
  // 61 bytes cost 85 on the wire: starts go round through both lanes.
  for (unsigned i = 0; i < 40; ++i) bench.mac.send({numbered(61), 0, false, 0, hook});
  bench.mac.send({numbered(61), 10'000'001, false, 0, hook});
  const auto frames = run(bench);
  ASSERT_EQ(frames.size(), 41U);
  ASSERT_EQ(hooks.size(), 41U);
  unsigned second_lane = 0;
  for (unsigned i = 0; i < 41; ++i) {
    EXPECT_EQ(frames[i].bytes[0], 0xa1 + i);
    EXPECT_EQ(hooks[i] % (period_ps / 2), 0U);
    second_lane += hooks[i] % period_ps != 0;
    expect_stamp(frames[i].stamp_ns, hooks[i]);
    if (i != 0 && i < 40) {
      EXPECT_NEAR(static_cast<double>(hooks[i] - hooks[0]), i * 85 * 320.0, 3 * 320.0);
    }
  }
  EXPECT_GE(second_lane, 15U);
  // The preamble starts with the first cycle at or after at_ps.
  EXPECT_EQ(hooks[40], (10'000'001 / period_ps + 1) * period_ps + period_ps);
}

TEST(MacRxHook, MayNotChangeTheLength) {
  RxBench bench;
  bench.mac.send({numbered(64), 0, false, 0, [](Bytes& bytes, std::uint64_t) { bytes.push_back(0); }});
  EXPECT_THROW(bench.tick(), std::logic_error);
}

TEST(MacStamps, CarryTheFixedLatency) {
  std::uint32_t plain = 0;
  for (const std::uint32_t latency : {0U, 37U}) {
    RxBench bench;
    bench.mac.set_timestamp_latency(latency);
    bench.mac.send({numbered(64), 100 * period_ps});
    const auto frames = run(bench);
    ASSERT_EQ(frames.size(), 1U);
    if (latency == 0) plain = frames[0].stamp_ns;
    EXPECT_EQ(frames[0].stamp_ns, plain + latency);
  }
  for (const std::uint32_t latency : {0U, 11U}) {
    TxBench bench;
    bench.mac.set_timestamp_latency(latency);
    bench.ptp_op = 2;
    while (!bench.tick(numbered(60))) continue;
    bench.tvalid = 0;
    for (int i = 0; i < 60; ++i) bench.edge(60);
    ASSERT_EQ(bench.stamps.size(), 1U);
    if (latency == 0) plain = bench.stamps[0].second;
    EXPECT_EQ(bench.stamps[0].second, plain - latency);
  }
}

TEST(PtpTime, GoesThroughWholeSeconds) {
  EXPECT_EQ((PtpTime{5, 3}.minus(10)), (PtpTime{4, 999'999'993}));
  EXPECT_EQ((PtpTime{5, 999'999'999}.plus(2)), (PtpTime{6, 1}));
  EXPECT_EQ((PtpTime{0, 3}.minus(10)), (PtpTime{0, 0}));
}

TEST(MacLink, DownPassesNothingInward) {
  RxBench bench;
  bench.mac.set_link(false);
  for (unsigned i = 0; i < 10; ++i) bench.mac.send({numbered(60, static_cast<std::uint8_t>(i))});
  const auto frames = run(bench, [&] {
    if (bench.cycle == 44) bench.mac.set_link(true);
  });
  // A frame takes 10.5 cycles: five begin within the first 44, and the fifth stays lost although its rest has a link.
  ASSERT_EQ(frames.size(), 5U);
  EXPECT_EQ(frames[0].bytes, numbered(60, 5));
  EXPECT_EQ(bench.mac.statistics().link_down, 5U);
  EXPECT_EQ(bench.mac.statistics().frames, 5U);
}

TEST(MacLink, LossCutsTheFrameAtThePins) {
  RxBench bench;
  for (unsigned i = 0; i < 3; ++i) bench.mac.send({numbered(800)});
  const auto frames = run(bench, [&] {
    if (bench.cycle == 20) bench.mac.set_link(false);
    if (bench.cycle == 21) bench.mac.set_link(true);
  });
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_TRUE(frames[0].bad);
  EXPECT_EQ(frames[0].bytes, [] {
    Bytes part = numbered(800);
    part.resize(20 * 8);
    return part;
  }());
  EXPECT_FALSE(frames[1].bad);
  EXPECT_EQ(frames[1].bytes, numbered(800));
  EXPECT_EQ(bench.mac.statistics().aborted, 1U);
  EXPECT_EQ(bench.mac.statistics().bad, 1U);
  EXPECT_EQ(bench.mac.statistics().bytes, 160U + 1600U);
}

TEST(MacLink, DownPassesNothingOutward) {
  TxBench bench;
  const Bytes frame = numbered(60);
  bench.ptp_op = 2;
  unsigned sent = 0;
  const auto send = [&](unsigned until) {
    for (unsigned limit = 0; sent < until && limit < 10'000; ++limit) sent += bench.tick(frame);
    ASSERT_EQ(sent, until);
  };
  send(3);
  while (bench.offset == 0) bench.tick(frame);
  bench.mac.set_link(false);
  bench.mac.set_link(true);
  send(4);  // begun before, and lost
  send(5);
  bench.mac.set_link(false);
  send(9);
  bench.tvalid = 0;
  for (int i = 0; i < 200; ++i) bench.edge(60);
  unsigned passed = 0;
  while (bench.mac.pop()) ++passed;
  EXPECT_EQ(passed, 4U);
  EXPECT_EQ(bench.mac.statistics().frames, 4U);
  EXPECT_EQ(bench.mac.statistics().link_down, 5U);
  EXPECT_EQ(bench.stamps.size(), 9U);
}

TEST(FcsFault, HitsEveryNthTheNextAndByProbability) {
  FcsFault fault;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(fault.hit());
  fault.every(3);
  std::set<int> hits;
  for (int i = 1; i <= 9; ++i)
    if (fault.hit()) hits.insert(i);
  EXPECT_EQ(hits, (std::set<int>{3, 6, 9}));
  fault.every(0);
  fault.next(2);
  EXPECT_TRUE(fault.hit());
  EXPECT_TRUE(fault.hit());
  EXPECT_FALSE(fault.hit());
  fault.probability(0.25, 7);
  int count = 0;
  for (int i = 0; i < 40'000; ++i) count += fault.hit();
  EXPECT_NEAR(count, 10'000, 400);
  FcsFault one, other;
  one.probability(0.5, 3);
  other.probability(0.5, 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.hit(), other.hit());
}

TEST(FcsFault, MarksFramesBothWays) {
  RxBench in;
  in.mac.fcs_fault().every(4);
  for (int i = 0; i < 8; ++i) in.mac.send({numbered(60)});
  std::string pattern;
  for (const auto& frame : run(in)) pattern += frame.bad ? 'x' : '.';
  EXPECT_EQ(pattern, "...x...x");
  EXPECT_EQ(in.mac.statistics().bad, 2U);

  TxBench out;
  out.mac.fcs_fault().next(1);
  for (unsigned sent = 0; sent < 2;) {
    out.tuser = sent == 1;
    sent += out.tick(numbered(60));
  }
  auto frame = out.mac.pop();
  ASSERT_TRUE(frame.has_value());
  EXPECT_TRUE(frame->bad);
  EXPECT_FALSE(frame->aborted);
  frame = out.mac.pop();
  ASSERT_TRUE(frame.has_value());
  EXPECT_TRUE(frame->bad);
  EXPECT_TRUE(frame->aborted);
  EXPECT_EQ(out.mac.statistics().bad, 2U);
  EXPECT_EQ(out.mac.statistics().aborted, 1U);
}

TEST(MacCounters, SortFramesBySizeAndAddress) {
  MacCounters counters;
  Bytes frame(60);
  const auto count = [&](std::size_t length) {
    frame.resize(length);
    counters.count(frame, false, false);
  };
  for (const std::size_t length : {59U, 60U, 61U, 123U, 124U, 251U, 252U, 507U, 508U, 1019U, 1020U, 1514U, 1515U})
    count(length);
  frame[0] = 1;
  count(9600);
  for (unsigned i = 0; i < 6; ++i) frame[i] = 0xff;
  counters.count(frame, true, false);
  std::map<std::string, std::uint64_t> values;
  counters.each([&](std::string_view name, std::uint64_t value) { values.emplace(name, value); });
  EXPECT_EQ(values.at("frames"), 15U);
  EXPECT_EQ(values.at("bad"), 1U);
  EXPECT_EQ(values.at("unicast"), 13U);
  EXPECT_EQ(values.at("multicast"), 1U);
  EXPECT_EQ(values.at("broadcast"), 1U);
  EXPECT_EQ(values.at("size_below_64"), 1U);
  EXPECT_EQ(values.at("size_64"), 1U);
  for (const char* name : {"size_65_127", "size_128_255", "size_256_511", "size_512_1023", "size_1024_1518"})
    EXPECT_EQ(values.at(name), 2U) << name;
  EXPECT_EQ(values.at("size_above_1518"), 3U);
}

}  // namespace
}  // namespace meridian
