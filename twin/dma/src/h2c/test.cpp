// SPDX-License-Identifier: Apache-2.0
// From host to card: what a doorbell, a credit or a context makes of rings, frames, status entries and errors.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "h2c/bench.hpp"
#include "qdma/state/context_fields.hpp"

namespace meridian {
namespace {

constexpr unsigned vf_queue = 4 * H2cBench::queues_of_a_function + 3;  // of the first VF
constexpr std::uint32_t descriptor_errors = 0x254, error_status = 0x248;

TEST(H2c, a_frame_crosses_and_the_status_entry_tells_it) {
  H2cBench b;
  b.begin(vf_queue);
  b.post(vf_queue, 64);
  b.doorbell(vf_queue);
  b.compare_all();
  EXPECT_EQ(b.engine.host.memory.word(b.function(vf_queue), b.status_address(vf_queue)), 0x1'0001'0000U);
  EXPECT_GT(b.engine.idle_cycles, 0U);
}

TEST(H2c, frames_of_any_length_at_any_address_cross) {
  H2cBench b(2);
  b.begin(1);
  const unsigned lengths[] = {0, 1, 3, 4, 31, 32, 33, 63, 64, 511, 512, 513, 1500, 9018, 65535};
  for (const unsigned length : lengths) b.post(1, length);
  b.doorbell(1);
  b.compare_all();
}

TEST(H2c, rings_may_have_descriptors_of_16_32_and_64_bytes) {
  for (const unsigned seed : {8U, 10U}) {
    H2cBench b(seed);
    for (unsigned stride = 0; stride < 3; ++stride) {
      b.begin(stride, {.size_index = 1, .stride = stride});
      for (const unsigned count : {1U, 2U, 33U, 17U, 40U}) {
        for (unsigned i = 0; i < count; ++i) b.post(stride, 16 + 3 * i);
        b.doorbell(stride);
        b.compare_all();
      }
    }
  }
}

TEST(H2c, a_frame_has_the_bytes_of_all_entries_of_its_descriptor) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    H2cBench b(seed);
    Random random(seed);
    const unsigned lengths[] = {1, 2, 14, 31, 32, 33, 54, 64, 511, 1448, 4096, 16000};
    for (unsigned stride = 1; stride < 3; ++stride) b.begin(stride, {.size_index = 1, .stride = stride});
    b.begin(vf_queue, {.size_index = 1});
    for (unsigned round = 0; round < 6; ++round) {
      for (unsigned stride = 1; stride < 3; ++stride) {
        for (unsigned i = 0; i < 10; ++i) {
          std::vector<unsigned> pieces(1 + random.below(1U << stride));
          for (unsigned& piece : pieces) piece = lengths[random.below(std::size(lengths))];
          b.post_pieces(stride, pieces);
        }
        b.doorbell(stride);
      }
      b.post(vf_queue, 64);
      b.doorbell(vf_queue);
      b.compare_all();
    }
  }
}

TEST(H2c, a_frame_of_pieces_that_take_the_longest_length_together_crosses) {
  H2cBench b(5);
  b.begin(vf_queue, {.stride = 2});
  b.post_pieces(vf_queue, {1, 65530, 3, 1});
  b.post_pieces(vf_queue, {65534, 1});
  b.doorbell(vf_queue);
  b.compare_all();
}

TEST(H2c, a_queue_fetches_no_more_than_the_shell_lets_it) {
  H2cBench b(3);
  for (const unsigned queue : {2U, vf_queue}) b.begin(queue, {.credits = queue == 2});
  for (const unsigned queue : {2U, vf_queue}) {
    for (unsigned i = 0; i < 10; ++i) b.post(queue, 100 + i);
    b.doorbell(queue);
  }
  b.compare_all();
  for (const unsigned count : {3U, 1U, 20U}) {
    b.grant(2, count);
    b.compare_all();
  }
  for (unsigned i = 0; i < 12; ++i) b.post(2, 60);
  b.doorbell(2);
  b.compare_all();
}

TEST(H2c, software_may_write_credits) {
  H2cBench b(3);
  b.begin(2, {.credits = true});
  b.write_context(5, 2, {0xabcd0005});
  b.read_context(5, 2);
  b.command(5, 0, 2);
  b.read_context(5, 2);
  b.grant(2, 7);
  b.settle();
  b.read_context(5, 2);
  b.write_context(5, 2, {0x12340000});
  b.command(5, 3, 2);
  b.read_context(5, 2);
}

TEST(H2c, an_interrupt_is_sent_when_it_is_armed_and_the_ring_is_drained) {
  H2cBench b(4);
  for (const unsigned queue : {3U, vf_queue}) {
    b.begin(queue, {.interval = true, .interrupt = true});
    for (const unsigned count : {1U, 2U, 9U, 4U}) {
      for (unsigned i = 0; i < count; ++i) b.post(queue, 64);
      b.doorbell(queue);
      b.compare_all();
    }
    // Armed again without work: what was owed is sent.
    b.doorbell(queue);
    b.compare_all();
  }
}

TEST(H2c, an_interrupt_waits_until_its_status_entry_has_left) {
  H2cBench b(4);
  b.begin(vf_queue, {.interrupt = true});
  b.post(vf_queue, 64);
  b.doorbell(vf_queue);
  constexpr unsigned limit = 2000;  // cycles
  for (unsigned i = 0; b.engine.frames.empty(); ++i) {
    ASSERT_LT(i, limit) << "no frame comes";
    b.engine.run(1);
  }
  b.engine.takes_requests = false;
  b.engine.run(limit);
  const auto status = [&b] {
    return b.engine.host.memory.word(H2cBench::function(vf_queue), b.status_address(vf_queue));
  };
  EXPECT_EQ(status(), 0U);
  EXPECT_TRUE(b.engine.interrupts.empty()) << "the interrupt is ahead of the status entry";
  b.engine.takes_requests = true;
  for (unsigned i = 0; b.engine.interrupts.empty(); ++i) {
    ASSERT_LT(i, limit) << "no interrupt comes";
    b.engine.run(1);
  }
  EXPECT_EQ(status(), 0x1'0001'0000U);
  b.compare_all();
}

TEST(H2c, contexts_are_whole_while_frames_pass) {
  H2cBench b(5);
  for (unsigned queue = 0; queue < 8; ++queue) b.begin(queue, {.size_index = 1});
  for (unsigned round = 0; round < 6; ++round) {
    for (unsigned queue = 0; queue < 8; ++queue) {
      for (unsigned i = 0; i < 7; ++i) b.post(queue, 64 + 100 * i);
      b.doorbell(queue);
      // What the doorbell has just told is in the context, whatever else goes on.
      b.write(0, 0x844, (1U << 1) | (2U << 5) | (queue << 7));
      EXPECT_EQ(b.engine.read(0, 0x804, 1).at(0) & 0xffff, b.pidx(queue));
      EXPECT_EQ(b.engine.read(0, 0x844, 1).at(0) & 1, 0U) << "a command stays busy";
    }
    b.compare_all();
  }
}

TEST(H2c, a_ring_whose_contexts_are_written_under_way_begins_anew) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    H2cBench b(seed);
    Random random(seed);
    for (const unsigned queue : {0U, 1U}) b.begin(queue, {.size_index = 1});
    for (unsigned round = 0; round < 4; ++round) {
      for (const unsigned queue : {0U, 1U}) {
        for (unsigned i = 0; i < 12; ++i) b.post(queue, 64 + random.below(900));
        b.doorbell(queue);
      }
      b.engine.run(random.below(700));
      b.begin(0, {.size_index = 2});
      b.drop(0);
      b.compare_all();
      for (unsigned i = 0; i < 5; ++i) b.post(0, 200);
      b.doorbell(0);
      b.compare_all();
      b.begin(0, {.size_index = 1});
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(H2c, an_invalid_ring_takes_no_doorbell) {
  H2cBench b(6);
  b.begin(0);
  b.post(0, 64);
  b.doorbell(0);
  b.compare_all();
  b.invalidate(0);
  b.write(0, 0x18004, 5);
  b.settle();
  for (const unsigned kind : {1U, 3U, 5U}) b.read_context(kind, 0);
  b.compare_all();
}

TEST(H2cErrors, a_doorbell_that_the_ring_cannot_have_stops_it) {
  H2cBench b(7);
  b.begin(vf_queue);
  b.begin(1);
  for (const unsigned pidx : {16U, 40000U, 2U}) {
    b.begin(0);
    for (unsigned i = 0; i < 3; ++i) b.post(0, 64);
    b.doorbell(0);
    b.compare_all();
    // The last one is backwards: over descriptors that have not ended.
    b.engine.host.holds = pidx == 2;
    if (pidx == 2) {
      b.begin(0);
      for (unsigned i = 0; i < 3; ++i) b.post(0, 64);
      b.doorbell(0);
    }
    b.doorbell(0, pidx);
    b.engine.run(500);
    b.engine.host.holds = false;
    b.compare_failed(0);
    EXPECT_EQ(b.read(0, descriptor_errors), 1U << 4);
    b.doorbell(0, 4);
    b.compare_all();
    // The others go on, and the log keeps the first.
    b.post(vf_queue, 100);
    b.doorbell(vf_queue);
    b.doorbell(1, 77);
    b.compare_failed(1);
    b.begin(1);
    b.write(0, descriptor_errors, ~0U);
    b.write(0, error_status, ~0U);
    b.compare_all();
    ASSERT_FALSE(HasFailure()) << "PIDX " << pidx;
  }
}

TEST(H2cErrors, a_ring_that_is_not_at_a_multiple_of_8_bytes_is_refused_and_has_no_status_entry) {
  H2cBench b(11);
  b.begin(vf_queue);
  // The last one's status entry would cross 4 KiB.
  for (const unsigned skew : {1U, 4U, 0xebcU}) {
    b.begin(0, {.skew = skew});
    b.post(0, 64);
    b.doorbell(0);
    b.compare_failed(0);
    EXPECT_EQ(b.read(0, descriptor_errors), 1U << 4);
    b.post(vf_queue, 100);
    b.doorbell(vf_queue);
    b.compare_all();
    b.write(0, descriptor_errors, ~0U);
    b.write(0, error_status, ~0U);
    b.begin(0);
    b.compare_all();
    ASSERT_FALSE(HasFailure()) << skew << " bytes";
  }
}

TEST(H2cErrors, a_read_that_fails_stops_its_ring_and_no_other) {
  H2cBench b(8);
  b.write(0, 0x258, ~0U);
  b.write(0, 0x24c, ~0U);
  b.begin(vf_queue);
  for (const bool on_descriptor : {false, true}) {
    b.write(0, 0xb04, 1U << 24 | 5U << 12 | 2);  // the interrupt of errors
    b.begin(0, {.lost = on_descriptor});
    if (!on_descriptor) {
      b.post(0, 700);
      b.doorbell(0);
      b.compare_all();
    }
    b.post(0, 700, H2cBench::nowhere + 0x123);
    b.post(0, 700);
    b.doorbell(0);
    for (unsigned i = 0; i < 5; ++i) b.post(vf_queue, 1500);
    b.doorbell(vf_queue);
    b.compare_failed(0);
    EXPECT_EQ(b.read(0, descriptor_errors), 1U << (on_descriptor ? 21 : 20) | 1U << 2);
    b.post(vf_queue, 2000);
    b.doorbell(vf_queue);
    b.compare_all();
    b.write(0, descriptor_errors, ~0U);
    b.write(0, error_status, ~0U);
    b.compare_all();
  }
}

/// A frame passes, the one behind it fails with these error bits, and those of another queue pass.
void fail_alone(H2cBench& b, const std::vector<H2cBench::Piece>& pieces, std::uint32_t bits) {
  b.begin(0, {.stride = 2});
  b.post(0, 100);
  b.post(0, pieces);
  b.post(0, 200);
  b.doorbell(0);
  b.post_pieces(vf_queue, {1000, 20, 3});
  b.doorbell(vf_queue);
  b.compare_failed(0, 1);
  EXPECT_EQ(b.read(0, descriptor_errors), bits);
  b.write(0, descriptor_errors, ~0U);
  b.write(0, error_status, ~0U);
  b.compare_all();
}

constexpr std::uint32_t wrong_parameter = 1U << 4, failed_read = 1U << 20 | 1U << 2;

TEST(H2cErrors, a_descriptor_with_an_empty_piece_or_too_many_bytes_stops_its_ring_and_no_other) {
  H2cBench b(12);
  b.begin(vf_queue, {.stride = 2});
  struct Case {
    std::vector<unsigned> lengths;
    unsigned good;  // pieces ahead of the one that is malformed
  };
  const std::vector<Case> all = {{{0, 5}, 0},       {{5, 0}, 1},         {{5, 0, 6, 7}, 1}, {{5, 6, 0, 7}, 2},
                                 {{5, 6, 7, 0}, 3}, {{40000, 25536}, 1}, {{9, 65535}, 1}};
  for (const Case& it : all) {
    std::vector<H2cBench::Piece> pieces;
    for (const unsigned length : it.lengths) pieces.push_back({b.place(length), length});
    fail_alone(b, pieces, wrong_parameter);
    for (std::size_t i = it.good; i < pieces.size(); ++i)
      EXPECT_EQ(b.engine.host.answered(0, pieces[i].address, pieces[i].length), 0U) << "piece " << i << " was read";
    ASSERT_FALSE(HasFailure()) << it.lengths[0] << " and " << it.lengths[1] << " bytes";
  }
}

TEST(H2cErrors, a_read_of_one_piece_that_fails_stops_its_ring_and_no_other) {
  H2cBench b(13);
  b.begin(vf_queue, {.stride = 2});
  for (unsigned bad = 0; bad < 4; ++bad) {
    std::vector<H2cBench::Piece> pieces;
    for (unsigned i = 0; i < 4; ++i) pieces.push_back({i == bad ? H2cBench::nowhere + 0x77 : b.place(700), 700 + i});
    fail_alone(b, pieces, failed_read);
    ASSERT_FALSE(HasFailure()) << "piece " << bad;
  }
}

TEST(H2cErrors, the_error_is_that_of_the_first_piece_with_a_fault) {
  H2cBench b(14);
  b.begin(vf_queue, {.stride = 2});
  const H2cBench::Piece good{b.place(700), 700}, lost{H2cBench::nowhere + 0x77, 700}, empty{b.place(1), 0};
  fail_alone(b, {good, lost, empty}, failed_read);
  fail_alone(b, {lost, good, empty, good}, failed_read);
  fail_alone(b, {good, empty, lost}, wrong_parameter);
  fail_alone(b, {empty, lost}, wrong_parameter);
}

TEST(H2cErrors, nothing_is_fetched_of_a_ring_whose_doorbells_are_refused) {
  const std::vector<std::pair<Field, std::uint32_t>> all = {
      {sw::descriptor_size, 0}, {sw::bypass, 1}, {sw::memory, 1}, {sw::function, 0x104}};
  for (const auto& [field, value] : all) {
    H2cBench b(15);
    b.begin(vf_queue);
    b.begin(0, {.small = field.word == sw::descriptor_size.word && field.low == sw::descriptor_size.low});
    SwContext context;
    for (const auto& [each, of] : {std::pair<Field, std::uint32_t>{sw::enable, 1},
                                   {sw::descriptor_size, 1},
                                   {sw::status_enable, 1},
                                   {sw::pidx, 5},
                                   {field, value}})
      context.set(each, of);
    const std::uint64_t base = b.ring_address(0);
    context.words[2] = static_cast<std::uint32_t>(base);
    context.words[3] = static_cast<std::uint32_t>(base >> 32);
    b.engine.host.requests.clear();
    b.write_context(1, 0, context.words);
    for (unsigned i = 0; i < 10; ++i) b.post(vf_queue, 100 + i);
    b.doorbell(vf_queue);
    b.settle();
    for (const RequesterHost::Request& request : b.engine.host.requests)
      EXPECT_EQ(request.function, H2cBench::function(vf_queue));
    b.compare_all();
    b.doorbell(0, 6);
    b.compare_failed(0);
    EXPECT_EQ(b.read(0, descriptor_errors), wrong_parameter);
    ASSERT_FALSE(HasFailure()) << "word " << field.word;
  }
}

TEST(H2c, a_ring_that_begins_anew_within_a_frame_of_several_pieces_ends_it) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    H2cBench b(seed);
    Random random(seed);
    for (const unsigned queue : {0U, 1U}) b.begin(queue, {.size_index = 1, .stride = 2});
    for (unsigned round = 0; round < 4; ++round) {
      for (const unsigned queue : {0U, 1U}) {
        for (unsigned i = 0; i < 12; ++i) b.post_pieces(queue, {64, 1 + random.below(900), 1 + random.below(900), 20});
        b.doorbell(queue);
      }
      b.engine.run(random.below(700));
      b.begin(0, {.size_index = 2, .stride = 1});
      b.drop(0);
      b.compare_all();
      for (unsigned i = 0; i < 5; ++i) b.post(0, 200);
      b.doorbell(0);
      b.compare_all();
      b.begin(0, {.size_index = 1, .stride = 2});
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(H2cErrors, a_function_that_may_not_access_memory_sends_no_request) {
  H2cBench b(9);
  const unsigned vf = H2cBench::function(vf_queue);
  b.begin(vf_queue);
  b.begin(0);
  b.enable_function(vf, false);
  for (const unsigned queue : {0U, vf_queue}) {
    b.post(queue, 100);
    b.doorbell(queue);
  }
  b.settle();
  for (const RequesterHost::Request& request : b.engine.host.requests) EXPECT_EQ(request.function, 0U);
  b.compare_failed(vf_queue);
  EXPECT_EQ(b.read(0, descriptor_errors), 1U << 21 | 1U << 2);
}

}  // namespace
}  // namespace meridian
