// SPDX-License-Identifier: Apache-2.0
#include "pcie/block.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/pcie_wires.hpp"

namespace meridian::pcie {
namespace {

struct BlockTest : testing::Test {
  PcieWires wires;
  Block block{wires.pins(), 5};

  void tick() {
    block.sample();
    block.drive();
  }
  /// Until the block takes requests in the next cycle.
  void ready_for_request() {
    for (int i = 0; i < 100 && wires.rq_ready == 0; ++i) tick();
    ASSERT_NE(wires.rq_ready, 0);
  }
};

TEST_F(BlockTest, AccessStandsUntilItIsTaken) {
  block.access({0, 0, 18, 0x10, 4, {}, 1});
  block.access({0, 0, 18, 0x14, 4, {}, 2});
  block.drive();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(wires.cq_valid, 1);
    EXPECT_EQ(wires.cq_data[3] & 0xff, 1U);
    tick();
  }
  wires.cq_ready = 1;
  tick();
  EXPECT_EQ(wires.cq_data[3] & 0xff, 2U);
  tick();
  EXPECT_EQ(wires.cq_valid, 0);
  EXPECT_TRUE(block.idle());
}

TEST_F(BlockTest, AnswerOfSeveralBeatsIsHandedOn) {
  std::vector<AccessAnswer> answers;
  block.on_answer = [&](const AccessAnswer& answer) { answers.push_back(answer); };
  const std::vector<std::uint32_t> packet = {0, 9 | 8 << 16, 0x21, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (std::size_t from = 0; from < packet.size(); from += 8) {
    while (wires.cc_ready == 0) tick();
    const std::size_t count = std::min<std::size_t>(8, packet.size() - from);
    std::copy_n(packet.begin() + static_cast<std::ptrdiff_t>(from), count, wires.cc_data.begin());
    wires.cc_keep = static_cast<std::uint8_t>((1U << count) - 1);
    wires.cc_last = from + count == packet.size();
    wires.cc_valid = 1;
    tick();
    wires.cc_valid = 0;
  }
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].tag, 0x21);
  EXPECT_EQ(answers[0].words.size(), 9U);
}

TEST_F(BlockTest, RequestIsHandedOnWhenItHasCome) {
  std::vector<Request> requests;
  block.on_request = [&](Request request) { requests.push_back(std::move(request)); };
  std::vector<std::uint32_t> words = {0x1000, 0, 6 | 1 << 11, 0, 1, 2, 3, 4, 5, 6};
  for (std::size_t from = 0; from < words.size(); from += 8) {
    ready_for_request();
    wires.show_request(words, from, from == 0 ? 0xff : 0);
    block.sample();
    EXPECT_EQ(requests.size(), from == 0 ? 0U : 1U);
    while (block.drive(), wires.rq_ready == 0) block.sample();
  }
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].data.size(), 24U);
}

TEST_F(BlockTest, GapWithinARequestIsFound) {
  ready_for_request();
  wires.show_request({0x1000, 0, 6 | 1 << 11, 0, 1, 2, 3, 4, 5, 6}, 0, 0xff);
  block.sample();
  wires.rq_valid = 0;
  EXPECT_THROW(block.sample(), CheckError);
}

TEST_F(BlockTest, HeldRequestsAreNotTaken) {
  block.hold_requests(true);
  for (int i = 0; i < 50; ++i) {
    tick();
    EXPECT_EQ(wires.rq_ready, 0);
  }
  block.hold_requests(false);
  ready_for_request();
}

TEST_F(BlockTest, SizesAndEnablesAreAsTheBlockHasThem) {
  block.set_sizes(256, 512);
  EXPECT_EQ(wires.max_payload, 1);
  EXPECT_EQ(wires.max_read, 2);
  block.set_enabled(1, true);
  block.set_enabled(4 + 17, true);
  block.set_msix(3, true);
  block.set_msix(4 + 33, true);
  EXPECT_EQ(wires.function_status, 4U << 4);
  EXPECT_EQ(wires.vf_status[1], 3U << 2);
  EXPECT_EQ(wires.msix, 8);
  EXPECT_EQ(wires.vf_msix[1], 2U);
  block.set_enabled(1, false);
  block.set_enabled(4 + 17, false);
  EXPECT_EQ(wires.function_status, 0);
  EXPECT_EQ(wires.vf_status[1], 0U);
}

TEST_F(BlockTest, ResetLastsUntilTheShellIsDone) {
  block.begin_reset(2);
  block.begin_reset(4 + 40);
  for (unsigned i = 1; i < Block::reset_delay; ++i) tick();
  EXPECT_EQ(wires.flr, 0);
  EXPECT_FALSE(block.idle());
  tick();
  EXPECT_EQ(wires.flr, 4);
  EXPECT_EQ(wires.vf_flr[1], 1U << 8);
  tick();
  EXPECT_FALSE(block.pop_reset());
  wires.vf_done = 1;
  wires.vf_done_number = 4 + 40;
  tick();
  EXPECT_EQ(block.pop_reset(), 44U);
  EXPECT_EQ(wires.vf_flr[1], 0U);
  wires.vf_done = 0;
  wires.flr_done = 4;
  tick();
  EXPECT_EQ(block.pop_reset(), 2U);
  EXPECT_EQ(wires.flr, 0);
  EXPECT_TRUE(block.idle());
}

TEST_F(BlockTest, ResetOfTheHostLeavesNothing) {
  block.access({0, 0, 18, 0x10, 4, {}, 1});
  block.complete({1, 0, 4, true, Bytes(4)});
  block.begin_reset(0);
  block.set_enabled(5, true);
  tick();
  block.reset();
  EXPECT_TRUE(block.idle());
  EXPECT_EQ(wires.cq_valid + wires.rc_valid + wires.flr, 0);
  EXPECT_EQ(wires.vf_status[0], 0U);
}

}  // namespace
}  // namespace meridian::pcie
