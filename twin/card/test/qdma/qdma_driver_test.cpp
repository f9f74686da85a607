// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint32_t arm = 1U << 28;

/// What a driver that found its ring sizes in the tables does to send and receive, over the ends of its rings.
void traffic(QdmaBench& b, const QueueSetting& q, const std::function<void(unsigned received)>& receive) {
  const unsigned entries = QdmaBench::entries(q);
  b.start_h2c(q);
  b.start_c2h(q);
  b.ring(0, q.queue, reg::completion_cidx, q.interrupt ? arm : 0);
  b.put_buffers(q, 0, entries - 1);
  b.ring(0, q.queue, reg::c2h_pidx, entries - 1);  // all but one
  for (unsigned i = 0; i < 150; ++i) {
    b.put_h2c(q, i % entries, test_frame(700, i), 700);
    b.ring(0, q.queue, reg::h2c_pidx, (i + 1) % entries);
    b.shell.send(q.queue, test_frame(900, i));
    b.run_until([&] { return b.h2c_done(q) == (i + 1) % entries; });
    receive(i + 1);
    EXPECT_EQ(b.memory.get(0, QdmaBench::buffer(q, i % entries), 900), test_frame(900, i));
    b.put_buffers(q, i + entries - 1, 1);
    b.ring(0, q.queue, reg::c2h_pidx, (i + entries) % entries);
    b.ring(0, q.queue, reg::completion_cidx, ((i + 1) % entries) | (q.interrupt ? arm : 0));
  }
  b.drain();
  ASSERT_EQ(b.shell.taken.size(), 150U);
  for (unsigned i = 0; i < 150; ++i) EXPECT_EQ(b.shell.taken[i].bytes, test_frame(700, i));
  EXPECT_EQ(b.csr(reg::error_status), 0U);
  EXPECT_EQ(b.memory.word(0, QdmaBench::c2h_ring(q) + 8ULL * entries), 0U);  // C2H has no write-back
}

TEST(QdmaDriver, PassesFramesByTheSettingsOfXilinxForLinux) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 32);
  constexpr std::uint64_t ring_at = 0x9000000;
  CoalesceContext c;
  c.set(coalesce::valid, 1);
  c.set(coalesce::vector, 3);
  c.set(coalesce::color, 1);
  c.words[0] |= static_cast<std::uint32_t>(ring_at >> 12) << 15;
  b.command(8, 0, 0);
  b.write_context(8, 0, {c.words[0]});
  const QueueSetting q = QueueSetting::of_linux(17, 0);
  unsigned seen = 0;  // entries of the aggregation ring
  bool color = true;
  traffic(b, q, [&](unsigned received) {
    b.run_until([&] { return (b.completion_status(q) & 0xffff) == received % QdmaBench::entries(q); });
    b.run(2);
    unsigned c2h = 0;
    while (b.memory.word(0, ring_at + 8ULL * seen) >> 63 == (color ? 1U : 0U)) {
      c2h += static_cast<unsigned>(b.memory.word(0, ring_at + 8ULL * seen) >> 38 & 1);
      EXPECT_EQ(b.memory.word(0, ring_at + 8ULL * seen) >> 39 & 0xffffff, 17U);
      if (++seen == 512) {
        seen = 0;
        color = !color;
      }
    }
    EXPECT_EQ(c2h, 1U) << received;
    b.ring(0, 17, reg::interrupt_cidx, seen);
  });
  EXPECT_GE((b.memory.interrupts[{0, 3}]), 150U);
}

TEST(QdmaDriver, PassesFramesByTheSettingsOfXilinxForDpdk) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 32);
  const QueueSetting q = QueueSetting::of_dpdk(9);
  traffic(b, q, [&](unsigned received) {
    b.run_until([&] { return (b.completion_status(q) & 0xffff) == received % QdmaBench::entries(q); });
  });
  EXPECT_TRUE(b.memory.interrupts.empty());
}

TEST(QdmaDriver, PassesFramesByTheSettingsOfOpenNic) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 8);
  const QueueSetting q{.queue = 1, .ring_index = 1, .vector = 1};
  traffic(b, q, [&](unsigned received) {
    b.run_until([&] { return b.memory.interrupts[{0, 1}] == received; });  // after 1 us
    EXPECT_EQ(b.completion_status(q) & 0xffff, received % QdmaBench::entries(q));
  });
}

/// The Linux driver's master PF clears eight contexts of each queue before it does anything else.
TEST(QdmaDriver, ScrubsAllContexts) {
  QdmaBench b;
  for (unsigned queue = 0; queue < 2048; ++queue)
    for (unsigned kind = 0; kind < 8; ++kind) {
      for (unsigned word = 0; word < 16; ++word) b.set_csr(reg::context_data + 4 * word, ~0U);
      b.command(kind, 0, queue);
      EXPECT_EQ(b.csr(reg::context_command) & 1, 0U);
    }
  EXPECT_TRUE(b.ip.idle());
  EXPECT_EQ(b.read_context(6, 2047)[0], 0U);
}

}  // namespace
}  // namespace meridian
