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

TEST_F(Service, AnAddressOfItsOwn) {
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
  EXPECT_TRUE(pf.shell.filter.empty()) << "it is not there yet";
  bring_up(4);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{4});
  EXPECT_EQ(give(4, other), 0);
  EXPECT_EQ(pf.shell.filter, (decltype(pf.shell.filter){{other, {4}}}));
  pf.shell.taken = {before};
  EXPECT_EQ(give(4, before), -QDMA_REFUSE_PARAMETER);
  EXPECT_EQ(own(4), other);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, false)), 0);
  EXPECT_EQ(give(4, alien), 0) << "one of its others";
  EXPECT_EQ(pf.shell.filter, (decltype(pf.shell.filter){{alien, {4}}}));
  pf.shell.functions[4].queues = 0;
  qdma_service_look(&pf.service);
  EXPECT_EQ(give(4, other), 0);
  EXPECT_TRUE(pf.shell.filter.empty());
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(pf.shell.filter, (decltype(pf.shell.filter){{other, {4}}}));
}

TEST_F(Service, AnAddressThatFindsNoRoomIsTold) {
  pf.shell.room = 0;
  bring_up(4);
  EXPECT_EQ(pf.shell.told[QDMA_VF_HAS_NO_ADDRESS], 1U);
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), -QDMA_REFUSE_PARAMETER);
  pf.shell.room = 1;
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(listeners(own(4)), std::set<std::uint32_t>{4});
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
  EXPECT_TRUE(listeners(alien).empty());
  bring_up(5);
  EXPECT_EQ(listeners(alien), std::set<std::uint32_t>{5});
}

TEST_F(Service, TrustThatIsTakenTakesTheAddressThatItAllowed) {
  const Address fixed{2, 8, 8, 8, 8, 8};
  EXPECT_EQ(qdma_give_address(&pf.service, &pf.vf(4), fixed.data()), 0);
  qdma_trust_vf(&pf.service, &pf.vf(4), true);
  bring_up(4);
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  EXPECT_EQ(pf.shell.filter, (decltype(pf.shell.filter){{alien, {4}}}));
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
  pf.shell.room = 1;
  qdma_trust_vf(&pf.service, &pf.vf(4), false);
  EXPECT_EQ(pf.shell.filter, (decltype(pf.shell.filter){{fixed, {4}}}));
  EXPECT_EQ(pf.shell.told[QDMA_VF_HAS_NO_ADDRESS], 0U);
}

/// Nobody would notice that it was reset.
TEST_F(Service, WhoHasNoQueuesHasNoAddresses) {
  EXPECT_EQ(pf.ask(4, message_of(QDMA_OP_HELLO)), 0);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_QUEUE_REQUEST, ~0U, 2)), 0);
  EXPECT_EQ(pf.ask(4, address_message(group, true, false)), 0);
  pf.shell.taken = {alien};
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), -QDMA_REFUSE_PARAMETER);
  pf.shell.taken.clear();
  EXPECT_EQ(pf.ask(4, address_message(alien, true, true)), 0);
  EXPECT_TRUE(pf.shell.filter.empty());
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 2)), 0);
  EXPECT_EQ(pf.shell.filter, (decltype(pf.shell.filter){{group, {4}}, {alien, {4}}}));
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 0)), 0);
  EXPECT_TRUE(pf.shell.filter.empty());
  EXPECT_EQ(pf.ask(4, address_message(group, false, false)), 0);
  EXPECT_EQ(pf.ask(4, range_message(QDMA_OP_FMAP, 256, 1)), 0);
  EXPECT_EQ(pf.shell.filter, (decltype(pf.shell.filter){{alien, {4}}}));
}

}  // namespace
