// SPDX-License-Identifier: Apache-2.0
#include "pcie/block_port.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "base/error.hpp"
#include "support/pcie_wires.hpp"
#include "support/test_memory.hpp"

namespace meridian {
namespace {

/// The test plays the shell by the callbacks of the block.
struct BlockPortTest : testing::Test {
  PcieWires wires;
  TestMemory memory;
  pcie::Block block{wires.pins(), 1};
  BlockPort port{{}, block, memory};
  std::uint64_t now = 0;

  void tick(unsigned count = 1) {
    for (unsigned i = 0; i < count; ++i) {
      block.sample();
      port.tick(now += 4000);
      block.drive();
    }
  }
  /// Words of the completions that come, and their descriptors' first double words.
  std::vector<std::uint32_t> completions() {
    std::vector<std::uint32_t> firsts;
    wires.rc_ready = 1;
    for (unsigned i = 0; i < 200; ++i) {
      tick();
      if (wires.rc_valid != 0 && (wires.rc_user[1] & 1) != 0) firsts.push_back(wires.rc_data[0]);
    }
    return firsts;
  }
};

TEST_F(BlockPortTest, ReadOfARegisterIsAnsweredByItsTag) {
  std::vector<std::uint64_t> values;
  const auto keep = [&](meridian_link_status status, std::uint64_t value) {
    EXPECT_EQ(status, MERIDIAN_LINK_OK);
    values.push_back(value);
  };
  port.read(0, 0, 0x0, 4, keep);
  port.read(0, 2, 0x12, 2, keep);
  port.read(0, 2, 0x18, 8, keep);
  EXPECT_EQ(port.reads(), 3U);
  block.on_answer({1, true, {0xaaaa'bbbb}});
  block.on_answer({0, true, {0x1fd3'0000}});
  block.on_answer({2, true, {0x1111'1111, 0x2222'2222}});
  EXPECT_EQ(values, (std::vector<std::uint64_t>{0xaaaa, 0x1fd3'0000, 0x2222'2222'1111'1111}));
  EXPECT_EQ(port.reads(), 0U);
  EXPECT_THROW(block.on_answer({1, true, {0}}), CheckError);
}

TEST_F(BlockPortTest, AnswerPushesWhatWasWrittenBefore) {
  QdmaSetting slow;
  slow.pcie.unlimited = false;
  BlockPort far(slow, block, memory);
  far.enable_function(0, true, 0);
  block.on_request({true, 0, 0x1000, 4, 0, {1, 2, 3, 4}});
  EXPECT_TRUE(memory.events.empty());
  bool written = false;
  far.read(0, 0, 0, 4, [&](meridian_link_status, std::uint64_t) { written = !memory.events.empty(); });
  block.on_answer({0, true, {0}});
  EXPECT_TRUE(written);
}

TEST_F(BlockPortTest, WhatIsNotThereIsUnsupported) {
  unsigned refused = 0;
  const auto keep = [&](meridian_link_status status, std::uint64_t value) {
    refused += status == MERIDIAN_LINK_UNSUPPORTED && (value & 0xff) == 0xff;
  };
  port.read(0, 1, 0, 4, keep);
  port.read(0, 0, 0, 8, keep);
  port.read(0, 2, 2, 4, keep);
  port.read(4, 2, 0x1000, 4, keep);
  port.read(0, 0, 0x40000, 4, keep);
  EXPECT_EQ(refused, 5U);
  port.write(0, 0, 0x2, 2, 0);
  EXPECT_EQ(port.pending(), 0U);
  port.read(0, 2, 0, 4, keep);
  block.on_answer({0, false, {}});
  EXPECT_EQ(refused, 6U);
}

TEST_F(BlockPortTest, ReadOfMemoryComesInPartsOfThePayloadSize) {
  port.enable_function(0, true, 0);
  block.on_request({false, 0, 0x10c0, 512, 9, {}});
  const std::vector<std::uint32_t> firsts = completions();
  ASSERT_EQ(firsts.size(), 3U);
  EXPECT_EQ(firsts[0], 0x0c0U | 512U << 16);
  EXPECT_EQ(firsts[1], 0x100U | 448U << 16);
  EXPECT_EQ(firsts[2], 0x200U | 192U << 16 | 1U << 30);
}

TEST_F(BlockPortTest, FunctionThatMayNotAccessMemoryIsUnsupported) {
  block.on_request({false, 6, 0x1000, 64, 9, {}});
  block.on_request({true, 6, 0x1000, 4, 0, {1, 2, 3, 4}});
  const std::vector<std::uint32_t> firsts = completions();
  ASSERT_EQ(firsts.size(), 1U);
  EXPECT_EQ(firsts[0] >> 12 & 0xf, 2U);
  EXPECT_TRUE(memory.events.empty());
}

TEST_F(BlockPortTest, RequestAboveTheSizesIsFound) {
  EXPECT_THROW(block.on_request({true, 0, 0, 257, 0, Bytes(257)}), CheckError);
  EXPECT_THROW(block.on_request({false, 0, 0, 513, 0, {}}), CheckError);
}

TEST_F(BlockPortTest, MessageOfTheTableIsAnInterruptOfItsFunction) {
  port.enable_function(5, true, 0);
  // The table as the shell gets it: 64 double words, of which the first two of vector 3 are its address.
  std::vector<std::uint32_t> table;
  wires.cq_ready = 1;
  for (unsigned i = 0; i < 20; ++i) {
    tick();
    if (wires.cq_valid != 0) table.insert(table.end(), wires.cq_data.begin(), wires.cq_data.end());
  }
  ASSERT_GE(table.size(), 68U);
  EXPECT_EQ(table[3] >> 8 & 0xff, 5U);
  EXPECT_EQ(table[0] & 0x7fff, 0x4000U);
  const std::uint64_t address = std::uint64_t{table[4 + 13]} << 32 | table[4 + 12];
  EXPECT_EQ(table[4 + 15], 0U) << "the vector is masked";
  block.on_request({true, 5, address, 4, 0, Bytes(4)});
  EXPECT_EQ((memory.interrupts[{5, 3}]), 1U);
  EXPECT_EQ(memory.interrupts.size(), 1U);
}

TEST_F(BlockPortTest, ResetIsDoneForAllWhoAskedForIt) {
  unsigned done = 0;
  port.set_functions(8);
  port.reset_function(1, [&] { ++done; });
  port.reset_function(1, [&] { ++done; });
  port.reset_function(8, [&] { done += 10; });
  tick(3);
  EXPECT_EQ(done, 10U);
  wires.flr_done = 2;
  tick(2);
  EXPECT_EQ(done, 12U);
  EXPECT_TRUE(port.idle());
}

TEST_F(BlockPortTest, ResetOfTheHostAnswersWhatIsOpen) {
  unsigned answers = 0;
  port.read(0, 2, 0, 4, [&](meridian_link_status status, std::uint64_t) { answers += status != MERIDIAN_LINK_OK; });
  port.reset_function(0, [&] { ++answers; });
  port.reset();
  EXPECT_EQ(answers, 2U);
  EXPECT_TRUE(port.idle());
  EXPECT_EQ(port.pending(), 0U);
}

TEST_F(BlockPortTest, ResetThatLeavesTheQueuesIsRefused) {
  QdmaSetting setting;
  setting.reset = PcieReset::link;
  EXPECT_THROW(BlockPort(setting, block, memory), InputError);
}

}  // namespace
}  // namespace meridian
