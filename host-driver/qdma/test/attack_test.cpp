// SPDX-License-Identifier: Apache-2.0
// VFs that say anything, and what their PF keeps from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "attacker.hpp"
#include "service_fixture.hpp"

namespace {

class Attack : public testing::TestWithParam<unsigned> {};

/// Whatever VFs say and whenever they are reset: what is in force is theirs, and nothing is left of who has gone.
TEST_P(Attack, TakesNothingFromOthers) {
  FakePf pf(4);
  Attacker attacker(GetParam());
  pf.vf(5).is_trusted = true;
  qdma_give_address(&pf.service, &pf.vf(6), pf.vf(6).own);
  pf.shell.taken = {{2, 0, 0, 0, 0, 77}};
  pf.shell.services = &pf.service;
  pf.shell.groups.resize(GetParam() > 2 ? 24 : 0);  // of which each VF is promised four
  std::uint64_t refused = 0, answered = 0, unmapped = 0;
  for (unsigned turn = 0; turn < 100000; ++turn) {
    const unsigned function = FakePf::first + attacker.below(5);  // the last is no VF of this PF
    pf.card.target_is_busy = attacker.rarely();
    pf.now += attacker.below(2) == 0 ? 10000000 : 100;
    pf.card.incoming.clear();
    pf.card.incoming.emplace_back(function, attacker.message());
    pf.card.sent.clear();
    pf.card.writes.clear();
    pf.card.commands.clear();
    qdma_service_turn(&pf.service, pf.now);
    for (const auto& [target, message] : pf.card.sent) {
      ASSERT_TRUE(target >= FakePf::first && target < FakePf::first + 4);
      ++answered;
      refused += qdma_message_status(&message) != 0;
    }
    for (const std::uint32_t command : pf.card.commands) {
      const unsigned select = command >> 1 & 15, number = command >> 7 & 0x1fff;
      const unsigned owner = (number - FakePf::first_queue) / FakePf::of_vf + FakePf::first;
      ASSERT_EQ(select == QDMA_SELECT_FMAP ? number : owner, function);
    }
    if (attacker.below(200) == 0) {
      const unsigned reset = FakePf::first + attacker.below(4);
      unmapped += pf.vf(reset).mapped == 0 && pf.vf(reset).addresses != 0;
      if (attacker.below(2) == 0)
        pf.shell.functions[reset].is_master = false;
      else
        pf.shell.functions[reset].queues = 0;
      qdma_service_look(&pf.service);
      pf.shell.functions[reset].is_master = true;
      for (const auto& [address, listeners] : pf.shell.filter)
        ASSERT_TRUE(!listeners.contains(reset) || address == address_of(pf.vf(reset).own));
    }
    if (attacker.below(100) == 0) {  // the administrator
      qdma_vf& vf = pf.vf(FakePf::first + attacker.below(4));
      if (attacker.below(2) == 0)
        qdma_trust_vf(&pf.service, &vf, attacker.below(2) == 0);
      else if (const Address address = attacker.address(); (address[0] & 1) == 0)
        qdma_give_address(&pf.service, &vf, address.data());
    }
    if (attacker.below(1000) == 0) {
      pf.card.incoming.clear();
      qdma_service_stop(&pf.service);
      ASSERT_TRUE(pf.shell.filter.empty());
      qdma_service_start(&pf.service);
    }
    pf.check();
    ASSERT_LE(std::ranges::count_if(pf.shell.groups, [](const auto& it) { return qdma_is_group_used(&it); }), 18);
    for (const qdma_vf& vf : pf.vfs) ASSERT_TRUE(vf.has_own || pf.shell.sharing(address_of(vf.own)) != 0);
    if (HasFatalFailure()) FAIL() << "turn " << turn;
  }
  EXPECT_GT(unmapped, 5U) << "it had asked for groups, and had none";
  EXPECT_GT(answered, 20000U);
  EXPECT_GT(refused, answered / 4);
  EXPECT_LT(refused, answered * 9 / 10) << "some of it must be right";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Attack, testing::Values(1, 2, 3, 4));

/// Others send as fast as the PF hears them, and a victim one message at a time, whenever it likes.
class Floods : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr unsigned victim = FakePf::first + 5;

  explicit Floods(unsigned at_once = 1) : at_once(at_once) {}

  /// Turns go on for so long.
  void pass(std::uint64_t ns) {
    for (const std::uint64_t end = pf.now + ns; pf.now < end; pf.now += 100000) turn();
  }
  /// For a message of the victim: the answers that others had first, by function.
  std::map<unsigned, unsigned> answered_before() {
    std::map<unsigned, unsigned> before;
    send();
    pf.card.incoming.emplace_back(victim, message_of(QDMA_OP_HELLO));
    for (unsigned turns = 0; turns < 100000; ++turns, pf.now += 100000) {
      for (const unsigned function : turn()) {
        if (function == victim) return before;
        ++before[function];
      }
    }
    ADD_FAILURE() << "it has no answer";
    return before;
  }

  FakePf pf{32};
  unsigned flooders = GetParam();

 private:
  void send() {
    for (unsigned function = FakePf::first, left = flooders; left != 0; ++function) {
      if (function == victim) continue;
      --left;
      const auto waiting = std::ranges::count(pf.card.incoming, function, [](const auto& it) { return it.first; });
      for (unsigned i = waiting; i < at_once; ++i) pf.card.incoming.emplace_back(function, message_of(QDMA_OP_HELLO));
    }
  }
  /// Who is answered.
  std::vector<unsigned> turn() {
    send();
    pf.card.sent.clear();
    pf.card.writes.clear();
    pf.card.commands.clear();
    qdma_service_turn(&pf.service, pf.now);
    std::vector<unsigned> functions;
    for (const auto& [function, message] : pf.card.sent) functions.push_back(function);
    return functions;
  }

  unsigned at_once;
};

TEST_P(Floods, KeepAMessageNoLongerThanOneOfEachOther) {
  std::mt19937 random(GetParam());
  for (unsigned message = 0; message < 60; ++message) {
    const std::uint64_t start = pf.now;
    for (const auto& [function, answers] : answered_before())
      EXPECT_LE(answers, 1U) << "of function " << function << " before message " << message;
    EXPECT_LE(pf.now - start, pf.service.message_ns + flooders * 100000) << "message " << message;
    pass(random() % 40000000);
  }
  EXPECT_EQ(pf.service.slowed > 0, flooders > 0);
}

INSTANTIATE_TEST_SUITE_P(Others, Floods, testing::Values(0, 1, 2, 31));

/// Should a mailbox ever give several messages of one VF at once.
class Bursts : public Floods {
 protected:
  Bursts() : Floods(70) {}
};

TEST_P(Bursts, KeepAMessageNoLongerThanAFewOfEachOther) {
  for (const auto& [function, answers] : answered_before()) EXPECT_LE(answers, 4U) << function;
}

INSTANTIATE_TEST_SUITE_P(Others, Bursts, testing::Values(1, 3));

}  // namespace
