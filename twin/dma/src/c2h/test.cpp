// SPDX-License-Identifier: Apache-2.0
// From card to host: what frames, doorbells and contexts make of buffers,
// completion rings, status entries and interrupts.
#include <gtest/gtest.h>

#include "c2h/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned vf_queue = 4 * C2hBench::queues_of_a_function + 3;  // of the first VF

TEST(C2h, a_frame_crosses_and_its_completion_tells_it) {
  C2hBench b;
  b.begin(vf_queue);
  b.post(vf_queue, 3);
  b.wait_for_credit(vf_queue, 3);
  ASSERT_TRUE(b.send(vf_queue, 64));
  b.compare_all();
  EXPECT_NE(b.engine.host.memory.word(C2hBench::function(vf_queue), b.entry_address(vf_queue, 0)), 0U);
  EXPECT_GT(b.engine.idle_cycles, 0U);
}

TEST(C2h, frames_of_any_length_arrive_in_buffers_of_any_size) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    C2hBench b(seed);
    b.begin(1, {.size_index = 3, .buffer_index = seed % 4});
    const unsigned lengths[] = {1,   3,   4,   31,  32,  33,   63,   64,   65,   255, 256,
                                257, 511, 512, 513, 999, 1000, 1001, 1500, 4096, 6999};
    unsigned posted = 0;
    for (const unsigned length : lengths) posted += b.need(1, length);
    while (posted != 0) {
      const unsigned now = std::min(posted, 20U);
      b.post(1, now);
      posted -= now;
    }
    for (const unsigned length : lengths) {
      b.wait_for_credit(1, b.need(1, length));
      ASSERT_TRUE(b.send(1, length)) << length << " bytes";
    }
    b.compare_all();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(C2h, entries_of_8_to_64_bytes_have_their_colour_over_the_ends_of_the_ring) {
  C2hBench b(2);
  for (unsigned entry = 0; entry < 4; ++entry) {
    const unsigned queue = 7 * entry;
    b.begin(queue, {.size_index = 2, .entry = entry});
    for (unsigned round = 0; round < 5; ++round) {
      const unsigned count = std::min(b.room(queue), 5U);
      b.post(queue, count);
      b.wait_for_credit(queue, count);
      for (unsigned i = 0; i < count; ++i) ASSERT_TRUE(b.send(queue, 60 + i));
      b.compare_all();
      b.read_completions(queue, b.unread(queue));
      b.compare_all();
    }
    ASSERT_FALSE(HasFailure()) << (8U << entry) << " bytes";
  }
}

class C2hModes : public testing::TestWithParam<unsigned> {};

TEST_P(C2hModes, status_entries_and_interrupts_are_those_of_the_mode) {
  for (const bool full_update : {false, true}) {
    C2hBench b(3);
    for (const unsigned queue : {2U, vf_queue})
      b.begin(queue, {.mode = GetParam(),
                      .size_index = 1,
                      .counter = 1,
                      .timer = 3,
                      .interrupt = true,
                      .full_update = full_update});
    for (const unsigned count : {1U, 1U, 2U, 5U, 9U, 3U}) {
      for (const unsigned queue : {2U, vf_queue}) {
        b.post(queue, count);
        b.wait_for_credit(queue, count);
        for (unsigned i = 0; i < count; ++i) ASSERT_TRUE(b.send(queue, 100));
      }
      b.compare_all();
      for (const unsigned queue : {2U, vf_queue}) b.read_completions(queue, b.unread(queue) / 2, count != 2);
      b.compare_all();
      if (count > 4)
        for (const unsigned queue : {2U, vf_queue}) b.read_completions(queue, b.unread(queue));
      b.compare_all();
      ASSERT_FALSE(HasFailure()) << count << " frames, full update: " << full_update;
    }
    // The time of a timer that runs is skipped now and then.
    EXPECT_EQ(b.engine.skips != 0, C2hBench::is_timed(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(all, C2hModes, testing::Range(0U, 6U));

TEST(C2h, contexts_are_whole_while_frames_pass) {
  C2hBench b(5);
  for (unsigned queue = 0; queue < 8; ++queue) b.begin(queue, {.size_index = 1});
  for (unsigned round = 0; round < 4; ++round) {
    for (unsigned queue = 0; queue < 8; ++queue) {
      b.post(queue, 7);
      // What the doorbell has just told is in the context, whatever else goes
      // on.
      b.write(0, 0x844, (2U << 5) | (queue << 7));
      EXPECT_EQ(b.engine.read(0, 0x804, 1).at(0) & 0xffff, b.pidx(queue));
      b.wait_for_credit(queue, 7);
      for (unsigned i = 0; i < 7; ++i) ASSERT_TRUE(b.send(queue, 64 + 100 * i));
    }
    b.compare_all();
    for (unsigned queue = 0; queue < 8; ++queue) b.read_completions(queue, b.unread(queue));
  }
}

TEST(C2h, an_invalid_ring_takes_no_doorbell_and_no_frame) {
  C2hBench b(6);
  b.begin(0);
  b.post(0, 4);
  b.wait_for_credit(0, 4);
  ASSERT_TRUE(b.send(0, 100));
  b.compare_all();
  b.invalidate(0);
  b.doorbell(0, 9);
  b.completion_doorbell(0, 1);
  b.send_anyway(0, 100);
  b.compare_all();
  for (const unsigned kind : {0U, 2U, 4U, 6U, 7U}) b.read_context(kind, 0);
  b.begin(0);
  b.post(0, 4);
  b.wait_for_credit(0, 4);
  ASSERT_TRUE(b.send(0, 100));
  b.compare_all();
}

}  // namespace
}  // namespace meridian
