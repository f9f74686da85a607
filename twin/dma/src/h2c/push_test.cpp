// SPDX-License-Identifier: Apache-2.0
// Frames that the host writes into the card before their doorbell. The model has no window for them and reads each
// frame, so whatever is pushed, all that comes of a ring has to be as without it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "h2c/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned vf_queue = 4 * H2cBench::queues_of_a_function + 3;  // of the first VF
constexpr unsigned longest = 256, header = 256, window = 4, slots = 8;

/// Posts a frame and pushes it.
void push(H2cBench& b, unsigned queue, unsigned length) {
  b.post(queue, length);
  b.push(queue);
}

TEST(H2cPush, a_frame_that_was_pushed_crosses_and_nothing_of_it_is_read) {
  for (const unsigned stride : {0U, 1U, 2U}) {
    H2cBench b(stride + 1);
    for (const unsigned queue : {1U, vf_queue}) {
      b.begin(queue, {.interval = queue == 1, .interrupt = queue == 1, .size_index = 2, .stride = stride});
      unsigned count = 0;
      for (const unsigned length : {1U, 7U, 8U, 31U, 32U, 33U, 60U, 64U, 65U, 100U, 128U, 200U, 249U, 255U, longest}) {
        push(b, queue, length);
        b.doorbell(queue);
        b.compare_all();
        EXPECT_EQ(b.unread(queue), ++count) << length << " bytes";
      }
    }
  }
}

TEST(H2cPush, words_of_8_bytes_come_in_any_order_and_any_pieces) {
  H2cBench b(4);
  Random random(5);
  b.begin(vf_queue, {.size_index = 1});
  for (unsigned round = 1; round <= 40; ++round) {
    b.post(vf_queue, 1 + random.below(longest));
    std::vector<H2cBench::Chunk> parts;
    for (const H2cBench::Chunk& chunk : b.chunks(vf_queue))
      for (unsigned i = 0; i < chunk.words.size(); i += 2)
        parts.push_back({chunk.offset + 4 * i, {chunk.words[i], chunk.words[i + 1]}});
    for (std::size_t i = parts.size(); i > 1; --i)
      std::swap(parts[i - 1], parts[random.below(static_cast<unsigned>(i))]);
    // Some twice, and first with what is not the frame.
    b.push(vf_queue, {{parts.front().offset, {1, 2}}});
    b.push(vf_queue, parts);
    b.push(vf_queue, {parts.back()});
    b.doorbell(vf_queue);
    b.compare_all();
    ASSERT_EQ(b.unread(vf_queue), round);
  }
}

TEST(H2cPush, a_frame_that_was_not_pushed_whole_is_read) {
  using Chunks = std::vector<H2cBench::Chunk>;
  const std::vector<std::pair<std::string, std::function<void(Chunks&)>>> cases = {
      {"without a header", [](Chunks& c) { c.pop_back(); }},
      {"without its first word", [](Chunks& c) { c[0] = {8, {c[0].words.begin() + 2, c[0].words.end()}}; }},
      {"without its last word", [](Chunks& c) { c[0].words.resize(c[0].words.size() - 2); }},
      {"with half of its last word", [](Chunks& c) { c[0].words.pop_back(); }},
      {"of no bytes", [](Chunks& c) { c[1].words[1] &= 0xffff'0000U; }},
      {"of more bytes than the window has", [](Chunks& c) { c[1].words[1] += longest + 1 - 100; }},
      {"for another place of the ring", [](Chunks& c) { c[1].words[1] += 0x1'0000; }},
      {"in halves of words", [](Chunks& c) {
         const std::vector<std::uint32_t> words = c[0].words;
         c.erase(c.begin());
         for (unsigned i = 0; i < words.size(); ++i) c.push_back({4 * i, {words[i]}});
       }}};
  H2cBench b(6);
  b.begin(vf_queue, {.size_index = 1});
  for (const auto& [name, change] : cases) {
    b.post(vf_queue, 100);
    Chunks chunks = b.chunks(vf_queue);
    change(chunks);
    b.push(vf_queue, chunks);
    b.doorbell(vf_queue);
    b.compare_all();
    EXPECT_EQ(b.unread(vf_queue), 0U) << name;
  }
}

TEST(H2cPush, what_was_pushed_counts_for_its_doorbell_alone) {
  H2cBench b(7);
  b.begin(vf_queue);
  // One that came before the doorbell of the frame before it.
  b.post(vf_queue, 100);
  const unsigned first = b.pidx(vf_queue);
  push(b, vf_queue, 60);
  b.doorbell(vf_queue, first);
  b.settle();
  b.doorbell(vf_queue);
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 0U);
  // One whose doorbell never came, at the same place of the ring as the first one after it began anew.
  b.begin(vf_queue);
  push(b, vf_queue, 60);
  b.begin(vf_queue);
  b.post(vf_queue, 60);
  b.doorbell(vf_queue);
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 0U);
}

TEST(H2cPush, a_ring_that_has_frames_under_way_reads_the_next_one_and_keeps_their_order) {
  H2cBench b(8);
  b.begin(vf_queue, {.size_index = 1});
  b.engine.host.holds = true;
  b.post(vf_queue, 100);
  b.doorbell(vf_queue);
  b.engine.run(200);
  push(b, vf_queue, 60);
  b.doorbell(vf_queue);
  b.engine.run(1000);
  EXPECT_TRUE(b.engine.frames.empty());
  b.engine.host.holds = false;
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 0U);
  // Of several that one doorbell tells, the first may be pushed.
  b.post(vf_queue, 60);
  const auto chunks = b.chunks(vf_queue);
  b.push(vf_queue, chunks);
  for (unsigned i = 0; i < 3; ++i) b.post(vf_queue, 200);
  b.doorbell(vf_queue);
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 1U);
}

TEST(H2cPush, a_frame_without_credit_waits_in_its_slot) {
  H2cBench b(9);
  b.begin(vf_queue, {.credits = true, .size_index = 1});
  for (unsigned round = 1; round <= 3; ++round) {
    push(b, vf_queue, 60 + round);
    b.doorbell(vf_queue);
    b.compare_all();
    EXPECT_EQ(b.unread(vf_queue), 2 * round - 1);
    b.grant(vf_queue, 2);
    b.compare_all();
    push(b, vf_queue, 90);
    b.doorbell(vf_queue);
    b.compare_all();
    EXPECT_EQ(b.unread(vf_queue), 2 * round);
  }
}

TEST(H2cPush, a_frame_that_waits_for_credit_is_read_if_its_slot_is_taken_or_another_doorbell_comes) {
  const unsigned other = 2 * H2cBench::queues_of_a_function + 5;  // in the same slot
  for (unsigned what = 0; what < 4; ++what) {
    H2cBench b(10 + what);
    b.begin(vf_queue, {.credits = true, .size_index = 2});
    b.begin(other, {.size_index = 1});
    push(b, vf_queue, 60);
    b.doorbell(vf_queue);
    b.engine.run(100);
    if (what == 0) push(b, other, 200);
    if (what == 1) b.push(vf_queue, {{8, {1, 2}}});
    if (what == 2) b.post(vf_queue, 100);
    if (what == 2) b.doorbell(vf_queue);
    if (what == 3) b.doorbell(vf_queue);
    b.engine.run(100);
    b.grant(vf_queue, 1);
    b.settle();
    // What was pushed is not sent again when the ring comes to the same place, one round later.
    for (unsigned i = 0; i < 2 * b.entries(vf_queue); ++i) {
      b.post(vf_queue, 60);
      b.doorbell(vf_queue);
      b.grant(vf_queue, 1);
      b.compare_all();
    }
    b.grant(vf_queue, 1);
    b.doorbell(other);
    b.compare_all();
    EXPECT_EQ(b.unread(vf_queue), 0U) << "case " << what;
    EXPECT_EQ(b.unread(other), what == 0 ? 1U : 0U) << "case " << what;
  }
}

TEST(H2cPush, a_slot_that_is_taken_as_credit_comes_is_sent_whole_or_not) {
  const unsigned other = 2 * H2cBench::queues_of_a_function + 5;  // in the same slot
  H2cBench b(13);
  b.begin(vf_queue, {.credits = true, .size_index = 1});
  b.begin(other, {.size_index = 1});
  for (unsigned delay = 0; delay < 40; ++delay) {
    push(b, vf_queue, 200);
    b.doorbell(vf_queue);
    b.engine.run(100);
    b.post(other, 200);
    const auto chunks = b.chunks(other);
    if (delay < 20) b.grant(vf_queue, 1);
    if (delay < 20) b.engine.run(delay);
    b.push(other, chunks);
    if (delay >= 20) b.engine.run(delay - 20);
    if (delay >= 20) b.grant(vf_queue, 1);
    b.doorbell(other);
    b.compare_all();
    ASSERT_FALSE(HasFailure()) << "after " << delay << " cycles";
  }
  EXPECT_GT(b.unread(vf_queue), 4U);
  EXPECT_GT(b.unread(other), 4U);
}

TEST(H2cPush, a_frame_that_waits_for_credit_ends_with_its_ring) {
  H2cBench b(12);
  b.begin(vf_queue, {.credits = true});
  push(b, vf_queue, 60);
  b.doorbell(vf_queue);
  b.engine.run(100);
  b.begin(vf_queue, {.credits = true});
  b.drop(vf_queue);
  b.post(vf_queue, 70);
  b.doorbell(vf_queue);
  b.grant(vf_queue, 1);
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 0U);
}

TEST(H2cPush, queues_that_share_a_slot_take_it_from_each_other) {
  H2cBench b(10);
  // Function and number together choose the slot.
  const unsigned other = 2 * H2cBench::queues_of_a_function + 5;
  static_assert((4 + 3) % slots == (2 + 5) % slots);
  for (const unsigned queue : {vf_queue, other}) b.begin(queue, {.size_index = 1});
  push(b, vf_queue, 60);
  push(b, other, 200);
  for (const unsigned queue : {vf_queue, other}) b.doorbell(queue);
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 0U);
  EXPECT_EQ(b.unread(other), 1U);
  // A slot that is being sent is not taken.
  b.engine.takes_frames = false;
  push(b, vf_queue, longest);
  b.doorbell(vf_queue);
  push(b, other, 200);
  b.doorbell(other);
  b.engine.run(500);
  b.engine.takes_frames = true;
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 1U);
  EXPECT_EQ(b.unread(other), 1U);
}

TEST(H2cPush, a_frame_of_a_ring_that_ends_is_dropped_if_it_has_not_begun) {
  H2cBench b(11);
  for (const unsigned queue : {1U, vf_queue}) b.begin(queue);
  b.engine.takes_frames = false;
  b.post(1, 9000);
  b.doorbell(1);
  b.engine.run(2000);
  push(b, vf_queue, 60);
  b.doorbell(vf_queue);
  b.engine.run(100);
  b.invalidate(vf_queue);
  b.engine.takes_frames = true;
  b.settle();
  for (const Engine::Frame& frame : b.engine.frames) EXPECT_EQ(frame.queue, 1U);
  b.drop(vf_queue);
  b.begin(vf_queue);
  push(b, vf_queue, 60);
  b.doorbell(vf_queue);
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 1U);
}

TEST(H2cPush, pushed_frames_pass_between_those_that_are_read) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    H2cBench b(seed);
    Random random(seed);
    for (unsigned queue = 0; queue < 12; ++queue) b.begin(queue, {.interval = queue % 2 == 1, .size_index = 1});
    unsigned pushed = 0;
    for (unsigned round = 0; round < 12; ++round) {
      for (unsigned queue = 0; queue < 4; ++queue) {
        for (unsigned i = random.below(5); i != 0 && b.room(queue) != 0; --i) b.post(queue, 1 + random.below(2000));
        b.doorbell(queue);
      }
      for (unsigned queue = 4; queue < 12; ++queue) {
        push(b, queue, 1 + random.below(longest));
        b.doorbell(queue);
        b.engine.run(random.below(40));
      }
      if (round % 3 == 2) b.compare_all();
    }
    b.compare_all();
    for (unsigned queue = 4; queue < 12; ++queue) pushed += b.unread(queue);
    EXPECT_GT(pushed, 30U);
  }
}

TEST(H2cPush, the_window_reads_zeros_and_takes_writes_beyond_its_frames) {
  H2cBench b(12);
  b.begin(vf_queue);
  push(b, vf_queue, 60);
  const unsigned at = 512 * 3;
  for (const unsigned offset : {at, at + header, 0U, 0x7ff8U}) {
    b.engine.write(4, offset | 0xf8U, {1, 2, 3, 4, 5, 6, 7, 8}, window);
    for (const std::uint32_t word : b.engine.read(4, offset, 2, window)) EXPECT_EQ(word, 0U);
  }
  b.engine.write(4, at + 0x108, {1, 2, 3, 4}, window);
  b.engine.write(0, 0x3'fff8, {1, 2}, window);
  b.doorbell(vf_queue);
  b.compare_all();
  EXPECT_EQ(b.unread(vf_queue), 0U) << "its part of the window was written to again";
}

}  // namespace
}  // namespace meridian
