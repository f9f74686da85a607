// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint32_t dsc_status = 0x254, dsc_mask = 0x258, trq_status = 0x264, trq_mask = 0x268, c2h_status = 0xaf0;
constexpr std::uint32_t summary_dsc = 1U << 2, summary_trq = 1U << 3;

/// Queue 3 is the one that goes wrong; queue 4 of the same function must not notice.
struct ErrorBench : QdmaBench {
  QueueSetting bad{.function = 1, .queue = 67, .ring_index = 1, .mode = 1};
  QueueSetting good{.function = 1, .queue = 68, .ring_index = 1, .mode = 1};

  explicit ErrorBench(const QdmaSetting& setting = {}) : QdmaBench(setting) {
    set_tables();
    set_fmap(1, 64, 8);
    set_csr(dsc_mask, 0x01f9037e);
    set_csr(trq_mask, 0xb3);
    set_csr(reg::error_mask, ~0U);
    for (const QueueSetting& q : {bad, good}) {
      start_h2c(q);
      start_c2h(q);
      put_buffers(q, 0, 62);
    }
    ring(1, 4, reg::c2h_pidx, 62);
    run(10);
    shell.messages.clear();
  }
  void arm_interrupt(unsigned function, unsigned vector) {
    set_csr(reg::error_interrupt, (1U << 24) | (vector << 12) | function);
  }
  std::array<std::uint32_t, 8> context(bool c2h) { return read_context(c2h ? 0 : 1, bad.queue); }
  bool enabled(bool c2h) { return (context(c2h)[1] & 1) != 0; }
  unsigned context_error(bool c2h) { return context(c2h)[1] >> 26 & 3; }

  void expect_good() {
    const auto before = shell.taken.size();
    for (unsigned i = 0; i < 5; ++i) put_h2c(good, i, test_frame(100, i), 0);
    ring(1, 4, reg::h2c_pidx, 5);
    for (unsigned i = 0; i < 5; ++i) shell.send(good.queue, test_frame(100, i));
    drain();
    EXPECT_EQ(shell.taken.size(), before + 5);
    EXPECT_EQ(h2c_done(good), 5U);
    EXPECT_EQ(completion_status(good) & 0xffff, 5U);
  }
};

TEST(QdmaError, ADoorbellBeyondTheFunctionsQueuesIsToldOnce) {
  ErrorBench b;
  b.arm_interrupt(0, 9);
  b.ring(1, 8, reg::h2c_pidx, 1);
  b.ring(1, 9, reg::h2c_pidx, 1);
  EXPECT_EQ(b.csr(trq_status), 1U << 5);
  EXPECT_EQ(b.csr(reg::error_status), summary_trq);
  EXPECT_EQ(b.csr(reg::trq_error_log), (1U << 17) | ((reg::pf_doorbells + 8 * 16 + 4) & 0x1ffff));
  EXPECT_EQ((b.memory.interrupts[{0, 9}]), 1U);
  EXPECT_EQ(b.csr(reg::error_interrupt) >> 24 & 1, 0U);
  b.set_csr(trq_status, b.csr(trq_status));
  b.set_csr(reg::error_status, b.csr(reg::error_status));
  EXPECT_EQ(b.csr(trq_status), 0U);
  EXPECT_EQ(b.csr(reg::error_status), 0U);
  EXPECT_EQ(b.csr(reg::trq_error_log), 0U);
  b.arm_interrupt(0, 9);
  EXPECT_EQ((b.memory.interrupts[{0, 9}]), 1U);
  b.ring(2, 0, reg::h2c_pidx, 1);  // a function without queues: silence
  EXPECT_EQ(b.csr(trq_status), 0U);
  b.expect_good();
}

TEST(QdmaError, ALeafThatIsMaskedIsNotInTheSummary) {
  ErrorBench b;
  b.set_csr(trq_mask, 0);
  b.ring(1, 8, reg::h2c_pidx, 1);
  EXPECT_EQ(b.csr(trq_status), 1U << 5);
  EXPECT_EQ(b.csr(reg::error_status), 0U);
}

TEST(QdmaError, AProducerIndexThatCannotBeStopsTheQueue) {
  for (const bool c2h : {false, true})
    for (const std::uint32_t pidx : {63U, 64U, 0xffffU, 9U}) {
      ErrorBench b;
      b.memory.hold = true;
      const std::uint32_t bell = c2h ? reg::c2h_pidx : reg::h2c_pidx;
      b.ring(1, 3, bell, 10);
      b.ring(1, 3, bell, pidx);  // 9: backwards
      EXPECT_FALSE(b.enabled(c2h));
      EXPECT_EQ(b.context_error(c2h), sw::descriptor_error);
      EXPECT_EQ(b.csr(dsc_status), 1U << 4);
      EXPECT_EQ(b.csr(reg::error_status), summary_dsc);
      EXPECT_EQ(b.csr(reg::dsc_error_log0), (1U << 31) | (c2h ? 1U << 30 : 0) | 67);
      EXPECT_EQ(b.csr(reg::dsc_error_log2), (10U << 16) | pidx);
      b.run(5);
      const auto& last = b.shell.messages.back();
      EXPECT_TRUE(last.qid == 67 && last.c2h == c2h && last.qinv && last.error && !last.qen);
      b.memory.hold = false;
      b.memory.answer_all();
      b.expect_good();
    }
}

TEST(QdmaError, MemoryAndBypassQueuesAreRefused) {
  for (const unsigned bit : {31U, 18U}) {
    ErrorBench b;
    auto words = b.read_context(1, 67);
    words[1] |= 1U << bit;
    b.write_context(1, 67, words);
    b.ring(1, 3, reg::h2c_pidx, 1);
    EXPECT_FALSE(b.enabled(false));
    EXPECT_EQ(b.csr(dsc_status), 1U << 4);
    b.expect_good();
  }
}

TEST(QdmaError, AnH2cRingThatIsNotAtAMultipleOf8BytesIsRefused) {
  for (const std::uint32_t offset : {4U, 12U, 1U}) {
    ErrorBench b;
    auto words = b.read_context(1, 67);
    words[2] += offset;
    b.write_context(1, 67, words);
    b.ring(1, 3, reg::h2c_pidx, 1);
    EXPECT_FALSE(b.enabled(false));
    EXPECT_EQ(b.csr(dsc_status), 1U << 4);
    b.expect_good();
  }
}

TEST(QdmaError, DescriptorsThatCannotBeReadStopTheQueue) {
  ErrorBench b;
  auto words = b.read_context(1, 67);
  words[3] = 0x00ffffff;  // far beyond memory
  b.write_context(1, 67, words);
  b.ring(1, 3, reg::h2c_pidx, 5);
  b.drain();
  EXPECT_FALSE(b.enabled(false));
  EXPECT_EQ(b.context_error(false), sw::descriptor_error);
  EXPECT_NE(b.csr(dsc_status) & (1U << 2), 0U);
  b.ring(1, 3, reg::h2c_pidx, 6);
  b.drain();
  EXPECT_TRUE(b.shell.taken.empty());
  b.expect_good();
}

TEST(QdmaError, DataThatCannotBeReadStopsTheQueue) {
  ErrorBench b;
  for (unsigned i = 0; i < 4; ++i) b.put_h2c(b.bad, i, test_frame(100, i), 0);
  b.memory.set_word(1, QdmaBench::h2c_ring(b.bad) + 16 * 2 + 8, b.memory.end - 50);
  b.ring(1, 3, reg::h2c_pidx, 4);
  b.drain();
  EXPECT_FALSE(b.enabled(false));
  EXPECT_EQ(b.context_error(false), sw::dma_error);
  EXPECT_EQ(b.memory.word(1, QdmaBench::h2c_ring(b.bad) + 16 * 63) & 3, sw::dma_error);
  EXPECT_LE(b.shell.taken.size(), 2U);
  b.expect_good();
}

TEST(QdmaError, DataThatCannotBeReadStopsAQueueThatHoldsAllThatMayBeHeld) {
  ErrorBench b;
  for (unsigned i = 0; i < 20; ++i) b.put_h2c(b.bad, i, test_frame(i < 2 ? 60 : 9000, i), 0);
  b.memory.set_word(1, QdmaBench::h2c_ring(b.bad) + 16 * 1 + 8, b.memory.end - 50);
  b.ring(1, 3, reg::h2c_pidx, 20);
  b.drain();
  EXPECT_FALSE(b.enabled(false));
  EXPECT_EQ(b.shell.taken.size(), 1U);
  b.expect_good();
}

TEST(QdmaError, BuffersThatCannotBeReadEndTheCompletionRing) {
  ErrorBench b;
  auto words = b.read_context(0, 67);
  words[3] = 0x00ffffff;
  b.write_context(0, 67, words);
  b.ring(1, 3, reg::completion_cidx, 1U << 28);
  b.ring(1, 3, reg::c2h_pidx, 20);
  for (unsigned i = 0; i < 3; ++i) b.shell.send(67, test_frame(100, i));
  b.drain();
  EXPECT_FALSE(b.enabled(true));
  EXPECT_EQ(b.entry(b.bad, 0) & 6, 6U);  // colour and error
  EXPECT_EQ(b.completion_status(b.bad) >> 35 & 3, cmpt::bad_descriptor);
  EXPECT_EQ(b.completion_status(b.bad) & 0xffff, 1U);
  EXPECT_EQ((b.memory.interrupts[{1, 0}]), 1U);
  EXPECT_EQ(b.csr(c2h_status), 1U << 4);
  b.expect_good();
}

TEST(QdmaError, AFunctionThatMayNotAccessMemoryHarmsItselfOnly) {
  ErrorBench b;
  b.set_fmap(2, 200, 4);
  const QueueSetting q{.function = 2, .queue = 200, .ring_index = 1, .mode = 1};
  b.start_h2c(q);
  b.start_c2h(q);
  b.put_buffers(q, 0, 20);
  b.put_h2c(q, 0, test_frame(60, 0), 0);
  b.ring(2, 0, reg::c2h_pidx, 20);
  b.ip.enable_function(2, false, 2);
  b.memory.events.clear();
  b.ring(2, 0, reg::h2c_pidx, 1);
  b.shell.send(200, test_frame(60, 0));
  b.drain();
  for (const auto& event : b.memory.events) EXPECT_NE(event.function, 2U);
  EXPECT_EQ(b.read_context(1, 200)[1] & 1, 0U);
  EXPECT_EQ(b.read_context(0, 200)[1] & 1, 0U);
  b.expect_good();
}

TEST(QdmaError, AVfHasNoControlRegisters) {
  ErrorBench b;
  b.ip.enable_function(8, true, 0);
  b.ip.write(8, reg::ring_size, 5);
  b.ip.write(8, reg::context_command, (0U << 1) | (0U << 5) | (68U << 7));
  for (std::uint32_t offset = 0; offset < 0x3000; offset += 4) EXPECT_EQ(b.ip.read(8, offset), 0U);
  EXPECT_EQ(b.ip.read(8, 0x18000), 0U);
  b.ip.write(8, 0x18000 + 4 * 16 + 4, 5);
  b.ip.write(300, 0x204, 5);
  EXPECT_EQ(b.csr(reg::ring_size), 4096U);
  b.expect_good();
}

TEST(QdmaError, ContextCommandsThatMakeNoSenseChangeNothing) {
  ErrorBench b;
  constexpr std::array<std::uint32_t, 8> ones{~0U, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U};
  for (const unsigned kind : {9U, 10U, 11U, 13U, 15U}) b.write_context(kind, 68, ones);
  b.write_context(1, 2048, ones);
  b.write_context(0xc, 256, {~0U, ~0U});
  EXPECT_EQ(b.read_context(9, 68)[0], 0U);
  b.expect_good();
}

}  // namespace
}  // namespace meridian
