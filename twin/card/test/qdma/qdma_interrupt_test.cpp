// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint32_t arm = 1U << 28;
constexpr std::uint64_t ring_at = 0x7'12345000ULL;

struct AggregateBench : QdmaBench {
  static constexpr unsigned ring_index = 33, vector = 6, function = 1;
  QueueSetting q{.function = function,
                 .queue = 68,
                 .ring_index = 1,
                 .h2c_interrupt = true,
                 .h2c_vector = ring_index,
                 .mode = 1,
                 .vector = ring_index,
                 .aggregate = true};

  AggregateBench() {
    set_tables();
    set_fmap(1, 64, 8);
    start_ring(ring_index, function);
    start_h2c(q);
    start_c2h(q);
    put_buffers(q, 0, 62);
    ring(function, 4, reg::c2h_pidx, 62);
    ring(function, 4, reg::completion_cidx, arm);
  }
  void start_ring(unsigned index, unsigned asker) {
    CoalesceContext c;
    c.set(coalesce::valid, 1);
    c.set(coalesce::vector, vector);
    c.set(coalesce::color, 1);
    c.set(coalesce::function, asker);
    c.words[0] |= static_cast<std::uint32_t>(ring_at >> 12) << 15;
    c.words[1] = static_cast<std::uint32_t>(ring_at >> 29);
    c.words[2] |= static_cast<std::uint32_t>(ring_at >> 61);
    write_context(8, index, {c.words[0], c.words[1], c.words[2], c.words[3]});
  }
  bool runs(unsigned index) { return (read_context(8, index)[0] & 1) != 0; }
  std::uint64_t at(unsigned index) { return memory.word(function, ring_at + 8 * index); }
  unsigned interrupts() { return memory.interrupts[{function, vector}]; }
  void acknowledge(unsigned cidx) { ring(function, 0, reg::interrupt_cidx, cidx | (ring_index << 16)); }
};

TEST(QdmaInterrupt, RingEntriesTellWhichQueue) {
  AggregateBench b;
  b.shell.send(68, test_frame(60, 0));
  b.drain();
  EXPECT_EQ(b.interrupts(), 1U);
  const std::uint64_t entry = b.at(0);
  EXPECT_EQ(entry & 0xffff, 1U);   // PIDX
  EXPECT_EQ(entry >> 38 & 1, 1U);  // C2H
  EXPECT_EQ(entry >> 39 & 0xffffff, 68U);
  EXPECT_EQ(entry >> 63, 1U);
  b.put_h2c(b.q, 0, test_frame(60, 0), 0);
  b.ring(1, 4, reg::h2c_pidx, 1);
  b.drain();
  EXPECT_EQ(b.interrupts(), 1U);  // the first is being serviced
  EXPECT_EQ(b.at(1) >> 38 & 1, 0U);
  EXPECT_EQ(b.at(1) >> 63, 1U);
  b.acknowledge(1);  // one is unread
  EXPECT_EQ(b.interrupts(), 2U);
  b.acknowledge(1);  // a handler that found nothing must not be started for ever
  EXPECT_EQ(b.interrupts(), 2U);
  b.acknowledge(2);
  EXPECT_EQ(b.interrupts(), 2U);
  b.ring(1, 4, reg::completion_cidx, 1 | arm);
  b.shell.send(68, test_frame(60, 0));
  b.drain();
  EXPECT_EQ(b.interrupts(), 3U);
}

TEST(QdmaInterrupt, TheEntryIsThereBeforeTheInterrupt) {
  AggregateBench b;
  b.memory.events.clear();
  b.shell.send(68, test_frame(60, 0));
  b.drain();
  std::vector<std::uint64_t> order;
  for (const auto& event : b.memory.events)
    if (event.kind != TestMemory::Event::Kind::read) order.push_back(event.address);
  const std::uint64_t completions = QdmaBench::completions(b.q);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{QdmaBench::buffer(b.q, 0), completions,
                                               completions + 8ULL * QdmaBench::entries(b.q), ring_at, b.vector}));
}

TEST(QdmaInterrupt, ColourTurnsAtTheEndOfTheRing) {
  AggregateBench b;
  for (unsigned i = 0; i < 513; ++i) {
    b.shell.send(68, test_frame(60, i));
    b.drain();
    b.ring(1, 4, reg::c2h_pidx, (i + 1 + 62) % 63);
    b.ring(1, 4, reg::completion_cidx, ((i + 1) % 63) | arm);
    b.acknowledge((i + 1) % 512);
  }
  EXPECT_EQ(b.interrupts(), 513U);
  EXPECT_EQ(b.at(0) >> 63, 0U);
  EXPECT_EQ(b.at(1) >> 63, 1U);
}

TEST(QdmaInterrupt, ARingAnswersItsFunctionOnly) {
  AggregateBench b;
  b.set_fmap(0, 0, 8);
  b.shell.send(68, test_frame(60, 0));
  b.drain();
  b.ring(0, 0, reg::interrupt_cidx, 0 | (b.ring_index << 16));
  b.shell.send(68, test_frame(60, 0));
  b.drain();
  EXPECT_EQ(b.interrupts(), 1U);
}

TEST(QdmaInterrupt, AResetTakesTheRingsOfItsFunctionAlone) {
  AggregateBench b;
  b.start_ring(34, 2);
  EXPECT_TRUE(b.runs(33) && b.runs(34));
  bool done = false;
  b.ip.reset_function(1, [&] { done = true; });
  b.run_until([&] { return done; }, 1000);
  EXPECT_FALSE(b.runs(33));
  EXPECT_TRUE(b.runs(34));
}

TEST(QdmaInterrupt, OfH2cWaitsUntilItIsArmed) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 8);
  const QueueSetting q{.ring_index = 1, .h2c_interrupt = true, .h2c_vector = 4};
  b.start_h2c(q);
  for (unsigned i = 0; i < 3; ++i) {
    b.put_h2c(q, i, test_frame(60, i), 0);
    b.ring(0, 0, reg::h2c_pidx, i + 1);
    b.drain();
    EXPECT_EQ((b.memory.interrupts[{0, 4}]), 1U);
  }
  b.ring(0, 0, reg::h2c_pidx, 3 | 0x10000);
  EXPECT_EQ((b.memory.interrupts[{0, 4}]), 2U);
  b.ring(0, 0, reg::h2c_pidx, 3 | 0x10000);  // armed, nothing to tell
  EXPECT_EQ((b.memory.interrupts[{0, 4}]), 2U);
}

}  // namespace
}  // namespace meridian
