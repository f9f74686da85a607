// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint64_t us = 1'000'000;

PcieSetting link(unsigned generation, unsigned lanes) {
  return {.unlimited = false, .generation = generation, .lanes = lanes};
}

TEST(QdmaLink, RefusesSettingsThatAreNoLink) {
  TestMemory memory;
  for (const PcieSetting& bad : {link(0, 16), link(6, 16), link(3, 0), link(3, 17)})
    EXPECT_THROW(PcieLink(bad, memory), InputError);
  PcieSetting no_tags = link(3, 16);
  no_tags.tags = 0;
  EXPECT_THROW(PcieLink(no_tags, memory), InputError);
  PcieSetting no_room = link(3, 16);
  no_room.completion_bytes = 511;
  EXPECT_THROW(PcieLink(no_room, memory), InputError);
  PcieSetting no_header = link(3, 16);
  no_header.completion_headers = 3;  // 512 bytes at any address come as three packets
  EXPECT_THROW(PcieLink(no_header, memory), InputError);
  PcieSetting no_pipeline = link(3, 16);
  no_pipeline.pipeline_requests = 0;
  EXPECT_THROW(PcieLink(no_pipeline, memory), InputError);
}

/// Reads of 4096 bytes as fast as the link lets them through, for 100 us; bytes a second.
double read_rate(const PcieSetting& setting) {
  TestMemory memory;
  memory.record = false;
  PcieLink pcie(setting, memory);
  pcie.enable(0, true);
  std::uint64_t done = 0, under_way = 0;
  for (std::uint64_t now = 0; now < 100 * us; now += 4000) {
    pcie.run(now);
    for (; under_way < 64; ++under_way)
      pcie.read(0, 0x1000, 4096, [&](bool ok, const Bytes& data) {
        EXPECT_TRUE(ok);
        done += data.size();
        --under_way;
      });
  }
  return static_cast<double>(done) / 100e-6;
}

TEST(QdmaLink, ReadsGetTheBandwidthOfTheLanes) {
  // Share of payload: 256 bytes a completion of 276.
  EXPECT_NEAR(read_rate(link(3, 16)), 8e9 * 16 / 8 * 128 / 130 * 256 / 276, 3e8);
  EXPECT_NEAR(read_rate(link(3, 1)), 8e9 / 8 * 128 / 130 * 256 / 276, 6e7);
  EXPECT_NEAR(read_rate(link(1, 1)), 2.5e9 / 8 * 8 / 10 * 256 / 276, 6e7);
}

TEST(QdmaLink, TagsLimitReads) {
  PcieSetting few = link(4, 16);
  few.tags = 4;
  const double a_round_trip = 4 * 512 / 800e-9;
  EXPECT_NEAR(read_rate(few), a_round_trip, 0.12 * a_round_trip);
}

TEST(QdmaLink, RoomForAnswersLimitsReads) {
  const double a_round_trip = 4 * 512 / 800e-9;
  PcieSetting few_bytes = link(4, 16);
  few_bytes.completion_bytes = 4 * 512 + 100;
  EXPECT_NEAR(read_rate(few_bytes), a_round_trip, 0.12 * a_round_trip);
  PcieSetting few_headers = link(4, 16);
  few_headers.completion_headers = 4 * 2 + 1;  // two answers of 256 bytes a read of 512
  EXPECT_NEAR(read_rate(few_headers), a_round_trip, 0.12 * a_round_trip);
}

TEST(QdmaLink, ReadsTakeTheRoundTrip) {
  TestMemory memory;
  PcieLink pcie(link(3, 16), memory);
  pcie.enable(0, true);
  std::uint64_t now = 0, answered = 0;
  pcie.read(0, 0, 64, [&](bool, const Bytes&) { answered = now; });
  for (; now < 2 * us && answered == 0; now += 4000) pcie.run(now);
  EXPECT_GE(answered, 800'000U);
  EXPECT_LE(answered, 830'000U);
}

TEST(QdmaLink, AnswerToARegisterReadLeavesBehindTheWrites) {
  TestMemory memory;
  PcieLink pcie(link(3, 1), memory);
  pcie.enable(0, true);
  const std::uint64_t alone = pcie.answer();
  EXPECT_NEAR(static_cast<double>(alone), 24 * 1015.6, 100);  // 24 bytes of a lane at 8 GT/s
  pcie.write(0, 0x1000, Bytes(4096, 1));
  const double written = 4096 + 16 * 24;
  EXPECT_NEAR(static_cast<double>(pcie.answer() - alone), (written + 24) * 1015.6, 1000);
}

TEST(QdmaLink, AnswerToARegisterReadPassesWhatTheBlockHasNotTaken) {
  TestMemory memory;
  PcieSetting setting = link(3, 1);
  setting.pipeline_requests = 3;
  PcieLink pcie(setting, memory);
  pcie.enable(0, true);
  pcie.write(0, 0x1000, Bytes(4096, 1));
  constexpr double byte_ps = 1015.6, packet = 256 + 24;
  EXPECT_NEAR(static_cast<double>(pcie.answer()), (3 * packet + 24) * byte_ps, 1000);
  // The link carries it all the same.
  std::uint64_t written = 0;
  pcie.write(0, 0x2000, Bytes(64, 2));
  for (std::uint64_t now = 0; written == 0 && now < 20 * us; now += 1000) {
    pcie.run(now);
    if (memory.events.size() == 2) written = now;
  }
  EXPECT_NEAR(static_cast<double>(written), (16 * packet + 24 + 64 + 24) * byte_ps, 2000);
}

TEST(QdmaLink, TheEngineAsksForNoMoreDataThanItHasRoomFor) {
  QdmaSetting setting;
  setting.h2c_bytes = 4096;
  QdmaBench b(setting);
  b.set_tables();
  b.set_fmap(0, 0, 8);
  const QueueSetting q{.ring_index = 8, .mode = 1};
  b.start_h2c(q);
  for (unsigned i = 0; i < 40; ++i) b.put_h2c(q, i, test_frame(1024, i), 0);
  b.ring(0, 0, reg::h2c_pidx, 40);
  b.memory.hold = true;
  b.run_until([&] { return b.memory.held() == 1; });  // descriptors
  b.memory.answer(0);
  std::size_t most = 0;
  for (unsigned cycle = 0; cycle < 1000; ++cycle) {
    b.tick();
    most = std::max(most, b.memory.held());
  }
  EXPECT_GE(most, 4U);
  EXPECT_LE(most, 5U);  // four frames, and the next descriptors
  b.memory.hold = false;
  b.memory.answer_all();
  b.run_until([&] { return b.h2c_done(q) == 40; });
  b.drain();
}

TEST(QdmaLink, AccessWaitsForOnePacketWhereAnswersFollowEachOther) {
  TestMemory memory;
  PcieLink pcie(link(3, 1), memory);
  pcie.enable(0, true);
  EXPECT_EQ(pcie.access_wait_ps(), 0U);
  pcie.read(0, 0x1000, 4096, [](bool, const Bytes&) {});
  EXPECT_NEAR(static_cast<double>(pcie.access_wait_ps()), 276 * 1015.6, 100);
  pcie.run(10 * us);
  EXPECT_EQ(pcie.access_wait_ps(), 0U);
  PcieLink unlimited({}, memory);
  unlimited.enable(0, true);
  unlimited.read(0, 0x1000, 4096, [](bool, const Bytes&) {});
  EXPECT_EQ(unlimited.access_wait_ps(), 0U);
}

TEST(QdmaLink, WritesAndInterruptsKeepTheirOrderAndReadsSeeThem) {
  TestMemory memory;
  PcieLink pcie(link(3, 1), memory);
  pcie.enable(3, true);
  pcie.write(3, 0x1000, Bytes(4000, 1));
  pcie.interrupt(3, 7);
  pcie.write(3, 0x1000, Bytes(64, 2));
  Bytes seen;
  pcie.read(3, 0x1000, 64, [&](bool, Bytes data) { seen = std::move(data); });
  EXPECT_TRUE(pcie.behind());
  EXPECT_TRUE(memory.events.empty());
  for (std::uint64_t now = 0; seen.empty() && now < 20 * us; now += 4000) {
    pcie.run(now);
    if (now < 3 * us) {  // 4 KB take 4.5 us
      EXPECT_TRUE(memory.events.empty()) << now;
    }
  }
  ASSERT_EQ(memory.events.size(), 4U);
  EXPECT_EQ(memory.events[1].kind, TestMemory::Event::Kind::interrupt);
  EXPECT_EQ(memory.events[2].bytes, 64U);
  EXPECT_EQ(seen, Bytes(64, 2));
  EXPECT_TRUE(pcie.idle());
}

TEST(QdmaLink, AReadOfARegisterFindsMemoryUpToDate) {
  QdmaSetting setting;
  setting.pcie = link(1, 1);
  QdmaBench b(setting);
  b.set_tables();
  b.set_fmap(0, 0, 8);
  const QueueSetting q{.ring_index = 1, .mode = 1};
  b.start_c2h(q);
  b.put_buffers(q, 0, 20);
  b.ring(0, 0, reg::c2h_pidx, 20);
  b.shell.send(0, test_frame(1500, 0));
  b.run_until([&] { return b.shell.status.size() == 1; });
  EXPECT_EQ(b.completion_status(q), 0U);
  b.csr(0);
  EXPECT_EQ(b.completion_status(q) & 0xffff, 1U);
}

/// Frames both ways over a link of 8 Gb/s; what the streams could carry is 64 Gb/s.
TEST(QdmaLink, ASlowLinkSlowsTheStreamsAndLosesNothing) {
  QdmaSetting setting;
  setting.pcie = link(3, 1);
  QdmaBench b(setting);
  b.set_tables();
  b.set_fmap(0, 0, 8);
  const QueueSetting q{.ring_index = 8, .mode = 1};
  b.start_h2c(q);
  b.start_c2h(q);
  b.put_buffers(q, 0, 1000);
  b.ring(0, 0, reg::c2h_pidx, 1000);
  const unsigned count = 400;
  for (unsigned i = 0; i < count; ++i) {
    b.put_h2c(q, i, test_frame(1500, i), 0);
    b.shell.send(0, test_frame(1500, i + 1));
  }
  const std::uint64_t start = b.now_ps;
  b.ring(0, 0, reg::h2c_pidx, count);
  b.run_until([&] { return (b.completion_status(q) & 0xffff) == count && b.h2c_done(q) == count; }, 1'000'000);
  b.drain();
  const double seconds = static_cast<double>(b.now_ps - start) * 1e-12;
  const double rate = count * 1500 / seconds;  // of each direction
  EXPECT_LT(rate, 8e9 / 8 * 128 / 130 * 256 / 276);
  EXPECT_GT(rate, 0.7e9);
  for (unsigned i = 0; i < count; ++i) {
    EXPECT_EQ(b.shell.taken.at(i).bytes, test_frame(1500, i));
    EXPECT_EQ(b.memory.get(0, QdmaBench::buffer(q, i), 1500), test_frame(1500, i + 1));
  }
  EXPECT_GT(b.streams.c2h.statistics().stalled, 0U);
}

/// Reads answered in any order must not change the order of a queue.
TEST(QdmaLink, AnswersOutOfOrderKeepTheOrderOfAQueue) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 8);
  b.memory.hold = true;
  Random random(7);
  std::vector<QueueSetting> queues;
  for (unsigned i = 0; i < 4; ++i) {
    queues.push_back({.queue = i, .ring_index = 2, .mode = 1});
    b.start_h2c(queues[i]);
    b.start_c2h(queues[i]);
    b.put_buffers(queues[i], 0, 100);
    b.ring(0, i, reg::c2h_pidx, 100);
    for (unsigned n = 0; n < 90; ++n) {
      b.put_h2c(queues[i], n, test_frame(60 + n, 100 * i + n), n);
      b.shell.send(i, test_frame(60 + n, 100 * i + n));
    }
    b.ring(0, i, reg::h2c_pidx, 90);
  }
  std::size_t most = 0;
  b.run_until([&] {
    most = std::max(most, b.memory.held());
    if (b.memory.held() != 0) b.memory.answer(random.below(static_cast<std::uint32_t>(b.memory.held())));
    return b.shell.taken.size() == 360 && (b.completion_status(queues[3]) & 0xffff) == 90;
  });
  b.memory.hold = false;
  b.memory.answer_all();
  b.drain();
  EXPECT_GT(most, 100U);  // many reads in flight
  std::array<unsigned, 4> next{};
  for (const auto& frame : b.shell.taken) {
    const unsigned n = next.at(frame.queue)++;
    EXPECT_EQ(frame.metadata, n);
    EXPECT_EQ(frame.bytes, test_frame(60 + n, 100 * frame.queue + n));
  }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned n = 0; n < 90; ++n)
      EXPECT_EQ(b.memory.get(0, QdmaBench::buffer(queues[i], n), 60 + n), test_frame(60 + n, 100 * i + n));
}

TEST(QdmaLink, QueuesShareH2cInTurn) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 16);
  std::vector<QueueSetting> queues;
  for (unsigned i = 0; i < 8; ++i) {
    queues.push_back({.queue = i, .ring_index = 8});
    b.start_h2c(queues[i]);
    for (unsigned n = 0; n < 300; ++n) b.put_h2c(queues[i], n, Bytes(512, 1), n);
  }
  for (unsigned i = 0; i < 8; ++i) b.ring(0, i, reg::h2c_pidx, 300);
  b.run_until([&] { return b.shell.taken.size() == 1600; });
  std::array<unsigned, 8> counts{};
  for (const auto& frame : b.shell.taken) ++counts.at(frame.queue);
  for (const unsigned count : counts) EXPECT_NEAR(count, 200, 4);
}

}  // namespace
}  // namespace meridian
