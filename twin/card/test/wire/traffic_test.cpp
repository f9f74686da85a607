// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/crc32.hpp"
#include "ptp_slave.hpp"
#include "wire/make_wire_end.hpp"
#include "wire/traffic/traffic_end.hpp"
#include "wire_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint64_t ms = 1'000'000'000;

/// A frame as it comes back a while after it arrived.
TxFrame back(const Arrived& frame, std::uint64_t later_ps) {
  TxFrame out;
  out.bytes = frame.bytes;
  out.t_ps = frame.sfd_ps + later_ps;
  out.t_end_ps = out.t_ps + 1000;
  return out;
}

TEST(Crc32, IsThatOfEthernet) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}), 0xcbf43926U);
  EXPECT_EQ(crc32({reinterpret_cast<const std::uint8_t*>(text.data()) + 4, 5},
                  crc32({reinterpret_cast<const std::uint8_t*>(text.data()), 4})),
            0xcbf43926U);
}

TEST(TrafficFrame, HasTheHeadersAndSumsOfItsFlow) {
  TrafficFlow flow{{2, 0, 0, 0, 0, 9}, {2, 0, 0, 0, 0, 8}, 0x6007, TrafficProtocol::udp,
                   {10, 1, 2, 3},      {10, 1, 2, 4},      1000,   2000};
  for (const auto protocol : {TrafficProtocol::udp, TrafficProtocol::tcp}) {
    flow.protocol = protocol;
    for (const std::size_t length : {traffic_shortest(flow), std::size_t{101}, std::size_t{1514}}) {
      Bytes frame = traffic_frame(flow, {3, 4, 5, 0}, length);
      traffic_stamp(frame, traffic_header(flow), protocol, 0x1234'5678'9abc'def0);
      ASSERT_EQ(frame.size(), length);
      EXPECT_EQ(big_endian(frame, 0, 6), 0x020000000009U);
      EXPECT_EQ(big_endian(frame, 12, 4), 0x81006007U);
      EXPECT_EQ(big_endian(frame, 16, 2), 0x0800U);
      EXPECT_EQ(word_sum(frame, 18, 38), 0xffffU);
      EXPECT_EQ(frame[27], protocol == TrafficProtocol::udp ? 17 : 6);
      EXPECT_EQ(big_endian(frame, 30, 8), 0x0a0102030a010204U);
      EXPECT_EQ(big_endian(frame, 38, 4), 1000U << 16 | 2000U);
      EXPECT_EQ(word_sum(frame, 38, length, word_sum(frame, 30, 38) + frame[27] + static_cast<unsigned>(length - 38)),
                0xffffU);
      const auto read = traffic_read(frame);
      ASSERT_TRUE(std::holds_alternative<TrafficMark>(read));
      EXPECT_EQ(std::get<TrafficMark>(read).generator, 3);
      EXPECT_EQ(std::get<TrafficMark>(read).flow, 4);
      EXPECT_EQ(std::get<TrafficMark>(read).sequence, 5U);
      EXPECT_EQ(std::get<TrafficMark>(read).sent_ps, 0x5678'9abc'def0U);
      Bytes untagged = frame;
      untagged.erase(untagged.begin() + 12, untagged.begin() + 16);
      EXPECT_TRUE(std::holds_alternative<TrafficMark>(traffic_read(untagged)));
      // Whatever single byte changes behind the addresses, it is noticed or the frame is none of ours.
      for (std::size_t i = 18; i < length; ++i) {
        Bytes wrong = frame;
        wrong[i] ^= 0x10;
        EXPECT_TRUE(std::holds_alternative<TrafficFault>(traffic_read(wrong))) << i;
      }
    }
  }
}

class TrafficRate : public testing::TestWithParam<std::tuple<unsigned, double, std::size_t>> {};

TEST_P(TrafficRate, IsThatShareOfTheLine) {
  const auto [gbps, share, size] = GetParam();
  const WireSetting wire{.gbps = gbps};
  TrafficSetting setting;
  setting.lengths = {size};
  setting.line_share = share;
  setting.count = 2001;
  TrafficEnd end(setting, wire);
  WireBench bench(end, wire);
  bench.run_until(40 * ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 2001U);
  EXPECT_TRUE(end.done());
  const double line_ps = static_cast<double>(size + 20) * 8000 / gbps;
  const double ps = static_cast<double>(frames.back().sfd_ps - frames.front().sfd_ps) / 2000;
  EXPECT_NEAR(ps, line_ps / share, 0.001 * line_ps);
}

INSTANTIATE_TEST_SUITE_P(Rates, TrafficRate,
                         testing::Combine(testing::Values(10U, 25U), testing::Values(1.0, 0.999, 0.5, 0.1),
                                          testing::Values(64U, 65U, 1518U)));

TEST(TrafficEnd, KeepsFramesASecondAndBursts) {
  TrafficSetting setting;
  setting.pps = 1e6;
  setting.burst = 5;
  setting.start_ps = 3 * ms;
  setting.count = 100;
  TrafficEnd end(setting, {});
  WireBench bench(end);
  bench.run_until(10 * ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 100U);
  for (unsigned i = 0; i < 100; ++i)
    EXPECT_EQ(frames[i].sfd_ps, 3 * ms + i / 5 * 5'000'000 + i % 5 * (84 * 320) + 8 * 320) << i;
}

TEST(TrafficEnd, DrawsSizes) {
  const auto sizes_of = [](const char* spec) {
    auto end = make_wire_end(spec, {});
    WireBench bench(*end);
    bench.run_until(20 * ms);
    std::map<std::size_t, unsigned> sizes;
    for (const auto& frame : bench.take()) ++sizes[frame.bytes.size() + 4];
    return sizes;
  };
  EXPECT_EQ(sizes_of("traffic:size=64/128/9018,count=300"),
            (std::map<std::size_t, unsigned>{{64, 100}, {128, 100}, {9018, 100}}));
  const auto range = sizes_of("traffic:size=100-163,count=6400");
  EXPECT_EQ(range.size(), 64U);
  EXPECT_EQ(range.begin()->first, 100U);
  for (const auto& [size, count] : range) EXPECT_NEAR(count, 100, 60);
  const auto imix = sizes_of("traffic:size=imix,count=12000");
  EXPECT_EQ(imix.size(), 3U);
  EXPECT_NEAR(imix.at(64), 7000, 300);
  EXPECT_NEAR(imix.at(594), 4000, 300);
  EXPECT_NEAR(imix.at(1518), 1000, 200);
  EXPECT_EQ(sizes_of("traffic:size=imix,count=1000,seed=4"), sizes_of("traffic:size=imix,count=1000,seed=4"));
}

TEST(TrafficEnd, VariesTheFieldsOfItsFlows) {
  auto end = make_wire_end(
      "traffic:flows=12,count=24,dmac=02:00:00:00:00:ff,dmacs=2,smacs=3,vlan=100,vlans=4,priority=3,size=68,sips=6,"
      "sports=1,dports=12",
      {});
  WireBench bench(*end);
  bench.run_until(ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 24U);
  for (unsigned i = 0; i < 24; ++i) {
    const Bytes& b = frames[i].bytes;
    const unsigned flow = i % 12;
    EXPECT_EQ(big_endian(b, 0, 6), 0x0200000000ffU + flow % 2);
    EXPECT_EQ(big_endian(b, 6, 6), 0x020000000002U + flow % 3);
    EXPECT_EQ(big_endian(b, 14, 2), (3U << 13 | 100U) + flow % 4);
    EXPECT_EQ(big_endian(b, 30, 4), 0x0a000002U + flow % 6);
    EXPECT_EQ(big_endian(b, 38, 2), 49152U);
    EXPECT_EQ(big_endian(b, 40, 2), 9U + flow);
    const auto mark = std::get<TrafficMark>(traffic_read(b));
    EXPECT_EQ(mark.flow, flow);
    EXPECT_EQ(mark.sequence, i / 12);
    EXPECT_EQ(mark.sent_ps, frames[i].sfd_ps);
  }
}

TEST(TrafficSink, MeasuresLossOrderAndDuplicates) {
  TrafficSetting setting;
  setting.flows = 2;
  setting.count = 20;
  TrafficEnd end(setting, {});
  WireBench bench(end);
  bench.run_until(ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 20U);
  EXPECT_EQ(end.sent(), 20U);
  // Flow 0 has the even frames. 4 is lost, 8 comes behind 10, 12 twice; of flow 1 the last one is lost.
  for (const unsigned i : {0U, 1U, 2U, 3U, 5U, 6U, 7U, 10U, 8U, 9U, 11U, 12U, 12U, 13U, 14U, 15U, 16U, 17U, 18U})
    end.receive(back(frames[i], 1000 * (1 + i)));
  TxFrame corrupt = back(frames[19], 0);
  corrupt.bytes.back() ^= 1;
  end.receive(corrupt);
  corrupt = back(frames[19], 0);
  corrupt.bad = true;
  end.receive(corrupt);
  corrupt = back(frames[19], 0);
  corrupt.bytes[35] ^= 1;  // a UDP port
  end.receive(corrupt);
  end.receive({.bytes = Bytes(60)});
  const auto& s = end.sink().statistics();
  EXPECT_EQ(s.received, 18U);
  EXPECT_EQ(s.bytes, 18U * 60);
  EXPECT_EQ(s.duplicates, 1U);
  EXPECT_EQ(s.reordered, 1U);
  EXPECT_EQ(s.corrupt, 1U);
  EXPECT_EQ(s.bad_fcs, 1U);
  EXPECT_EQ(s.bad_checksum, 1U);
  EXPECT_EQ(s.foreign, 1U);
  EXPECT_EQ(end.sink().lost(), 1U);
  EXPECT_EQ(end.sink().received_from(0), 18U);
  EXPECT_EQ(end.sink().received_from(1), 0U);
  EXPECT_EQ(end.sink().latency().least(), 1000U);
  EXPECT_EQ(end.sink().latency().most(), 19'000U);
  std::map<std::string, double> report;
  end.report([&](std::string_view name, double value) { report.emplace(name, value); });
  EXPECT_EQ(report.at("sent"), 20);
  EXPECT_EQ(report.at("own_missing"), 2);
  EXPECT_EQ(report.at("lost"), 1);
  EXPECT_EQ(report.at("latency_max_ns"), 19);
}

TEST(TrafficSink, KeepsCountAcrossItsWindow) {
  TrafficSetting setting;
  setting.count = 20'000;
  TrafficEnd end(setting, {});
  WireBench bench(end);
  bench.run_until(ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 20'000U);
  std::vector<unsigned> order;
  for (unsigned i = 0; i < 20'000; ++i)
    if (i % 7 != 3 && (i < 9'000 || i >= 15'000)) order.push_back(i);  // a hole longer than the window
  for (const unsigned i : order) end.receive(back(frames[i], 5'000));
  end.receive(back(frames[3], 5'000));  // far too late
  EXPECT_EQ(end.sink().statistics().received, order.size() + 1);
  EXPECT_EQ(end.sink().statistics().reordered, 1U);
  EXPECT_EQ(end.sink().statistics().duplicates, 0U);
  EXPECT_EQ(end.sink().lost(), 20'000 - order.size() - 1);
}

TEST(TrafficSink, RemembersItsWholeWindow) {
  TrafficSetting setting;
  setting.count = 4'097;
  TrafficEnd end(setting, {});
  WireBench bench(end);
  bench.run_until(ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 4'097U);
  for (unsigned i = 0; i < 4'096; ++i) end.receive(back(frames[i], 5'000));
  end.receive(back(frames[0], 5'000));  // the oldest that it can tell from a late one
  EXPECT_EQ(end.sink().statistics().duplicates, 1U);
  EXPECT_EQ(end.sink().statistics().received, 4'096U);
  EXPECT_EQ(end.sink().statistics().reordered, 0U);
  end.receive(back(frames[4'096], 5'000));
  end.receive(back(frames[0], 5'000));
  EXPECT_EQ(end.sink().statistics().duplicates, 1U);
  EXPECT_EQ(end.sink().statistics().reordered, 1U);
}

TEST(TrafficSink, TakesALateFrameForNoDuplicate) {
  TrafficSetting setting;
  setting.count = 5'000;
  TrafficEnd end(setting, {});
  WireBench bench(end);
  bench.run_until(ms);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 5'000U);
  // 4500 has the place in the window that 404 had.
  for (unsigned i = 0; i < 5'000; ++i)
    if (i != 4'500) end.receive(back(frames[i], 5'000));
  EXPECT_EQ(end.sink().lost(), 1U);
  end.receive(back(frames[4'500], 5'000));
  EXPECT_EQ(end.sink().lost(), 0U);
  EXPECT_EQ(end.sink().statistics().reordered, 1U);
  EXPECT_EQ(end.sink().statistics().duplicates, 0U);
  end.receive(back(frames[4'500], 5'000));
  EXPECT_EQ(end.sink().statistics().duplicates, 1U);
}

TEST(LatencyHistogram, FindsPercentiles) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0U);
  for (std::uint64_t i = 1; i <= 100'000; ++i) histogram.add(i * 1'000);
  EXPECT_EQ(histogram.least(), 1'000U);
  EXPECT_EQ(histogram.most(), 100'000'000U);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50'000'500.0);
  for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = share * 1e8;
    EXPECT_NEAR(static_cast<double>(histogram.percentile(share)), exact, exact / 64);
    EXPECT_GE(static_cast<double>(histogram.percentile(share)), exact);
  }
  EXPECT_EQ(histogram.percentile(1), 100'000'000U);
  LatencyHistogram few;
  few.add(7);
  few.add(~std::uint64_t{0});
  EXPECT_EQ(few.percentile(0.5), 7U);
  EXPECT_EQ(few.percentile(0.99), ~std::uint64_t{0});
}

TEST(TrafficSpec, SaysWhatIsWrong) {
  const auto error = [](const char* spec) { return input_error_of([&] { make_wire_end(spec, {}); }); };
  for (const char* bad : {"size=63",   "size=64/",   "size=100-64", "size=x",
                          "rate=5",    "rate=101%",  "rate=0%",     "rate=-1pps",
                          "rate=%",    "flows=0",    "flows=65537", "dmac=02:00",
                          "sip=1.2.3", "proto=sctp", "vlan=4096",   "vlan=4095,vlans=2,size=68",
                          "count=-1",  "burst=0",    "vlan=1",      "proto=tcp,size=64",
                          "what=1"})
    EXPECT_FALSE(error((std::string("traffic:") + bad).c_str()).empty()) << bad;
  EXPECT_NE(error("traffic:vlan=1").find("68"), std::string::npos);
  EXPECT_NE(error("traffic:rate=5").find("1000pps"), std::string::npos);
  EXPECT_TRUE(error("traffic:size=68,vlan=4095,rate=12.5%,count=3").empty());
  EXPECT_TRUE(make_wire_end("traffic:send=0", {})->done());
}

TEST(TrafficFuzz, AnyFrameIsJudged) {
  TrafficSetting setting;
  setting.count = 10;
  TrafficEnd end(setting, {});
  WireBench bench(end);
  bench.run_until(ms);
  const auto frames = bench.take();
  Random random(23);
  for (int round = 0; round < 50'000; ++round) {
    TxFrame frame;
    frame.bytes = frames[random.below(10)].bytes;
    for (unsigned i = random.below(4); i > 0; --i)
      frame.bytes[random.below(static_cast<std::uint32_t>(frame.bytes.size()))] =
          static_cast<std::uint8_t>(random.next());
    if (random.percent(30)) frame.bytes.resize(random.below(80));
    end.receive(frame);
  }
  const auto& s = end.sink().statistics();
  EXPECT_EQ(s.received + s.duplicates + s.corrupt + s.bad_checksum + s.foreign, 50'000U);
  EXPECT_GT(s.corrupt, 1000U);
  EXPECT_GT(s.bad_checksum, 1000U);
}

}  // namespace
}  // namespace meridian
