// SPDX-License-Identifier: Apache-2.0
// Which queues a PF gives to its VFs, and which requests for one it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "service_fixture.hpp"

namespace {

TEST_F(Service, QueuesRun) {
  bring_up(5);
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_H2C, 264));
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_C2H, 265));
  EXPECT_TRUE(pf.shell.queues[264].is_paced);
  EXPECT_EQ(pf.shell.queues[264].offload, MERIDIAN_TX_OFFLOAD_NONE);
  EXPECT_EQ(pf.shell.queues[265].buffer, 2048U);
  EXPECT_EQ(pf.shell.functions[5].queues, 2U);
  EXPECT_EQ(listeners(own(5)), std::set<std::uint32_t>{5});
  for (const unsigned offload : {MERIDIAN_TX_OFFLOAD_REQUESTS, MERIDIAN_TX_OFFLOAD_SEGMENTS}) {
    EXPECT_EQ(pf.ask(5, byte_message(MERIDIAN_OP_TX_OFFLOAD, offload)), 0);
    EXPECT_EQ(pf.ask(5, queue_message(QDMA_OP_CONTEXT_INVALIDATE, 264, false)), 0);
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 264));
    EXPECT_FALSE(pf.shell.queues[264].is_paced);
    EXPECT_EQ(pf.ask(5, queue_message(QDMA_OP_CONTEXT_WRITE, 264, false)), 0);
    EXPECT_EQ(pf.shell.queues[264].offload, offload);
  }
}

/// Its buffers are counted until it is invalidated.
TEST_F(Service, AQueueThatRunsIsStoppedBeforeItStarts) {
  const auto invalidates = [&](unsigned select, unsigned queue) {
    const std::uint32_t command = select << 1 | QDMA_CONTEXT_INVALIDATE << 5 | queue << 7;
    return std::ranges::count(pf.card.commands, command) != 0;
  };
  bring_up(4);
  EXPECT_FALSE(invalidates(QDMA_SELECT_SW_C2H, 257)) << "it did not run";
  EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_WRITE, 257, true)), 0);
  EXPECT_TRUE(invalidates(QDMA_SELECT_SW_C2H, 257));
  EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_WRITE, 257, false)), 0);
  EXPECT_TRUE(invalidates(QDMA_SELECT_SW_H2C, 257));
  EXPECT_FALSE(invalidates(QDMA_SELECT_SW_C2H, 257));
}

TEST_F(Service, WhatRanBeforeIsStopped) {
  pf.card.context(QDMA_SELECT_SW_C2H, 263)[1] = 1;
  pf.card.context(QDMA_SELECT_SW_H2C, 272)[1] = 1;
  qdma_service_start(&pf.service);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, 263));
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 272));
}

TEST_F(Service, QueuesOfOthersAreRefused) {
  bring_up(4);
  bring_up(5);
  for (const unsigned queue : {0U, 63U, 255U, 258U, 263U, 264U, 266U, 272U, 0xffffU})
    for (const unsigned op : {QDMA_OP_CONTEXT_WRITE, QDMA_OP_CONTEXT_CLEAR, QDMA_OP_CONTEXT_INVALIDATE}) {
      EXPECT_EQ(pf.ask(4, queue_message(op, queue, false)), -QDMA_REFUSE_QUEUE) << queue;
      EXPECT_EQ(pf.ask(4, queue_message(op, queue, true)), -QDMA_REFUSE_QUEUE) << queue;
      EXPECT_TRUE(pf.card.commands.empty());
    }
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 264, 2)), -QDMA_REFUSE_COUNT);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 3)), -QDMA_REFUSE_COUNT);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, ~0U)), -QDMA_REFUSE_COUNT);
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_H2C, 264));
}

TEST_F(Service, TheFunctionOfARequestIsTheMailboxs) {
  bring_up(4);
  qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 256, false);
  message.byte[36] = 5;
  ASSERT_EQ(pf.ask(4, message), 0);
  EXPECT_EQ(pf.card.context(QDMA_SELECT_SW_H2C, 256)[0] >> 17, 4U);
}

TEST_F(Service, AVfThatAsksForMoreQueuesThanItMayHaveGetsThose) {
  qdma_message answer;
  ASSERT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  ASSERT_EQ(pf.ask(4, range_message(QDMA_OP_QUEUE_REQUEST, 7, ~0U), &answer), 0);
  std::uint32_t base = 0, count = 0;
  qdma_message_get_range(&answer, &base, &count);
  EXPECT_EQ(base, 256U);
  EXPECT_EQ(count, 8U);
}

TEST_F(Service, WhoAsksForFewerQueuesLosesTheOthers) {
  bring_up(4, 8);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_QUEUE_REQUEST, ~0U, 1)), 0);
  for (unsigned queue = 256; queue < 264; ++queue) {
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, queue)) << queue;
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, queue)) << queue;
  }
  EXPECT_EQ(pf.shell.functions[4].queues, 0U);
}

TEST_F(Service, QueuesThatAreNotMappedDoNotRun) {
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_QUEUE_REQUEST, ~0U, 4)), 0);
  EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_WRITE, 256, true)), -QDMA_REFUSE_QUEUE);
  bring_up(4, 4);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 3)), 0);
  for (unsigned queue = 256; queue < 260; ++queue) {
    EXPECT_EQ(is_live(QDMA_SELECT_SW_H2C, queue), queue < 259);
    EXPECT_EQ(is_live(QDMA_SELECT_SW_C2H, queue), queue < 259);
  }
  EXPECT_EQ(pf.shell.functions[4].queues, 3U);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 0)), 0);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, 256));
  EXPECT_EQ(pf.shell.functions[4].queues, 0U);
}

TEST_F(Service, VectorsOfOthersAreRefused) {
  bring_up(4);
  for (const bool is_c2h : {false, true})
    for (const int vector : {0, 7, 8, 2047}) {
      qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 256, is_c2h, vector);
      EXPECT_EQ(pf.ask(4, message), vector < 8 ? 0 : -QDMA_REFUSE_PARAMETER) << vector;
    }
}

TEST_F(Service, AQueueWithoutInterruptsNamesNoVector) {
  bring_up(4);
  for (const bool is_c2h : {false, true}) {
    qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 256, is_c2h);
    qdma_queue_request request{};
    qdma_message_get_queue(&message, &request);
    request.vector = 2047;
    qdma_message_put_queue(&message, &request);
    EXPECT_EQ(pf.ask(4, message), 0);
    EXPECT_EQ(pf.card.context(is_c2h ? QDMA_SELECT_SW_C2H : QDMA_SELECT_SW_H2C, 256)[4] & 0x7ff, 0U);
  }
  EXPECT_EQ(pf.card.context(QDMA_SELECT_COMPLETION, 256)[4] >> 4 & 0x7ff, 0U);
}

TEST_F(Service, ContextsAreChecked) {
  bring_up(4);
  const auto refusal = [&](unsigned at, unsigned value, bool is_c2h = true) {
    qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 256, is_c2h);
    message.byte[at] = value;
    const int status = pf.ask(4, message);
    EXPECT_TRUE(status == 0 || pf.card.commands.empty());
    return status;
  };
  EXPECT_EQ(refusal(41, 8), -QDMA_REFUSE_UNSUPPORTED) << "an interrupt ring";
  EXPECT_EQ(refusal(8, 2 | 2 << 2), -QDMA_REFUSE_UNSUPPORTED) << "memory mapped";
  EXPECT_EQ(refusal(34, 4 << 4 | 2 << 2), -QDMA_REFUSE_UNSUPPORTED) << "completions of 32 bytes";
  EXPECT_EQ(refusal(34, 4 << 4 | 1 << 2), 0) << "completions of 16 bytes";
  EXPECT_EQ(refusal(34, 6 << 4), -QDMA_REFUSE_PARAMETER) << "a trigger that is none";
  EXPECT_EQ(refusal(16, 0x20), -QDMA_REFUSE_PARAMETER) << "a ring at an odd address";
  EXPECT_EQ(refusal(16, 0x20, false), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(refusal(24, 4), -QDMA_REFUSE_PARAMETER) << "completions at an odd address";
  EXPECT_EQ(refusal(24, 4, false), 0) << "which a transmit queue does not have";
  EXPECT_EQ(refusal(42, 1), -QDMA_REFUSE_RING);
  EXPECT_EQ(refusal(46, 1), -QDMA_REFUSE_RING);
  EXPECT_EQ(refusal(44, 1), -QDMA_REFUSE_BUFFER);
  EXPECT_EQ(refusal(45, 1), -QDMA_REFUSE_BUFFER) << "256 bytes, of which the longest frame takes more than 31";
  EXPECT_EQ(refusal(45, 2), 0) << "512 bytes";
  EXPECT_EQ(refusal(38, 1), -QDMA_REFUSE_COUNTER);
  EXPECT_EQ(refusal(39, 99), -QDMA_REFUSE_TIMER);
}

TEST_F(Service, ATransmitDescriptorHasPiecesOnACardThatJoinsThem) {
  for (const bool has : {false, true}) {
    pf.service.capabilities = has ? MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK : ~MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK;
    bring_up(4);
    for (unsigned size = 0; size < 4; ++size) {
      qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 256, false);
      message.byte[34] = static_cast<u8>((message.byte[34] & ~3U) | size);
      const bool may = size < 2 || has;
      EXPECT_EQ(pf.ask(4, message), may ? 0 : -QDMA_REFUSE_UNSUPPORTED) << size;
      if (may) {
        EXPECT_EQ(pf.card.context(QDMA_SELECT_SW_H2C, 256)[1] >> 16 & 3, std::max(size, 1U));
      }
    }
  }
}

TEST_F(Service, AQueueForCommandsHasTheVfsFunctionAndNoRings) {
  bring_up(4, 4);
  for (const bool is_c2h : {false, true}) {
    qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 258, is_c2h);
    message.byte[32] = 1 << 1;
    message.byte[36] = 7;                                    // of another function, which nobody believes
    std::fill(message.byte + 16, message.byte + 32, u8{1});  // rings at odd addresses, which nobody reads
    std::fill(message.byte + 38, message.byte + 48, u8{0xff});
    EXPECT_EQ(pf.ask(4, message), 0);
    const auto& context = pf.card.context(is_c2h ? QDMA_SELECT_SW_C2H : QDMA_SELECT_SW_H2C, 258);
    EXPECT_EQ(context[0] >> 17 & 0xfff, 4U);
    EXPECT_EQ(context[1], 1U | 1U << 18) << "enabled, bypass";
    EXPECT_EQ(context[2] | context[3], 0U);
    EXPECT_EQ(pf.ask(5, message), -QDMA_REFUSE_NOT_THERE) << "another VF";
    for (const unsigned foreign : {255U, 260U, 2047U}) {
      message.byte[6] = static_cast<u8>(foreign), message.byte[7] = static_cast<u8>(foreign >> 8);
      EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_QUEUE) << foreign;
    }
  }
  const auto& completions = pf.card.context(QDMA_SELECT_COMPLETION, 258);
  EXPECT_TRUE(std::all_of(completions.begin(), completions.end(), [](std::uint32_t word) { return word == 0; }));
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_C2H, 257)) << "the others go on";
  EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_INVALIDATE, 258, false)), 0);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_H2C, 258));
  EXPECT_TRUE(is_live(QDMA_SELECT_SW_C2H, 258));
  reset(4);
  EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, 258)) << "a reset takes what was lent";
}

TEST_F(Service, AQueueOfFramesBecomesOneForCommandsAndTheReverse) {
  const auto invalidates = [&](unsigned select) {
    const std::uint32_t command = select << 1 | QDMA_CONTEXT_INVALIDATE << 5 | 257U << 7;
    return std::ranges::count(pf.card.commands, command) != 0;
  };
  for (const bool is_c2h : {false, true}) {
    const unsigned select = is_c2h ? QDMA_SELECT_SW_C2H : QDMA_SELECT_SW_H2C;
    bring_up(4);
    const qdma_message frames = queue_message(QDMA_OP_CONTEXT_WRITE, 257, is_c2h);
    qdma_message lent = frames;
    lent.byte[32] = 1 << 1;
    EXPECT_EQ(pf.ask(4, queue_message(QDMA_OP_CONTEXT_INVALIDATE, 257, !is_c2h)), 0);
    EXPECT_EQ(pf.ask(4, frames), 0);
    pf.card.commands.clear();
    EXPECT_EQ(pf.ask(4, lent), 0);
    EXPECT_TRUE(invalidates(select));
    EXPECT_EQ(pf.card.context(select, 257)[1], 1U | 1U << 18);
    EXPECT_FALSE(pf.shell.queues[257].is_paced);
    EXPECT_EQ(pf.shell.queues[257].buffer, 0U);
    EXPECT_TRUE(!is_c2h || pf.card.context(QDMA_SELECT_COMPLETION, 257)[0] == 0);
    pf.card.commands.clear();
    EXPECT_EQ(pf.ask(4, frames), 0);
    EXPECT_TRUE(invalidates(select));
    EXPECT_EQ(pf.card.context(select, 257)[1] & 1U << 18, 0U);
    EXPECT_EQ(pf.shell.queues[257].is_paced, !is_c2h);
    EXPECT_EQ(pf.shell.queues[257].buffer, is_c2h ? 2048U : 0U);
    EXPECT_EQ(pf.ask(4, lent), 0);
    EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 1)), 0);
    EXPECT_FALSE(is_live(select, 257)) << "it is not the VF's any more";
    EXPECT_EQ(pf.ask(4, lent), -QDMA_REFUSE_QUEUE);
    EXPECT_FALSE(is_live(select, 257));
  }
}

TEST_F(Service, AQueueForCommandsIsRefusedWithoutLogicThatHasThem) {
  pf.service.has_commands = false;
  bring_up(4);
  qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 256, true);
  message.byte[32] = 1 << 1;
  EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_UNSUPPORTED);
  pf.service.has_commands = true;
  message.byte[8] &= ~1;
  EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_UNSUPPORTED) << "it is for memory-mapped queues";
  EXPECT_EQ(pf.card.context(QDMA_SELECT_SW_C2H, 256)[1] & (1U | 1U << 18), 1U) << "the queue is as it was";
}

}  // namespace
