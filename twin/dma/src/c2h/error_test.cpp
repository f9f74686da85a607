// SPDX-License-Identifier: Apache-2.0
// What ends a C2H queue: doorbells that it cannot have, descriptors that cannot
// be read, a full completion ring, and a function that may not access memory.
// Frames of other queues pass meanwhile.
#include <gtest/gtest.h>

#include <algorithm>

#include "c2h/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned bad = 0, good = 4 * C2hBench::queues_of_a_function + 3;  // of PF 0 and of the first VF
constexpr std::uint32_t descriptor_errors = 0x254, error_status = 0x248, c2h_errors = 0xaf0;
using Answer = RequesterHost::Answer;

void pass(C2hBench& b, unsigned queue, unsigned count, unsigned bytes) {
  b.post(queue, count * b.need(queue, bytes));
  for (unsigned i = 0; i < count; ++i) {
    b.wait_for_credit(queue, b.need(queue, bytes));
    ASSERT_TRUE(b.send(queue, bytes));
  }
}

void clear_errors(C2hBench& b) {
  for (const std::uint32_t at : {descriptor_errors, c2h_errors, error_status}) b.write(0, at, ~0U);
  b.compare_all();
}

class C2hAnswers : public testing::TestWithParam<unsigned> {};

TEST_P(C2hAnswers, a_read_of_descriptors_that_fails_stops_its_queue_while_frames_of_another_pass) {
  const auto answer = static_cast<Answer>(GetParam());
  for (unsigned seed = 1; seed <= 4; ++seed) {  // each maximum read request size
    C2hBench b(seed);
    b.begin(good, {.size_index = 1});
    b.engine.host.answer_of = [answer](unsigned, std::uint64_t address) {
      return address < C2hBench::nowhere ? Answer::data : answer;
    };
    for (const bool interrupt : {false, true}) {
      b.begin(bad, {.interrupt = interrupt, .lost = true});
      pass(b, good, 5, 900);
      b.post(bad, 5);
      b.send_anyway(bad, 100);
      b.send_anyway(bad, 200);
      pass(b, good, 5, 300);
      b.compare_failed(bad);
      EXPECT_EQ(b.read(0, descriptor_errors), 1U << 21 | 1U << 2);
      EXPECT_EQ(b.read(0, c2h_errors), 1U << 4);
      b.read_completions(good, b.unread(good));
      pass(b, good, 10, 2000);
      b.compare_all();
      b.read_completions(good, b.unread(good));
      clear_errors(b);
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(errors, C2hAnswers, testing::Range(1U, 1 + RequesterHost::errors));

TEST(C2hErrors, a_doorbell_that_the_ring_cannot_have_stops_it) {
  C2hBench b(7);
  b.begin(good);
  for (const unsigned pidx : {16U, 40000U, 2U}) {
    b.begin(bad);
    b.post(bad, 3);
    b.compare_all();
    b.doorbell(bad, pidx);  // the last one is backwards
    b.compare_failed(bad);
    EXPECT_EQ(b.read(0, descriptor_errors), 1U << 4);
    b.doorbell(bad, 4);
    b.send_anyway(bad, 100);
    pass(b, good, 1, 100);
    b.compare_all();
    b.read_completions(good, 1);
    clear_errors(b);
    ASSERT_FALSE(HasFailure()) << "PIDX " << pidx;
  }
}

TEST(C2hErrors, a_completion_ring_ends_with_a_wrong_cidx_and_when_it_is_full) {
  C2hBench b(8);
  b.begin(good);
  for (const bool interrupt : {false, true}) {
    for (const unsigned mode : {C2hBench::every, C2hBench::user_timer, C2hBench::disabled}) {
      for (const unsigned cidx : {4U, 16U, 60000U}) {
        b.begin(bad, {.mode = mode, .interrupt = interrupt});
        pass(b, bad, 3, 100);
        b.compare_all();
        b.completion_doorbell(bad, cidx | 1U << 28);
        b.compare_failed(bad);
        EXPECT_EQ(b.read(0, c2h_errors), 1U << 14);
        clear_errors(b);
      }
      b.begin(bad, {.mode = mode, .size_index = 2, .interrupt = interrupt});
      for (unsigned i = 0; i < 9; ++i) {
        b.post(bad, 1);
        b.wait_for_credit(bad, 1);
        b.send_anyway(bad, 100);
        if (i < 7) b.compare_all();
      }
      b.compare_failed(bad);
      EXPECT_EQ(b.read(0, c2h_errors), 1U << 13);
      pass(b, good, 1, 100);
      b.compare_all();
      b.read_completions(good, 1);
      clear_errors(b);
      ASSERT_FALSE(HasFailure()) << "mode " << mode << ", interrupt: " << interrupt;
    }
  }
}

TEST(C2hErrors, a_frame_that_needs_more_buffers_than_a_ring_may_have_is_dropped) {
  C2hBench b(9);
  b.begin(bad, {.size_index = 2, .buffer_index = 1});  // 8 entries, 256 bytes
  b.begin(good, {.size_index = 1, .buffer_index = 1});
  b.post(bad, 7);
  b.post(good, 40);
  b.wait_for_credit(bad, 7);
  b.send_anyway(bad, 256 * 7 + 1);
  b.compare_refused(bad);
  EXPECT_EQ(b.read(0, c2h_errors), 1U << 9);
  b.wait_for_credit(good, 40);
  b.send_anyway(good, 256 * 31 + 1);
  b.compare_refused(good);
}

TEST(C2hErrors, a_function_that_may_not_access_memory_sends_no_request) {
  C2hBench b(10);
  const unsigned vf = C2hBench::function(good);
  // The model, too, has its descriptors when the function loses its access.
  for (const unsigned queue : {bad, good}) {
    b.begin(queue, {.prefetch = true});
    pass(b, queue, 1, 700);
    b.post(queue, 5);
    b.wait_for_credit(queue, 5);
  }
  b.compare_all();
  pass(b, bad, 1, 700);
  pass(b, good, 1, 700);
  b.compare_all();
  b.enable_function(vf, false);
  b.engine.run(100);
  b.engine.host.requests.clear();
  for (unsigned i = 0; i < 4; ++i)
    for (const unsigned queue : {bad, good}) b.send_anyway(queue, 700);
  b.settle();
  for (const RequesterHost::Request& request : b.engine.host.requests) EXPECT_EQ(request.function, 0U);
  b.enable_function(vf, true);
  b.invalidate(good);
  b.drop(good);
  b.compare_all();
  b.begin(good);
  pass(b, good, 5, 3000);
  b.compare_all();
}

TEST(C2hErrors, a_ring_that_ends_while_its_frames_pass_begins_anew) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    C2hBench b(seed);
    Random random(seed);
    for (const unsigned queue : {0U, 1U}) b.begin(queue, {.size_index = 1});
    for (unsigned round = 0; round < 4; ++round) {
      for (const unsigned queue : {0U, 1U}) {
        b.post(queue, std::min(b.room(queue), 20U));
        b.wait_for_credit(queue, 12);
      }
      for (unsigned i = 0; i < 12; ++i)
        for (const unsigned queue : {0U, 1U}) b.send(queue, 64 + random.below(900));
      b.engine.run(random.below(700));
      b.invalidate(0);
      b.drop(0);
      b.compare_all();
      b.begin(0, {.size_index = 2});
      pass(b, 0, 5, 200);
      b.compare_all();
      b.read_completions(1, b.unread(1));
      b.begin(0, {.size_index = 1});
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace meridian
