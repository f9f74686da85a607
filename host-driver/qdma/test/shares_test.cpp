// SPDX-License-Identifier: Apache-2.0
// The card's multicast groups, and VFs that want all of them.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

extern "C" {
#include "../qdma_shares.h"
}

namespace {

constexpr unsigned pfs = 4;

/// The groups of a card, by a number in place of an address.
class Groups {
 public:
  explicit Groups(unsigned vfs, unsigned groups = 64) : vfs(vfs), groups(groups) {}

  bool join(unsigned function, unsigned name, bool is_broadcast = false) {
    if (!members.contains(name) && (members.size() == groups || (function >= pfs && !is_broadcast && !may(function))))
      return false;
    members[name].insert(function);
    if (is_broadcast) broadcasts.insert(name);
    return true;
  }

  /// Joins groups of its own until it may not; how many.
  unsigned join_all(unsigned function) {
    unsigned count = 0;
    while (join(function, 1000 * function + count)) ++count;
    return count;
  }

  std::map<unsigned, std::set<unsigned>> members;

 private:
  bool may(unsigned function) const {
    qdma_shares shares{.groups = groups, .pfs = pfs, .vfs = vfs, .taken = 0, .others = 0, .charge = {}};
    for (const auto& [name, those] : members) {
      std::array<u32, QDMA_SHARE_WORDS> words{};
      for (const unsigned member : those) words[member / 32] |= 1U << member % 32;
      qdma_count_group(&shares, words.data(), broadcasts.contains(name));
    }
    return qdma_may_make_group(&shares, function);
  }

  unsigned vfs, groups;
  std::set<unsigned> broadcasts;
};

TEST(Shares, OneVfLeavesTheOthersTheirs) {
  Groups groups(3);
  EXPECT_EQ(groups.join_all(4), 48U - 2 * 8);
  EXPECT_EQ(groups.join_all(5), 8U);
  EXPECT_EQ(groups.join_all(6), 8U);
  EXPECT_EQ(groups.members.size(), 48U);
}

TEST(Shares, AQuarterIsForPfsAndBroadcasts) {
  Groups groups(1);
  EXPECT_EQ(groups.join_all(4), 48U);
  EXPECT_TRUE(groups.join(4, 1, true));
  for (unsigned name = 2; name < 17; ++name) EXPECT_TRUE(groups.join(0, name));
  EXPECT_FALSE(groups.join(0, 17)) << "there is none";
}

TEST(Shares, WhatPfsHaveBeyondThatIsNotPromised) {
  Groups groups(2);
  for (unsigned name = 0; name < 60; ++name) EXPECT_TRUE(groups.join(0, name));
  EXPECT_EQ(groups.join_all(4) + groups.join_all(5), 4U);
  EXPECT_TRUE(groups.join(5, 0)) << "one that is there";
}

/// Each needs the group of its address, beside three that all are in.
TEST(Shares, OfThirtyTwoEachHasIpv6WhateverTheFirstTake) {
  for (const bool is_pf_there : {false, true}) {
    Groups groups(32);
    const auto join_common = [&](unsigned function) {
      for (unsigned name = 0; name < 3; ++name) EXPECT_TRUE(groups.join(function, name)) << function;
    };
    if (is_pf_there) join_common(0);
    join_common(4);
    for (unsigned attacker = 4; attacker < 8; ++attacker) groups.join_all(attacker);
    for (unsigned function = 8; function < 36; ++function) {
      join_common(function);
      EXPECT_TRUE(groups.join(function, 1000 * function)) << function;
    }
    EXPECT_LE(groups.members.size(), 48U + 3 * is_pf_there);
  }
}

TEST(Shares, WhoSharesAGroupPaysAPartOfIt) {
  Groups groups(32);
  for (unsigned name = 0; name < 2; ++name)
    for (unsigned function = 4; function < 36; ++function) EXPECT_TRUE(groups.join(function, name));
  for (unsigned function = 4; function < 36; ++function)
    EXPECT_TRUE(groups.join(function, 1000 * function)) << function;
}

/// A group that two share costs each of them half.
TEST(Shares, TwoThatJoinEachOthersGroupsTakeNoMore) {
  Groups groups(12);
  unsigned count = 0;
  while (groups.join(4, 5000 + count) || groups.join(5, 5000 + count)) {
    groups.join(4, 5000 + count);
    groups.join(5, 5000 + count++);
  }
  EXPECT_EQ(count, 48U - 10 * 4);
  for (unsigned function = 6; function < 16; ++function) EXPECT_EQ(groups.join_all(function), 4U) << function;
}

TEST(Shares, SmallCardsAndManyVfs) {
  for (const unsigned count : {2U, 4U, 64U, 256U})
    for (const unsigned vfs : {1U, 63U, 252U}) {
      Groups groups(vfs, count);
      unsigned all = 0;
      for (unsigned function = pfs; function < pfs + vfs; ++function) all += groups.join_all(function);
      EXPECT_EQ(all, count - count / 4) << count << " groups, " << vfs << " VFs";
    }
}

}  // namespace
