// SPDX-License-Identifier: Apache-2.0
// Pushed frames when something else happens in the same cycles: streams that stand still, credit of others, words that
// are left out, reads that fail, and functions that may not access memory.
#include <gtest/gtest.h>

#include <vector>

#include "h2c/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned vf_queue = 4 * H2cBench::queues_of_a_function + 3;  // of the first VF

/// Posts a frame and pushes it.
void push(H2cBench& b, unsigned queue, unsigned length) {
  b.post(queue, length);
  b.push(queue);
}

constexpr unsigned sharing = 2 * H2cBench::queues_of_a_function + 5;  // in the slot of vf_queue

TEST(H2cPushFaults, a_beat_that_is_offered_stays) {
  H2cBench b(21);
  for (const unsigned queue : {1U, vf_queue}) b.begin(queue);
  b.engine.takes_frames = false;
  b.post(1, 200);
  b.doorbell(1);
  b.engine.run(2000);
  push(b, vf_queue, 60);
  b.doorbell(vf_queue);
  b.engine.run(200);
  b.engine.takes_frames = true;
  b.compare_all();
}

TEST(H2cPushFaults, a_short_frame_that_was_read_is_not_overtaken) {
  for (const unsigned length : {0U, 20U, 32U, 33U}) {
    H2cBench b(22);
    b.begin(vf_queue);
    b.engine.takes_frames = false;
    b.post(vf_queue, length);
    b.doorbell(vf_queue);
    b.engine.run(2000);
    push(b, vf_queue, 60);
    b.doorbell(vf_queue);
    b.engine.run(200);
    b.engine.takes_frames = true;
    b.compare_all();
    ASSERT_FALSE(HasFailure()) << length << " bytes";
  }
}

/// Well-behaved: each frame is pushed whole, once, when the frame before it has been told as ended.
TEST(H2cPushFaults, a_frame_crosses_whole_as_credit_of_another_queue_comes) {
  for (unsigned delay = 0; delay < 30; ++delay) {
    H2cBench b(23 + delay);
    for (const unsigned queue : {vf_queue, sharing}) b.begin(queue, {.credits = true, .size_index = 1});
    push(b, sharing, 200);
    b.doorbell(sharing);
    b.settle();
    push(b, vf_queue, 100);
    b.doorbell(vf_queue);
    b.settle();
    b.grant(vf_queue, 1);
    b.compare_all();
    b.post(vf_queue, 100);
    const auto chunks = b.chunks(vf_queue);
    b.grant(sharing, 1);
    b.engine.run(delay);
    b.push(vf_queue, chunks);
    b.doorbell(vf_queue);
    b.settle();
    b.grant(vf_queue, 1);
    b.compare_all();
    ASSERT_FALSE(HasFailure()) << "after " << delay << " cycles";
  }
}

TEST(H2cPushFaults, a_frame_whose_first_word_was_left_out_behind_one_that_waited_is_read) {
  for (const bool overwritten : {true, false}) {
    H2cBench b(24);
    b.begin(vf_queue, {.credits = true, .size_index = 1});
    push(b, vf_queue, 100);
    b.doorbell(vf_queue);
    b.settle();
    if (!overwritten) b.grant(vf_queue, 1);
    b.settle();
    b.post(vf_queue, 100);
    auto chunks = b.chunks(vf_queue);
    chunks[0] = {8, {chunks[0].words.begin() + 2, chunks[0].words.end()}};
    b.push(vf_queue, chunks);
    if (overwritten) b.grant(vf_queue, 1);
    b.settle();
    b.doorbell(vf_queue);
    b.engine.run(100);
    b.grant(vf_queue, 1);
    b.compare_all();
    EXPECT_EQ(b.unread(vf_queue), overwritten ? 0U : 1U) << (overwritten ? "it waits" : "it was sent");
  }
}

TEST(H2cPushFaults, the_next_frame_is_pushed_while_one_that_waited_is_sent) {
  H2cBench b(25);
  b.begin(vf_queue, {.credits = true, .size_index = 1});
  push(b, vf_queue, 100);
  b.doorbell(vf_queue);
  b.settle();
  b.engine.takes_frames = false;
  b.grant(vf_queue, 1);
  b.engine.run(50);
  b.post(vf_queue, 100);
  auto chunks = b.chunks(vf_queue);
  b.push(vf_queue, {{0, {chunks[0].words.begin(), chunks[0].words.begin() + 8}}});
  b.engine.takes_frames = true;
  b.settle();
  b.push(vf_queue, {{32, {chunks[0].words.begin() + 8, chunks[0].words.end()}}, chunks[1]});
  b.doorbell(vf_queue);
  b.grant(vf_queue, 1);
  b.compare_all();
}

TEST(H2cPushFaults, a_read_that_fails_behind_a_pushed_frame_does_not_stop_its_ring_before) {
  for (const bool between : {true, false}) {
    H2cBench b(26);
    b.begin(1);
    b.begin(vf_queue);
    b.engine.takes_frames = false;
    if (between) {
      b.post(1, 3000);
      b.doorbell(1);
      b.engine.run(2000);
      b.engine.takes_frames = true;
      b.engine.run(10);
      b.engine.takes_frames = false;
      b.engine.run(10);
    }
    push(b, vf_queue, 60);
    b.doorbell(vf_queue);
    b.engine.run(100);
    b.post(vf_queue, 300, H2cBench::nowhere + 0x123);
    b.doorbell(vf_queue);
    b.engine.run(3000);
    for (unsigned i = 0; between && i < 200; ++i) {
      b.engine.takes_frames = true;
      b.engine.run(1);
      b.engine.takes_frames = false;
      b.engine.run(60);
    }
    b.engine.takes_frames = true;
    b.compare_failed(vf_queue, 1);
    ASSERT_FALSE(HasFailure()) << (between ? "the pushed frame waits" : "it is being sent");
  }
}

TEST(H2cPushFaults, what_another_queue_has_left_in_the_slot_is_not_shown) {
  for (const unsigned length : {1U, 8U, 60U, 72U, 97U, 250U}) {
    H2cBench b(28);
    for (const unsigned queue : {vf_queue, sharing}) b.begin(queue);
    push(b, sharing, 256);
    push(b, vf_queue, length);
    b.doorbell(vf_queue);
    b.engine.settle();
    // Bytes of its last word are the queue's own.
    const Bytes& rest = b.newest(vf_queue).rest;
    const std::size_t own = (8 - length % 8) % 8;
    ASSERT_LE(own, rest.size());
    EXPECT_EQ(Bytes(rest.begin() + static_cast<std::ptrdiff_t>(own), rest.end()), Bytes(rest.size() - own))
        << length << " bytes";
    b.compare_all();
  }
}

TEST(H2cPushFaults, a_function_that_may_not_access_memory_pushes_no_frame) {
  H2cBench b(27);
  b.begin(vf_queue);
  b.engine.enable_function(4, false);
  push(b, vf_queue, 60);
  b.doorbell(vf_queue);
  b.engine.run(3000);
  EXPECT_TRUE(b.engine.frames.empty());
}

}  // namespace
}  // namespace meridian
