// SPDX-License-Identifier: Apache-2.0
// VFs in hostile hands, two at once, and a victim beside them that is up and at work. How many turns: MERIDIAN_ATTACK.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "attacker.hpp"

namespace {

unsigned turns_wanted() {
  const char* wanted = std::getenv("MERIDIAN_ATTACK");
  return wanted == nullptr ? 20000 : std::strtoul(wanted, nullptr, 0);
}

/// With even seeds the attackers know the key of the card's hash, too.
class Siege : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr unsigned victim = 4, bystander = 7;
  static constexpr std::uint64_t ms = 1000000, patience = 20 * ms;
  static constexpr Address common{1, 0, 0, 0, 0, 1}, own_group{1, 0, 0, 0, 0, 200}, later{1, 0, 0, 0, 0, 201};
  /// What the victim has of the card.
  struct Kept {
    std::map<std::pair<unsigned, unsigned>, FakeCard::Words> contexts;
    std::uint32_t queues, flags;
    qdma_rss rss;
  };

  Siege() {
    pf.shell.services = &pf.service;
    pf.shell.groups.resize(24);  // of which each VF is promised four
    // In slots that attackers with the key aim at.
    for (const unsigned function : {victim, bystander}) {
      const Address own{2, 0, 0, 0, 1, static_cast<std::uint8_t>(function)};
      EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(function), own.data()), 0);
    }
    EXPECT_EQ(pf.ask(victim, message_of(QDMA_OP_HELLO)), 0);
    EXPECT_EQ(pf.ask(victim, range_message(QDMA_OP_QUEUE_REQUEST, ~0U, 3)), 0);
    EXPECT_EQ(pf.ask(victim, range_message(QDMA_OP_FMAP, FakePf::base_of(victim), 3)), 0);
    for (unsigned i = 0; i < 6; ++i)
      EXPECT_EQ(pf.ask(victim, queue_message(QDMA_OP_CONTEXT_WRITE, FakePf::base_of(victim) + i / 2, i % 2, 1 + i / 2)),
                0);
    EXPECT_EQ(pf.ask(victim, rss_message(3)), 0);
    for (const Address& address : {common, own_group})
      EXPECT_EQ(pf.ask(victim, address_message(address, true, false)), 0);
    kept = look();
    EXPECT_GE(kept.contexts.size(), 6U);
    pf.card.accesses = 0;
    start = pf.now;
  }

  Kept look() {
    Kept found{.contexts = {}, .queues = 0, .flags = 0, .rss = {}};
    const unsigned base = FakePf::base_of(victim);
    for (const auto& [key, words] : pf.card.contexts)
      if (key.first == QDMA_SELECT_FMAP ? key.second == victim
                                        : key.second >= base && key.second < base + FakePf::of_vf)
        found.contexts[key] = words;
    const FakeShell::Function& function = pf.shell.functions[victim];
    found.queues = function.queues;
    found.flags = function.flags;
    found.rss = function.rss;
    return found;
  }

  /// Frames for the victim come to it as before, and nobody reads or changes what its queues are.
  void check_victim() {
    const Kept now = look();
    ASSERT_EQ(now.contexts, kept.contexts);
    ASSERT_EQ(now.queues, kept.queues);
    ASSERT_EQ(now.flags, kept.flags);
    ASSERT_EQ(std::memcmp(&now.rss, &kept.rss, sizeof now.rss), 0);
    for (const Address& address : {address_of(pf.vf(victim).own), common, own_group}) {
      const auto found = pf.shell.filter.find(address);
      ASSERT_TRUE(found != pf.shell.filter.end() && found->second.contains(victim));
    }
  }

  bool waits(unsigned function) {
    return std::ranges::any_of(pf.card.incoming, [=](const auto& it) { return it.first == function; });
  }

  /// Attackers send as fast as the mailbox takes it, and take their answers or not.
  void attack(Attacker& attacker) {
    for (const unsigned function : {5U, 6U}) {
      if (attacker.below(4) != 0 && !waits(function)) pf.card.incoming.emplace_back(function, attacker.message());
      if (attacker.below(50) == 0) {
        if (!pf.card.deaf.erase(function)) pf.card.deaf.insert(function);
      }
    }
    if (attacker.below(100) == 0 && !waits(bystander))
      pf.card.incoming.emplace_back(bystander, message_of(QDMA_OP_HELLO));
  }

  void turn() {
    qdma_service_turn(&pf.service, pf.now);
    for (const auto& [function, message] : pf.card.sent) ++answers[function];
    pf.card.writes.clear();
    pf.card.commands.clear();
  }

  /// A reset at any moment, seen by the PF or not yet.
  void reset(Attacker& attacker) {
    const unsigned function = 5 + attacker.below(2);
    if (attacker.below(2) == 0)
      pf.shell.functions[function].is_master = false;
    else
      pf.shell.functions[function].queues = 0;
    std::erase_if(pf.card.incoming, [=](const auto& it) { return it.first == function; });
    qdma_service_look(&pf.service);
    pf.shell.functions[function].is_master = true;
  }

  void administer(Attacker& attacker) {
    qdma_vf& other = pf.vf(attacker.below(2) == 0 ? bystander : 5 + attacker.below(2));
    const Address chosen{
        2, 0, 0, 0, static_cast<std::uint8_t>(attacker.below(3)), static_cast<std::uint8_t>(100 + attacker.below(20))};
    if (attacker.below(2) == 0)
      qdma_give_address(&pf.service, &other, chosen.data());
    else if (other.function == bystander)
      qdma_trust_vf(&pf.service, &other, attacker.below(2) == 0);
    else
      qdma_free_address(&pf.service, &other, chosen.data());
  }

  /// Its messages are answered as soon as if the others sent one each.
  void ask(Attacker& attacker, const qdma_message& message) {
    const std::uint64_t asked = pf.now;
    pf.card.incoming.emplace_back(victim, message);
    for (pf.card.sent.clear(); pf.now - asked < patience; pf.now += ms / 10) {
      attack(attacker);
      turn();
      const auto found = std::ranges::find(pf.card.sent, victim, [](const auto& it) { return it.first; });
      if (found != pf.card.sent.end()) {
        ASSERT_EQ(qdma_message_status(&found->second), 0);
        longest = std::max(longest, pf.now - asked);
        return;
      }
      pf.card.sent.clear();
    }
    FAIL() << "it has no answer";
  }

  FakePf pf{4};
  Kept kept;
  std::map<unsigned, std::uint64_t> answers;
  std::uint64_t start = 0, longest = 0;
};

TEST_P(Siege, CostsTheVictimNothingAndThePfAFixedRate) {
  Attacker attacker(GetParam());
  const unsigned turns = turns_wanted();
  unsigned asked = 0;
  for (unsigned i = 0; i < turns; ++i) {
    // They are slowed, and have time to pay now and then.
    pf.now += attacker.below(10) != 0 ? ms / 10 : 5 * ms;
    attack(attacker);
    if (attacker.below(100) == 0) reset(attacker);
    if (attacker.below(100) == 0) administer(attacker);
    pf.card.sent.clear();
    turn();
    if (attacker.below(50) == 0) {
      ask(attacker, asked % 2 == 0 ? address_message(later, true, false) : address_message(later, false, false));
      ++asked;
    }
    check_victim();
    if (i % 16 == 0) pf.check();
    if (HasFatalFailure()) FAIL() << "turn " << i;
  }
  const double seconds = static_cast<double>(pf.now - start) / 1e9;
  const std::uint64_t taken = pf.service.taken;
  const double cost = static_cast<double>(pf.card.accesses) / taken;
  std::printf("%.0f s, %llu messages, accesses for each %.1f, longest wait %.1f ms\n", seconds,
              static_cast<unsigned long long>(taken), cost, static_cast<double>(longest) / ms);
  // A message is 32 words to read, an answer as many to write, and a message that is overtaken has none.
  EXPECT_LE(cost, 75) << "of the QDMA's registers";
  for (const unsigned function : {5U, 6U}) {
    EXPECT_LE(answers[function], 64 + 1 + seconds * 200) << function;
    EXPECT_GE(answers[function], seconds * 50) << "it is often deaf";
  }
  EXPECT_LE(taken, 3 * (64 + 1) + 2 * seconds * 400 + turns / 20);
  EXPECT_LE(longest, 6 * ms);
  EXPECT_GT(asked, turns / 100);
  for (const auto& [trouble, lines] : pf.shell.told) EXPECT_LE(lines, 4 * (seconds / 60 + 1)) << trouble;
}

INSTANTIATE_TEST_SUITE_P(Seeds, Siege, testing::Values(1, 2, 3, 4));

}  // namespace
