// SPDX-License-Identifier: Apache-2.0
#include "pcie/packet.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"

namespace meridian::pcie {
namespace {

std::uint64_t user(const Beat& beat) {
  return std::uint64_t{beat.user[1]} << 32 | beat.user[0];
}

TEST(PciePacket, ReadOfADoubleWordNamesFunctionBarAndTag) {
  const auto beats = encode(Access{37, 2, 12, 0x104, 4, {}, 0xa5});
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_EQ(beats[0].keep, 0xf);
  EXPECT_TRUE(beats[0].last);
  EXPECT_EQ(beats[0].data[0] & 0xfff, 0x104U);
  EXPECT_EQ(beats[0].data[2] & 0x7fff, 1U);
  EXPECT_EQ(beats[0].data[3], 0xa5U | 37U << 8 | 2U << 16 | 12U << 19);
  EXPECT_EQ(user(beats[0]), 0xfU | std::uint64_t{1} << 40);
}

TEST(PciePacket, TrafficClassAndAttributesAreTheAnswersToo) {
  const auto beats = encode(Access{37, 2, 12, 0x104, 4, {}, 0xa5, 5, 3});
  EXPECT_EQ(beats[0].data[3] >> 25, 5U | 3U << 3);
  const std::vector<std::uint32_t> packet = {4 << 16 | 0x14, 1 | 8 << 16, 0x42 | 9 << 8 | 5 << 25 | 3 << 28, 0xcafe};
  EXPECT_EQ(decode_answer(packet).traffic_class, 5U);
  EXPECT_EQ(decode_answer(packet).attributes, 3U);
}

TEST(PciePacket, ReadOfBytesEnablesThem) {
  EXPECT_EQ(user(encode(Access{0, 2, 22, 0x13, 1, {}, 0})[0]) & 0xff, 0x08U);
  EXPECT_EQ(user(encode(Access{0, 2, 22, 0x12, 2, {}, 0})[0]) & 0xff, 0x0cU);
  EXPECT_EQ(user(encode(Access{0, 2, 22, 0x10, 8, {}, 0})[0]) & 0xff, 0xffU);
  EXPECT_EQ(encode(Access{0, 2, 22, 0x10, 8, {}, 0})[0].data[2] & 0x7ff, 2U);
}

TEST(PciePacket, WriteHasItsBytesBehindTheDescriptor) {
  const Access access{4, 0, 15, 0x32, 0, {0x11, 0x22}, 0};
  const auto beats = encode(access);
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_EQ(beats[0].data[4], 0x2211'0000U);
  EXPECT_EQ(beats[0].data[2] & 0x7fff, 1U | 1U << 11);
  EXPECT_EQ(user(beats[0]) & 0xff, 0x0cU);
  EXPECT_EQ(user(beats[0]) >> 8 & 0xffff'ffff, 0xc'0000U);
}

TEST(PciePacket, LongWriteFillsItsBeats) {
  Access access{0, 0, 18, 0x30000, 0, Bytes(256, 0x5a), 0};
  const auto beats = encode(access);
  ASSERT_EQ(beats.size(), 9U);  // 4 and 64 double words
  for (std::size_t i = 0; i < 8; ++i) EXPECT_FALSE(beats[i].last);
  EXPECT_EQ(beats[8].keep, 0xf);
  EXPECT_EQ(user(beats[1]) >> 8 & 0xffff'ffff, 0xffff'ffffU);
  EXPECT_EQ(user(beats[8]) >> 8 & 0xffff'ffff, 0xffffU);
}

/// A write of 8 bytes at 0x1002.
std::vector<std::uint32_t> write_of_8() {
  return {0x1000, 7, 3 | 1 << 11 | 9 << 16, 0, 0x2211'0000, 0x6655'4433, 0x0000'8877};
}

TEST(PciePacket, RequestHasTheBytesThatAreEnabled) {
  const Request request = decode_request(write_of_8(), 0x3c);
  EXPECT_TRUE(request.write);
  EXPECT_EQ(request.function, 9U);
  EXPECT_EQ(request.address, 0x7'0000'1002U);
  EXPECT_EQ(request.data, (Bytes{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}));
  const std::vector<std::uint32_t> read = {0x2000, 0, 128 | 4 << 16, 21};
  const Request asked = decode_request(read, 0xff);
  EXPECT_FALSE(asked.write);
  EXPECT_EQ(asked.bytes, 512U);
  EXPECT_EQ(asked.tag, 21);
}

TEST(PciePacket, RequestThatBreaksARuleIsFound) {
  using Words = std::vector<std::uint32_t>;
  const auto refuses = [](const std::function<void(Words&)>& change, std::uint64_t enables = 0x3c) {
    Words words = write_of_8();
    change(words);
    EXPECT_THROW(decode_request(words, enables), CheckError);
  };
  refuses([](Words& w) { w.resize(3); });
  refuses([](Words& w) { w.pop_back(); });
  refuses([](Words& w) { w[0] |= 1; });
  refuses([](Words& w) { w[0] = 0xffc; });
  refuses([](Words& w) { w[2] |= 2 << 11; });
  for (const std::uint64_t enables : {0x30U, 0x0cU, 0x5cU, 0x36U, 0x6cU}) refuses([](Words&) {}, enables);
  const Words read_with_data = {0x2000, 0, 1, 0, 5};
  EXPECT_THROW(decode_request(read_with_data, 0xf), CheckError);
}

TEST(PciePacket, CompletionTellsWhatIsLeft) {
  const auto part = encode(Completion{3, 0x1ffe, 100, true, Bytes(2, 0xee)});
  ASSERT_EQ(part.size(), 1U);
  EXPECT_EQ(part[0].data[0], 0xffeU | 100U << 16);
  EXPECT_EQ(part[0].data[1], 1U);
  EXPECT_EQ(part[0].data[3], 0xeeee'0000U);
  EXPECT_EQ(user(part[0]) >> 32, 1U | 1U << 2 | 3U << 3);
  const auto end = encode(Completion{3, 0x2000, 64, true, Bytes(64, 1)});
  ASSERT_EQ(end.size(), 3U);
  EXPECT_NE(end[0].data[0] >> 30 & 1, 0U);
  EXPECT_EQ(user(end[0]) >> 32, 1U);
  EXPECT_EQ(user(end[2]) >> 32, 1U << 2 | 2U << 3);
}

TEST(PciePacket, UnsupportedCompletionHasNoData) {
  const auto beats = encode(Completion{7, 0x40, 256, false, {}});
  ASSERT_EQ(beats.size(), 1U);
  EXPECT_EQ(beats[0].keep, 7);
  EXPECT_EQ(beats[0].data[0] >> 12 & 0xf, 2U);
  EXPECT_NE(beats[0].data[0] >> 30 & 1, 0U);
  EXPECT_EQ(beats[0].data[1], 1U << 11);
}

TEST(PciePacket, AnswerHasTheWordsThatItSays) {
  const std::vector<std::uint32_t> good = {4 << 16 | 0x14, 1 | 8 << 16, 0x42 | 9 << 8, 0xcafe},
                                   refused = {0, 1 << 11 | 8 << 16, 0x43, 1, 2, 3, 4};
  EXPECT_TRUE(decode_answer(good).ok);
  EXPECT_EQ(decode_answer(good).words, std::vector<std::uint32_t>{0xcafe});
  EXPECT_FALSE(decode_answer(refused).ok);
  EXPECT_EQ(decode_answer(refused).tag, 0x43);
  EXPECT_EQ(decode_answer(good).function, 9U);
  EXPECT_EQ(decode_answer(good).lower, 0x14U);
  EXPECT_EQ(decode_answer(good).bytes, 4U);
  const std::vector<std::uint32_t> short_one = {8 << 16, 2 | 8 << 16, 0x42, 0xcafe}, cut = {0, 0},
                                   strange = {4 << 16, 1 | 9 << 16, 0x42, 0xcafe};
  EXPECT_THROW(decode_answer(strange), CheckError);
  EXPECT_THROW(decode_answer(short_one), CheckError);
  EXPECT_THROW(decode_answer(cut), CheckError);
}

}  // namespace
}  // namespace meridian::pcie
