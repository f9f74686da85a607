// SPDX-License-Identifier: Apache-2.0
#include "pcie/block_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

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
      if (wires.cq_valid == 0 || wires.cq_ready == 0) continue;
      packet.insert(packet.end(), wires.cq_data.begin(), wires.cq_data.begin() + std::popcount(wires.cq_keep));
      if (wires.cq_last != 0) packets.push_back(std::exchange(packet, {}));
    }
  }
  std::vector<std::uint32_t> packet;
  std::vector<std::vector<std::uint32_t>> packets;  // that the shell has taken
  struct Entry {
    unsigned function;
    std::uint64_t address;
    std::uint32_t data, mask;
  };
  /// What the shell gets written to its MSI-X tables.
  std::vector<Entry> table() {
    std::vector<Entry> entries;
    tick(150);
    for (const auto& words : std::exchange(packets, {}))
      for (std::size_t at = 4; at + 3 < words.size(); at += 4)
        entries.push_back(
            {words[3] >> 8 & 0xff, std::uint64_t{words[at + 1]} << 32 | words[at], words[at + 2], words[at + 3]});
    return entries;
  }
  /// The shell answers a read with what it was asked with.
  void answer(const pcie::AccessAnswer& given, int traffic_class = -1, int attributes = -1) {
    wires.cq_ready = 1;
    tick(100);
    pcie::AccessAnswer answer = given;
    for (const auto& words : packets)
      if (words.size() == 4 && (words[3] & 0xff) == given.tag) {
        answer.traffic_class = traffic_class < 0 ? words[3] >> 25 & 7 : static_cast<unsigned>(traffic_class);
        answer.attributes = attributes < 0 ? words[3] >> 28 & 7 : static_cast<unsigned>(attributes);
      }
    block.on_answer(answer);
  }
  /// The shell asks for something, which the block passes on at once.
  void ask(const pcie::Request& request) {
    block.on_taken(request);
    block.on_request(request);
  }
  /// The shell has done a function's reset.
  void done(unsigned function) {
    tick(pcie::Block::reset_delay + 2);
    if (function < 4)
      wires.flr_done = static_cast<std::uint8_t>(1U << function);
    else
      wires.vf_done = 1;
    wires.vf_done_number = static_cast<std::uint8_t>(function);
    tick();
    wires.flr_done = wires.vf_done = 0;
  }
  /// Words of the completions that come, and their descriptors' first double words.
  std::vector<std::uint32_t> completions() {
    std::vector<std::uint32_t> firsts;
    wires.rc_ready = 1;
    for (unsigned i = 0; i < 200; ++i, tick())
      if (wires.rc_valid != 0 && (wires.rc_user[1] & 1) != 0) firsts.push_back(wires.rc_data[0]);
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
  port.read(5, 2, 0x12, 2, keep);
  port.read(0, 2, 0x98, 8, keep);
  EXPECT_EQ(port.reads(), 3U);
  answer({1, true, {0xaaaa'bbbb}, 5, 0x12, 2});
  answer({0, true, {0x1fd3'0000}, 0, 0, 4});
  answer({2, true, {0x1111'1111, 0x2222'2222}, 0, 0x18, 8});
  EXPECT_EQ(values, (std::vector<std::uint64_t>{0xaaaa, 0x1fd3'0000, 0x2222'2222'1111'1111}));
  EXPECT_EQ(port.reads(), 0U);
}

TEST_F(BlockPortTest, AnswerThatIsNotTheReadsIsFound) {
  const auto nobody = [](meridian_link_status, std::uint64_t) { FAIL(); };
  for (std::uint8_t tag = 0; tag < 4; ++tag) port.read(5, 2, 0x10, 4, nobody);
  EXPECT_THROW(answer({9, true, {0}, 5, 0x10, 4}), CheckError);
  EXPECT_THROW(answer({0, true, {0}, 4, 0x10, 4}), CheckError);
  EXPECT_THROW(answer({1, true, {0}, 5, 0x14, 4}), CheckError);
  EXPECT_THROW(answer({2, true, {0}, 5, 0x10, 3}), CheckError);
  EXPECT_THROW(answer({3, true, {0, 0}, 5, 0x10, 4}), CheckError);
}

TEST_F(BlockPortTest, AnswerHasTheTrafficClassAndAttributesOfItsRead) {
  std::set<unsigned> classes, attributes;
  unsigned answers = 0;
  for (unsigned i = 0; i < 40; ++i) {
    port.read(5, 2, 0x10, 4, [&](meridian_link_status, std::uint64_t) { ++answers; });
    answer({static_cast<std::uint8_t>(i), true, {0}, 5, 0x10, 4});
    classes.insert(packets.back().at(3) >> 25 & 7);
    attributes.insert(packets.back().at(3) >> 28 & 7);
  }
  EXPECT_EQ(answers, 40U);
  EXPECT_EQ(classes.size(), 8U);
  EXPECT_EQ(attributes.size(), 8U);
  for (const bool is_class : {true, false}) {
    port.read(5, 2, 0x10, 4, [](meridian_link_status, std::uint64_t) { FAIL(); });
    const auto tag = static_cast<std::uint8_t>(is_class ? 40 : 41);
    EXPECT_THROW(answer({tag, true, {0}, 5, 0x10, 4}, is_class ? 8 : -1, is_class ? -1 : 8), CheckError);
  }
}

TEST_F(BlockPortTest, AnswerPushesWhatWasWrittenBefore) {
  QdmaSetting slow;
  slow.pcie.unlimited = false;
  pcie::Block other(wires.pins(), 1);
  BlockPort far(slow, other, memory);
  far.enable_function(0, true, 0);
  wires.cq_ready = 1;
  bool written = false, asked = false;
  for (unsigned i = 0; i < 200; ++i) {
    other.sample();
    far.tick(1);
    other.drive();
    if (i == 150) {
      other.on_request({true, 0, 0x1000, 4, 0, {1, 2, 3, 4}});
      EXPECT_TRUE(memory.events.empty());
      far.read(0, 0, 0, 4, [&](meridian_link_status, std::uint64_t) { written = !memory.events.empty(); });
    }
    if (i <= 150 || wires.cq_valid == 0 || asked) continue;
    asked = true;
    other.on_answer({0, true, {0}, 0, 0, 4, wires.cq_data[3] >> 25 & 7, wires.cq_data[3] >> 28 & 7});
  }
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
  answer({0, false, {}, 0, 0, 0});
  EXPECT_EQ(refused, 6U);
}

TEST_F(BlockPortTest, ReadOfMemoryComesInPartsThatEndAtBoundaries) {
  wires.cq_ready = 1;
  port.enable_function(0, true, 0);
  tick(150);
  std::size_t most = 0, least = 100;
  for (int i = 0; i < 40; ++i) {
    ask({false, 0, 0x10c0, 512, 9, {}});
    const std::vector<std::uint32_t> firsts = completions();
    std::uint32_t left = 512;
    for (const std::uint32_t first : firsts) {
      const std::uint32_t to_end = first >> 16 & 0x1fff, lower = first & 0xfff;
      EXPECT_LE(to_end, left);
      EXPECT_EQ(lower, (0x10c0 + 512 - to_end) & 0xfff);
      EXPECT_TRUE(to_end == 512 || lower % 64 == 0);
      EXPECT_EQ(first >> 30 & 1, first == firsts.back() ? 1U : 0U);
      left = to_end;
    }
    most = std::max(most, firsts.size());
    least = std::min(least, firsts.size());
  }
  EXPECT_EQ(least, 3U);  // 64, 256 and 192 bytes
  EXPECT_GT(most, 3U);
}

TEST_F(BlockPortTest, TagOfAReadIsUsedOnceAtATime) {
  memory.hold = true;
  wires.cq_ready = 1;
  port.enable_function(0, true, 0);
  tick(150);
  ask({false, 0, 0x1000, 64, 9, {}});
  EXPECT_THROW(ask({false, 0, 0x1000, 64, 9, {}}), CheckError);
  EXPECT_THROW(ask({false, 0, 0x1000, 64, 32, {}}), CheckError);
  tick();
  memory.answer_all();
  tick();
  EXPECT_THROW(ask({false, 0, 0x1000, 64, 9, {}}), CheckError) << "the shell has not taken the answer";
  EXPECT_EQ(completions().size(), 1U);
  ask({false, 0, 0x1000, 64, 9, {}});
}

/// The shell may have taken the answer before the block passes the second read on.
TEST_F(BlockPortTest, TagOfAReadThatTheShellHasNotTakenIsFoundWheneverTheReadPasses) {
  wires.cq_ready = 1;
  port.enable_function(0, true, 0);
  tick(150);
  const auto read = [this] {
    wires.show_request({0x1000, 0, 16, 9}, 0, 0xf | 0xf << 4);
    while (wires.rq_ready == 0) tick();
    tick();
    wires.rq_valid = 0;
  };
  for (int round = 0; round < 20; ++round) {
    wires.rc_ready = 0;
    read();
    while (wires.rc_valid == 0) tick();
    EXPECT_THROW(read(), CheckError);
    wires.rq_valid = 0;
    completions();
  }
}

TEST_F(BlockPortTest, ReadsThatMayBringMoreCompletionsThanThereIsRoomForAreFound) {
  memory.hold = true;
  wires.cq_ready = 1;
  port.enable_function(0, true, 0);
  tick(150);
  for (std::uint8_t tag = 0; tag < 15; ++tag) ask({false, 0, 0x200U * tag, 512, tag, {}});
  // 8 bytes, but in two blocks of 64; and then 5 blocks.
  ask({false, 0, 0x1003c, 8, 15, {}});
  ask({false, 0, 0x20000, 320, 16, {}});
  EXPECT_THROW(ask({false, 0, 0x30000, 4, 17, {}}), CheckError);
  tick();
  memory.answer_all();
  tick();
  // What has come takes a header for each packet, and not for each block any more.
  ask({false, 0, 0x30000, 4, 18, {}});
}

TEST_F(BlockPortTest, FunctionThatMayNotAccessMemoryIsUnsupported) {
  ask({false, 6, 0x1000, 64, 9, {}});
  ask({true, 6, 0x1000, 4, 0, {1, 2, 3, 4}});
  const std::vector<std::uint32_t> firsts = completions();
  ASSERT_EQ(firsts.size(), 1U);
  EXPECT_EQ(firsts[0] >> 12 & 0xf, 2U);
  EXPECT_TRUE(memory.events.empty());
}

TEST_F(BlockPortTest, RequestAboveTheSizesIsFound) {
  EXPECT_THROW(ask({true, 0, 0, 257, 0, Bytes(257)}), CheckError);
  EXPECT_THROW(ask({false, 0, 0, 513, 0, {}}), CheckError);
}

TEST_F(BlockPortTest, MessageOfTheTableIsAnInterruptOfItsFunctionAlone) {
  wires.cq_ready = 1;
  port.enable_function(5, true, 0);
  const auto of_5 = table(), of_1 = (port.enable_function(1, true, 0), table());
  ASSERT_EQ(of_5.size(), 16U);
  ASSERT_EQ(of_1.size(), 16U);
  EXPECT_EQ(of_5[3].function, 5U);
  EXPECT_EQ(of_5[3].mask, 0U);
  Bytes data(4);
  std::memcpy(data.data(), &of_5[3].data, 4);
  ask({true, 5, of_5[3].address, 4, 0, data});
  EXPECT_EQ((memory.interrupts[{5, 3}]), 1U);
  // Another function's, another value, and a longer one are no messages.
  ask({true, 1, of_5[3].address, 4, 0, data});
  ask({true, 5, of_5[3].address, 4, 0, Bytes(4)});
  ask({true, 5, of_5[3].address, 8, 0, Bytes(8)});
  ask({true, 5, of_1[3].address, 4, 0, data});
  EXPECT_EQ(memory.interrupts.size(), 1U);
  EXPECT_EQ((memory.interrupts[{5, 3}]), 1U);
}

TEST_F(BlockPortTest, EnableWithinAResetWaitsForItsEnd) {
  wires.cq_ready = 1;
  for (const unsigned reset : {4U, 0U}) {  // the VF's own, and its PF's
    port.reset_function(reset, {});
    port.enable_function(4, true, 0);
    EXPECT_TRUE(table().empty());
    EXPECT_EQ(wires.vf_status[0] & 3, 0U);
    done(reset);
    EXPECT_EQ(table().size(), 16U);
    EXPECT_EQ(wires.vf_status[0] & 3, 3U);
    EXPECT_EQ(wires.vf_msix[0], 1U);
    port.enable_function(4, false, 0);
    tick();
    EXPECT_EQ(wires.vf_status[0] & 3, 1U) << "VF Enable stays until its PF is reset";
    EXPECT_EQ(wires.vf_msix[0], 0U);
  }
}

TEST_F(BlockPortTest, EnablesRiseOneByOneInEitherOrder) {
  wires.cq_ready = 1;
  bool master_first = false, msix_first = false;
  for (unsigned round = 0; round < 40; ++round) {
    port.enable_function(4, true, 0);
    tick();
    EXPECT_EQ(wires.vf_status[0] & 3, 1U) << "VF Enable is the first";
    EXPECT_EQ(wires.vf_msix[0], 0U);
    for (unsigned i = 0; i < 150; ++i) {
      const bool master = (wires.vf_status[0] & 2) != 0, msix = wires.vf_msix[0] != 0;
      EXPECT_TRUE(!(master || msix) || block.accesses() == 0) << "the table is written before";
      master_first = master_first || (master && !msix);
      msix_first = msix_first || (msix && !master);
      tick();
    }
    EXPECT_EQ(wires.vf_status[0] & 3, 3U);
    EXPECT_EQ(wires.vf_msix[0], 1U);
    port.enable_function(4, false, 0);
    tick();
  }
  EXPECT_TRUE(master_first);
  EXPECT_TRUE(msix_first);
}

TEST_F(BlockPortTest, ResetOfAPfWritesTheTablesOfItsVfsAnew) {
  wires.cq_ready = 1;
  port.enable_function(6, true, 0);
  EXPECT_EQ(table().size(), 16U);
  port.reset_function(0, {});
  tick();
  EXPECT_EQ(wires.vf_status[0] >> 4 & 3, 0U) << "VF Enable is a bit of the PF";
  done(0);
  EXPECT_EQ(table().size(), 16U);
}

TEST_F(BlockPortTest, VfHasThePfThatTheShellWasMadeWith) {
  BlockPort spread({}, block, memory, {2, 0, 3, 1});
  EXPECT_FALSE(spread.parent(2));
  spread.set_functions(10);
  std::vector<unsigned> parents;
  for (unsigned vf = 4; vf < 10; ++vf) parents.push_back(spread.parent(vf).value_or(9));
  EXPECT_EQ(parents, (std::vector<unsigned>{0, 0, 2, 2, 2, 3}));
  EXPECT_FALSE(spread.parent(10));
  EXPECT_THROW(spread.set_functions(11), InputError);
  port.set_functions(8);
  EXPECT_EQ(port.parent(7), 0U);
  EXPECT_FALSE(port.parent(8)) << "there is no function 8";
}

TEST_F(BlockPortTest, ResetOfAPfLeavesTheVfsOfOthers) {
  BlockPort spread({}, block, memory, {2, 2, 0, 0});
  spread.set_functions(8);
  wires.cq_ready = 1;
  const auto run = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      block.sample();
      spread.tick(now += 4000);
      block.drive();
    }
  };
  for (const unsigned vf : {5U, 6U}) spread.enable_function(vf, true, *spread.parent(vf));
  run(300);
  EXPECT_EQ(wires.vf_status[0], 3U << 2 | 3U << 4);
  spread.enable_function(5, false, 0);
  spread.reset_function(0, {});
  spread.enable_function(7, true, 1);
  run(300);
  EXPECT_EQ(wires.flr, 1);
  EXPECT_EQ(wires.vf_status[0], 3U << 4 | 3U << 6) << "a VF of another PF is enabled meanwhile";
}

TEST_F(BlockPortTest, ResetPassesNoWrite) {
  port.write(1, 0, 0x844, 4, 1);
  port.reset_function(1, {});
  tick(60);
  EXPECT_EQ(wires.cq_valid, 1);
  EXPECT_EQ(wires.flr, 0) << "the write is still on its way";
  wires.cq_ready = 1;
  tick(pcie::Block::reset_delay + 40);
  EXPECT_EQ(wires.flr, 2);
}

TEST_F(BlockPortTest, WritesPassReadsThatHaveNoCredit) {
  wires.cq_np_req = 0;
  wires.cq_ready = 1;
  for (int i = 0; i < 3; ++i) port.read(0, 2, 0x10, 4, [](meridian_link_status, std::uint64_t) {});
  port.write(0, 2, 0x14, 4, 1);
  port.read(0, 2, 0x10, 4, [](meridian_link_status, std::uint64_t) {});
  port.write(0, 2, 0x18, 4, 1);
  tick(100);
  std::vector<std::uint32_t> places;
  for (const auto& words : std::exchange(packets, {})) places.push_back(words[0] & 0xff);
  EXPECT_EQ(places, (std::vector<std::uint32_t>{0x14, 0x18}));
  wires.cq_np_req = 1;
  tick(100);
  EXPECT_EQ(packets.size(), 4U);
}

TEST_F(BlockPortTest, ResetThatIsAskedForWithinOneIsAnotherBehindIt) {
  unsigned first = 0, second = 0;
  port.set_functions(8);
  port.reset_function(1, [&] { ++first; });
  tick();
  port.reset_function(1, [&] { ++second; });
  port.reset_function(1, [&] { ++second; });
  tick();
  done(1);
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(second, 0U);
  EXPECT_EQ(wires.flr, 0) << "the shell has to see that the first one has ended";
  tick(pcie::Block::reset_delay);
  EXPECT_EQ(wires.flr, 2);
  done(1);
  EXPECT_EQ(second, 2U);
  EXPECT_TRUE(port.idle());
  bool none = false;
  port.reset_function(8, [&] { none = true; });
  EXPECT_TRUE(none) << "there is no function 8";
}

TEST_F(BlockPortTest, DoorbellThatWaitsHasItsLastValue) {
  for (std::uint32_t value = 0; value < 1000; ++value)
    for (const std::uint32_t place : {0x18004U, 0x18008U}) port.doorbell(0, place, value);
  EXPECT_LE(port.pending(), 1U);
  port.write(0, 0, 0x844, 4, 7);
  port.doorbell(0, 0x18004, 1000);
  wires.cq_ready = 1;
  tick(100);
  std::vector<std::uint32_t> values;
  for (const auto& words : packets) values.push_back(words.at(4));
  EXPECT_EQ(values, (std::vector<std::uint32_t>{999, 999, 7, 1000}));
}

TEST_F(BlockPortTest, EnablesAndResetsThatWaitAreUnderWay) {
  port.write(0, 0, 0x844, 4, 7);  // is not taken
  for (unsigned i = 0; i < 20; ++i) port.enable_function(5, i % 2 == 0, 0);
  port.reset_function(1, {});
  tick(5);
  EXPECT_EQ(port.pending(), 22U);
  wires.cq_ready = 1;
  tick(4000);
  EXPECT_EQ(port.pending(), 0U);
}

TEST_F(BlockPortTest, SizesThatTheBlockDoesNotHaveAreRefused) {
  for (const auto& [payload, request] : {std::pair{300U, 512U}, {2048U, 4096U}, {256U, 600U}, {256U, 8192U}}) {
    QdmaSetting setting;
    setting.pcie.max_payload = payload;
    setting.pcie.max_read_request = request;
    setting.pcie.completion_bytes = 1 << 20;
    EXPECT_THROW(BlockPort(setting, block, memory), InputError) << payload << ' ' << request;
  }
}

TEST_F(BlockPortTest, ResetOfTheHostAnswersWhatIsOpen) {
  unsigned answers = 0;
  port.read(0, 2, 0, 4, [&](meridian_link_status status, std::uint64_t) { answers += status != MERIDIAN_LINK_OK; });
  port.reset_function(0, [&] { ++answers; });
  port.write(0, 2, 0, 4, 1);
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
