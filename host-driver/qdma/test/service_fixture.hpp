// SPDX-License-Identifier: Apache-2.0
// The tests of the service have a PF with three VFs, and do what a VF's driver does to get its queues.
#pragma once

#include <gtest/gtest.h>

#include "fake_shell.hpp"

inline constexpr Address alien{2, 1, 1, 1, 1, 1}, group{1, 0, 0x5e, 0, 0, 1};
inline constexpr Address broadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
inline constexpr std::uint32_t promiscuous = MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK;
inline constexpr std::uint32_t all_multicast = MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK;

class Service : public testing::Test {
 protected:
  Service() : pf(3) {}
  ~Service() override { pf.check(); }

  /// The VF has said hello, and has queues that frames may go to.
  void bring_up(unsigned function, unsigned queues = 2) {
    EXPECT_EQ(pf.ask(function, message_of(QDMA_OP_HELLO)), 0);
    EXPECT_EQ(pf.ask(function, range_message(QDMA_OP_QUEUE_REQUEST, ~0U, queues)), 0);
    EXPECT_EQ(pf.ask(function, range_message(QDMA_OP_FMAP, FakePf::base_of(function), queues)), 0);
    for (unsigned i = 0; i < queues; ++i) {
      EXPECT_EQ(pf.ask(function, queue_message(QDMA_OP_CONTEXT_WRITE, FakePf::base_of(function) + i, false)), 0);
      EXPECT_EQ(pf.ask(function, queue_message(QDMA_OP_CONTEXT_WRITE, FakePf::base_of(function) + i, true)), 0);
    }
  }

  bool is_live(unsigned select, unsigned queue) { return (pf.card.context(select, queue)[1] & 1) != 0; }
  std::set<std::uint32_t> listeners(const Address& address) {
    const auto found = pf.shell.filter.find(address);
    return found == pf.shell.filter.end() ? std::set<std::uint32_t>{} : found->second;
  }
  /// The one address that the card's filter has for a VF.
  Address only(unsigned function) {
    std::vector<Address> found;
    for (const auto& [address, those] : pf.shell.filter)
      if (those.contains(function)) found.push_back(address);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? Address{} : found.front();
  }
  /// The VF was reset, and its PF has seen it.
  void reset(unsigned function) {
    pf.shell.functions[function].queues = 0;
    qdma_service_look(&pf.service);
  }
  Address own(unsigned function) { return address_of(pf.vf(function).own); }

  FakePf pf;
};
