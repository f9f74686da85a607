// SPDX-License-Identifier: Apache-2.0
// What a PF takes from a VF that begins anew, is reset or goes, and what it gives back.
#include <gtest/gtest.h>

#include "service_fixture.hpp"

namespace {

TEST_F(Service, HelloTakesEverything) {
  bring_up(4, 8);
  pf.vf(4).is_trusted = true;
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  EXPECT_EQ(pf.ask(4, flags_message(promiscuous)), 0);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_TX_OFFLOAD, 1)), 0);
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(only(4), own(4));
  EXPECT_EQ(pf.shell.functions[4].flags, MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK);
  for (unsigned queue = 256; queue < 264; ++queue) EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, queue));
  EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_WRITE, 256, true)), -QDMA_REFUSE_QUEUE);
  bring_up(4);
  EXPECT_EQ(pf.shell.queues[256].offload, MERIDIAN_TX_OFFLOAD_NONE);
}

TEST_F(Service, AResetIsCleanedUp) {
  bring_up(4);
  bring_up(5);
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), 0);
  qdma_service_look(&pf.service);
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_H2C, 256)) << "none was reset";
  reset(4);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 256));
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, 257));
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_H2C, 264)) << "the other goes on";
  EXPECT_EQ(only(4), own(4));
}

/// PCIe's reset tells neither the contexts nor the shell of it.
TEST_F(Service, AVfThatMayNotAccessMemoryKeepsNoQueues) {
  bring_up(4);
  bring_up(5);
  pf.shell.functions[4].is_master = false;
  qdma_service_look(&pf.service);
  EXPECT_EQ(pf.shell.functions[4].queues, 0U);
  for (unsigned queue = 256; queue < 258; ++queue) {
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, queue));
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, queue));
  }
  EXPECT_EQ(pf.card.context(QDMA_SELECT_FMAP, 4)[1], 0U);
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_C2H, 264)) << "the other goes on";
  EXPECT_EQ(only(4), own(4));
  pf.shell.functions[4].is_master = true;  // the next owner, whose driver says no hello yet
  qdma_service_look(&pf.service);
  EXPECT_EQ(pf.shell.functions[4].queues, 0U);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, 256));
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0) << "who was reset may go on";
}

/// The shell has the fewer queues already.
TEST_F(Service, FewerQueuesThatFindTheCardBusyAreFewer) {
  bring_up(4, 4);
  pf.card.busy_reads = 1000000000;
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 1)), -QDMA_REFUSE_BUSY);
  pf.card.busy_reads = 0;
  EXPECT_EQ(pf.vf(4).mapped, 1U);
  EXPECT_EQ(pf.shell.functions[4].queues, 1U);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 1)), 0) << "asked again";
}

/// Who has no answer frees its memory, while the card may still write to it.
TEST_F(Service, QueuesThatDoNotEndAreEndedLater) {
  bring_up(4, 4);
  bring_up(5);
  pf.card.busy_reads = 1000000000;
  reset(4);
  EXPECT_NE(pf.vf(4).c2h, 0U) << "the card does not say that they have ended";
  const auto tried = pf.card.commands.size();
  qdma_service_look(&pf.service);
  EXPECT_LE(pf.card.commands.size() - tried, 4U) << "the contexts of one queue, and the function's map";
  pf.card.busy_reads = 0;
  qdma_service_look(&pf.service);
  EXPECT_EQ(pf.vf(4).c2h | pf.vf(4).h2c, 0U);
  for (unsigned queue = 256; queue < 260; ++queue) {
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, queue));
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, queue));
  }
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_C2H, 264)) << "another VF's";
}

TEST_F(Service, AVfWhoseQueuesDoNotEndDoesNotKeepOthersFromBeingLookedAt) {
  bring_up(4);
  bring_up(5);
  pf.card.busy_reads = 1000000000;
  reset(4);
  reset(5);
  EXPECT_NE(pf.vf(4).c2h, 0U);
  EXPECT_TRUE(pf.vf(5).is_away);
  pf.card.busy_reads = 0;
  qdma_service_look(&pf.service);
}

TEST_F(Service, WhatAResetHasTakenIsNotAnothersMessage) {
  bring_up(5);
  const auto strip = byte_message(MERIDIAN_OP_STRIP, 1);
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  pf.card.incoming.emplace_back(4, message_of(MERIDIAN_OP_CONFIG));
  pf.card.incoming.emplace_back(5, strip);
  pf.card.loses_first = true;
  while (qdma_service_turn(&pf.service, pf.now)) {
  }
  EXPECT_FALSE(pf.vf(4).strip);
  EXPECT_TRUE(pf.vf(5).strip);
}

TEST_F(Service, WhoseQueuesDoNotEndIsToldSo) {
  const auto base = FakePf::base_of(4);
  const std::vector<qdma_message> ends = {message_of(QDMA_OP_HELLO), range_message(QDMA_OP_FMAP, base, 0),
                                          range_message(QDMA_OP_QUEUE_REQUEST, ~0U, 2),
                                          queue_message(QDMA_OP_CONTEXT_INVALIDATE, base, true)};
  for (const auto& end : ends) {
    bring_up(4);
    pf.card.busy_reads = 1000000000;
    EXPECT_EQ(pf.ask(4, end), -QDMA_REFUSE_BUSY) << qdma_message_op(&end);
    EXPECT_NE(pf.vf(4).c2h & 1, 0U) << qdma_message_op(&end);
    pf.card.busy_reads = 0;
    EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
    EXPECT_EQ(pf.vf(4).c2h, 0U) << qdma_message_op(&end);
  }
}

/// A driver whose queue does not run must not wait for frames.
TEST_F(Service, WhoseQueuesDoNotStartIsToldSo) {
  const auto base = FakePf::base_of(4);
  const std::vector<qdma_message> starts = {range_message(QDMA_OP_FMAP, base, 2),
                                            queue_message(QDMA_OP_CONTEXT_WRITE, base, false),
                                            queue_message(QDMA_OP_CONTEXT_WRITE, base, true)};
  for (const auto& start : starts) {
    bring_up(4);
    EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_INVALIDATE, base, false)), 0);
    EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_INVALIDATE, base, true)), 0);
    pf.card.busy_reads = 1000000000;
    EXPECT_EQ(pf.ask(4, start), -QDMA_REFUSE_BUSY) << qdma_message_op(&start);
    pf.card.busy_reads = 0;
    EXPECT_EQ(pf.ask(4, start), 0) << "asked again";
  }
}

TEST_F(Service, TheMailboxKnowsTheQueuesOfEachVf) {
  bring_up(5);
  const std::uint32_t of_vf = QDMA_PF_MAILBOX + QDMA_MAILBOX_MAP(5);
  EXPECT_EQ(pf.card.registers[of_vf], 264U | 2U << 12);
  pf.card.registers[QDMA_PF_MAILBOX + QDMA_MAILBOX_MAP(4)] = 0 | 8 << 12;  // a driver's before: the PF's queues
  pf.say(5, message_of(QDMA_OP_VF_BYE));
  EXPECT_EQ(pf.card.registers[of_vf], 0U);
  qdma_service_start(&pf.service);
  EXPECT_EQ(pf.card.registers[QDMA_PF_MAILBOX + QDMA_MAILBOX_MAP(4)], 0U);
}

TEST_F(Service, WhoWasResetMayGoOnWithoutHello) {
  bring_up(4);
  bring_up(5);
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), 0);
  pf.shell.functions[4].flags = 0;
  reset(4);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_WRITE, 256, true)), 0);
  EXPECT_EQ(listeners(group), std::set<std::uint32_t>{4});
  EXPECT_EQ(listeners(own(4)), std::set<std::uint32_t>{4});
  EXPECT_EQ(pf.shell.functions[4].flags, MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK);
}

TEST_F(Service, VfsGoOnAfterAResetOfTheirPf) {
  bring_up(4);
  bring_up(5);
  pf.vf(4).is_trusted = true;
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), 0);
  EXPECT_EQ(pf.ask(4, flags_message(promiscuous)), 0);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_STRIP, 1)), 0);
  const Address before = own(4);
  qdma_service_suspend(&pf.service);
  EXPECT_TRUE(pf.shell.filter.empty());
  EXPECT_EQ(pf.shell.functions[4].queues, 0U);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 256));
  // The card forgets, and what is in its contexts may be anything.
  pf.shell.functions.clear();
  qdma_h2c_setting setting{};
  setting.queue = 256;
  setting.function = 4;
  EXPECT_EQ(qdma_h2c_start(&pf.pf, &setting), 0);
  qdma_service_resume(&pf.service);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 256));
  EXPECT_EQ(only(4), before);
  EXPECT_EQ(only(6), own(6)) << "it has no driver";
  EXPECT_EQ(pf.shell.functions[4].flags, MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK | promiscuous);
  EXPECT_TRUE(pf.shell.functions[4].strip);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0) << "without a new hello";
  EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_WRITE, 256, true)), 0);
  EXPECT_EQ(listeners(group), std::set<std::uint32_t>{4});
  EXPECT_EQ(own(4), before);
}

TEST_F(Service, TheEndTakesEverything) {
  bring_up(4);
  bring_up(6);
  qdma_service_stop(&pf.service);
  EXPECT_TRUE(pf.shell.filter.empty());
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 256));
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 272));
}

}  // namespace
