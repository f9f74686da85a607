// SPDX-License-Identifier: Apache-2.0
// Each way in which the block says that a read has failed (PG213, "Requester Completion Descriptor Format"), before any
// data or behind a part of them, and a read that it never answers.
#include <gtest/gtest.h>

#include "h2c/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned bad = 0, good = 4 * H2cBench::queues_of_a_function + 3;  // of PF 0 and of the first VF
constexpr std::uint32_t descriptor_errors = 0x254, error_status = 0x248;
constexpr unsigned of_descriptors = 1U << 21 | 1U << 2, of_payload = 1U << 20 | 1U << 2;
constexpr unsigned read_time_out = 60'000;  // cycles, as scripts/test-dma has it
using Answer = RequesterHost::Answer;

void answer_nowhere(H2cBench& b, Answer answer) {
  b.engine.host.answer_of = [answer](unsigned, std::uint64_t address) {
    return address < H2cBench::nowhere ? Answer::data : answer;
  };
}

void post(H2cBench& b, unsigned queue, unsigned count, unsigned bytes) {
  for (unsigned i = 0; i < count; ++i) b.post(queue, bytes);
  b.doorbell(queue);
}

/// Descriptors of the good ring that have ended, by its status entry.
std::uint64_t ended(H2cBench& b) {
  return b.engine.host.memory.word(H2cBench::function(good), b.status_address(good)) >> 16 & 0xffff;
}

class H2cAnswers : public testing::TestWithParam<unsigned> {};

TEST_P(H2cAnswers, a_read_that_fails_stops_its_ring_while_frames_of_another_pass) {
  const auto answer = static_cast<Answer>(GetParam());
  for (unsigned seed = 1; seed <= 4; ++seed) {  // each maximum read request size
    H2cBench b(seed);
    b.begin(good, {.size_index = 1});
    answer_nowhere(b, answer);
    for (const bool on_descriptor : {false, true}) {
      b.begin(bad, {.lost = on_descriptor});
      if (!on_descriptor) {
        post(b, bad, 1, 300);
        b.compare_all();
      }
      post(b, good, 12, 900);
      b.post(bad, on_descriptor ? 300 : 1200, H2cBench::nowhere - (on_descriptor ? 0x10000 : seed * 100));
      post(b, bad, 2, 100);
      post(b, good, 12, 300);
      b.compare_failed(bad);
      EXPECT_EQ(b.read(0, descriptor_errors), on_descriptor ? of_descriptors : of_payload);
      post(b, good, 20, 2000);
      b.compare_all();
      b.write(0, descriptor_errors, ~0U);
      b.write(0, error_status, ~0U);
      b.compare_all();
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(errors, H2cAnswers, testing::Range(1U, 1 + RequesterHost::errors));

TEST(H2cTimeOuts, a_read_that_is_never_answered_is_given_up_and_its_answer_may_come_too_late) {
  for (const bool on_descriptor : {false, true}) {
    H2cBench b(5);
    b.begin(good, {.size_index = 1});
    answer_nowhere(b, Answer::never);
    b.begin(bad, {.lost = on_descriptor});
    b.post(bad, 700, H2cBench::nowhere + 0x123);
    b.doorbell(bad);
    b.engine.run(200);
    post(b, good, 12, 900);
    b.engine.run(read_time_out / 2);
    EXPECT_EQ(b.engine.read(0, descriptor_errors, 1).at(0), 0U) << "it is given up too early";
    b.engine.run(read_time_out);
    EXPECT_EQ(b.engine.read(0, descriptor_errors, 1).at(0), on_descriptor ? of_descriptors : of_payload);
    EXPECT_EQ(ended(b), 12U) << "frames of another ring wait for the answer";
    // More than there are tags, so that those which the block has are passed over.
    post(b, good, 40, 400);
    b.engine.run(4000);
    EXPECT_EQ(ended(b), 52U);
    EXPECT_NE(b.engine.host.open(), 0U);
    b.engine.host.release();
    b.compare_failed(bad);
    post(b, good, 40, 700);
    b.compare_all();
    ASSERT_FALSE(HasFailure()) << "descriptors: " << on_descriptor;
  }
}

}  // namespace
}  // namespace meridian
