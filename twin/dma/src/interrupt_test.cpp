// SPDX-License-Identifier: Apache-2.0
// Vectors that are masked and not, their messages, and interrupts through rings.
#include <gtest/gtest.h>

#include "h2c/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned vf_queue = 4 * H2cBench::queues_of_a_function + 3;  // of the first VF
constexpr unsigned vector = vf_queue % 8;
constexpr std::uint32_t descriptor_errors = 0x254, error_status = 0x248, error_interrupt = 0xb04;
constexpr std::uint32_t armed = 1U << 24, aggregated = 1U << 23;

class InterruptTest : public testing::Test {
 protected:
  void frame(unsigned queue) {
    b.post(queue, 100);
    b.doorbell(queue);
    b.compare_all();
  }
  void mask(unsigned function, unsigned which, bool masked) {
    b.write(function, MsixTables::table(function) + 16 * which + 12, masked);
  }
  std::uint32_t pending(unsigned function) { return b.read(function, MsixTables::pending_bits(function)); }
  std::uint64_t entry(unsigned function, unsigned index) { return b.interrupt_entry(function, index); }
  unsigned interrupt_pidx(unsigned function) { return b.interrupt_pidx(function); }

  H2cBench b{3};
  const unsigned vf = H2cBench::function(vf_queue);
};

TEST_F(InterruptTest, a_frames_message_comes_behind_its_status_entry) {
  b.begin(vf_queue, {.interrupt = true});
  b.post(vf_queue, 100);
  b.doorbell(vf_queue);
  for (unsigned i = 0; b.engine.host.messages.empty(); ++i) {
    ASSERT_LT(i, 2000U) << "no message comes";
    b.engine.run(1);
  }
  EXPECT_EQ(b.engine.host.memory.word(vf, b.status_address(vf_queue)), 0x1'0001'0000U);
  EXPECT_EQ(b.engine.host.messages.at(0).address, Lockstep::message_address(vf, vector));
  EXPECT_EQ(b.engine.host.messages.at(0).function, vf);
  b.compare_all();
}

TEST_F(InterruptTest, a_vector_that_is_masked_is_pending_until_it_is_not) {
  b.begin(vf_queue, {.interrupt = true});
  mask(vf, vector, true);
  for (unsigned i = 0; i < 3; ++i) {
    frame(vf_queue);
    EXPECT_EQ(pending(vf), 1U << vector);
  }
  mask(vf, vector, false);
  b.compare_all();
  EXPECT_EQ(pending(vf), 0U);
  for (const bool enabled : {true, false}) {
    b.set_msix(vf, enabled, enabled);
    frame(vf_queue);
    EXPECT_EQ(pending(vf), 1U << vector);
    b.set_msix(vf, true, false);
    b.compare_all();
    EXPECT_EQ(pending(vf), 0U);
  }
}

TEST_F(InterruptTest, a_reset_takes_what_is_pending_and_pcies_masks_all_vectors) {
  for (const bool by_pcie : {false, true}) {
    b.begin(vf_queue, {.interrupt = true});
    mask(vf, vector, true);
    frame(vf_queue);
    EXPECT_EQ(pending(vf), 1U << vector);
    if (by_pcie)
      b.reset_by_pcie(vf);
    else
      b.reset_by_mailbox(vf);
    EXPECT_EQ(pending(vf), 0U);
    mask(vf, vector, false);
    b.compare();
    b.write_context(0xc, vf, {vf * H2cBench::queues_of_a_function, H2cBench::queues_of_a_function});
  }
}

TEST_F(InterruptTest, a_ring_gets_an_entry_of_each_interrupt_and_its_vector_once_until_cidx) {
  b.begin_interrupts(vf);
  for (const unsigned queue : {vf_queue, vf_queue + 1}) b.begin(queue, {.interrupt = true, .aggregate = true});
  for (unsigned i = 0; i < 5; ++i)
    for (const unsigned queue : {vf_queue, vf_queue + 1}) frame(queue);
  EXPECT_EQ(interrupt_pidx(vf), 10U);
  EXPECT_EQ(entry(vf, 9), std::uint64_t{1} << 63 | std::uint64_t{vf_queue + 1} << 39 | 0x5'0005);
  for (const unsigned cidx : {7U, 7U, 10U, 10U, 3U, 0xffffU, 10U}) {
    b.bell(vf, cidx);
    b.compare_all();
  }
  frame(vf_queue);
  b.bell(vf, 11);
  b.compare_all();
}

TEST_F(InterruptTest, a_rings_message_comes_behind_its_entry) {
  b.begin_interrupts(vf);
  b.begin(vf_queue, {.interrupt = true, .aggregate = true});
  for (unsigned round = 0; round < 8; ++round) {
    const std::size_t before = b.engine.host.messages.size();
    b.post(vf_queue, 100);
    b.doorbell(vf_queue);
    // Entry and message wait for RQ together now and then.
    b.engine.hold_requests = 40 * (round % 5);
    for (unsigned i = 0; b.engine.host.messages.size() == before; ++i) {
      ASSERT_LT(i, 3000U) << "no message comes";
      b.engine.run(1);
    }
    EXPECT_EQ(entry(vf, round) >> 63, 1U) << "the message is ahead of its entry";
    b.compare_all();
    b.bell(vf, round + 1);
    b.compare_all();
  }
}

TEST_F(InterruptTest, a_ring_of_any_size_wraps_with_its_colour) {
  for (unsigned pages = 1; pages <= 8; ++pages) {
    b.begin_interrupts(vf, pages, 512 * pages - 2);
    b.begin(vf_queue, {.interrupt = true, .aggregate = true});
    for (unsigned i = 0; i < 4; ++i) frame(vf_queue);
    EXPECT_EQ(interrupt_pidx(vf), 2U);
  }
  // One that software puts beyond the ring's end.
  b.begin_interrupts(vf, 3, 4095);
  frame(vf_queue);
  frame(vf_queue);
}

TEST_F(InterruptTest, an_error_goes_through_a_ring_or_not) {
  constexpr unsigned failing = 0;
  b.write(0, 0x258, ~0U);
  b.write(0, 0x24c, ~0U);
  b.begin_interrupts(vf);
  for (const std::uint32_t target : {5U << 12 | 2U, vf << 12 | aggregated, (vf + 1) << 12 | aggregated}) {
    b.write(0, error_interrupt, armed | target);
    b.begin(failing);
    b.doorbell(failing, 9999);
    b.compare_failed(failing);
    b.write(0, descriptor_errors, ~0U);
    b.write(0, error_status, ~0U);
  }
  EXPECT_EQ(interrupt_pidx(vf), 1U) << "a ring that is not valid has no entry";
}

class ErrorInterrupts : public InterruptTest {
 protected:
  /// An error is there, and RQ takes nothing.
  void fail() {
    b.write(0, 0x258, ~0U);
    b.write(0, 0x24c, ~0U);
    b.begin_interrupts(vf);
    for (unsigned i = 0; i < 32; ++i) b.set_word(vf, H2cBench::interrupt_ring(vf) + 8 * std::uint64_t{i}, 0);
    b.begin(0, {.status = false});
    b.settle();
    b.engine.takes_requests = false;
    b.doorbell(0, 9999);
  }
  /// Software arms the error interrupt for the VF's ring; whether it was asked for at once.
  bool arm(unsigned named) {
    b.engine.write(0, error_interrupt, armed | vf << 12 | aggregated | named);
    b.engine.run(20);
    return (b.engine.read(0, error_interrupt, 1).at(0) & armed) == 0;
  }
  void reset(unsigned function) {
    b.engine.write(function, 0x5100, 1);
    b.engine.run(6000);
    b.engine.takes_requests = true;
    for (unsigned polls = 0; b.engine.read(function, 0x5100, 1).at(0) != 0; ++polls) {
      ASSERT_LT(polls, 1000U) << "the reset does not end";
      b.engine.run(100);
    }
    b.engine.run(500);
  }
  unsigned entries() {
    unsigned count = 0;
    while (entry(vf, count) != 0) ++count;
    return count;
  }
};

TEST_F(ErrorInterrupts, none_is_lost_however_often_software_arms_it_while_rq_takes_nothing) {
  fail();
  unsigned asked = 0;
  bool waits = false;
  for (unsigned i = 0; i < 20; ++i) {
    waits = !arm(0);
    if (!waits) ++asked;
  }
  EXPECT_TRUE(waits) << "more are asked for than may wait";
  b.engine.takes_requests = true;
  b.engine.run(1000);
  EXPECT_EQ(b.engine.read(0, error_interrupt, 1).at(0) & armed, 0U);
  EXPECT_EQ(entries(), asked + 1);
}

TEST_F(ErrorInterrupts, a_reset_drops_them_only_if_the_interrupt_ring_is_the_functions) {
  for (const bool is_ring : {false, true}) {
    fail();
    for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(arm(is_ring ? vf + 1 : vf + 2));
    reset(is_ring ? vf : vf + 2);
    if (is_ring) {
      EXPECT_LE(entries(), 1U) << "more than one that was at RQ";
    } else {
      EXPECT_EQ(entries(), 4U) << "an interrupt is lost with a reset of a function that has not the ring";
      b.engine.write(0, error_status, ~0U);
      b.engine.write(0, descriptor_errors, ~0U);
    }
  }
}

TEST_F(InterruptTest, a_vf_that_is_taken_away_has_masked_vectors_when_it_is_given_back) {
  for (const unsigned each : {vf_queue, vf_queue + H2cBench::queues_of_a_function}) {
    b.begin(each, {.interrupt = true});
    mask(H2cBench::function(each), each % 8, true);
    frame(each);
  }
  EXPECT_EQ(pending(vf), 1U << vector);
  b.take_away(vf);
  b.engine.run(100);
  b.give_back(vf);
  EXPECT_EQ(pending(vf), 0U);
  EXPECT_NE(pending(vf + 1), 0U) << "another VF loses what is pending";
  for (const unsigned f : {0U, vf, vf + 1}) b.read_row(f, MsixTables::table(f), 4 * MsixTables::vectors);
  frame(vf_queue);
  EXPECT_EQ(pending(vf), 1U << vector) << "a vector of a VF's past is not masked";
  b.set_table(vf);
  b.compare_all();
  EXPECT_EQ(pending(vf), 0U);
  frame(vf_queue);
}

TEST_F(InterruptTest, a_ring_whose_function_may_not_access_memory_goes_on_without_entries) {
  b.begin_interrupts(vf);
  // A queue of PF 0 whose interrupts go through the VF's ring.
  b.begin(0, {.interrupt = true});
  b.command(1, 0, 0);
  b.write_context(1, 0,
                  {0, 1U | 1U << 16 | 1U << 20 | 1U << 21, static_cast<std::uint32_t>(b.ring_address(0)),
                   static_cast<std::uint32_t>(b.ring_address(0) >> 32), vf | 1U << 11});
  for (const bool master : {true, false, true}) {
    b.enable_function(vf, master);
    frame(0);
    b.bell(vf, 0);
    b.compare_all();
  }
  EXPECT_EQ(interrupt_pidx(vf), 3U);
  EXPECT_EQ(entry(vf, 1), 0U);
}

TEST_F(InterruptTest, a_ring_that_was_written_or_invalidated_begins_anew) {
  b.begin_interrupts(vf);
  b.begin(vf_queue, {.interrupt = true, .aggregate = true});
  frame(vf_queue);
  b.command(8, 3, vf);
  frame(vf_queue);
  EXPECT_EQ(interrupt_pidx(vf), 1U);
  b.bell(vf, 0);
  b.compare_all();
  b.begin_interrupts(vf, 1, 1);
  frame(vf_queue);
  EXPECT_EQ(interrupt_pidx(vf), 2U);
  b.command(8, 0, vf);
  frame(vf_queue);
  EXPECT_EQ(interrupt_pidx(vf), 0U);
}

}  // namespace
}  // namespace meridian
