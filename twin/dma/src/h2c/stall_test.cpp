// SPDX-License-Identifier: Apache-2.0
// The block takes no requests for long: the host's accesses are answered meanwhile, and
// what waits of a ring is told when it may be, or is forgotten with the ring.
#include <gtest/gtest.h>

#include <algorithm>

#include "h2c/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned at_rq = 0;                                                  // of PF 0: its entry is the first
constexpr unsigned vf_function = 5, own = 6 * vf_function, sibling = own + 1;  // of VF 5
constexpr unsigned mapped_queues = H2cBench::functions * H2cBench::queues_of_a_function;
constexpr unsigned stall = 6000;          // cycles
constexpr unsigned access_cycles = 60;    // of a doorbell, and of a read behind it
constexpr unsigned table_cycles = 250;    // of a read of a whole MSI-X table
constexpr unsigned reset_limit = 30'000;  // cycles
constexpr std::uint32_t command_register = 0x844, sw_h2c = 1, interrupt_ring = 8, invalidate = 3;
static_assert(H2cBench::queues_of_a_function == 6);

class H2cStalls : public testing::Test {
 protected:
  /// A ring fails at once, with a status entry and, if it has one, an interrupt: no read is needed for it.
  void fail(unsigned queue) {
    if (b.setting(queue).interrupt) b.doorbell(queue);  // arms it
    b.doorbell(queue, 9999);
  }

  /// The stall begins, and the entry of at_rq waits at RQ itself.
  void stall_requests() {
    b.begin(at_rq);
    b.settle();
    b.engine.takes_requests = false;
    fail(at_rq);
    b.engine.run(100);
  }

  std::uint64_t status(unsigned queue) {
    return b.engine.host.memory.word(H2cBench::function(queue), b.status_address(queue));
  }

  unsigned entries_of(unsigned queue) {
    return static_cast<unsigned>(std::count_if(
        b.engine.host.requests.begin(), b.engine.host.requests.end(),
        [&](const auto& request) { return request.write && request.address == b.status_address(queue); }));
  }

  /// Cycles that a control register's value takes.
  std::uint64_t read_register() {
    const std::uint64_t start = b.engine.cycles();
    b.read(0, 0x0);
    longest_ = std::max(longest_, b.engine.cycles() - start);
    return b.engine.cycles() - start;
  }

  /// A bound that is far from what accesses take would hide that they wait.
  void TearDown() override {
    EXPECT_TRUE(longest_ == 0 || access_cycles <= 2 * longest_) << longest_;
    EXPECT_TRUE(tables_ == 0 || table_cycles <= 2 * tables_) << tables_;
  }

  std::uint64_t longest_ = 0, tables_ = 0;

  H2cBench b{3};
};

TEST_F(H2cStalls, doorbells_are_taken_and_registers_are_read_while_rq_takes_nothing) {
  for (unsigned queue = 0; queue < mapped_queues; queue += 5) b.begin(queue, {.interrupt = queue % 2 == 0});
  b.settle();
  b.engine.takes_requests = false;
  for (unsigned queue = 0; queue < mapped_queues; queue += 5) {
    fail(queue);
    EXPECT_LE(read_register(), access_cycles) << "behind the doorbell of queue " << queue;
  }
  b.engine.run(stall);
  EXPECT_LE(read_register(), access_cycles);
  b.engine.takes_requests = true;
  b.settle();
  for (unsigned queue = 0; queue < mapped_queues; queue += 5)
    EXPECT_EQ(status(queue), 1U) << "the error of queue " << queue << " is not told";
}

TEST_F(H2cStalls, doorbells_are_taken_and_registers_are_read_while_interrupt_rings_wait_for_rq) {
  for (unsigned f = 0; f < H2cBench::functions; ++f) b.begin_interrupts(f);
  for (unsigned queue = 0; queue < mapped_queues; queue += 5)
    b.begin(queue, {.interrupt = true, .aggregate = true, .status = false});
  b.settle();
  b.engine.takes_requests = false;
  for (unsigned queue = 0; queue < mapped_queues; queue += 5) {
    fail(queue);
    EXPECT_LE(read_register(), access_cycles) << "behind the doorbell of queue " << queue;
    b.bell(H2cBench::function(queue), 0);
    EXPECT_LE(read_register(), access_cycles) << "behind the CIDX of function " << H2cBench::function(queue);
    b.read_context(8, H2cBench::functions);
    const std::uint64_t start = b.engine.cycles();
    EXPECT_EQ(b.engine.read(0, MsixTables::table(0), 4 * MsixTables::vectors).size(), 4 * MsixTables::vectors);
    EXPECT_LE(b.engine.cycles() - start, table_cycles) << "the table waits for RQ";
    tables_ = std::max(tables_, b.engine.cycles() - start);
  }
  b.engine.run(stall);
  EXPECT_LE(read_register(), access_cycles);
  EXPECT_LE(b.engine.interrupts.size(), 3U) << "an interrupt is ahead of the ring's entry";
  b.engine.takes_requests = true;
  b.settle();
  for (unsigned f = 0; f < H2cBench::functions; ++f) {
    unsigned failed = 0;
    for (unsigned i = 0; i < H2cBench::queues_of_a_function; ++i)
      failed += (f * H2cBench::queues_of_a_function + i) % 5 == 0;
    for (unsigned i = 0; i < failed + 1; ++i)
      EXPECT_EQ(b.engine.host.memory.word(f, H2cBench::interrupt_ring(f) + 8 * i) >> 63, i < failed ? 1U : 0U)
          << "entry " << i << " of function " << f;
  }
}

TEST_F(H2cStalls, a_command_on_an_interrupt_ring_is_busy_until_the_entry_that_was_at_rq_has_left) {
  b.begin_interrupts(0);
  b.begin(at_rq, {.interrupt = true, .aggregate = true, .status = false});
  b.settle();
  b.engine.takes_requests = false;
  fail(at_rq);
  b.engine.run(100);
  b.write(0, command_register, interrupt_ring << 1 | invalidate << 5);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(b.engine.read(0, command_register, 1).at(0) & 1, 1U) << "the command is done before the entry has left";
    b.engine.run(stall / 4);
  }
  EXPECT_EQ(b.engine.host.memory.word(0, H2cBench::interrupt_ring(0)), 0U);
  b.engine.takes_requests = true;
  b.engine.run(50);
  EXPECT_NE(b.engine.host.memory.word(0, H2cBench::interrupt_ring(0)), 0U);
  b.read(0, command_register);
}

TEST_F(H2cStalls, a_reset_forgets_the_interrupts_that_wait_for_the_functions_ring) {
  b.begin_interrupts(vf_function);
  for (const unsigned queue : {own, sibling}) b.begin(queue, {.interrupt = true, .aggregate = true, .status = false});
  stall_requests();
  for (const unsigned queue : {own, sibling}) fail(queue);
  b.engine.host.requests.clear();
  b.write(vf_function, 0x5100, 1);
  b.engine.run(stall);
  b.engine.takes_requests = true;
  unsigned polls = 0;
  while (b.engine.read(vf_function, 0x5100, 1).at(0) != 0) {
    ASSERT_LT(++polls, reset_limit / 100) << "the reset does not end";
    b.engine.run(100);
  }
  const auto of_the_vf = [this] {
    const auto& all = b.engine.host.requests;
    return std::count_if(all.begin(), all.end(), [](const auto& request) { return request.function == vf_function; });
  };
  const auto before = of_the_vf();
  EXPECT_LE(before, 2) << "more than an entry that was at RQ, and its message";
  b.settle();
  EXPECT_EQ(of_the_vf(), before) << "the function accesses memory after its reset";
}

TEST_F(H2cStalls, entries_that_wait_of_a_ring_are_one_with_the_newest_cidx) {
  for (const unsigned queue : {own, sibling}) b.begin(queue, {.interval = true, .size_index = 1});
  b.engine.host.holds = true;
  for (const unsigned queue : {own, sibling}) {
    for (unsigned i = 0; i < 16; ++i) b.post(queue, 0);
    b.doorbell(queue);
  }
  b.engine.run(500);
  b.engine.takes_requests = false;
  b.engine.host.requests.clear();
  b.engine.host.holds = false;
  b.engine.run(stall);
  b.engine.takes_requests = true;
  b.settle();
  for (const unsigned queue : {own, sibling}) {
    EXPECT_EQ(status(queue), 0x10'0010'0000U);
    EXPECT_LE(entries_of(queue), 2U) << "one that was at RQ, and one";
  }
  b.compare_all();
}

TEST_F(H2cStalls, no_entry_of_a_ring_leaves_after_its_context_is_written) {
  b.begin(own, {.interrupt = true});
  stall_requests();
  fail(own);
  b.begin(own, {.interrupt = true});
  b.engine.run(stall);
  b.engine.host.requests.clear();
  b.engine.takes_requests = true;
  b.settle();
  EXPECT_EQ(entries_of(own), 0U);
  EXPECT_TRUE(b.engine.interrupts.empty());
  EXPECT_EQ(status(at_rq), 1U);
  b.post(own, 100);
  b.doorbell(own);
  b.settle();
  EXPECT_EQ(status(own), 0x1'0001'0000U);
}

TEST_F(H2cStalls, a_command_is_busy_until_the_entry_that_was_at_rq_has_left) {
  stall_requests();
  b.write(0, command_register, sw_h2c << 1 | invalidate << 5 | at_rq << 7);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(b.engine.read(0, command_register, 1).at(0) & 1, 1U) << "the command is done before the entry has left";
    b.engine.run(stall / 4);
  }
  EXPECT_EQ(status(at_rq), 0U);
  b.engine.takes_requests = true;
  b.engine.run(50);
  EXPECT_EQ(status(at_rq), 1U);
  b.read(0, command_register);
}

TEST_F(H2cStalls, a_reset_forgets_what_waits_of_its_function) {
  for (const bool is_mapped : {true, false}) {
    b.engine.takes_requests = true;
    b.write_context(0xc, vf_function, {own, H2cBench::queues_of_a_function});
    for (const unsigned queue : {own, sibling}) b.begin(queue, {.interrupt = true});
    stall_requests();
    for (const unsigned queue : {own, sibling}) fail(queue);
    // Rings that have failed are the function's also if the map does not say so any more.
    if (!is_mapped) b.write_context(0xc, vf_function, {});
    b.engine.host.requests.clear();
    b.write(vf_function, 0x5100, 1);
    unsigned polls = 0;
    while (b.engine.read(vf_function, 0x5100, 1).at(0) != 0) {
      ASSERT_LT(++polls, reset_limit / 100) << "the reset waits for RQ";
      b.engine.run(100);
    }
    b.engine.takes_requests = true;
    b.settle();
    for (const unsigned queue : {own, sibling}) EXPECT_EQ(entries_of(queue), 0U) << "mapped: " << is_mapped;
    EXPECT_TRUE(b.engine.interrupts.empty());
  }
}

TEST_F(H2cStalls, what_waits_is_dropped_when_its_function_may_not_access_memory) {
  b.begin(own, {.interrupt = true});
  stall_requests();
  fail(own);
  b.enable_function(vf_function, false);
  b.engine.run(stall);
  b.engine.host.requests.clear();
  b.engine.takes_requests = true;
  b.settle();
  EXPECT_EQ(entries_of(own), 0U);
  EXPECT_TRUE(b.engine.interrupts.empty());
}

}  // namespace
}  // namespace meridian
