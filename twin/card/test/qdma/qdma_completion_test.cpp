// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint32_t arm = 1U << 28;

struct CompletionBench : QdmaBench {
  QueueSetting q;
  unsigned posted = 0;

  explicit CompletionBench(const QueueSetting& setting, const QdmaSetting& ip_setting = {})
      : QdmaBench(ip_setting), q(setting) {
    set_tables();
    set_fmap(0, 0, 8);
    start_c2h(q);
    post(60);
  }
  void post(unsigned count) {
    put_buffers(q, posted, count);
    posted = (posted + count) % entries(q);
    ring(0, q.queue, reg::c2h_pidx, posted);
  }
  void send(unsigned count) {
    for (unsigned i = 0; i < count; ++i) shell.send(q.queue, test_frame(64, i));
    drain();
  }
  void consume(std::uint32_t value) { ring(0, q.queue, reg::completion_cidx, value); }
  unsigned interrupts() { return memory.interrupts[{0, q.vector}]; }
  unsigned told() { return static_cast<unsigned>(completion_status(q) & 0xffff); }
  unsigned state() { return static_cast<unsigned>(completion_status(q) >> 33 & 3); }
  unsigned error() { return static_cast<unsigned>(completion_status(q) >> 35 & 3); }
  CompletionContext context() {
    CompletionContext c;
    const auto words = read_context(6, q.queue);
    std::copy_n(words.begin(), c.words.size(), c.words.begin());
    return c;
  }
};

TEST(QdmaCompletion, ModeDisabledTellsOnlyWhenAsked) {
  CompletionBench b({.ring_index = 1, .mode = 0});
  b.consume(arm);
  b.send(5);
  EXPECT_EQ(b.told(), 0U);
  b.consume(2 | arm);
  EXPECT_EQ(b.told(), 5U);
  EXPECT_EQ(b.interrupts(), 0U);
  EXPECT_EQ(b.ip.next_ps(), ~std::uint64_t{0});
}

TEST(QdmaCompletion, ModeEveryInterruptsOnceUntilArmed) {
  CompletionBench b({.ring_index = 1, .mode = 1});
  b.send(1);
  EXPECT_EQ(b.told(), 1U);
  EXPECT_EQ(b.interrupts(), 0U);  // nobody armed it yet
  b.consume(0 | arm);             // one is unread: at once
  EXPECT_EQ(b.interrupts(), 1U);
  EXPECT_EQ(b.state(), cmpt::triggered);
  b.send(3);
  EXPECT_EQ(b.interrupts(), 1U);
  EXPECT_EQ(b.told(), 4U);
  b.consume(4 | arm);
  EXPECT_EQ(b.interrupts(), 1U);
  b.send(1);
  EXPECT_EQ(b.interrupts(), 2U);
  b.consume(5);  // without arming
  b.send(1);
  EXPECT_EQ(b.interrupts(), 2U);
  EXPECT_EQ(b.told(), 6U);
}

/// On a link that is behind, doorbells wait, and the last index counts.
TEST(QdmaCompletion, AnInterruptThatWasAskedForSurvivesALaterDoorbell) {
  QdmaSetting slow;
  slow.pcie = {.unlimited = false, .generation = 1, .lanes = 1};
  CompletionBench b({.ring_index = 1, .mode = 1}, slow);
  b.send(3);
  EXPECT_EQ(b.interrupts(), 0U);
  b.shell.send(0, test_frame(4000, 0));  // 16 us
  b.run(500);
  b.consume(1 | arm);
  b.consume(2);
  EXPECT_EQ(b.context().get(cmpt::cidx), 0U) << "the link is not behind";
  b.drain();
  EXPECT_EQ(b.context().get(cmpt::cidx), 2U);
  EXPECT_EQ(b.interrupts(), 1U);
}

TEST(QdmaCompletion, AVfInterruptsUnlessItsQueueIsNotTo) {
  QdmaBench b;
  b.ip.enable_function(9, true, 0);
  b.set_tables();
  b.set_fmap(9, 100, 4);
  const QueueSetting q{.function = 9, .queue = 100, .ring_index = 1, .mode = 1, .vector = 3};
  b.start_c2h(q);
  b.put_buffers(q, 0, 20);
  b.ring(9, 0, reg::c2h_pidx, 20);
  b.ring(9, 0, reg::completion_cidx, arm);
  b.shell.send(100, test_frame(60, 0));
  b.drain();
  EXPECT_EQ((b.memory.interrupts[{9, 3}]), 1U);
  CompletionContext c;
  auto words = b.read_context(6, 100);
  std::copy_n(words.begin(), c.words.size(), c.words.begin());
  c.set(cmpt::no_vf_interrupt, 1);
  std::copy_n(c.words.begin(), c.words.size(), words.begin());
  b.write_context(6, 100, words);
  b.ring(9, 0, reg::completion_cidx, 1 | arm);
  b.shell.send(100, test_frame(60, 1));
  b.drain();
  EXPECT_EQ(b.completion_status(q) & 0xffff, 2U);
  EXPECT_EQ((b.memory.interrupts[{9, 3}]), 1U);
}

TEST(QdmaCompletion, ModeUserCountWaitsForTheThreshold) {
  CompletionBench b({.ring_index = 1, .mode = 2, .counter = 3});  // 8
  b.consume(arm);
  b.send(7);
  EXPECT_EQ(b.interrupts(), 0U);
  EXPECT_EQ(b.told(), 0U);
  b.send(1);
  EXPECT_EQ(b.interrupts(), 1U);
  EXPECT_EQ(b.told(), 8U);
  b.consume(6 | arm);  // leaves two unread: it must not be left waiting
  EXPECT_EQ(b.interrupts(), 2U);
}

TEST(QdmaCompletion, ModeUserNeverFiresByItself) {
  CompletionBench b({.ring_index = 1, .mode = 3});
  b.consume(arm);
  b.send(20);
  EXPECT_EQ(b.interrupts(), 0U);
  EXPECT_EQ(b.told(), 0U);
}

TEST(QdmaCompletion, ModeUserTimerTellsAPollingDriver) {
  CompletionBench b({.ring_index = 1, .mode = 4, .timer = 1, .interrupt = false});  // 2 ticks: 200 ns
  b.consume(0);
  for (unsigned round = 1; round <= 5; ++round) {  // never a CIDX update
    b.send(2);
    EXPECT_EQ(b.told(), 2 * (round - 1));
    const std::uint64_t due = b.ip.next_ps();
    ASSERT_NE(due, ~std::uint64_t{0});
    EXPECT_LE(due, b.now_ps + 200'000);
    b.run_until([&] { return b.now_ps >= due; });
    EXPECT_EQ(b.told(), 2 * round);
  }
  EXPECT_EQ(b.interrupts(), 0U);
  b.send(1);
  b.consume(11);  // caught up: nothing to wait for
  EXPECT_EQ(b.ip.next_ps(), ~std::uint64_t{0});
}

TEST(QdmaCompletion, TimerRefreshesWhileAnInterruptIsServiced) {
  CompletionBench b({.ring_index = 1, .mode = 5, .counter = 4, .timer = 1});
  b.consume(arm);
  b.send(1);
  b.run(60);
  EXPECT_EQ(b.interrupts(), 1U);
  b.send(1);
  b.run(60);
  EXPECT_EQ(b.told(), 2U);
  EXPECT_EQ(b.interrupts(), 1U);
  b.consume(1 | arm);  // one left: the timer runs again
  EXPECT_EQ(b.interrupts(), 1U);
  b.run(60);
  EXPECT_EQ(b.interrupts(), 2U);
}

TEST(QdmaCompletion, EntriesHaveTheSizeOfTheContext) {
  for (unsigned size = 0; size < 4; ++size) {
    CompletionBench b({.ring_index = 1, .mode = 1, .entry_size = size});
    for (unsigned i = 0; i < 64 * (8U << size); ++i) b.memory.set(0, QdmaBench::completions(b.q) + i, Bytes{0xaa});
    b.send(3);
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(b.entry(b.q, i) >> 32 & 0xffff, 64U);
      EXPECT_EQ(b.entry(b.q, i) & 6, 2U);  // colour, no error
      const Bytes rest = b.memory.get(0, QdmaBench::completions(b.q) + (8ULL << size) * i + 8, (8U << size) - 8);
      EXPECT_EQ(rest, Bytes(rest.size(), 0));
    }
    EXPECT_EQ(b.memory.word(0, QdmaBench::completions(b.q) + 3 * (8ULL << size), 1), 0xaaU);
    EXPECT_EQ(b.told(), 3U);
  }
}

TEST(QdmaCompletion, PutsColourAndErrorWhereTheFormatSays) {
  CompletionBench b({.ring_index = 1, .mode = 1});
  b.set_csr(reg::completion_format, (63U << 16) | 0);
  b.send(1);
  EXPECT_EQ(b.entry(b.q, 0) & 1, 1U);
  EXPECT_EQ(b.entry(b.q, 0) >> 63, 0U);
}

TEST(QdmaCompletion, FullUpdateChangesTheMode) {
  CompletionBench b({.ring_index = 1, .mode = 1, .full_update = true});
  b.consume((2U << 16) | (3U << 20) | (5U << 24) | (1U << 27));  // bit 28 is the enable then
  const CompletionContext c = b.context();
  EXPECT_EQ(c.get(cmpt::counter), 2U);
  EXPECT_EQ(c.get(cmpt::timer), 3U);
  EXPECT_EQ(c.get(cmpt::mode), 5U);
  EXPECT_EQ(c.get(cmpt::status_enable), 1U);
  EXPECT_EQ(c.get(cmpt::irq_enable), 0U);
  CompletionBench strict({.ring_index = 1, .mode = 1});
  strict.consume((5U << 24) | arm);
  EXPECT_EQ(strict.context().get(cmpt::mode), 1U);
  EXPECT_EQ(strict.context().get(cmpt::status_enable), 1U);
}

TEST(QdmaCompletion, ARingThatIsFullEndsWithAnError) {
  CompletionBench b({.ring_index = 1, .mode = 1});
  b.set_csr(0xaf4, 0x3f6df);
  b.consume(arm);
  b.send(50);
  b.post(40);
  EXPECT_EQ(b.interrupts(), 1U);
  b.send(12);
  EXPECT_EQ(b.error(), 0U);  // size - 2 entries fit
  EXPECT_EQ(b.told(), 62U);
  b.send(3);
  EXPECT_EQ(b.error(), cmpt::overflow);
  EXPECT_EQ(b.told(), 62U);
  EXPECT_EQ(b.interrupts(), 2U);
  EXPECT_EQ(b.context().get(cmpt::valid), 0U);
  EXPECT_EQ(b.csr(0xaf0), 1U << 13);
  EXPECT_EQ(b.csr(reg::error_status), 1U << 8);
}

TEST(QdmaCompletion, WithoutTheCheckOldEntriesAreOverwritten) {
  CompletionBench b({.ring_index = 1, .mode = 1});
  auto words = b.read_context(6, 0);
  words[4] |= 1U << 2;
  b.write_context(6, 0, words);
  b.send(60);
  b.post(40);
  b.send(20);
  EXPECT_EQ(b.error(), 0U);
  EXPECT_EQ(b.told(), 80U - 63);
}

TEST(QdmaCompletion, ABadCidxEndsTheRing) {
  for (const std::uint32_t bad : {6U, 62U, 63U, 0xffffU}) {
    CompletionBench b({.ring_index = 1, .mode = 1});
    b.send(5);
    b.consume(3);
    b.consume(bad);
    EXPECT_EQ(b.error(), cmpt::bad_cidx) << bad;
    EXPECT_EQ(b.context().get(cmpt::valid), 0U);
    EXPECT_EQ(b.csr(0xaf0), 1U << 14);
    b.send(1);  // the payload is written, the completion is not
    EXPECT_EQ(b.told(), 5U);
    EXPECT_EQ(b.memory.get(0, QdmaBench::buffer(b.q, 5), 64), test_frame(64, 0));
  }
}

TEST(QdmaCompletion, AFrameTakesAsManyBuffersAsItNeeds) {
  CompletionBench b({.ring_index = 1, .buffer_index = 1, .prefetch = false, .mode = 1});  // 256 bytes
  const std::size_t lengths[] = {1, 256, 257, 1500, 60};
  unsigned at = 0;
  for (const std::size_t length : lengths) {
    b.shell.send(0, test_frame(length, at));
    b.drain();
    const Bytes frame = test_frame(length, at);
    for (std::size_t offset = 0; offset < length; offset += 256, ++at) {
      const std::size_t bytes = std::min<std::size_t>(256, length - offset);
      const auto begin = frame.begin() + static_cast<std::ptrdiff_t>(offset);
      const Bytes part(begin, begin + static_cast<std::ptrdiff_t>(bytes));
      EXPECT_EQ(b.memory.get(0, QdmaBench::buffer(b.q, at), bytes), part);
    }
  }
  EXPECT_EQ(at, 11U);
  EXPECT_EQ(b.told(), 5U);
  b.shell.send(0, test_frame(256 * 31 + 1, 0));  // beyond what the IP spreads a frame over
  b.drain();
  EXPECT_EQ(b.csr(0xaf0), 1U << 9);
  EXPECT_EQ(b.told(), 5U);
}

/// One entry of a ring stays free, so a frame that takes all of them would wait for ever.
TEST(QdmaCompletion, AFrameThatNoRingCanHoldIsRefused) {
  QdmaBench b;
  b.set_tables();
  b.set_fmap(0, 0, 8);
  b.set_csr(reg::ring_size + 4, 9);
  const QueueSetting q{.ring_index = 1, .buffer_index = 1, .prefetch = false, .mode = 1};  // 256 bytes
  b.start_c2h(q);
  b.put_buffers(q, 0, 8);
  b.ring(0, 0, reg::c2h_pidx, 7);
  for (const std::size_t length : {256U * 7U, 256U * 7U + 1U, 256U * 8U}) b.shell.send(0, test_frame(length, 1));
  b.drain();
  ASSERT_EQ(b.shell.status.size(), 3U);
  EXPECT_FALSE(b.shell.status[0].drop);
  EXPECT_TRUE(b.shell.status[1].drop && b.shell.status[2].drop);
  EXPECT_EQ(b.csr(0xaf0), 1U << 9);
}

TEST(QdmaCompletion, StopsTheStreamWithoutBuffersOrDrops) {
  for (const bool drop : {false, true}) {
    QdmaSetting setting;
    setting.c2h_drop = drop;
    QdmaBench b(setting);
    b.set_tables();
    b.set_fmap(0, 0, 8);
    const QueueSetting q{.ring_index = 1, .mode = 1};
    b.start_c2h(q);
    b.put_buffers(q, 0, 40);
    b.ring(0, 0, reg::c2h_pidx, 2);
    for (unsigned i = 0; i < 5; ++i) b.shell.send(0, test_frame(200, i));
    b.run(500);
    EXPECT_EQ(b.completion_status(q) & 0xffff, 2U);
    EXPECT_EQ(b.ip.idle(), drop);
    EXPECT_EQ(b.ip.waits_for(), drop ? "" : "c2h: a buffer of queue 0");
    b.ring(0, 0, reg::c2h_pidx, 20);
    b.drain();
    EXPECT_EQ(b.completion_status(q) & 0xffff, drop ? 2U : 5U);
  }
}

}  // namespace
}  // namespace meridian
