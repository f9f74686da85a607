// SPDX-License-Identifier: Apache-2.0
// What a PF does for its VFs, and what it does not.
#include <gtest/gtest.h>

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

TEST_F(Service, SwitchesTakeTheirValuesAndEndWithTheVf) {
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
  pf.card.target_is_busy = true;
  pf.say(5, message_of(QDMA_OP_HELLO));
  EXPECT_TRUE(pf.vf(5).is_waiting);
  pf.card.gone = true;
  EXPECT_FALSE(qdma_service_turn(&pf.service, pf.now));
  EXPECT_FALSE(pf.vf(5).is_waiting) << "nobody waits for a card that is gone";
  qdma_service_look(&pf.service);
  pf.card.gone = false;
}

}  // namespace
