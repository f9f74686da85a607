// SPDX-License-Identifier: Apache-2.0
// Function level resets of the mailbox's register and of PCIe, and what may happen within one.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "lockstep.hpp"

namespace meridian {
namespace {

constexpr unsigned used = 64;  // queues with contexts
constexpr unsigned sw_c2h = 0, fmap = 0xc;
constexpr unsigned sweep_limit = 12'000;  // cycles, in which a VF's reset is done

TEST(Resets, a_function_loses_its_queues_and_rings_and_no_others) {
  Lockstep b;
  Random random(5);
  const auto function = [&random] { return random.below(Lockstep::functions) << 1; };
  for (unsigned round = 0; round < 8; ++round) {
    const unsigned lost = round % 2 != 0 ? random.below(Lockstep::pfs) : 4 + random.below(16);
    for (unsigned queue = 0; queue < used; ++queue) {
      const std::uint32_t owner = (queue % 3 == 0 ? lost : random.below(Lockstep::functions));
      const std::uint32_t enabled = random.below(4) != 0;
      for (const unsigned sw : {0U, 1U}) b.write_context(sw, queue, {owner << 17, enabled, queue});
      b.write_context(6, queue, {owner << 5, queue, 0, enabled << 28 | 5, 2});
      b.write_context(7, queue, {queue, enabled << 13});
      b.write_context(8, queue, {enabled, queue, 0, (function() << 17) | 1});
      b.write_context(5, queue, {0x1234});
    }
    b.write_context(0xc, lost, {random.below(used), 1 + random.below(12)});
    if (random.below(2) != 0)
      b.reset_by_mailbox(lost);
    else
      b.reset_by_pcie(lost);
    for (unsigned queue = 0; queue < used; ++queue)
      for (const unsigned kind : {0U, 1U, 5U, 6U, 7U, 8U}) b.read_context(kind, queue);
    ASSERT_FALSE(HasFailure()) << "round " << round << ", function " << lost;
  }
}

TEST(Resets, a_function_is_in_reset_until_the_shell_answers) {
  Lockstep b;
  const unsigned vf = Lockstep::vf(1, 2);
  b.write_context(0xc, vf, {8, 4});
  b.engine.answers_resets = false;
  b.write(vf, 0x5100, 1);
  b.engine.run(5000);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(b.read(vf, 0x5100), 1U);
  EXPECT_EQ(b.read(1, 0x22500), 0U);
  b.read_context(0xc, vf);
  b.engine.answers_resets = true;
  b.compare();
  b.engine.run(200);
  EXPECT_EQ(b.read(vf, 0x5100), 0U);
}

TEST(Resets, an_answer_of_the_shell_at_any_time_ends_a_second_reset_of_the_function) {
  const unsigned vf = Lockstep::vf(0, 2);
  constexpr unsigned first = 1450, last = 1850;  // around the end of the second work
  for (unsigned delay = first; delay <= last; ++delay) {
    Engine engine(5);
    engine.answers_resets = false;
    engine.read(0, 0, 1);
    engine.write(vf, 0x5100, 1);
    for (unsigned i = 0; engine.resets.empty(); ++i) {
      ASSERT_LT(i, sweep_limit) << "the shell is told of no reset";
      engine.run(1);
    }
    engine.set_in_process(vf, true);
    engine.run(delay);
    engine.answers_now = true;
    engine.run(1);
    engine.answers_resets = true;
    ASSERT_TRUE(engine.waits_for_done(vf, sweep_limit)) << "the shell answered after " << delay << " cycles";
    EXPECT_EQ(engine.read(vf, 0x5100, 1).at(0), 0U) << "the shell answered after " << delay << " cycles";
    // It is told again if it has answered before.
    if (delay == first || delay == last) {
      EXPECT_EQ(engine.resets.size(), delay == first ? 2U : 1U);
    }
  }
}

TEST(Resets, the_shell_is_told_once_while_it_has_not_answered) {
  const unsigned vf = Lockstep::vf(0, 2);
  Engine engine(5);
  engine.answers_resets = false;
  engine.read(0, 0, 1);
  engine.write(vf, 0x5100, 1);
  engine.run(sweep_limit);
  engine.set_in_process(vf, true);
  engine.run(sweep_limit);
  EXPECT_EQ(engine.resets, std::vector{vf});
  engine.answers_resets = true;
  ASSERT_TRUE(engine.waits_for_done(vf, sweep_limit));
  EXPECT_EQ(engine.resets, std::vector{vf});
}

TEST(Resets, a_pf_that_sees_its_reset_done_keeps_what_it_then_sets_up) {
  for (unsigned pf = 0; pf < Lockstep::pfs; ++pf) {
    Lockstep b(3);
    b.write_context(fmap, Lockstep::vf(pf, 3), {8, 4});
    b.reset_by_mailbox(pf);
    b.write_context(fmap, pf, {8, 4}, pf);
    b.write_context(sw_c2h, 8, {pf << 17, 1, 0x1234}, pf);
    b.engine.run(60'000);
    b.read_context(sw_c2h, 8, pf);
    b.compare();
  }
}

TEST(Resets, a_doorbell_of_a_function_in_reset_reaches_nobody) {
  for (unsigned at = 100; at < 1600; at += 37) {
    Lockstep b(3);
    const unsigned vf = Lockstep::vf(0, 2), next = Lockstep::vf(0, 3);
    b.write_context(fmap, vf, {8, 4});
    b.engine.answers_resets = false;
    b.write(vf, 0x5100, 1);
    b.engine.run(at);
    b.engine.doorbells.clear();
    for (unsigned queue = 0; queue < 4; ++queue) {
      b.write(vf, 0x3004 + 16 * queue, 0xdead);
      b.read(vf, 0x3004 + 16 * queue);
    }
    b.engine.run(sweep_limit);
    EXPECT_TRUE(b.engine.doorbells.empty()) << "a doorbell left " << at << " cycles after the request";
    b.engine.answers_resets = true;
    b.compare();
    b.write_context(fmap, next, {8, 4});
    for (unsigned queue = 0; queue < 4; ++queue) b.read(next, 0x3004 + 16 * queue);
    ASSERT_FALSE(HasFailure()) << "the VF rang " << at << " cycles after its request";
  }
}

TEST(Resets, a_second_reset_of_pcie_is_seen_however_short_the_time_between) {
  for (const unsigned function : {1U, Lockstep::vf(1, 1)})
    for (unsigned gap = 1; gap < 64; gap += 3)
      for (unsigned phase = 0; phase < 40; phase += 7) {
        Engine engine(3);
        engine.read(0, 0, 1);
        engine.run(phase);
        for (unsigned round = 0; round < 2; ++round) {
          engine.resets.clear();
          engine.set_in_process(function, true);
          engine.run(3);
          ASSERT_TRUE(engine.waits_for_done(function, 5 * sweep_limit)) << "round " << round << ", gap " << gap;
          EXPECT_EQ(engine.resets.size(), function < Lockstep::first_vf ? 5U : 1U)
              << "round " << round << ", gap " << gap;
          engine.set_in_process(function, false);
          engine.run(gap);
        }
        ASSERT_FALSE(HasFailure()) << "function " << function << ", phase " << phase;
      }
}

TEST(Resets, two_resets_of_pcie_at_once_both_end_and_the_block_is_told_until_it_has_heard) {
  const unsigned one = Lockstep::vf(0, 0), other = Lockstep::vf(3, 3);
  Lockstep b;
  for (const unsigned vf : {one, other}) b.engine.set_in_process(vf, true);
  for (unsigned again = 0; again < 3; ++again)
    for (const unsigned vf : {one, other}) ASSERT_TRUE(b.engine.waits_for_done(vf, 2 * sweep_limit)) << vf;
  EXPECT_EQ(b.engine.resets.size(), 2U);
  for (const unsigned vf : {one, other}) b.engine.set_in_process(vf, false);
  b.engine.run(2);
  for (const unsigned vf : {one, other}) EXPECT_FALSE(b.engine.waits_for_done(vf, 200)) << vf;
}

TEST(Resets, a_message_that_a_vf_sends_while_its_pf_is_reset_is_there_for_the_pf_or_forgotten) {
  const unsigned pf = 1, vf = Lockstep::vf(1, 2);
  bool forgotten = false;
  for (unsigned phase = 0; phase < 80; phase += 3) {
    Engine engine(5);
    engine.answers_resets = true;
    engine.read(0, 0, 1);
    engine.run(phase);
    engine.write(pf, 0x22500, 1);
    // Its messages are forgotten, and those of the PF perhaps not yet.
    for (unsigned i = 0; std::count(engine.resets.begin(), engine.resets.end(), vf) == 0; ++i) {
      ASSERT_LT(i, 10 * sweep_limit) << "the VF is not reset";
      engine.run(1);
    }
    engine.write(vf, 0x5004, 1);
    for (unsigned i = 0; engine.read(pf, 0x22500, 1).at(0) != 0; ++i) {
      ASSERT_LT(i, 10 * sweep_limit) << "the PF's reset does not end";
      engine.run(20);
    }
    const std::uint32_t sent = engine.read(vf, 0x5000, 1).at(0) >> 1 & 1;
    EXPECT_EQ(engine.read(pf, 0x22400, 1).at(0) & 1, sent) << "phase " << phase;
    forgotten = forgotten || sent == 0;
    engine.write(vf, 0x5004, 1);
    EXPECT_EQ(engine.read(pf, 0x22400, 1).at(0) & 1, 1U) << "the next message does not arrive, phase " << phase;
  }
  EXPECT_TRUE(forgotten) << "no phase has the PF's messages forgotten behind the VF's";
}

TEST(Resets, no_message_of_a_function_leaves_after_its_reset) {
  const unsigned vf = Lockstep::vf(1, 1), other = Lockstep::vf(1, 2);
  constexpr unsigned vector = 3;
  for (const bool is_at_rq : {true, false}) {
    Engine engine(1);
    for (const unsigned function : {1U, vf, other}) {
      engine.enable_function(function, true);
      engine.set_msix(function, true, false);
    }
    for (const unsigned function : {vf, other}) {
      const std::uint64_t address = Lockstep::message_address(function, vector);
      engine.write(function, 0x4000 + 16 * vector,
                   {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), function, 0});
    }
    engine.takes_requests = false;
    // Both VFs get a message, by turns, and each message gives an interrupt. The first waits at RQ.
    for (unsigned i = 0; i < 2; ++i)
      for (const unsigned function : {is_at_rq ? vf : other, is_at_rq ? other : vf}) {
        engine.write(function, 0x5008, vector);
        engine.write(function, 0x5010, 1);
        engine.write(1, 0x2240c, function);
        engine.write(1, 0x22404, 1);
        engine.write(function, 0x5004, 2);
      }
    engine.run(100);
    EXPECT_EQ(engine.interrupts.size(), 4U) << "an interrupt waits for RQ";
    engine.write(vf, 0x5100, 1);
    engine.run(sweep_limit);
    EXPECT_EQ(engine.read(vf, 0x5100, 1).at(0), is_at_rq ? 1U : 0U)
        << "whether the VF has a message at RQ: " << is_at_rq;
    engine.takes_requests = true;
    for (unsigned i = 0; engine.read(vf, 0x5100, 1).at(0) != 0; ++i) {
      ASSERT_LT(i, sweep_limit) << "the reset does not end";
      engine.run(1);
    }
    const auto count = [&engine](unsigned function) {
      return std::count_if(engine.host.messages.begin(), engine.host.messages.end(),
                           [function](const auto& message) { return message.function == function; });
    };
    const auto before = count(vf);
    engine.run(200);
    EXPECT_EQ(count(vf), before) << "the VF sends a message after its reset";
    EXPECT_EQ(before, is_at_rq ? 1 : 0);
    EXPECT_EQ(count(other), is_at_rq ? 1 : 2);
    EXPECT_EQ(engine.read(vf, 0x403c, 1).at(0), 0U) << "a reset of the mailbox masks no vector";
  }
}

TEST(Enables, a_vf_sends_interrupts_by_its_bus_master_bit_alone) {
  const unsigned vf = Lockstep::vf(1, 1);
  for (const bool master : {true, false}) {
    Engine engine(1);
    engine.enable_function(1, true);
    engine.set_enables(vf, master, !master);
    engine.write(vf, 0x5008, 3);
    engine.write(vf, 0x5010, 1);
    engine.write(1, 0x2240c, vf);
    engine.write(1, 0x22404, 1);
    engine.run(100);
    const std::vector<Engine::Interrupt> wanted = {{vf, 3}};
    EXPECT_EQ(engine.interrupts, master ? wanted : std::vector<Engine::Interrupt>{});
    EXPECT_EQ(engine.read(vf, 0x5000, 1).at(0) & 1, 1U) << "the message has to be there";
  }
}

}  // namespace
}  // namespace meridian
