// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>

#include "fake_card.hpp"

extern "C" {
#include "../qdma_reset.h"
}

namespace {

constexpr std::uint32_t of_pf = 0x22500, of_vf = 0x5100, map_of_pf_2 = 0x23108;

class FunctionReset : public testing::Test {
 protected:
  FunctionReset() {
    watch_delays(&card);
    EXPECT_EQ(qdma_identify(&pf, &card), 0);
  }
  ~FunctionReset() override { watch_delays(nullptr); }

  bool is_live(unsigned select, unsigned queue) { return (card.context(select, queue)[1] & 1) != 0; }

  FakeCard card;
  qdma_device pf{};
};

TEST_F(FunctionReset, IsAWriteToTheMailbox) {
  card.writes.clear();
  EXPECT_EQ(qdma_reset_function(&pf), 0);
  EXPECT_EQ(card.writes, (decltype(card.writes){{of_pf, 1}}));
}

TEST_F(FunctionReset, OfAVfIsInItsOwnMailbox) {
  card.registers[QDMA_VF_VERSION] = 0x1fd30220;
  qdma_device vf{};
  EXPECT_EQ(qdma_identify_vf(&vf, &card), 0);
  card.writes.clear();
  EXPECT_EQ(qdma_reset_function(&vf), 0);
  EXPECT_EQ(card.writes, (decltype(card.writes){{of_vf, 1}}));
}

TEST_F(FunctionReset, WaitsUntilTheCardIsDone) {
  card.reset_reads = 3;
  EXPECT_EQ(qdma_reset_function(&pf), 0);
  EXPECT_EQ(card.delayed_us, 300U);
}

TEST_F(FunctionReset, ThatDoesNotEndIsAnError) {
  card.reset_reads = 1000000;
  EXPECT_EQ(qdma_reset_function(&pf), -EBUSY);
  EXPECT_EQ(card.delayed_us, 200000U);
}

TEST_F(FunctionReset, OfACardThatIsGoneEndsAtOnce) {
  card.gone = true;
  EXPECT_EQ(qdma_reset_function(&pf), -ENODEV);
  EXPECT_EQ(card.delayed_us, 0U);
}

TEST_F(FunctionReset, IsNotAskedOfAnIpWithoutIt) {
  pf.has_flr = false;
  card.writes.clear();
  EXPECT_EQ(qdma_reset_function(&pf), 0);
  EXPECT_TRUE(card.writes.empty());
}

/// The fake card's register resets nothing, so that this is what the contexts' own commands do.
TEST_F(FunctionReset, APfBeginsWithoutTheQueuesOfADriverBefore) {
  for (unsigned queue = 127; queue <= 192; ++queue)
    card.context(QDMA_SELECT_SW_C2H, queue)[1] = card.context(QDMA_SELECT_SW_H2C, queue)[1] = 1;
  card.context(QDMA_SELECT_FMAP, 2)[1] = 64;
  card.writes.clear();
  EXPECT_EQ(qdma_take_function(&pf, 128, 64), 0);
  for (unsigned queue = 128; queue < 192; ++queue)
    EXPECT_FALSE(is_live(QDMA_SELECT_SW_C2H, queue) || is_live(QDMA_SELECT_SW_H2C, queue)) << queue;
  for (const unsigned queue : {127U, 192U})
    EXPECT_TRUE(is_live(QDMA_SELECT_SW_C2H, queue) && is_live(QDMA_SELECT_SW_H2C, queue)) << "another's";
  EXPECT_EQ(card.context(QDMA_SELECT_FMAP, 2)[1], 0U);
  bool is_mapped = false, was_reset = false;
  for (const auto& [offset, value] : card.writes) {
    if (offset == map_of_pf_2) is_mapped = value == (128U | 64U << 12);
    if (offset != of_pf) continue;
    EXPECT_TRUE(is_mapped) << "the mailbox must know the queues by then";
    was_reset = true;
  }
  EXPECT_TRUE(was_reset);
  EXPECT_FALSE(is_mapped);
}

}  // namespace
