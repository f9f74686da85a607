// SPDX-License-Identifier: Apache-2.0
// The card's multicast groups, and VFs that want all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
#include "../service/qdma_service.h"
#include "../service/qdma_shares.h"
}

namespace {

constexpr unsigned pfs = 4;
constexpr unsigned broadcasts = 1U << 31;  // the name of a VLAN's

/// A card whose PFs serve the VFs in turn: 4 is the first PF's, 5 the second's. A group has a number for its address.
class Groups {
 public:
  explicit Groups(unsigned vfs, unsigned count = 64, unsigned services = 1) : group(count), vf(services) {
    this->services.resize(services);
    for (unsigned i = 0; i < services; ++i) {
      for (unsigned function = pfs + i; function < pfs + vfs; function += services) {
        vf[i].emplace_back();
        vf[i].back().function = function;
      }
      this->services[i].ops = &ops;
      this->services[i].owner = this;
      this->services[i].now = 1;
      this->services[i].vf = vf[i].data();
      this->services[i].vfs = vf[i].size();
      this->services[i].next = i + 1 < services ? &this->services[i + 1] : nullptr;
    }
  }

  bool join(unsigned function, unsigned name) {
    qdma_vf* const who = function < pfs ? nullptr : &vf_of(function);
    if (has(function, name)) return true;
    if (who != nullptr && name < broadcasts && who->addresses == QDMA_VF_ADDRESSES) return false;
    auto place = find(name);
    if (place == group.end()) {
      const qdma_groups groups{.group = group.data(), .count = count(), .pfs = pfs, .services = services.data()};
      if (who != nullptr && name < broadcasts && !qdma_claim_group(&groups, function)) return false;
      place = std::ranges::find_if(group, [](const qdma_group& it) { return !qdma_is_group_used(&it); });
      if (place == group.end()) {
        EXPECT_TRUE(who == nullptr || name >= broadcasts) << "one was promised";
        return false;
      }
      put(place->address, name);
    }
    place->functions[function / 32] |= 1U << function % 32;
    if (who != nullptr && name < broadcasts) put(who->address[who->addresses++], name);
    return true;
  }

  void leave(unsigned function, unsigned name) {
    qdma_vf& who = vf_of(function);
    std::array<std::uint8_t, 6> address{};
    put(address.data(), name);
    for (unsigned i = 0; i < who.addresses; ++i) {
      if (std::memcmp(who.address[i], address.data(), 6) != 0) continue;
      take(function, address.data());
      --who.addresses;
      std::memmove(who.address[i], who.address[i + 1], 6 * (who.addresses - i));
      return;
    }
  }

  /// Joins groups of its own until it may not; how many.
  unsigned join_all(unsigned function) {
    unsigned joined = 0;
    while (join(function, 1000 * function + joined)) ++joined;
    return joined;
  }

  unsigned used() const {
    return std::ranges::count_if(group, [](const auto& it) { return qdma_is_group_used(&it); });
  }
  unsigned held(unsigned function) { return vf_of(function).addresses; }
  bool has(unsigned function, unsigned name) {
    const auto place = find(name);
    return place != group.end() && (place->functions[function / 32] >> function % 32 & 1) != 0;
  }
  unsigned evicted() const {
    unsigned all = 0;
    for (const qdma_service& service : services) all += service.evicted;
    return all;
  }
  unsigned told = 0;
  unsigned removed = 0;  // out of the card's filter, for others

 private:
  static const qdma_service_ops ops;

  static void put(std::uint8_t* address, unsigned name) {
    std::memset(address, 0xff, 6);
    if (name >= broadcasts) return;
    const std::array<std::uint8_t, 6> bytes{1, 0};
    std::copy(bytes.begin(), bytes.end(), address);
    for (unsigned i = 0; i < 4; ++i) address[2 + i] = name >> 8 * i;
  }
  std::vector<qdma_group>::iterator find(unsigned name) {
    std::array<std::uint8_t, 6> address{};
    put(address.data(), name);
    return std::ranges::find_if(group, [&](const qdma_group& it) {
      return qdma_is_group_used(&it) && std::memcmp(it.address, address.data(), 6) == 0;
    });
  }
  void take(unsigned function, const std::uint8_t* address) {
    for (qdma_group& it : group)
      if (std::memcmp(it.address, address, 6) == 0) it.functions[function / 32] &= ~(1U << function % 32);
  }
  qdma_vf& vf_of(unsigned function) { return vf[(function - pfs) % vf.size()].at((function - pfs) / vf.size()); }
  unsigned count() const { return group.size(); }

  std::vector<qdma_group> group;
  std::vector<std::vector<qdma_vf>> vf;
  std::vector<qdma_service> services;
};

const qdma_service_ops Groups::ops = [] {
  qdma_service_ops ops{};
  ops.remove_address = [](void* owner, const qdma_vf* vf, const u8* address) {
    static_cast<Groups*>(owner)->take(vf->function, address);
    ++static_cast<Groups*>(owner)->removed;
  };
  ops.tell = [](void* owner, const qdma_vf* /*vf*/, qdma_vf_trouble trouble) {
    static_cast<Groups*>(owner)->told += trouble == QDMA_VF_LOSES_GROUP;
  };
  return ops;
}();

TEST(Shares, OneVfLeavesTheOthersTheirs) {
  Groups groups(3);
  EXPECT_EQ(groups.join_all(4), 48U - 2 * 8);
  EXPECT_EQ(groups.join_all(5), 8U);
  EXPECT_EQ(groups.join_all(6), 8U);
  EXPECT_EQ(groups.used(), 48U);
  EXPECT_EQ(groups.evicted(), 0U);
}

TEST(Shares, AQuarterIsForPfsAndBroadcasts) {
  Groups groups(2);
  EXPECT_EQ(groups.join_all(4), 32U);
  EXPECT_EQ(groups.join_all(5), 16U);
  EXPECT_TRUE(groups.join(4, broadcasts));
  for (unsigned name = 2; name < 17; ++name) EXPECT_TRUE(groups.join(0, name));
  EXPECT_FALSE(groups.join(0, 17)) << "there is none";
}

TEST(Shares, WhatPfsHaveBeyondThatIsNotPromised) {
  Groups groups(2);
  for (unsigned name = 0; name < 60; ++name) EXPECT_TRUE(groups.join(0, name));
  EXPECT_EQ(groups.join_all(4) + groups.join_all(5), 4U);
  EXPECT_TRUE(groups.join(5, 0)) << "one that is there";
  EXPECT_EQ(groups.evicted(), 0U);
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
    EXPECT_LE(groups.used(), 48U + 3 * is_pf_there);
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

/// One joins what the other has made, and the maker leaves it and makes more.
void hand_over(Groups& groups, unsigned maker, unsigned keeper) {
  for (unsigned name = 5000; name < 5200; ++name) {
    if (!groups.join(maker, name)) break;
    if (groups.join(keeper, name)) groups.leave(maker, name);
  }
}

TEST(Shares, WhatTwoHoldThatConspireIsOthersWhenTheyAskForIt) {
  for (const unsigned services : {1U, 2U, 4U}) {
    Groups groups(12, 64, services);
    hand_over(groups, 4, 5);
    EXPECT_GE(groups.held(5), 32U) << "nobody has asked yet";
    for (unsigned function = 6; function < 16; ++function) {
      for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(groups.join(function, 1000 * function + i)) << function;
      EXPECT_EQ(groups.held(function), 4U);
    }
    EXPECT_GE(groups.held(4), 4U);
    EXPECT_GE(groups.held(5), 4U);
    EXPECT_LE(groups.used(), 48U);
    EXPECT_GT(groups.evicted(), 0U);
    EXPECT_GT(groups.told, 0U);
    EXPECT_LE(groups.told, 12U) << "of each VF a line a minute";
  }
}

/// Those who pay half of a group each lose none of it when a third does.
TEST(Shares, AGroupThatIsSharedStaysForWhoHasNoMoreThanItsPart) {
  Groups groups(12);
  for (unsigned name = 0; name < 28; ++name) {
    EXPECT_TRUE(groups.join(5 + name / 7, name)) << name;
    EXPECT_TRUE(groups.join(4, name)) << name;
  }
  for (unsigned function = 9; function < 16; ++function)
    for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(groups.join(function, 1000 * function + i)) << function;
  EXPECT_LT(groups.held(4), 32U);
  EXPECT_GE(groups.held(4), 4U);
  for (unsigned function = 5; function < 9; ++function) EXPECT_GE(groups.held(function), 4U) << function;
}

/// It takes what is its own first, and of that what came last.
TEST(Shares, WhatAllAreInAndWhatCameFirstGoesLast) {
  Groups groups(2, 16);
  for (const unsigned function : {4U, 5U}) EXPECT_TRUE(groups.join(function, 1));
  EXPECT_TRUE(groups.join(4, 2));
  while (groups.join(4, 100 + groups.held(4))) continue;
  const unsigned before = groups.held(4);
  groups.leave(5, 1);
  EXPECT_TRUE(groups.join(5, 1));
  for (unsigned name = 50; groups.evicted() == 0 && name < 60; ++name) {
    hand_over(groups, 5, 4);
    ASSERT_TRUE(groups.join(5, name)) << name;
  }
  EXPECT_LE(groups.held(4), before + 8);
  EXPECT_TRUE(groups.has(4, 1));
  EXPECT_TRUE(groups.has(5, 1));
  EXPECT_TRUE(groups.has(4, 2));
}

TEST(Shares, ManyVfsHaveAllButTheQuarterOfPfsOnACardOfAnySize) {
  for (const unsigned count : {2U, 4U, 64U, 256U})
    for (const unsigned vfs : {1U, 63U, 252U}) {
      Groups groups(vfs, count);
      unsigned all = 0;
      for (unsigned function = pfs; function < pfs + vfs; ++function) all += groups.join_all(function);
      const unsigned limit = std::min<unsigned>(count - count / 4, QDMA_VF_ADDRESSES * vfs);
      EXPECT_EQ(all, limit) << count << " groups, " << vfs << " VFs";
    }
}

/// The card's filter is everybody's meanwhile. Conspirators are in circles, whose members are in the same groups; one
/// of them makes the groups, and leaves them.
TEST(Shares, WhoAsksForWhatItIsPromisedTakesNoMoreThanOneGroupOfEachVf) {
  unsigned longest = 0;
  for (const unsigned vfs : {4U, 8U, 12U, 24U, 32U, 48U}) {
    for (unsigned circle = 1; circle < vfs - 1; ++circle) {
      Groups groups(vfs, 64, 4);
      const unsigned maker = pfs;
      unsigned name = 5000;
      for (unsigned first = 1; first < vfs - 1 && groups.used() < 48; first += circle) {
        const unsigned last = std::min(first + circle, vfs - 1);
        for (unsigned made = 0; made < QDMA_VF_ADDRESSES && groups.join(maker, ++name); ++made) {
          for (unsigned keeper = first; keeper < last; ++keeper) EXPECT_TRUE(groups.join(pfs + keeper, name));
          groups.leave(maker, name);
        }
      }
      const unsigned victim = pfs + vfs - 1, before = groups.removed;
      EXPECT_TRUE(groups.join(victim, 1)) << vfs << " VFs, circles of " << circle;
      EXPECT_LE(groups.removed - before, vfs) << "circles of " << circle;
      longest = std::max(longest, groups.removed - before);
    }
  }
  EXPECT_GE(longest, 6U) << "they have conspired";
}

class Conspiracy : public testing::TestWithParam<unsigned> {};

/// Half of the VFs do what they like, all together. A VF of the others has what it is promised at any time, and no
/// group of it is ever taken.
TEST_P(Conspiracy, LeavesEachItsPromise) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  const unsigned vfs = 2 + below(31), honest = 1 + below(vfs - 1), services = 1 + below(4);
  const unsigned promise = std::min(8U, 48 / vfs);
  Groups groups(vfs, 64, services);
  std::vector<std::vector<unsigned>> mine(honest);
  for (unsigned turn = 0; turn < 4000; ++turn) {
    const unsigned which = below(vfs), function = pfs + which;
    if (which >= honest) {
      const unsigned name = below(80);
      if (below(3) == 0)
        groups.leave(function, name);
      else
        groups.join(function, name);
    } else if (mine[which].size() < promise && below(2) == 0) {
      const unsigned name = below(4) == 0 ? below(80) : 1000 * function + turn;
      if (groups.has(function, name)) continue;
      ASSERT_TRUE(groups.join(function, name)) << "turn " << turn << ": " << groups.held(function) << " of " << promise;
      mine[which].push_back(name);
    } else if (!mine[which].empty() && below(8) == 0) {
      groups.leave(function, mine[which].back());
      mine[which].pop_back();
    }
    for (unsigned i = 0; i < honest; ++i)
      for (const unsigned name : mine[i]) ASSERT_TRUE(groups.has(pfs + i, name)) << "turn " << turn;
  }
  EXPECT_LE(groups.used(), 48U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Conspiracy, testing::Range(1U, 13U));

}  // namespace
