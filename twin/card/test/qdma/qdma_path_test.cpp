// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

TEST(QdmaIpPath, SaysWhatItIs) {
  QdmaBench bench;
  EXPECT_EQ(bench.csr(0x0) >> 16, 0x1fd3U);
  EXPECT_EQ(bench.csr(0x104), 0x41041U);
  EXPECT_EQ(bench.csr(0x10c), 0x104104U);
  EXPECT_EQ(bench.csr(0x118), 0x30000U);
  EXPECT_EQ(bench.csr(0x120), 0x800U);
  EXPECT_EQ(bench.csr(0x134), 0x02200003U);
  EXPECT_EQ(bench.ip.read(2, 0x12c), 2U);
  EXPECT_EQ(bench.ip.read(4, 0x5014), 0x1fd30220U);
  EXPECT_EQ(bench.ip.read(4, 0x0), 0U);
  QdmaSetting old;
  old.version = QdmaVersion::eqdma4;
  old.pfs = 1;
  QdmaBench other(old);
  EXPECT_EQ(other.csr(0x134), 0x01100003U);
  EXPECT_EQ(other.csr(0x104), 1U);
  EXPECT_EQ(other.ip.read(4, 0x5014), 0x1fd30110U);
}

TEST(QdmaIpPath, KeepsContexts) {
  QdmaBench bench;
  bench.write_context(1, 77, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(bench.read_context(1, 77)[7], 8U);
  bench.set_csr(reg::context_mask, 0xff00);
  for (unsigned i = 0; i < 8; ++i) bench.set_csr(reg::context_data + 4 * i, 0xffffffff);
  for (unsigned i = 1; i < 8; ++i) bench.set_csr(reg::context_mask + 4 * i, 0);
  bench.command(1, 1, 77);
  EXPECT_EQ(bench.read_context(1, 77)[0], 0xff01U);
  EXPECT_EQ(bench.read_context(1, 77)[6], 7U);
  bench.command(1, 0, 77);
  EXPECT_EQ(bench.read_context(1, 77)[6], 0U);
  EXPECT_EQ(bench.csr(reg::context_command) & 1, 0U);
}

TEST(QdmaIpPath, SendsFramesInTheOrderOfTheRingAndWritesBack) {
  QdmaBench bench;
  bench.set_tables();
  bench.set_fmap(0, 0, 8);
  const QueueSetting q{.queue = 3, .ring_index = 1, .h2c_interrupt = true, .h2c_vector = 5};
  bench.start_h2c(q);
  unsigned index = 0, sent = 0;
  for (unsigned round = 0; round < 5; ++round) {  // over the end of the ring
    for (unsigned i = 0; i < 40; ++i) {
      bench.put_h2c(q, index, test_frame(i == 7 ? 0 : 60 + 13 * i, sent++), i);
      index = (index + 1) % QdmaBench::entries(q);
    }
    bench.ring(0, 3, reg::h2c_pidx, index | 0x10000);
    bench.run_until([&] { return bench.h2c_done(q) == index; });
    bench.drain();
    EXPECT_EQ((bench.memory.interrupts[{0, 5}]), round + 1);
  }
  ASSERT_EQ(bench.shell.taken.size(), 200U);
  for (unsigned i = 0; i < 200; ++i) {
    EXPECT_EQ(bench.shell.taken[i].queue, 3U);
    EXPECT_EQ(bench.shell.taken[i].metadata, i % 40);
    EXPECT_EQ(bench.shell.taken[i].bytes, test_frame(i % 40 == 7 ? 0 : 60 + 13 * (i % 40), i)) << i;
  }
  EXPECT_TRUE(bench.ip.idle());
}

TEST(QdmaIpPath, DeliversFramesAndCompletions) {
  QdmaBench bench;
  bench.set_tables();
  bench.set_fmap(1, 64, 8);
  const QueueSetting q{.function = 1, .queue = 66, .ring_index = 1, .mode = 1, .vector = 2};
  bench.start_c2h(q);
  bench.put_buffers(q, 0, 62);
  bench.ring(1, 2, reg::completion_cidx, (1U << 28) | (1U << 27) | (1U << 24));
  bench.ring(1, 2, reg::c2h_pidx, 62);
  bench.run(4);
  ASSERT_EQ(bench.shell.messages.size(), 1U);
  EXPECT_EQ(bench.shell.messages[0].qid, 66);
  EXPECT_EQ(bench.shell.messages[0].avl, 62);
  unsigned received = 0;
  for (unsigned round = 0; round < 6; ++round) {
    for (unsigned i = 0; i < 30; ++i) bench.shell.send(66, test_frame(60 + 17 * i, received + i));
    bench.drain();
    EXPECT_EQ((bench.memory.interrupts[{1, 2}]), round + 1);
    const unsigned pidx = (received + 30) % 63;
    EXPECT_EQ(bench.completion_status(q) & 0xffff, pidx);
    for (unsigned i = 0; i < 30; ++i, ++received) {
      const std::uint64_t entry = bench.entry(q, received % 63);
      EXPECT_EQ(entry >> 1 & 1, received / 63 % 2 == 0 ? 1U : 0U);
      EXPECT_EQ(entry >> 4 & 0xffff, 60 + 17 * i);
      EXPECT_EQ(bench.memory.get(1, QdmaBench::buffer(q, received % 63), 60 + 17 * i),
                test_frame(60 + 17 * i, received));
    }
    bench.put_buffers(q, received + 32, 30);
    bench.ring(1, 2, reg::c2h_pidx, (received + 62) % 63);
    bench.ring(1, 2, reg::completion_cidx, pidx | (1U << 28) | (1U << 27) | (1U << 24));
  }
}

/// The shell grants credit by what it is told.
TEST(QdmaIpPath, TellsOfAllBuffersOfDoorbellsThatComeTogether) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 8);
  const QueueSetting q{.ring_index = 1};
  b.start_c2h(q);
  b.put_buffers(q, 0, 30);
  for (const unsigned pidx : {10U, 11U, 30U}) b.ring(0, 0, reg::c2h_pidx, pidx);
  b.drain();
  unsigned told = 0;
  for (const DescriptorMessage& message : b.shell.messages)
    if (message.qen) told += message.avl;
  EXPECT_EQ(told, 30U);
}

TEST(QdmaIpPath, ModeratesByTimerAndCount) {
  QdmaBench bench;
  bench.set_tables();
  bench.set_fmap(0, 0, 8);
  const QueueSetting q{.counter = 4, .vector = 1};  // mode 5: 16 entries or 1 us
  bench.start_c2h(q);
  bench.put_buffers(q, 0, 256);
  bench.ring(0, 0, reg::completion_cidx, (1U << 28) | (1U << 27) | (5U << 24));
  bench.ring(0, 0, reg::c2h_pidx, 256);
  bench.shell.send(0, test_frame(64, 0));
  bench.drain();
  EXPECT_EQ((bench.memory.interrupts[{0, 1}]), 0U);
  const std::uint64_t due = bench.ip.next_ps();
  EXPECT_LE(due, bench.now_ps + 1'000'000);
  bench.run_until([&] { return bench.memory.interrupts[{0, 1}] != 0; });
  EXPECT_GE(bench.now_ps, due);
  EXPECT_LT(bench.now_ps, due + 8000);
  EXPECT_EQ(bench.completion_status(q) & 0xffff, 1U);
  EXPECT_EQ(bench.ip.next_ps(), ~std::uint64_t{0});
  bench.ring(0, 0, reg::completion_cidx, 1 | (1U << 28));
  for (unsigned i = 0; i < 16; ++i) bench.shell.send(0, test_frame(64, i));
  bench.drain();
  EXPECT_EQ((bench.memory.interrupts[{0, 1}]), 2U);  // by the count, before the timer
}

TEST(QdmaIpPath, WritesBackAtIntervalsToo) {
  QdmaBench bench;
  bench.set_tables();
  bench.set_csr(reg::descriptor_config, 1);  // every 8
  bench.set_fmap(0, 0, 8);
  const QueueSetting q{.queue = 0, .ring_index = 1};
  bench.start_h2c(q);
  for (unsigned i = 0; i < 20; ++i) bench.put_h2c(q, i, test_frame(200, i), 0);
  bench.ring(0, 0, reg::h2c_pidx, 20);
  std::vector<unsigned> seen;
  bench.run_until([&] {
    const unsigned done = bench.h2c_done(q);
    if (seen.empty() || seen.back() != done) seen.push_back(done);
    return done == 20;
  });
  EXPECT_EQ(seen, (std::vector<unsigned>{0, 8, 16, 20}));
}

TEST(QdmaIpPath, ADescriptorHasTheFirstEntryAloneUnlessItMayHavePieces) {
  constexpr unsigned start = 1, end = 2;
  for (const bool gather : {false, true}) {
    QdmaSetting setting;
    setting.h2c_gather = gather;
    QdmaBench bench(setting);
    bench.set_tables();
    bench.set_fmap(0, 0, 8);
    const QueueSetting q{.queue = 0, .ring_index = 1, .h2c_stride = 2};
    bench.start_h2c(q);
    // Two pieces, one because it ends at once, one because it does not start, and four.
    const unsigned flags[][4] = {{start, end, 0, 0}, {start | end, end, 0, 0}, {0, end, 0, 0}, {start, 0, start, 0}};
    const unsigned pieces[] = {2, 1, 1, 4};
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned entry = 0; entry < 4; ++entry)
        bench.put_h2c(q, i, test_frame(100 + entry, 4 * i + entry), 40 + 4 * i + entry, flags[i][entry], entry);
    bench.ring(0, 0, reg::h2c_pidx, 4);
    bench.run_until([&] { return bench.h2c_done(q) == 4; });
    ASSERT_EQ(bench.shell.taken.size(), 4U);
    for (unsigned i = 0; i < 4; ++i) {
      Bytes frame;
      for (unsigned entry = 0; entry < (gather ? pieces[i] : 1); ++entry) {
        const Bytes piece = test_frame(100 + entry, 4 * i + entry);
        frame.insert(frame.end(), piece.begin(), piece.end());
      }
      EXPECT_EQ(bench.shell.taken[i].bytes, frame) << i;
      EXPECT_EQ(bench.shell.taken[i].metadata, 40 + 4 * i);
    }
  }
}

}  // namespace
}  // namespace meridian
