// SPDX-License-Identifier: Apache-2.0
// The addresses that VFs receive, and those that they do not.
#include "service_fixture.hpp"

namespace {

TEST_F(Service, AddressesOfOthersAreRefused) {
  bring_up(4);
  EXPECT_EQ(pf.ask(4, address_message(own(5), true, true)), -QDMA_REFUSE_PARAMETER) << "though 5 is away";
  bring_up(5);
  pf.vf(4).is_trusted = true;
  for (const bool is_own : {false, true}) {
    EXPECT_EQ(pf.ask(4, address_message(own(5), true, is_own)), -QDMA_REFUSE_PARAMETER);
    EXPECT_EQ(pf.ask(4, address_message(own(5), false, is_own)), is_own ? -QDMA_REFUSE_PARAMETER : 0);
    EXPECT_EQ(pf.ask(4, address_message(Address{}, true, is_own)), -QDMA_REFUSE_PARAMETER);
    pf.shell.taken = {alien};
    EXPECT_EQ(pf.ask(4, address_message(alien, true, is_own)), -QDMA_REFUSE_PARAMETER);
  }
  EXPECT_EQ(listeners(own(5)), std::set<std::uint32_t>{5});
  EXPECT_EQ(pf.ask(4, address_message(group, true, true)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, address_message(broadcast, true, true)), -QDMA_REFUSE_PARAMETER);
  qdma_message message = address_message({2, 3, 3, 3, 3, 3}, true, false);
  message.byte[MERIDIAN_ADDRESS_ADD] = 2;
  EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_PARAMETER);
  message = address_message({2, 3, 3, 3, 3, 3}, true, true);
  message.byte[MERIDIAN_ADDRESS_OWN] = 0x80;
  EXPECT_EQ(pf.ask(4, message), -QDMA_REFUSE_PARAMETER);
}

TEST_F(Service, AVfChoosesItsOwnAddressUnlessOneWasGiven) {
  bring_up(4);
  const Address before = own(4);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  EXPECT_EQ(own(4), alien);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{4});
  EXPECT_TRUE(listeners(before).empty());
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), alien.data()), 0);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0) << "it has that";
  EXPECT_EQ(pf.ask(4, address_message(before, true, true)), -QDMA_REFUSE_PARAMETER);
  pf.vf(4).is_trusted = true;
  EXPECT_EQ(pf.ask(4, address_message(before, true, false)), 0);
  EXPECT_EQ(pf.ask(4, address_message(before, true, true)), 0) << "one of its others becomes its own";
  EXPECT_EQ(pf.vf(4).addresses, 0U);
  EXPECT_EQ(listeners(before), std::set<std::uint32_t>{4});
  EXPECT_TRUE(listeners(alien).empty());
}

TEST_F(Service, TheAdministratorGivesAnAddress) {
  const Address before = own(4), other{2, 7, 7, 7, 7, 7};
  const auto give = [&](unsigned function, const Address& address) {
    return qdma_give_address(&pf.service, &pf.vf(function), address.data());
  };
  EXPECT_EQ(give(4, own(5)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(give(4, alien), 0);
  EXPECT_EQ(only(4), alien) << "though it is not there yet";
  bring_up(4);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{4});
  EXPECT_EQ(give(4, other), 0);
  EXPECT_EQ(only(4), other);
  pf.shell.taken = {before};
  EXPECT_EQ(give(4, before), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(own(4), other);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  EXPECT_EQ(give(4, alien), 0) << "one of its others";
  EXPECT_EQ(only(4), alien);
  reset(4);
  EXPECT_EQ(give(4, other), 0);
  EXPECT_EQ(only(4), other);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(only(4), other);
}

/// For a PF that asks for an address itself.
TEST_F(Service, WhatIsKeptForAVfIsNobodyElses) {
  const auto is_kept = [&](const Address& address, const qdma_vf* but = nullptr) {
    return qdma_is_kept(&pf.service, but, address.data());
  };
  const Address before = own(4);
  EXPECT_TRUE(is_kept(before));
  EXPECT_FALSE(is_kept(before, &pf.vf(4)));
  EXPECT_TRUE(is_kept(before, &pf.vf(5)));
  bring_up(4);
  EXPECT_FALSE(is_kept(alien));
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  EXPECT_TRUE(is_kept(alien) && is_kept(before)) << "its first one is its own again when its driver goes";
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), alien.data()), 0);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.ask(4, address_message({2, 9, 9, 9, 9, 9}, true, true)), 0);
  EXPECT_TRUE(is_kept({2, 9, 9, 9, 9, 9}) && is_kept(alien)) << "the administrator's choice stays";
}

/// So that another function may have it, as the PF in place of a VF whose machine moves.
TEST_F(Service, AnAddressIsFreeWhenItIsTakenFromWhoIsAway) {
  const Address other{2, 7, 7, 7, 7, 7};
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), alien.data()), 0);
  bring_up(4);
  qdma_free_address(&pf.service, &pf.vf(4), other.data());
  EXPECT_EQ(only(4), alien) << "it is in use";
  EXPECT_EQ(pf.ask(4, address_message(own(4), true, true)), 0);
  reset(4);
  qdma_free_address(&pf.service, &pf.vf(4), other.data());
  EXPECT_EQ(only(4), other);
  EXPECT_TRUE(listeners(alien).empty());
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0) << "and the VF may choose again";
}

TEST_F(Service, AnAddressThatFindsNoRoomIsTold) {
  qdma_service_stop(&pf.service);
  EXPECT_TRUE(pf.shell.filter.empty());
  pf.shell.room = 2;
  qdma_service_start(&pf.service);
  EXPECT_GE(pf.shell.told[QDMA_VF_HAS_NO_ADDRESS], 1U);
  EXPECT_FALSE(pf.vf(6).has_own);
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(6), own(6).data()), -QDMA_REFUSE_PARAMETER) << "it has it not";
  bring_up(6);
  EXPECT_EQ(pf.ask(6, address_message(group, true, false)), -QDMA_REFUSE_PARAMETER);
  pf.shell.room = 3;
  EXPECT_EQ(pf.ask(6, range_message(QDMA_OP_FMAP, 272, 2)), 0);
  EXPECT_EQ(listeners(own(6)), std::set<std::uint32_t>{6});
}

TEST_F(Service, OtherAddressesAreForTheTrusted) {
  bring_up(4);
  bring_up(5);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), 0) << "groups are for all";
  EXPECT_EQ(pf.ask(5, address_message(group, true, false)), 0);
  EXPECT_EQ(pf.ask(5, address_message(group, true, false)), 0) << "again";
  EXPECT_EQ(pf.ask(5, address_message(broadcast, true, false)), 0) << "which comes anyway";
  EXPECT_EQ(listeners(group), (std::set<std::uint32_t>{4, 5}));
  EXPECT_EQ(pf.ask(4, address_message(group, false, false)), 0);
  EXPECT_EQ(listeners(group), std::set<std::uint32_t>{5});
  pf.vf(4).is_trusted = true;
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  EXPECT_EQ(pf.ask(4, address_message(own(4), false, false)), 0) << "its own stays";
  EXPECT_EQ(listeners(own(4)), std::set<std::uint32_t>{4});
}

/// It asks again when an answer was lost, and its trust may have gone meanwhile.
TEST_F(Service, WhatAVfHasItIsNotRefused) {
  bring_up(4);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  qdma_trust_vf(&pf.service, &pf.vf(4), false);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  EXPECT_EQ(pf.ask(4, address_message(own(4), true, false)), 0);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{4});
  EXPECT_EQ(pf.vf(4).addresses, 1U);
  EXPECT_EQ(pf.ask(4, address_message(alien, false, false)), 0);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), -QDMA_REFUSE_PARAMETER) << "it has given it back";
}

TEST_F(Service, WhoHasNoQueuesIsRefusedWhatAnotherHas) {
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  pf.vf(4).is_trusted = true;
  pf.shell.taken = {alien};
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.vf(4).addresses, 0U);
  pf.shell.taken.clear();
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  EXPECT_EQ(pf.vf(4).addresses, 1U);
}

TEST_F(Service, ThereIsAnEndOfAddresses) {
  bring_up(4);
  Address address = group;
  for (unsigned i = 0; i < QDMA_VF_ADDRESSES; ++i, ++address[5])
    EXPECT_EQ(pf.ask(4, address_message(address, true, false)), 0);
  EXPECT_EQ(pf.ask(4, address_message(address, true, false)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, address_message(group, false, false)), 0);
  EXPECT_EQ(pf.ask(4, address_message(address, true, false)), 0);
}

TEST_F(Service, WhatWasResetLeavesItsAddressToOthers) {
  bring_up(4);
  bring_up(5);
  pf.vf(4).is_trusted = pf.vf(5).is_trusted = true;
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  EXPECT_EQ(pf.ask(5, address_message(alien, true, false)), -QDMA_REFUSE_PARAMETER);
  pf.shell.functions[4].queues = 0;
  qdma_service_look(&pf.service);
  EXPECT_EQ(pf.ask(5, address_message(alien, true, false)), 0);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{5});
  EXPECT_EQ(pf.vf(4).addresses, 0U);
}

/// The first VF is away when another is given the address, and that one is not there yet.
TEST_F(Service, WhatAnotherWasGivenDoesNotComeBack) {
  bring_up(4);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  pf.shell.functions[4].queues = 0;
  qdma_service_look(&pf.service);
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(5), alien.data()), 0);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{5});
  bring_up(5);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{5});
}

/// Nor does it become the first one's own.
TEST_F(Service, WhatAnotherWasGivenIsNobodysOwn) {
  bring_up(4);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  reset(4);
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(5), alien.data()), 0);
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), alien.data()), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{5});
}

TEST_F(Service, TrustThatIsTakenTakesTheAddressThatItAllowed) {
  const Address fixed{2, 8, 8, 8, 8, 8};
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), fixed.data()), 0);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  bring_up(4);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  EXPECT_EQ(only(4), alien);
  bring_up(5);
  qdma_trust_vf(&pf.service, &pf.vf(5), true);
  EXPECT_EQ(pf.ask(5, address_message(fixed, true, false)), -QDMA_REFUSE_PARAMETER) << "it is kept";
  qdma_trust_vf(&pf.service, &pf.vf(4), false);
  EXPECT_EQ(own(4), fixed);
  EXPECT_EQ(listeners(fixed), std::set<std::uint32_t>{4});
  EXPECT_TRUE(listeners(alien).empty());
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), -QDMA_REFUSE_PARAMETER);
}

TEST_F(Service, AnAddressComesBackWithTheNextDriverOrWhereThereIsNoRoomForTwo) {
  const Address fixed{2, 8, 8, 8, 8, 8};
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), fixed.data()), 0);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  bring_up(4);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(own(4), fixed);
  bring_up(4);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  pf.shell.room = 3;
  qdma_trust_vf(&pf.service, &pf.vf(4), false);
  EXPECT_EQ(only(4), fixed);
  EXPECT_EQ(pf.shell.told[QDMA_VF_HAS_NO_ADDRESS], 0U);
}

/// Nobody would notice that it was reset. Its own address stays, so that nobody else gets its place.
TEST_F(Service, WhoHasNoQueuesHasItsOwnAddressOnly) {
  const Address before = own(4);
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_QUEUE_REQUEST, ~0U, 2)), 0);
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), 0);
  pf.shell.taken = {alien};
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(only(4), before);
  pf.shell.taken.clear();
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  EXPECT_EQ(only(4), alien);
  EXPECT_TRUE(listeners(before).empty());
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(listeners(group), std::set<std::uint32_t>{4});
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 0)), 0);
  EXPECT_EQ(only(4), alien);
  EXPECT_EQ(pf.ask(4, address_message(group, false, false)), 0);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 1)), 0);
  EXPECT_EQ(only(4), alien);
}

/// Else the next VM that gets the VF would go on under the name of the one before.
TEST_F(Service, AnAddressThatADriverChoseGoesWithIt) {
  const Address first = own(4);
  for (const auto op : {QDMA_OP_HELLO, QDMA_OP_VF_BYE, QDMA_OP_PF_RESET_VF_BYE}) {
    bring_up(4);
    EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
    EXPECT_EQ(only(4), alien);
    bring_up(5);
    EXPECT_EQ(pf.ask(5, address_message(first, true, true)), -QDMA_REFUSE_PARAMETER) << "it is to return";
    pf.say(4, message_of(op));
    EXPECT_EQ(only(4), first) << op;
    EXPECT_EQ(own(4), first);
    EXPECT_TRUE(listeners(alien).empty());
    EXPECT_EQ(pf.ask(5, address_message(alien, true, true)), 0) << "it is free";
    pf.say(5, message_of(QDMA_OP_VF_BYE));
  }
}

TEST_F(Service, AnAddressThatADriverChoseStaysOverAReset) {
  bring_up(4);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  reset(4);
  EXPECT_EQ(only(4), alien) << "its driver goes on";
}

TEST_F(Service, WhoIsFixedNoMoreReturnsToTheAddressThatItGotThen) {
  const Address fixed{2, 2, 2, 2, 2, 2}, given{2, 3, 3, 3, 3, 3};
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), fixed.data()), 0);
  qdma_free_address(&pf.service, &pf.vf(4), given.data());
  bring_up(4);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  pf.say(4, message_of(QDMA_OP_VF_BYE));
  EXPECT_EQ(only(4), given);
}

TEST_F(Service, AnOwnAddressStaysFromTheFirstToTheLast) {
  const auto all_there = [&] { return only(4) == own(4) && only(5) == own(5) && only(6) == own(6); };
  EXPECT_TRUE(all_there()) << "before any driver";
  bring_up(4);
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_TRUE(all_there());
  bring_up(4);
  reset(4);
  EXPECT_TRUE(all_there());
  pf.say(4, message_of(QDMA_OP_VF_BYE));
  EXPECT_TRUE(all_there());
  qdma_service_start(&pf.service);
  EXPECT_TRUE(all_there()) << "a PF that was reset";
  qdma_service_stop(&pf.service);
  EXPECT_TRUE(pf.shell.filter.empty());
}

/// As many as share the slots of an address of its victim.
class Colliding : public Service {
 protected:
  static constexpr Address victims{2, 0, 0, 0, 7, 5}, later{2, 0, 0, 0, 8, 5};

  /// Returns how many the PF lets it join.
  unsigned join(unsigned function, std::uint8_t slots, std::uint8_t first = 1) {
    unsigned joined = 0;
    for (std::uint8_t i = 0; i < FakeShell::slots; ++i)
      joined += pf.ask(function,
                       address_message({1, 0, 0, 0, slots, static_cast<std::uint8_t>(first + i)}, true, false)) == 0;
    return joined;
  }
  /// What the VF is told when it asks.
  std::uint32_t lost(unsigned function) {
    qdma_message answer{};
    EXPECT_EQ(pf.ask(function, message_of(MERIDIAN_OP_CONFIG), &answer), 0);
    const std::uint8_t* byte = &answer.byte[MERIDIAN_CONFIG_LOST];
    return byte[0] | byte[1] << 8;
  }
  int give(unsigned function, const Address& address) {
    return qdma_give_address(&pf.service, &pf.vf(function), address.data());
  }
};

TEST_F(Colliding, GroupsDoNotTakeThePlaceOfWhoIsAway) {
  EXPECT_EQ(give(5, victims), 0);
  bring_up(4);
  EXPECT_EQ(join(4, 7), FakeShell::slots - 1) << "before it has come";
  bring_up(5);
  EXPECT_EQ(pf.ask(5, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(join(4, 7), FakeShell::slots - 1) << "while it starts anew";
  bring_up(5);
  reset(5);
  EXPECT_EQ(join(4, 7), FakeShell::slots - 1) << "after a reset";
  EXPECT_EQ(pf.ask(5, range_message(QDMA_OP_FMAP, 264, 2)), 0);
  EXPECT_EQ(listeners(victims), std::set<std::uint32_t>{5});
  EXPECT_EQ(pf.service.evicted, 0U);
}

TEST_F(Colliding, GroupsGiveWayToAnAddressThatIsGivenLater) {
  bring_up(4);
  bring_up(6);
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), 0);
  EXPECT_EQ(join(4, 8), FakeShell::slots);
  EXPECT_EQ(join(6, 8), FakeShell::slots);
  EXPECT_EQ(give(5, later), 0);
  EXPECT_EQ(only(5), later);
  EXPECT_EQ(pf.service.evicted, 2U) << "one group, of two VFs";
  EXPECT_EQ(pf.shell.told[QDMA_VF_LOSES_GROUP], 2U);
  EXPECT_EQ(pf.vf(4).addresses, FakeShell::slots) << "and no other";
  EXPECT_EQ(pf.vf(6).addresses, FakeShell::slots - 1);
  EXPECT_EQ(listeners(group), std::set<std::uint32_t>{4});
  EXPECT_EQ(pf.shell.sharing(later), FakeShell::slots);
  EXPECT_EQ(lost(4), 1U);
  EXPECT_EQ(lost(6), 1U);
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(lost(4), 0U) << "that was another driver's";
}

TEST_F(Colliding, AVfIsToldOfWhatItLosesWhileItHasNoQueues) {
  for (const unsigned vf : {4U, 5U}) {
    qdma_trust_vf(&pf.service, &pf.vf(vf), true);
    bring_up(vf);
  }
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  reset(4);
  EXPECT_EQ(pf.ask(5, address_message(alien, true, false)), 0);
  EXPECT_EQ(lost(4), 0U);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(lost(4), 1U);
  EXPECT_EQ(lost(5), 0U);
}

TEST_F(Colliding, AFullFilterHasRoomForAnAddressThatIsGiven) {
  bring_up(4);
  EXPECT_EQ(join(4, 9), FakeShell::slots);
  pf.shell.room = pf.shell.filter.size();
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(give(5, later), -QDMA_REFUSE_PARAMETER) << "who is trusted keeps what it has";
  EXPECT_NE(own(5), later);
  qdma_trust_vf(&pf.service, &pf.vf(4), false);
  EXPECT_EQ(give(5, later), 0);
  EXPECT_EQ(only(5), later);
}

/// Whichever comes first among the VFs.
TEST_F(Colliding, WhoHasMostGroupsGivesWay) {
  for (const unsigned few : {4U, 5U}) {
    const unsigned many = 9 - few;
    bring_up(few);
    bring_up(many);
    EXPECT_EQ(pf.ask(few, address_message(group, true, false)), 0);
    EXPECT_EQ(join(many, 9), FakeShell::slots);
    pf.shell.room = pf.shell.filter.size();
    pf.shell.told.clear();
    qdma_remove_own(&pf.service, &pf.vf(6));
    EXPECT_EQ(pf.ask(few, address_message({1, 0, 0, 0, 0, 9}, true, false)), 0);
    qdma_add_own(&pf.service, &pf.vf(6));
    EXPECT_TRUE(pf.vf(6).has_own);
    EXPECT_EQ(pf.vf(few).addresses, 2U);
    EXPECT_EQ(pf.vf(many).addresses, FakeShell::slots - 1);
    EXPECT_EQ(pf.shell.told[QDMA_VF_LOSES_GROUP], 1U);
    pf.shell.room = 1000;
  }
}

TEST_F(Colliding, WhatWasGivenComesBackWhenTrustGoes) {
  EXPECT_EQ(give(5, victims), 0);
  qdma_trust_vf(&pf.service, &pf.vf(5), true);
  bring_up(5);
  EXPECT_EQ(pf.ask(5, address_message(alien, true, true)), 0);
  bring_up(4);
  EXPECT_EQ(join(4, 7), FakeShell::slots);
  qdma_trust_vf(&pf.service, &pf.vf(5), false);
  EXPECT_EQ(only(5), victims);
  EXPECT_EQ(pf.vf(4).addresses, FakeShell::slots - 1);
}

/// Else it could take groups of others away.
TEST_F(Colliding, WhatAVfChoosesEvictsNobody) {
  bring_up(4);
  EXPECT_EQ(join(4, 8), FakeShell::slots);
  EXPECT_EQ(pf.ask(6, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(pf.ask(6, address_message(later, true, true)), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(pf.vf(4).addresses, FakeShell::slots);
  EXPECT_EQ(pf.service.evicted, 0U);
}

/// A PF that finds no room for one as it moves what a VF has forgets it, and says so.
TEST_F(Colliding, WhatFindsNoRoomAnyMoreIsForgotten) {
  bring_up(4);
  EXPECT_EQ(join(4, 9), FakeShell::slots);
  const Address gone{1, 0, 0, 0, 9, 2};
  pf.shell.filter.erase(gone);
  qdma_lose_address(&pf.service, &pf.vf(4), gone.data());
  EXPECT_EQ(pf.vf(4).addresses, FakeShell::slots - 1);
  EXPECT_EQ(pf.service.evicted, 1U);
  EXPECT_EQ(pf.shell.told[QDMA_VF_LOSES_GROUP], 1U);
  qdma_lose_address(&pf.service, &pf.vf(4), gone.data());
  EXPECT_EQ(pf.service.evicted, 1U) << "it is not there";
  EXPECT_EQ(pf.ask(4, address_message(gone, true, false)), 0) << "it may ask again";
}

/// The PFs of a card share its filter: another one serves VFs 8 and 9, and may be quiet for long.
class TwoPfs : public Colliding {
 protected:
  TwoPfs() : others(2) {
    EXPECT_EQ(qdma_identify(&device, &card), 0);
    for (unsigned i = 0; i < others.size(); ++i) {
      others[i].function = 8 + i;
      others[i].base = FakePf::base_of(8 + i);
      others[i].own[0] = others[i].first[0] = 2;
      others[i].own[5] = others[i].first[5] = 8 + i;
    }
    other = pf.service;
    other.qdma = &device;
    other.vf = others.data();
    other.vfs = others.size();
    other.card = pf.service.card = &services;
    qdma_service_start(&pf.service);
    qdma_service_start(&other);
  }
  ~TwoPfs() override { qdma_service_stop(&other); }

  /// A VF of the other PF has queues, and is in so many groups of the same slots.
  void join_there(unsigned function, std::uint8_t slots, unsigned count, std::uint8_t first = 1) {
    qdma_vf& vf = others.at(function - 8);
    vf.is_away = false;
    for (unsigned i = 0; i < count; ++i) {
      const qdma_message message =
          address_message({1, 0, 0, 0, slots, static_cast<std::uint8_t>(first + i)}, true, false);
      EXPECT_EQ(qdma_set_address(&other, &vf, &message), 0);
    }
  }

  FakeCard card;
  qdma_device device{};
  std::vector<qdma_vf> others;
  qdma_service other{};
  qdma_service* services = nullptr;
};

TEST_F(TwoPfs, GroupsOfTheOthersVfsGiveWay) {
  join_there(8, 8, FakeShell::slots);
  EXPECT_EQ(give(5, later), 0);
  EXPECT_EQ(only(5), later);
  EXPECT_EQ(others[0].addresses, FakeShell::slots - 1);
  EXPECT_EQ(other.evicted, 1U) << "its own PF counts it";
  EXPECT_EQ(pf.service.evicted, 0U);
}

/// Whichever PF it is of.
TEST_F(TwoPfs, WhoHasMostGroupsOfTheCardGivesWay) {
  for (const bool is_other : {false, true}) {
    bring_up(4);
    join_there(9, 0, is_other ? 3 : 1, 100);
    for (unsigned i = 0; i < (is_other ? 1 : 3); ++i)
      EXPECT_EQ(pf.ask(4, address_message({1, 0, 0, 0, 0, static_cast<std::uint8_t>(200 + i)}, true, false)), 0);
    pf.shell.room = pf.shell.filter.size();
    qdma_remove_own(&pf.service, &pf.vf(6));
    EXPECT_EQ(pf.ask(4, address_message({1, 0, 0, 0, 0, 250}, true, false)), 0);
    qdma_add_own(&pf.service, &pf.vf(6));
    EXPECT_TRUE(pf.vf(6).has_own);
    EXPECT_EQ(pf.vf(4).addresses, is_other ? 2U : 3U);
    EXPECT_EQ(others[1].addresses, is_other ? 2U : 1U);
    pf.shell.room = 1000;
    while (others[1].addresses != 0) qdma_take_address(&other, &others[1], 0);
  }
}

/// All that there is to try is tried once, though every VF is in every group: it takes the card's time, and all wait.
TEST_F(TwoPfs, AGroupIsTriedOnceHoweverManyAreInIt) {
  for (const unsigned function : {4U, 5U, 6U}) {
    bring_up(function);
    EXPECT_EQ(join(function, 9), FakeShell::slots);
  }
  join_there(8, 9, FakeShell::slots);
  join_there(9, 9, FakeShell::slots);
  unsigned tries = 0;
  EXPECT_FALSE(qdma_make_room(
      services,
      [](void* count) {
        ++*static_cast<unsigned*>(count);
        return false;
      },
      &tries));
  EXPECT_EQ(tries, FakeShell::slots);
  EXPECT_EQ(pf.service.evicted + other.evicted, 0U);
  EXPECT_EQ(listeners({1, 0, 0, 0, 9, 1}), (std::set<std::uint32_t>{4, 5, 6, 8, 9}));
}

/// The administrator is told of it when it happens, not once for all hours in which its PF has nothing to do.
TEST_F(TwoPfs, WhatAQuietPfsVfsLoseIsTold) {
  constexpr std::uint64_t minute = 60000000000;
  Address address = later;
  join_there(8, 8, FakeShell::slots);
  for (unsigned minutes = 0; minutes < 10; ++minutes) {
    pf.now += 2 * minute;
    EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0) << "time goes on for the one";
    EXPECT_EQ(give(5, address), 0);
    EXPECT_EQ(pf.shell.told[QDMA_VF_LOSES_GROUP], minutes + 1);
    EXPECT_EQ(give(5, victims), 0);
    join_there(8, 8, 1, 10 + minutes);
  }
}

}  // namespace
