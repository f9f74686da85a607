// SPDX-License-Identifier: Apache-2.0
#include "pcie/block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

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
  /// Until the block shows an access.
  void show_access() {
    for (int i = 0; i < 100 && wires.cq_valid == 0; ++i) tick();
    ASSERT_EQ(wires.cq_valid, 1);
  }
  /// Tags of the reads that the shell takes in so many cycles.
  std::vector<unsigned> reads(unsigned cycles) {
    std::vector<unsigned> tags;
    wires.cq_ready = 1;
    for (unsigned i = 0; i < cycles; ++i, tick())
      if (wires.cq_valid != 0 && (wires.cq_data[2] >> 11 & 0xf) == 0) tags.push_back(wires.cq_data[3] & 0xff);
    return tags;
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
  show_access();
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(wires.cq_valid, 1);
    EXPECT_EQ(wires.cq_data[3] & 0xff, 1U);
    tick();
  }
  EXPECT_EQ(reads(40), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(wires.cq_valid, 0);
  EXPECT_TRUE(block.idle());
}

TEST_F(BlockTest, AccessesAndCompletionsHaveGaps) {
  wires.cq_ready = wires.rc_ready = 1;
  block.complete({1, 0, 4096, true, Bytes(4096)});
  block.access({0, 0, 18, 0x0, 0, Bytes(4096), 0});
  unsigned of_access = 0, of_completion = 0, beats = 0;
  for (; !block.idle(); ++beats) {
    tick();
    of_access += wires.cq_valid == 0 && block.accesses() != 0;
    of_completion += wires.rc_valid == 0 && block.completes(1);
  }
  EXPECT_GT(of_access, 2U);
  EXPECT_GT(of_completion, 2U);
  EXPECT_LT(beats, 200U);
}

TEST_F(BlockTest, SteadyBlockHasNoGaps) {
  block.set_steady();
  wires.cq_ready = wires.rc_ready = 1;
  block.complete({1, 0, 4096, true, Bytes(4096)});
  block.access({0, 0, 18, 0x0, 0, Bytes(4096), 0});
  tick();
  for (; !block.idle(); tick()) {
    EXPECT_TRUE(wires.cq_valid != 0 || block.accesses() == 0);
    EXPECT_TRUE(wires.rc_valid != 0 || !block.completes(1));
  }
}

TEST_F(BlockTest, ReadNeedsACreditAndAWriteDoesNot) {
  wires.cq_np_req = 0;
  block.access({0, 0, 18, 0x10, 4, {}, 1});
  block.access({0, 0, 18, 0x14, 4, {}, 2});
  block.access({0, 0, 18, 0x18, 0, {1, 2, 3, 4}, 0});
  EXPECT_TRUE(block.writes());
  EXPECT_TRUE(reads(60).empty());
  EXPECT_FALSE(block.writes()) << "the write has passed the reads";
  EXPECT_EQ(block.accesses(), 2U);
  wires.cq_np_req = 1;
  tick();
  wires.cq_np_req = 0;
  EXPECT_EQ(reads(60), (std::vector<unsigned>{1}));
  EXPECT_EQ(block.accesses(), 1U);
}

TEST_F(BlockTest, AccessesKeepTheirOrderWhileThereAreCredits) {
  block.access({0, 0, 18, 0x10, 4, {}, 1});
  block.access({0, 0, 18, 0x18, 0, {1, 2, 3, 4}, 0});
  block.access({0, 0, 18, 0x14, 4, {}, 2});
  wires.cq_ready = 1;
  std::vector<unsigned> places;
  for (int i = 0; i < 60; ++i) {
    tick();
    if (wires.cq_valid != 0) places.push_back(wires.cq_data[0] & 0xff);
  }
  EXPECT_EQ(places, (std::vector<unsigned>{0x10, 0x18, 0x14}));
}

TEST_F(BlockTest, CreditsAreThirtyTwoAtMost) {
  for (int i = 0; i < 100; ++i) tick();
  wires.cq_np_req = 0;
  for (std::uint8_t tag = 0; tag < 40; ++tag) block.access({0, 0, 18, 0x10, 4, {}, tag});
  EXPECT_EQ(reads(400).size(), AccessQueue::most_credits);
}

TEST_F(BlockTest, CompletionsOfSeveralReadsAreMixed) {
  wires.rc_ready = 1;
  bool other_order = false, between = false;
  for (int round = 0; round < 20; ++round) {
    for (const std::uint8_t tag : {std::uint8_t{7}, std::uint8_t{3}})
      for (std::uint32_t part = 0; part < 4; ++part)
        block.complete({tag, 64 * std::uint64_t{part}, 256 - 64 * part, true, Bytes(64, tag)});
    std::vector<unsigned> tags;
    std::array<std::uint32_t, 8> next{};
    while (!block.idle()) {
      tick();
      if (wires.rc_valid == 0 || (wires.rc_user[1] & 1) == 0) continue;
      tags.push_back(wires.rc_data[2] & 0xff);
      EXPECT_EQ(wires.rc_data[0] & 0xfff, 64 * next.at(tags.back())++) << "parts of a read keep their order";
    }
    ASSERT_EQ(tags.size(), 8U);
    other_order = other_order || tags.back() == 7;
    between = between || (tags[0] != tags[1] && tags[1] != tags[2]);
  }
  EXPECT_TRUE(other_order);
  EXPECT_TRUE(between);
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
  block.set_steady();
  std::vector<std::uint32_t> words = {0x1000, 0, 6 | 1 << 11, 0, 1, 2, 3, 4, 5, 6};
  for (std::size_t from = 0; from < words.size(); from += 8) {
    ready_for_request();
    wires.show_request(words, from, from == 0 ? 0xff : 0);
    tick();
    EXPECT_EQ(requests.size(), from == 0 ? 0U : 1U);
  }
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].data.size(), 24U);
}

TEST_F(BlockTest, RequestStaysWithinTheBlockUntilItsNumberIsTold) {
  std::vector<unsigned> given, told, passed;
  std::vector<std::uint64_t> stays;
  std::deque<std::uint64_t> begun;
  std::uint64_t now = 0;
  bool two = false;
  block.on_request = [&](const Request& request) {
    passed.push_back(request.tag);
    stays.push_back(now - begun.front());
    begun.pop_front();
  };
  for (unsigned tag = 0; tag < 200 || !block.idle(); ++now) {
    const bool is_taken = wires.rq_valid != 0 && wires.rq_ready != 0;
    block.sample();
    if (is_taken) begun.push_back(now);
    block.drive();
    for (const auto& [valid, number] :
         {std::pair{wires.has_number0, wires.number0}, {wires.has_number1, wires.number1}})
      if (valid != 0) told.push_back(number);
    EXPECT_EQ(told.size(), passed.size()) << "what passes is told at once";
    two = two || (wires.has_number0 != 0 && wires.has_number1 != 0);
    if (wires.rq_valid != 0 && !is_taken) continue;
    wires.rq_valid = 0;
    if (tag == 200) continue;
    given.push_back(tag % 63);
    wires.show_request({0x1000, 0, 4, tag++}, 0,
                       0xf | 0xfU << 4 | (given.back() & 15) << 24 | std::uint64_t{given.back() >> 4} << 60);
  }
  EXPECT_EQ(told, given);
  EXPECT_TRUE(std::is_sorted(passed.begin(), passed.end()));
  EXPECT_TRUE(two);
  EXPECT_GT(*std::max_element(stays.begin(), stays.end()), 20U);
  EXPECT_LT(*std::min_element(stays.begin(), stays.end()), 8U);
}

TEST_F(BlockTest, RequestStaysWithinTheBlockWhileTheLinkTakesNone) {
  unsigned passed = 0;
  block.on_request = [&](const Request&) { ++passed; };
  for (unsigned round = 1; round <= 20; ++round) {
    ready_for_request();
    wires.show_request({0x1000, 0, 1 | 1 << 11, 0, 1}, 0, 0xf);
    block.hold_requests(true);
    block.sample();
    wires.rq_valid = 0;
    block.drive();
    for (int i = 0; i < 200; ++i) tick();
    EXPECT_EQ(passed, round - 1);
    EXPECT_EQ(block.waits_for(), "a request on its way to the link");
    block.hold_requests(false);
    for (int i = 0; i < 100; ++i) tick();
    EXPECT_EQ(passed, round);
  }
}

TEST_F(BlockTest, ResetEndsBehindTheRequestsBeforeIt) {
  unsigned passed = 0;
  block.on_request = [&](const Request&) { ++passed; };
  for (int round = 0; round < 20; ++round) {
    block.begin_reset(1);
    while (wires.flr == 0) tick();
    ready_for_request();
    wires.show_request({0x1000, 0, 1 | 1 << 11, 0, 1}, 0, 0xf);
    wires.flr_done = 2;
    tick();
    wires.rq_valid = wires.flr_done = 0;
    while (!block.pop_reset()) {
      EXPECT_FALSE(block.idle());
      tick();
    }
    EXPECT_EQ(passed, static_cast<unsigned>(round) + 1);
  }
}

/// PCIe lets no completion pass a write, so a shell that takes no write until a read has come would wait for ever.
TEST_F(BlockTest, CompletionWaitsForTheWritesBeforeIt) {
  const auto comes = [&] {
    for (int i = 0; i < 200 && wires.rc_valid == 0; ++i) tick();
    return wires.rc_valid != 0;
  };
  wires.rc_ready = 1;
  block.complete({1, 0, 4, true, {1, 2, 3, 4}});
  block.access({0, 0, 18, 0x10, 4, {1, 2, 3, 4}});
  EXPECT_TRUE(comes()) << "the write is behind it";
  tick();
  block.access({0, 0, 18, 0x10, 4, {}, 1});
  block.access({0, 0, 18, 0x14, 4, {5, 6, 7, 8}});
  block.complete({2, 0, 4, true, {1, 2, 3, 4}});
  EXPECT_FALSE(comes());
  wires.cq_ready = 1;
  EXPECT_TRUE(comes());
  EXPECT_EQ(block.accesses(), 0U);
}

TEST_F(BlockTest, GapWithinARequestIsFound) {
  ready_for_request();
  wires.show_request({0x1000, 0, 6 | 1 << 11, 0, 1, 2, 3, 4, 5, 6}, 0, 0xff);
  block.sample();
  wires.rq_valid = 0;
  EXPECT_THROW(block.sample(), CheckError);
}

TEST_F(BlockTest, BeatThatChangesBeforeItIsTakenIsFound) {
  const std::vector<std::uint32_t> words = {0x1000, 0, 1 | 1 << 11, 0, 1};
  const auto waits = [&] {
    block.reset();
    wires.show_request(words, 0, 0xf);
    block.sample();  // is not ready
  };
  waits();
  block.sample();
  wires.rq_data[4] = 2;
  EXPECT_THROW(block.sample(), CheckError);
  waits();
  wires.rq_user = 0x1;
  EXPECT_THROW(block.sample(), CheckError);
  waits();
  wires.rq_valid = 0;
  EXPECT_THROW(block.sample(), CheckError);
  block.reset();
  wires.cc_valid = 1;
  block.sample();
  wires.cc_keep = 0x7;
  EXPECT_THROW(block.sample(), CheckError);
  block.reset();
  wires.cc_valid = 1;
  block.sample();
  wires.cc_valid = 0;
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
  block.set_master(1, true);
  block.set_master(4 + 17, true);
  block.set_msix(3, true);
  block.set_msix(4 + 33, true);
  EXPECT_EQ(wires.function_status, 4U << 4);
  EXPECT_EQ(wires.vf_status[1], 2U << 2) << "bus master alone";
  block.set_vf_enable(4 + 17, true);
  EXPECT_EQ(wires.vf_status[1], 3U << 2);
  EXPECT_EQ(wires.msix, 8);
  EXPECT_EQ(wires.vf_msix[1], 2U);
  block.set_master(1, false);
  block.set_master(4 + 17, false);
  EXPECT_EQ(wires.function_status, 0);
  EXPECT_EQ(wires.vf_status[1], 1U << 2) << "VF Enable stays";
  block.set_vf_enable(4 + 17, false);
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
  block.set_vf_enable(5, true);
  block.set_master(5, true);
  tick();
  block.reset();
  EXPECT_TRUE(block.idle());
  EXPECT_EQ(wires.cq_valid + wires.rc_valid + wires.flr, 0);
  EXPECT_EQ(wires.vf_status[0], 0U);
}

}  // namespace
}  // namespace meridian::pcie
