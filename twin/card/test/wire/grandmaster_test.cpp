// SPDX-License-Identifier: Apache-2.0
#include "wire/ptp/grandmaster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.hpp"
#include "ptp_slave.hpp"
#include "wire/make_wire_end.hpp"

namespace meridian {
namespace {

constexpr std::uint64_t second = 1'000'000'000'000;

std::size_t offset_of(PtpTransport transport) {
  switch (transport) {
    case PtpTransport::udp4:
      return 42;
    case PtpTransport::udp6:
      return 62;
    case PtpTransport::ethernet:
      break;
  }
  return 14;
}

/// The messages of a type among what arrived.
std::vector<SlaveMessage> of_type(const std::vector<Arrived>& frames, unsigned type, std::size_t offset) {
  std::vector<SlaveMessage> messages;
  for (const auto& frame : frames) {
    SlaveMessage message = slave_read(frame, offset);
    if (message.type == type) messages.push_back(std::move(message));
  }
  return messages;
}

/// What the settings say the grandmaster shows at a moment of twin time, in ns.
double shown_ns(const GrandmasterClockSetting& clock, double twin_ps) {
  return twin_ps / 1000 * (1 + clock.drift_ppb * 1e-9) + static_cast<double>(clock.offset_ns);
}

using Case = std::tuple<PtpTransport, bool>;
class GrandmasterExchange : public testing::TestWithParam<Case> {};

TEST_P(GrandmasterExchange, SlaveFindsOffsetAndDelayOfTheSettings) {
  const auto [transport, two_step] = GetParam();
  const std::size_t at = offset_of(transport);
  GrandmasterSetting setting;
  setting.transport = transport;
  setting.two_step = two_step;
  setting.domain = 24;
  setting.clock.offset_ns = 12'345'678'901;
  setting.clock.drift_ppb = 2'500;
  setting.delay_ps = 1'234'567;
  setting.asymmetry_ps = 345'600;
  setting.log_sync = -3;
  Grandmaster end(setting, {});
  WireBench bench(end);
  Random random(5);
  for (unsigned round = 0; round < 20; ++round) {
    bench.run_for(140'000'000'000 + random.below(50'000'000));
    auto frames = bench.take();
    for (const auto& frame : frames) expect_checksums(frame.bytes, at);
    const auto syncs = of_type(frames, 0x0, at);
    ASSERT_FALSE(syncs.empty());
    const SlaveMessage& sync = syncs.back();
    EXPECT_EQ(sync.domain, 24U);
    EXPECT_EQ(sync.log_interval, -3);
    double t1 = 0;
    if (two_step) {
      EXPECT_EQ(sync.flags, 0x0200U);
      const auto follow_ups = of_type(frames, 0x8, at);
      ASSERT_FALSE(follow_ups.empty());
      EXPECT_EQ(follow_ups.back().sequence, sync.sequence);
      EXPECT_EQ(follow_ups.back().t_ps - sync.t_ps, setting.follow_up_ps);
      t1 = static_cast<double>(follow_ups.back().timestamp_ns) + follow_ups.back().correction_ns + sync.correction_ns;
    } else {
      EXPECT_EQ(sync.flags, 0U);
      EXPECT_TRUE(of_type(frames, 0x8, at).empty());
      t1 = static_cast<double>(sync.timestamp_ns) + sync.correction_ns;
    }
    const double t2 = static_cast<double>(sync.t_ps) / 1000;

    const double t3 = static_cast<double>(bench.now_ps()) / 1000;
    const std::int64_t correction = (1000 + round) * 65536;  // a transparent clock's 1000 ns and more
    bench.send(slave_frame(slave_request(0x1, 44, 700 + round, 24, correction), at, false));
    bench.run_for(50'000'000);
    frames = bench.take();
    for (const auto& frame : frames) expect_checksums(frame.bytes, at);
    const auto answers = of_type(frames, 0x9, at);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].sequence, 700 + round);
    EXPECT_EQ(Bytes(answers[0].all.begin() + 44, answers[0].all.begin() + 54),
              (Bytes{0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9}));
    const double t4 = static_cast<double>(answers[0].timestamp_ns) - (answers[0].correction_ns - (1000 + round));

    // The master's time at both moments of the slave's, so that drift between them is no error of the sum.
    const double ahead_t2 = shown_ns(setting.clock, t2 * 1000) - t2;
    const double ahead_t3 = shown_ns(setting.clock, t3 * 1000) - t3;
    EXPECT_NEAR(t2 + ahead_t2 - t1, 1234.567 + 345.6, 0.02);  // master to slave
    EXPECT_NEAR(t4 - t3 - ahead_t3, 1234.567 - 345.6, 0.02);  // slave to master
    const double mean_delay = ((t2 - t1) + (t4 - t3)) / 2;
    const double offset = (t2 - t1) - mean_delay;  // of the slave
    const double drifted = (ahead_t3 - ahead_t2) / 2;
    EXPECT_NEAR(mean_delay - drifted, 1234.567, 0.02);
    EXPECT_NEAR(offset, -ahead_t2 + 345.6 - drifted, 0.02);
  }
  EXPECT_EQ(end.statistics().received[1], 20U);
  for (const auto dropped : end.statistics().dropped) EXPECT_EQ(dropped, 0U);
}

TEST_P(GrandmasterExchange, PeerDelayIsThatOfTheSettings) {
  const auto [transport, two_step] = GetParam();
  const std::size_t at = offset_of(transport);
  GrandmasterSetting setting;
  setting.transport = transport;
  setting.two_step = two_step;
  setting.clock.offset_ns = -5'000'000'000;
  setting.delay_ps = 777'123;
  setting.log_sync = setting.log_announce = 10;
  Grandmaster end(setting, {});
  WireBench bench(end);
  bench.run_for(10 * second);
  bench.take();
  for (unsigned round = 0; round < 20; ++round) {
    bench.run_for(1'000'000'000 + round * 1'003);
    const double t1 = static_cast<double>(bench.now_ps()) / 1000;
    const std::int64_t correction = round * 65536 / 2;
    bench.send(slave_frame(slave_request(0x2, 54, round, 0, correction), at, true));
    bench.run_for(100'000'000);
    const auto frames = bench.take();
    for (const auto& frame : frames) expect_checksums(frame.bytes, at);
    const auto answers = of_type(frames, 0x3, at);
    const auto follow_ups = of_type(frames, 0xa, at);
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_EQ(follow_ups.size(), two_step ? 1U : 0U);
    EXPECT_EQ(answers[0].sequence, round);
    const double t4 = static_cast<double>(answers[0].t_ps) / 1000;
    double residence = answers[0].correction_ns;
    if (two_step) {
      EXPECT_EQ(answers[0].flags & 0x0200U, 0x0200U);
      EXPECT_EQ(big_endian(follow_ups[0].all, 44, 8), 0xc0c1c2c3c4c5c6c7U);
      residence += static_cast<double>(follow_ups[0].timestamp_ns - answers[0].timestamp_ns);
      residence += follow_ups[0].correction_ns;
    } else {
      EXPECT_EQ(answers[0].timestamp_ns, 0);
    }
    EXPECT_NEAR((t4 - t1 - residence + round * 0.5) / 2, 777.123, 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, GrandmasterExchange,
    testing::Combine(testing::Values(PtpTransport::udp4, PtpTransport::udp6, PtpTransport::ethernet), testing::Bool()));

TEST(Grandmaster, AnnouncesWhatItIsSetTo) {
  GrandmasterSetting setting;
  setting.transport = PtpTransport::ethernet;
  setting.priority1 = 10;
  setting.priority2 = 20;
  setting.clock_class = 7;
  setting.clock_accuracy = 0x21;
  setting.log_announce = -1;
  setting.utc_offset = 38;
  setting.leap = PtpLeap::inserted;
  Grandmaster end(setting, {});
  WireBench bench(end);
  bench.run_until(10 * second - 1);
  const auto frames = bench.take();
  const auto announces = of_type(frames, 0xb, 14);
  ASSERT_EQ(announces.size(), 20U);
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(announces[i].sequence, i);
  EXPECT_EQ(of_type(frames, 0x0, 14).size(), 10U);
  const Bytes& m = announces[3].all;
  EXPECT_EQ(frames[0].bytes[0], 0x01);
  EXPECT_EQ(big_endian(frames[0].bytes, 0, 6), 0x011b19000000U);
  EXPECT_EQ(big_endian(frames[0].bytes, 12, 2), 0x88f7U);
  EXPECT_EQ(announces[3].length, 64U);
  EXPECT_EQ(announces[3].flags, 0x003dU);
  EXPECT_EQ(announces[3].log_interval, -1);
  EXPECT_EQ(big_endian(m, 44, 2), 38U);
  EXPECT_EQ(m[47], 10);
  EXPECT_EQ(m[48], 7);
  EXPECT_EQ(m[49], 0x21);
  EXPECT_EQ(m[52], 20);
  EXPECT_EQ(big_endian(m, 53, 8), 0x02005efffe158801U);
  EXPECT_EQ(big_endian(m, 20, 8), 0x02005efffe158801U);
  EXPECT_EQ(m[63], 0x20);
}

TEST(Grandmaster, TellsOfASyncThatTheCardHasDroppedWhenItWasToLeave) {
  GrandmasterSetting setting;
  setting.transport = PtpTransport::ethernet;
  setting.clock.offset_ns = 5'000'000'000;
  setting.start_ps = second;
  setting.delay_ps = 250'000;
  Grandmaster end(setting, {});
  const std::uint64_t sync_ps = end.next_ps() + 2'000'000;
  EXPECT_TRUE(end.poll(sync_ps, most_pending).empty());
  EXPECT_EQ(end.statistics().overrun, 2U);  // Announce and Sync
  auto frames = end.poll(sync_ps + setting.follow_up_ps, 0);
  ASSERT_EQ(frames.size(), 1U);
  frames[0].on_start(frames[0].bytes, frames[0].at_ps + 8 * 320);
  const auto message = slave_read({frames[0].bytes, 0}, 14);
  EXPECT_EQ(message.type, 8U);
  const double planned_ns = static_cast<double>(frames[0].at_ps - setting.delay_ps - setting.follow_up_ps) / 1000;
  const double told_ns = static_cast<double>(message.timestamp_ns) + message.correction_ns;
  EXPECT_NEAR(told_ns, 5e9 + planned_ns + 2.56, 0.001);
}

TEST(Grandmaster, SpeaksGptp) {
  GrandmasterSetting setting;
  setting.gptp = true;
  Grandmaster end(setting, {});
  WireBench bench(end);
  bench.run_until(1'000'000'000);
  bench.send(slave_frame(slave_request(0x2, 54, 9, 0, 0, 1), 14, true));
  bench.run_for(100'000'000);
  const auto frames = bench.take();
  for (const auto& frame : frames) {
    EXPECT_EQ(big_endian(frame.bytes, 0, 6), 0x0180c200000eU);
    EXPECT_EQ(slave_read(frame, 14).sdo, 1U);
  }
  const auto follow_ups = of_type(frames, 0x8, 14);
  ASSERT_EQ(follow_ups.size(), 1U);
  EXPECT_EQ(follow_ups[0].length, 76U);
  EXPECT_EQ(big_endian(follow_ups[0].all, 44, 8), 0x0003001c0080c200U);
  const auto announces = of_type(frames, 0xb, 14);
  ASSERT_EQ(announces.size(), 1U);
  EXPECT_EQ(announces[0].length, 76U);
  EXPECT_EQ(of_type(frames, 0x3, 14).size(), 1U);
  EXPECT_EQ(of_type(frames, 0xa, 14).size(), 1U);
}

TEST(Grandmaster, AnswersUnicastDelayRequestsByUnicast) {
  Grandmaster end({}, {});
  WireBench bench(end);
  bench.run_until(1'000'000'000);
  bench.take();
  Bytes request = slave_request(0x1, 44, 3);
  request[6] = 0x04;
  bench.send(slave_frame(request, 42, false));
  bench.run_for(30'000'000);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(big_endian(frames[0].bytes, 0, 6), 0x020000000005U);
  EXPECT_EQ(big_endian(frames[0].bytes, 30, 4), 0xc0a82a05U);
  const auto answer = slave_read(frames[0], 42);
  EXPECT_EQ(answer.flags, 0x0400U);
  EXPECT_EQ(answer.log_interval, 0x7f);
}

TEST(Grandmaster, AnswersArpForItsAddressOnly) {
  Grandmaster end({}, {});
  WireBench bench(end);
  bench.run_until(1'000'000'000);
  bench.take();
  Bytes request = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0,   0,   0,  0, 5, 8, 6, 0, 1, 8, 0,   6,   4,  0,
                   1,    2,    0,    0,    0,    0,    5, 192, 168, 42, 5, 0, 0, 0, 0, 0, 0, 192, 168, 42, 2};
  request.resize(60);
  bench.send(request);
  request[41] = 1;
  bench.send(request);
  bench.run_for(100'000'000);
  const auto frames = bench.take();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(big_endian(frames[0].bytes, 0, 6), 0x020000000005U);
  EXPECT_EQ(big_endian(frames[0].bytes, 20, 2), 2U);
  EXPECT_EQ(big_endian(frames[0].bytes, 22, 6), 0x02005e158801U);
  EXPECT_EQ(big_endian(frames[0].bytes, 28, 4), 0xc0a82a01U);
  EXPECT_EQ(big_endian(frames[0].bytes, 32, 6), 0x020000000005U);
  EXPECT_EQ(big_endian(frames[0].bytes, 38, 4), 0xc0a82a05U);
  EXPECT_EQ(end.statistics().arp_answered, 1U);
  EXPECT_EQ(end.statistics().dropped[0], 1U);
}

/// A frame of the slave's with tags, outermost first.
Bytes tagged(Bytes frame, const std::vector<std::pair<unsigned, unsigned>>& tags) {
  Bytes words;
  for (const auto& [type, tci] : tags)
    for (const unsigned word : {type, tci}) {
      words.push_back(static_cast<std::uint8_t>(word >> 8));
      words.push_back(static_cast<std::uint8_t>(word));
    }
  frame.insert(frame.begin() + 12, words.begin(), words.end());
  return frame;
}

TEST(Grandmaster, SpeaksInVlansOnly) {
  const std::vector<std::pair<unsigned, unsigned>> one = {{0x8100, 100}}, two = {{0x88a8, 200}, {0x8100, 100}};
  for (const auto& tags : {one, two})
    for (const auto* transport : {"udp4", "udp6", "ethernet"}) {
      const bool has_two = tags.size() == 2;
      auto end = make_wire_end(
          std::string("ptp:log_announce=10,vlan=100") + (has_two ? ",svlan=200" : "") + ",transport=" + transport, {});
      WireBench bench(*end);
      const std::size_t at =
          std::map<std::string, std::size_t>{{"udp4", 42}, {"udp6", 62}, {"ethernet", 14}}[transport];
      bench.run_until(second / 2);
      bench.take();
      std::map<std::string, double> told;
      const auto send = [&](const Bytes& frame) {
        bench.send(frame);
        bench.run_for(100'000'000);
        end->report([&](std::string_view name, double value) { told[std::string(name)] = value; });
        return bench.take();
      };
      const Bytes request = slave_frame(slave_request(0x1, 44, 9), at, false);
      const auto priority = [&](unsigned bits) {
        auto with = tags;
        with.back().second |= bits;
        return with;
      };
      for (const auto& right : {tags, priority(0xe000)}) {
        const auto frames = send(tagged(request, right));
        ASSERT_EQ(frames.size(), 1U) << transport;
        Bytes answer = frames[0].bytes;
        const Bytes words = tagged(Bytes(12), tags);
        EXPECT_TRUE(std::equal(words.begin() + 12, words.end(), answer.begin() + 12));
        answer.erase(answer.begin() + 12, answer.begin() + 12 + 4 * static_cast<long>(tags.size()));
        expect_checksums(answer, at);
        const auto message = slave_read({answer, 0}, at);
        EXPECT_EQ(message.type, 9U);
        EXPECT_EQ(message.sequence, 9U);
      }
      // No tag, another VLAN, another type of tag, one more, one less.
      auto other = tags, more = tags;
      other.back().second ^= 1;
      more.push_back({0x8100, 5});
      const decltype(other) swapped = has_two ? decltype(other){tags[1], tags[0]} : decltype(other){{0x88a8, 100}};
      const decltype(other) less(tags.begin() + 1, tags.end());
      const double before = told["dropped_foreign"];
      for (const auto& wrong : {{}, other, swapped, more, less}) EXPECT_TRUE(send(tagged(request, wrong)).empty());
      EXPECT_EQ(told["dropped_foreign"] - before, 5);
      if (at != 42) continue;
      Bytes arp = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0,   0,   0,  0, 5, 8, 6, 0, 1, 8, 0,   6,   4,  0,
                   1,    2,    0,    0,    0,    0,    5, 192, 168, 42, 5, 0, 0, 0, 0, 0, 0, 192, 168, 42, 1};
      arp.resize(60);
      EXPECT_TRUE(send(arp).empty());
      const auto answers = send(tagged(arp, tags));
      ASSERT_EQ(answers.size(), 1U);
      EXPECT_EQ(big_endian(answers[0].bytes, 14, 2), tags[0].second);
      EXPECT_EQ(big_endian(answers[0].bytes, 12 + 4 * tags.size(), 2), 0x0806U);
      EXPECT_EQ(told["arp_answered"], 1);
      EXPECT_EQ(told["sent_sync"], 1);  // the first; an answer of ARP is none of PTP's messages
    }
}

TEST(Grandmaster, CountsWhatItCannotTake) {
  using Drop = Grandmaster::Drop;
  Grandmaster end({}, {});
  WireBench bench(end);
  bench.run_until(1'000'000'000);
  const auto expect = [&](Drop drop, const Bytes& frame, bool bad = false) {
    const auto before = end.statistics();
    bench.send(frame, bad);
    for (std::size_t i = 0; i < before.dropped.size(); ++i)
      EXPECT_EQ(end.statistics().dropped[i] - before.dropped[i], i == static_cast<std::size_t>(drop))
          << Grandmaster::drop_names[i] << " for " << Grandmaster::drop_names[static_cast<std::size_t>(drop)];
    EXPECT_EQ(end.statistics().received, before.received);
  };
  const auto request = [](auto change) {
    Bytes message = slave_request(0x1, 44, 0);
    change(message);
    return slave_frame(message, 42, false);
  };
  const auto framed = [&](std::size_t at, std::uint8_t value) {
    Bytes frame = request([](Bytes&) {});
    frame[at] = value;
    return frame;
  };
  expect(Drop::foreign, Bytes(60, 0));
  expect(Drop::foreign, framed(12, 0x09));
  expect(Drop::foreign, framed(0, 0x02));
  expect(Drop::ip, framed(24, 0x55));
  expect(Drop::ip, framed(17, 0xff));
  expect(Drop::udp, framed(40, 0x55));
  expect(Drop::udp, framed(39, 4));
  expect(Drop::udp, framed(39, 200));
  expect(Drop::version, request([](Bytes& m) { m[1] = 1; }));
  expect(Drop::type, request([](Bytes& m) { m[0] = 5; }));
  expect(Drop::length, request([](Bytes& m) { m[3] = 43; }));
  expect(Drop::length, request([](Bytes& m) { m[3] = 45; }));
  expect(Drop::length, request([](Bytes& m) { m.resize(33); }));
  expect(Drop::tlv, request([](Bytes& m) {
           m.resize(50);
           m[3] = 50;
           m[47] = 4;
         }));
  expect(Drop::timestamp, request([](Bytes& m) { m[40] = 0x40; }));
  expect(Drop::sdo, request([](Bytes& m) { m[0] = 0x11; }));
  expect(Drop::domain, request([](Bytes& m) { m[4] = 1; }));
  expect(Drop::wrong_port, slave_frame(slave_request(0x1, 44, 0), 42, false, false));
  expect(Drop::bad_fcs, request([](Bytes&) {}), true);
}

TEST(GrandmasterFuzz, NothingThatComesDoesHarm) {
  for (const auto transport : {PtpTransport::udp4, PtpTransport::udp6, PtpTransport::ethernet}) {
    GrandmasterSetting setting;
    setting.transport = transport;
    setting.two_step = transport != PtpTransport::udp6;
    Grandmaster end(setting, {});
    WireBench bench(end);
    Random random(17);
    const std::size_t at = offset_of(transport);
    std::uint64_t sent = 0;
    for (int round = 0; round < 20'000; ++round, ++sent) {
      Bytes message =
          slave_request(random.below(16), 44 + random.below(30), 0, 0, static_cast<std::int64_t>(random.next()));
      for (unsigned i = random.below(4); i > 0; --i)
        message[random.below(static_cast<std::uint32_t>(message.size()))] = static_cast<std::uint8_t>(random.next());
      Bytes frame = slave_frame(message, at, random.percent(50), random.percent(80));
      if (random.percent(30))
        frame[random.below(static_cast<std::uint32_t>(frame.size()))] ^= static_cast<std::uint8_t>(random.next());
      if (random.percent(10)) frame.resize(1 + random.below(static_cast<std::uint32_t>(frame.size())));
      bench.send(frame);
      bench.run_for(100'000);
    }
    bench.run_for(second / 2);
    std::uint64_t accounted = end.statistics().arp_answered;
    for (const auto count : end.statistics().received) accounted += count;
    for (const auto count : end.statistics().dropped) accounted += count;
    EXPECT_EQ(accounted, sent);
    EXPECT_GT(end.statistics().received[1], 100U);
    for (const auto& frame : bench.take()) expect_checksums(frame.bytes, at);
  }
}

}  // namespace
}  // namespace meridian
