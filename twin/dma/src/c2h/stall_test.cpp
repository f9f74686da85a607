// SPDX-License-Identifier: Apache-2.0
// The block takes no requests for long: doorbells
// of C2H queues and commands on their contexts hold up no access meanwhile, and
// what waits of a ring is told when it may be, or is forgotten with the ring.
#include <gtest/gtest.h>

#include <algorithm>

#include "c2h/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned vf_function = 5, own = 6 * vf_function,
                   sibling = own + 1;  // of VF 5
constexpr unsigned mapped_queues = C2hBench::functions * C2hBench::queues_of_a_function;
constexpr unsigned stall = 6000;         // cycles
constexpr unsigned access_cycles = 150;  // of a doorbell, and of a read behind it
constexpr unsigned reset_limit = 30'000;
constexpr unsigned frames = 3;
constexpr std::uint32_t command_register = 0x844, sw_c2h = 0, completion = 6, invalidate = 3;
static_assert(C2hBench::queues_of_a_function == 6);

class C2hStalls : public testing::Test {
 protected:
  void begin(unsigned queue) {
    b.begin(queue, {.interrupt = true});
    b.post(queue, 2 * frames);
    b.wait_for_credit(queue, 2 * frames);
    for (unsigned i = 0; i < frames; ++i) ASSERT_TRUE(b.send(queue, 64));
  }

  /// Cycles that a control register's value takes.
  std::uint64_t read_register() {
    const std::uint64_t start = b.engine.cycles();
    b.read(0, 0x0);
    return b.engine.cycles() - start;
  }

  void ring_all() {
    for (unsigned queue = 0; queue < mapped_queues; queue += 3) {
      b.read_completions(queue,
                         1);  // leaves some unread, so a status entry is due
      EXPECT_LE(read_register(), access_cycles) << "behind the doorbell of completions of queue " << queue;
      b.post(queue, 1);
      EXPECT_LE(read_register(), access_cycles) << "behind the doorbell of buffers of queue " << queue;
    }
    b.engine.run(stall);
    EXPECT_LE(read_register(), access_cycles);
  }

  void begin_all() {
    for (unsigned queue = 0; queue < mapped_queues; queue += 3) begin(queue);
    b.compare_all();
  }

  unsigned writes_of(unsigned queue) {
    return static_cast<unsigned>(
        std::count_if(b.engine.host.requests.begin(), b.engine.host.requests.end(), [&](const auto& request) {
          return request.write && request.address >= C2hBench::completions(queue) &&
                 request.address < C2hBench::completions(queue + 1);
        }));
  }

  C2hBench b{3};
};

TEST_F(C2hStalls, doorbells_are_taken_and_registers_are_read_while_rq_takes_nothing) {
  begin_all();
  b.engine.takes_requests = false;
  ring_all();
  b.engine.takes_requests = true;
  b.compare_all();
}

TEST_F(C2hStalls, a_command_is_done_while_rq_takes_nothing_and_nothing_of_its_ring_leaves_later) {
  for (const unsigned queue : {0U, own, sibling}) begin(queue);
  b.compare_all();
  b.engine.takes_requests = false;
  for (const unsigned queue : {0U, own, sibling}) b.send(queue, 64);
  b.engine.run(stall);
  for (const unsigned queue : {0U, own, sibling}) b.read_completions(queue, 1);
  for (const std::uint32_t kind : {sw_c2h, completion}) {
    const std::uint64_t start = b.engine.cycles();
    b.write(0, command_register, kind << 1 | invalidate << 5 | own << 7);
    b.engine.read(0, 0, 1);
    EXPECT_LE(b.engine.cycles() - start, access_cycles) << "a command waits for RQ";
  }
  b.engine.run(stall);
  b.engine.host.requests.clear();
  b.engine.takes_requests = true;
  for (unsigned polls = 0; (b.engine.read(0, command_register, 1).at(0) & 1) != 0; ++polls) ASSERT_LT(polls, stall);
  const unsigned of_sibling = writes_of(sibling);
  b.engine.host.requests.clear();
  b.settle();
  EXPECT_EQ(writes_of(own), 0U) << "of a ring that was taken";
  EXPECT_GT(of_sibling + writes_of(sibling), 0U);
}

TEST_F(C2hStalls, a_reset_forgets_what_waits_of_its_function) {
  for (const unsigned queue : {0U, own, sibling}) begin(queue);
  b.compare_all();
  b.engine.takes_requests = false;
  for (const unsigned queue : {0U, own, sibling}) b.send(queue, 64);
  b.engine.run(stall);
  b.engine.host.requests.clear();
  b.write(vf_function, 0x5100, 1);
  b.engine.run(stall);
  b.engine.takes_requests = true;
  for (unsigned polls = 0; b.engine.read(vf_function, 0x5100, 1).at(0) != 0; ++polls)
    ASSERT_LT(polls, reset_limit / 100) << "the reset does not end";
  b.engine.host.requests.clear();
  b.settle();
  for (const unsigned queue : {own, sibling}) EXPECT_EQ(writes_of(queue), 0U) << "after the reset";
}

}  // namespace
}  // namespace meridian
