// SPDX-License-Identifier: Apache-2.0
// Interrupts of C2H queues through interrupt rings: what an entry tells of a queue, and what comes before it.
#include <gtest/gtest.h>

#include "c2h/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned vf_queue = 4 * C2hBench::queues_of_a_function + 3;  // of the first VF
constexpr std::uint64_t colours = std::uint64_t{1} << 63 | std::uint64_t{1} << 32, of_c2h = std::uint64_t{1} << 38;

class C2hInterrupts : public testing::TestWithParam<unsigned> {
 protected:
  void frame(unsigned queue) {
    b.post(queue, 1);
    b.wait_for_credit(queue, 1);
    ASSERT_TRUE(b.send(queue, 100));
  }

  C2hBench b{4};
  const unsigned vf = C2hBench::function(vf_queue);
};

TEST_F(C2hInterrupts, an_entry_tells_of_the_completion_ring_and_comes_before_its_message) {
  b.begin_interrupts(vf);
  b.begin(vf_queue, {.interrupt = true, .aggregate = true});
  for (unsigned i = 0; i < 6; ++i) {
    const std::size_t before = b.engine.host.messages.size();
    b.engine.hold_requests = 40 * (i % 5);
    frame(vf_queue);
    for (unsigned cycles = 0; b.engine.host.messages.size() == before; ++cycles) {
      ASSERT_LT(cycles, 5000U) << "no message comes";
      b.engine.run(1);
    }
    EXPECT_EQ(b.interrupt_entry(vf, i), colours | std::uint64_t{vf_queue} << 39 | of_c2h | i << 16 | (i + 1));
    EXPECT_EQ(b.engine.host.messages.back().address, Lockstep::message_address(vf, C2hBench::ring_vector));
    b.compare_all();
    b.read_completions(vf_queue, 1);
    b.bell(vf, i + 1);
    b.compare_all();
  }
}

TEST_P(C2hInterrupts, entries_are_those_of_the_mode) {
  for (const unsigned f : {0U, vf}) b.begin_interrupts(f, 1, 510);
  for (const unsigned queue : {2U, vf_queue})
    b.begin(queue, {.mode = GetParam(), .size_index = 1, .counter = 1, .interrupt = true, .aggregate = true});
  for (unsigned i = 0; i < 12; ++i) {
    for (const unsigned queue : {2U, vf_queue}) {
      frame(queue);
      b.compare_all();
      if (i % 3 != 2) continue;
      b.read_completions(queue, b.unread(queue) / 2 + i % 2);
      b.compare_all();
    }
    if (i % 5 == 4)
      for (const unsigned f : {0U, vf}) b.bell(f, b.interrupt_pidx(f));
    ASSERT_FALSE(HasFailure()) << "frame " << i;
  }
}

TEST_P(C2hInterrupts, an_entry_tells_the_error_of_a_ring) {
  b.begin_interrupts(0);
  const std::uint32_t bad = GetParam() % 2 == 0 ? 3U : 900U;
  b.begin(1, {.mode = GetParam(), .interrupt = true, .buffer_interrupt = true, .aggregate = true});
  b.compare_all();
  b.completion_doorbell(1, bad);
  b.compare_failed(1);
  for (const std::uint32_t at : {0x254U, 0xaf0U}) b.write(0, at, ~0U);
  b.begin(1, {.mode = GetParam(), .interrupt = true, .buffer_interrupt = true, .aggregate = true});
  b.post(1, 3);
  b.compare_all();
  b.doorbell(1, 2 + 1000 * bad);  // backwards, or too far
  b.compare_failed(1);
  for (const std::uint32_t at : {0x254U, 0xaf0U}) b.write(0, at, ~0U);
  // Its descriptors cannot be read.
  b.begin(1, {.mode = GetParam(), .buffer_interrupt = true, .aggregate = true, .lost = true});
  b.post(1, 2);
  b.send_anyway(1, 100);
  b.compare_failed(1);
  for (const std::uint32_t at : {0x254U, 0xaf0U}) b.write(0, at, ~0U);
  EXPECT_EQ(b.interrupt_pidx(0), 3U);
}

INSTANTIATE_TEST_SUITE_P(modes, C2hInterrupts, testing::Range(0U, 6U));

}  // namespace
}  // namespace meridian
