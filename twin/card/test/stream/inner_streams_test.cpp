// SPDX-License-Identifier: Apache-2.0
#include "stream/inner_streams.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace meridian {
namespace {

struct Seen {
  bool to_host;
  std::uint64_t time_ps;
  Bytes bytes;
  bool operator==(const Seen&) const = default;
};

struct InnerStreamsTest : testing::Test {
  std::array<std::uint32_t, 8> h2c_data{}, c2h_data{};
  std::uint8_t h2c_mty = 0, h2c_zero = 0, h2c_last = 0, h2c_valid = 0, h2c_ready = 1;
  std::uint8_t c2h_mty = 0, c2h_last = 0, c2h_valid = 0, c2h_ready = 1, entry_valid = 0, entry_ready = 1;
  InnerStreams streams{{h2c_data, h2c_mty, h2c_zero, h2c_last, h2c_valid, h2c_ready, c2h_data, c2h_mty, c2h_last,
                        c2h_valid, c2h_ready, entry_valid, entry_ready}};
  std::vector<Seen> seen;
  std::uint64_t now_ps = 0;

  void watch() {
    streams.set_tap(
        [this](bool to_host, std::uint64_t at, const Bytes& frame) { seen.push_back({to_host, at, frame}); });
  }
  void tick() { streams.sample(now_ps += 4000); }
  static Bytes frame(std::size_t length) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(i + 1);
    return bytes;
  }
  void show(const Bytes& bytes, std::size_t offset, bool to_host) {
    const std::size_t left = bytes.size() - offset, count = std::min<std::size_t>(left, 32);
    const bool last = left <= 32;
    const auto mty = static_cast<std::uint8_t>(last ? 32 - count : 0);
    auto& data = to_host ? c2h_data : h2c_data;
    data.fill(0xdeadbeef);
    std::memcpy(data.data(), bytes.data() + offset, count);
    (to_host ? c2h_mty : h2c_mty) = mty;
    (to_host ? c2h_last : h2c_last) = last;
    (to_host ? c2h_valid : h2c_valid) = 1;
  }
  void pass(const Bytes& bytes, bool to_host) {
    for (std::size_t offset = 0; offset < bytes.size(); offset += 32) {
      show(bytes, offset, to_host);
      tick();
    }
    c2h_valid = h2c_valid = 0;
  }
  void pass_completion() {
    entry_valid = 1;
    tick();
    entry_valid = 0;
  }
};

TEST_F(InnerStreamsTest, FramesToTheHostAreThereWithTheirCompletion) {
  watch();
  entry_valid = 1;
  entry_ready = 0;
  tick();  // not taken
  entry_valid = 0;
  entry_ready = 1;
  pass(frame(70), true);
  EXPECT_TRUE(seen.empty());
  tick();
  pass_completion();
  EXPECT_EQ(seen, (std::vector<Seen>{{true, now_ps, frame(70)}}));
  pass_completion();  // that of the next comes first
  pass(frame(64), true);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1], (Seen{true, now_ps, frame(64)}));
}

TEST_F(InnerStreamsTest, FramesFromTheHostHaveTheTimeOfTheirFirstBeat) {
  watch();
  h2c_ready = 0;
  show(frame(33), 0, false);
  tick();
  const std::uint64_t first_ps = now_ps;
  tick();
  h2c_ready = 1;
  pass(frame(33), false);
  h2c_valid = h2c_zero = h2c_last = 1;  // a frame of no bytes
  tick();
  EXPECT_EQ(seen, (std::vector<Seen>{{false, first_ps, frame(33)}, {false, now_ps, {}}}));
}

TEST_F(InnerStreamsTest, OfAFrameThatHasBegunNothingIsTold) {
  show(frame(64), 0, true);
  show(frame(64), 0, false);
  tick();
  watch();
  show(frame(64), 32, true);
  show(frame(64), 32, false);
  tick();
  c2h_valid = h2c_valid = 0;
  pass_completion();
  EXPECT_TRUE(seen.empty());
  pass(frame(40), true);
  pass_completion();
  EXPECT_EQ(seen, (std::vector<Seen>{{true, now_ps, frame(40)}}));
}

TEST_F(InnerStreamsTest, AResetForgetsWhatIsUnderWay) {
  watch();
  pass(frame(40), true);  // waits for its completion
  show(frame(64), 0, true);
  show(frame(64), 0, false);
  tick();
  c2h_valid = h2c_valid = 0;
  streams.reset();
  pass(frame(50), true);
  pass_completion();
  const std::uint64_t whole_ps = now_ps;
  pass(frame(20), false);
  EXPECT_EQ(seen, (std::vector<Seen>{{true, whole_ps, frame(50)}, {false, now_ps, frame(20)}}));
}

}  // namespace
}  // namespace meridian
