// SPDX-License-Identifier: Apache-2.0
// What a PF does for its VFs, and what it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "service_fixture.hpp"

namespace {

TEST_F(Service, TellsWhatItIs) {
  qdma_message answer;
  ASSERT_EQ(pf.ask(5, message_of(QDMA_OP_HELLO), &answer), 0);
  qdma_hello hello{};
  qdma_message_get_hello(&answer, &hello);
  EXPECT_EQ(hello.pfs, 4U);
  EXPECT_EQ(hello.queue_count, 0U);
  EXPECT_EQ(qdma_message_destination(&answer), 5U);
  ASSERT_EQ(pf.ask(5, message_of(QDMA_OP_TABLES), &answer), 0);
  qdma_tables tables{};
  qdma_message_get_tables(&answer, &tables);
  EXPECT_EQ(std::memcmp(&tables, &qdma_default_tables, sizeof tables), 0);
  ASSERT_EQ(pf.ask(5, message_of(MERIDIAN_OP_CONFIG), &answer), 0);
  EXPECT_EQ(address_of(&answer.byte[MERIDIAN_CONFIG_ADDRESS]), own(5));
  EXPECT_EQ(answer.byte[MERIDIAN_CONFIG_TRUSTED], 0);
  EXPECT_EQ(answer.byte[MERIDIAN_CONFIG_VERSION], MERIDIAN_MAILBOX_VERSION);
  EXPECT_EQ(answer.byte[MERIDIAN_CONFIG_MAX_FRAME] | answer.byte[MERIDIAN_CONFIG_MAX_FRAME + 1] << 8, 9600);
}

TEST_F(Service, OffersAVfOnlyWhatItCanUse) {
  pf.service.capabilities = ~0U;
  bring_up(5);
  qdma_message answer;
  ASSERT_EQ(pf.ask(5, message_of(MERIDIAN_OP_CONFIG), &answer), 0);
  std::uint32_t offered = 0;
  std::memcpy(&offered, answer.byte + MERIDIAN_CONFIG_CAPABILITIES, sizeof offered);
  EXPECT_EQ(offered, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK | MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK |
                         MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK | MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK |
                         MERIDIAN_IDENT_CAPABILITIES_HASH_FIELDS_MASK | MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK |
                         MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK | MERIDIAN_IDENT_CAPABILITIES_PUSH_MASK);
}

TEST_F(Service, NobodyIsServedBeforeHello) {
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_QUEUE_REQUEST, ~0U, 2)), -QDMA_REFUSE_NOT_THERE);
  EXPECT_EQ(pf.ask(4, message_of(MERIDIAN_OP_CONFIG)), -QDMA_REFUSE_NOT_THERE);
  bring_up(4);
  pf.say(4, message_of(QDMA_OP_VF_BYE));
  EXPECT_TRUE(pf.card.sent.empty()) << "nobody waits for it";
  EXPECT_EQ(pf.ask(4, message_of(MERIDIAN_OP_CONFIG)), -QDMA_REFUSE_NOT_THERE);
}

TEST_F(Service, StrangersAndAnswersAreNotAnswered) {
  pf.say(99, message_of(QDMA_OP_HELLO));
  EXPECT_TRUE(pf.card.sent.empty());
  pf.say(4, message_of(QDMA_OP_HELLO | QDMA_RESPONSE));
  EXPECT_TRUE(pf.card.sent.empty());
  EXPECT_EQ(pf.service.taken, 2U);
  EXPECT_EQ(pf.service.refused, 1U);
}

TEST_F(Service, UnknownOperationsAreRefused) {
  bring_up(4);
  for (const unsigned op : {7U, 9U, 12U, 16U, 18U, 19U, 21U, 0x3fU, 0x46U, 0x7fU})
    EXPECT_EQ(pf.ask(4, message_of(op)), -QDMA_REFUSE_UNSUPPORTED) << op;
}

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

TEST_F(Service, NoMoreQueuesThanThereAre) {
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

TEST_F(Service, CardsThatCannotAreNotAsked) {
  pf.service.capabilities = 0;
  bring_up(4);
  qdma_message message = queue_message(QDMA_OP_CONTEXT_WRITE, 256, true);
  message.byte[34] |= 1 << 2;
  EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_UNSUPPORTED);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_STRIP, 1)), -QDMA_REFUSE_UNSUPPORTED);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_TX_OFFLOAD, 1)), -QDMA_REFUSE_UNSUPPORTED);
  message = rss_message(2);
  EXPECT_EQ(pf.ask(4, message), 0);
  message.byte[MERIDIAN_RSS_ORDER] = 1;
  EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_UNSUPPORTED);
  EXPECT_EQ(pf.card.context(QDMA_SELECT_SW_H2C, 256)[1] & 2, 0U) << "nothing grants credit";
}

TEST_F(Service, FlagsAreForTheTrusted) {
  bring_up(4);
  EXPECT_EQ(pf.ask(4, flags_message(promiscuous)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, flags_message(all_multicast)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, flags_message(0)), 0);
  EXPECT_EQ(pf.shell.functions[4].flags, MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK);
  pf.vf(4).is_trusted = true;
  EXPECT_EQ(pf.ask(4, flags_message(promiscuous | all_multicast)), 0);
  EXPECT_EQ(pf.shell.functions[4].flags, promiscuous | all_multicast | MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK);
  EXPECT_EQ(pf.ask(4, flags_message(MERIDIAN_FUNCTION_FLAGS_TRUSTED_MASK)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, flags_message(0x100)), -QDMA_REFUSE_PARAMETER);
}

TEST_F(Service, TrustThatIsTakenTakesFlags) {
  bring_up(4);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.ask(4, flags_message(promiscuous)), 0);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.shell.functions[4].flags, promiscuous | MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK);
  qdma_trust_vf(&pf.service, &pf.vf(4), false);
  EXPECT_EQ(pf.shell.functions[4].flags, MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK);
  EXPECT_EQ(pf.ask(4, flags_message(promiscuous)), -QDMA_REFUSE_PARAMETER);
}

TEST_F(Service, Switches) {
  bring_up(4);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_STRIP, 1)), 0);
  EXPECT_TRUE(pf.shell.functions[4].strip);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_STRIP, 2)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_TX_OFFLOAD, 3)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_TX_OFFLOAD, 255)), -QDMA_REFUSE_PARAMETER);
  pf.service.capabilities &= ~MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK;
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_TX_OFFLOAD, MERIDIAN_TX_OFFLOAD_SEGMENTS)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, byte_message(MERIDIAN_OP_TX_OFFLOAD, MERIDIAN_TX_OFFLOAD_REQUESTS)), 0);
  pf.say(4, message_of(QDMA_OP_VF_BYE));
  EXPECT_FALSE(pf.shell.functions[4].strip);
}

TEST_F(Service, RssStaysWithinItsQueues) {
  bring_up(4, 3);
  qdma_message message = rss_message(3);
  message.byte[MERIDIAN_RSS_ORDER] = 1;
  message.byte[MERIDIAN_RSS_KEY + 4] = 0x78;
  message.byte[MERIDIAN_RSS_KEY + 7] = 0x12;
  ASSERT_EQ(pf.ask(4, message), 0);
  const qdma_rss& rss = pf.shell.functions[4].rss;
  EXPECT_EQ(rss.order, 1U);
  EXPECT_EQ(rss.key[1], 0x12000078U);
  EXPECT_EQ(rss.entry[5], 2);
  EXPECT_EQ(rss.entry[127], 1);
  EXPECT_EQ(pf.ask(4, rss_message(4)), -QDMA_REFUSE_PARAMETER);
  for (const unsigned order : {3U, 5U, 0x84210001U, 0xc30f0003U}) {
    for (unsigned i = 0; i < 4; ++i) message.byte[MERIDIAN_RSS_ORDER + i] = order >> 8 * i;
    EXPECT_EQ(pf.ask(4, message), 0) << order;
    EXPECT_EQ(pf.shell.functions[4].rss.order, order);
    pf.service.capabilities &= ~MERIDIAN_IDENT_CAPABILITIES_HASH_FIELDS_MASK;
    EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_UNSUPPORTED) << order;
    pf.service.capabilities = ~0U;
  }
  // Without Microsoft's order they mean nothing; one transformation, and one bit, there is not; a symmetric hash takes
  // pairs.
  for (const unsigned order : {2U, 0x10000U, 7U, 9U, 0x10003U, 0x80005U}) {
    for (unsigned i = 0; i < 4; ++i) message.byte[MERIDIAN_RSS_ORDER + i] = order >> 8 * i;
    EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_PARAMETER) << order;
  }
  message = rss_message(3);
  message.byte[MERIDIAN_RSS_INDIRECTION + 63] = 0x30;
  EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_PARAMETER) << "the last entry";
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 0)), 0);
  EXPECT_EQ(pf.ask(4, rss_message(1)), -QDMA_REFUSE_PARAMETER) << "without queues";
}

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

TEST_F(Service, AFloodIsSlowedAndTold) {
  constexpr std::uint64_t second = 1000000000;
  unsigned taken = 0;
  for (std::uint64_t ns = 0; ns < second; ns += 100000, pf.now += 100000) {
    if (pf.card.incoming.empty()) pf.card.incoming.emplace_back(4, message_of(MERIDIAN_OP_CONFIG));
    pf.card.sent.clear();
    qdma_service_turn(&pf.service, pf.now);
    taken += pf.card.sent.size();
    EXPECT_TRUE(taken > 60 || pf.service.slowed == 0) << "bring-up has as many";
  }
  EXPECT_GE(taken, 64U + 190U);
  EXPECT_LE(taken, 64U + 210U) << "200 a second";
  EXPECT_LE(pf.service.taken, 64U + 2 * 210U) << "hearing costs no more";
  EXPECT_EQ(pf.shell.told[QDMA_VF_FLOODS], 1U);
  EXPECT_GE(pf.service.slowed, 190U);
  pf.card.incoming.clear();
  pf.card.incoming.emplace_back(4, message_of(MERIDIAN_OP_CONFIG));
  while (qdma_service_turn(&pf.service, pf.now)) pf.card.incoming.emplace_back(4, message_of(MERIDIAN_OP_CONFIG));
  EXPECT_GT(qdma_service_wait(&pf.service, pf.now), 0U);
  EXPECT_LE(qdma_service_wait(&pf.service, pf.now), pf.service.message_ns);
  pf.card.incoming.clear();
  pf.now += pf.service.message_ns;
  EXPECT_EQ(qdma_service_wait(&pf.service, pf.now), 0U) << "it may be answered";
  qdma_service_turn(&pf.service, pf.now);
  // Time pays.
  pf.now += second;
  const std::uint64_t slowed = pf.service.slowed;
  bring_up(4);
  EXPECT_EQ(pf.service.slowed, slowed);
}

TEST_F(Service, WhoIsDeafIsNotWaitedFor) {
  constexpr std::uint64_t patience = 20000000;
  pf.card.target_is_busy = true;
  pf.say(4, message_of(QDMA_OP_HELLO));
  EXPECT_TRUE(pf.card.sent.empty());
  EXPECT_GT(qdma_service_wait(&pf.service, pf.now), 0U);
  EXPECT_LT(qdma_service_wait(&pf.service, pf.now), patience);
  pf.now += patience / 2;
  pf.card.target_is_busy = false;
  EXPECT_FALSE(qdma_service_turn(&pf.service, pf.now));
  ASSERT_EQ(pf.card.sent.size(), 1U) << "late, but not too late";
  EXPECT_EQ(qdma_service_wait(&pf.service, pf.now), 0U);
  EXPECT_EQ(pf.card.sent[0].first, 4U);
  pf.card.target_is_busy = true;
  pf.say(4, message_of(MERIDIAN_OP_CONFIG));
  pf.now += patience;
  EXPECT_FALSE(qdma_service_turn(&pf.service, pf.now));
  EXPECT_EQ(pf.service.untaken, 1U);
  EXPECT_EQ(pf.shell.told[QDMA_VF_IS_DEAF], 1U);
  pf.say(4, message_of(MERIDIAN_OP_CONFIG));
  EXPECT_EQ(pf.service.untaken, 2U) << "at once";
  pf.card.target_is_busy = false;
  EXPECT_EQ(pf.ask(4, message_of(MERIDIAN_OP_CONFIG)), 0) << "it hears again";
  EXPECT_EQ(pf.ask(4, message_of(MERIDIAN_OP_CONFIG)), 0);
}

/// The driver of the next VM pays nothing for who had the VF before and did not take its answers.
TEST_F(Service, WhoSaysHelloIsWaitedForThoughItsPredecessorWasDeaf) {
  constexpr std::uint64_t patience = 20000000;
  for (const bool is_waiting : {false, true}) {
    bring_up(4);
    pf.card.target_is_busy = true;
    pf.say(4, message_of(MERIDIAN_OP_CONFIG));
    if (!is_waiting) {
      pf.now += patience;
      qdma_service_turn(&pf.service, pf.now);
      EXPECT_FALSE(pf.vf(4).is_waiting) << "it is given up";
    }
    pf.say(4, message_of(QDMA_OP_HELLO));
    EXPECT_TRUE(pf.card.sent.empty());
    pf.now += patience / 2;
    pf.card.target_is_busy = false;
    qdma_service_turn(&pf.service, pf.now);
    ASSERT_EQ(pf.card.sent.size(), 1U) << is_waiting;
    EXPECT_EQ(qdma_message_op(&pf.card.sent[0].second), QDMA_OP_HELLO | QDMA_RESPONSE);
  }
}

/// So that it gains nothing by it: its answer is given up as any other, and others are answered meanwhile.
TEST_F(Service, WhoSaysHelloAndIsDeafIsGivenUpLikeOthers) {
  bring_up(5);
  for (unsigned i = 1; i <= 10; ++i) {
    pf.card.target_is_busy = true;
    pf.say(4, message_of(QDMA_OP_HELLO));
    EXPECT_TRUE(pf.vf(4).is_waiting);
    pf.now += 20000000;
    pf.card.incoming.emplace_back(5, message_of(MERIDIAN_OP_CONFIG));
    EXPECT_TRUE(qdma_service_turn(&pf.service, pf.now)) << "another is heard";
    EXPECT_FALSE(pf.vf(4).is_waiting);
    EXPECT_EQ(pf.service.untaken, i);
    pf.vf(5).is_waiting = false;
  }
}

/// Whatever they do, and however often they say hello or are reset meanwhile.
TEST_F(Service, TheLogHasALineAMinuteOfEachVfAndTrouble) {
  constexpr std::uint64_t minute = 60000000000;
  const Address one{1, 0, 0, 0, 9, 1}, other{1, 0, 0, 0, 9, 2};
  const std::uint64_t start = pf.now;
  while (pf.now - start < 10 * minute) {
    for (const unsigned function : {4U, 5U}) {
      bring_up(function);
      pf.ask(function, address_message(one, true, false));
      pf.ask(function, address_message(other, true, false));
    }
    qdma_remove_own(&pf.service, &pf.vf(6));
    pf.shell.taken = {own(6)};
    qdma_add_own(&pf.service, &pf.vf(6));
    pf.shell.taken.clear();
    pf.shell.room = pf.shell.filter.size();
    qdma_add_own(&pf.service, &pf.vf(6));
    pf.shell.room = 1000;
    pf.card.target_is_busy = true;
    for (unsigned i = 0; i < 200; ++i) {
      pf.card.incoming.emplace_back(4 + i % 2, message_of(QDMA_OP_HELLO));
      qdma_service_turn(&pf.service, pf.now);
    }
    pf.card.target_is_busy = false;
    pf.now += 1000000000;
    while (qdma_service_turn(&pf.service, pf.now)) pf.now += 10000000;
    reset(4);
  }
  ASSERT_EQ(pf.shell.told.size(), 4U) << "all kinds";
  const unsigned minutes = (pf.now - start) / minute + 1;
  for (const auto& [trouble, lines] : pf.shell.told) {
    EXPECT_LE(lines, 2 * minutes) << trouble;
    EXPECT_GE(lines, 5U) << trouble;
  }
}

TEST_F(Service, ASecondRequestTakesThePlaceOfAnAnswer) {
  pf.card.target_is_busy = true;
  pf.say(4, message_of(QDMA_OP_HELLO));
  pf.say(4, message_of(MERIDIAN_OP_CONFIG));
  EXPECT_EQ(pf.service.untaken, 2U);
  pf.say(5, message_of(QDMA_OP_HELLO));
  EXPECT_EQ(pf.service.untaken, 2U) << "5 has not been deaf yet";
  pf.say(5, message_of(QDMA_OP_VF_BYE));
  EXPECT_FALSE(pf.vf(5).is_waiting);
}

TEST_F(Service, ACardThatIsGoneEndsEverything) {
  bring_up(4);
  pf.card.gone = true;
  EXPECT_FALSE(qdma_service_turn(&pf.service, pf.now));
  qdma_service_look(&pf.service);
  pf.card.gone = false;
}

}  // namespace
