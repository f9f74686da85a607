// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/test_frames.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::uint64_t constant = 0x9E37'79B9'7F4A'7C15;
constexpr unsigned run_shift = 11;

template <typename Word>
void put(std::array<std::uint8_t, TestFrames::header_bytes>& header, std::size_t at, Word word, std::size_t bytes) {
  std::memcpy(header.data() + at, &word, bytes);
}

}  // namespace

void TestFrames::begin(unsigned run) {
  run_ = run;
  std::fill(made_.begin(), made_.end(), 0);
  std::fill(came_.begin(), came_.end(), 0);
  checked_ = 0;
}

void TestFrames::fill(std::span<std::uint8_t> frame, unsigned queue, std::uint64_t number, std::uint64_t stamp) const {
  const auto label = static_cast<std::uint16_t>(queue | run_ << run_shift);
  const std::uint64_t seed = number ^ std::rotl(stamp, 32) ^ std::uint64_t{label} << 48 ^ constant;
  for (std::size_t at = 0; at < frame.size(); at += 8) {
    const std::size_t word = at / 8;
    const std::uint64_t chunk = word / 8 & 0xffff;
    const std::uint64_t value = std::rotl(seed, static_cast<int>(7 * (word % 8))) ^ chunk * 0x0001'0001'0001'0001;
    std::memcpy(frame.data() + at, &value, std::min<std::size_t>(8, frame.size() - at));
  }
  std::array<std::uint8_t, header_bytes> header{};
  put(header, 0, destination, 6);
  put(header, 6, source, 6);
  put(header, 12, std::uint16_t{0xb588}, 2);  // EtherType 0x88b5
  put(header, 14, label, 2);
  put(header, 16, number, 8);
  put(header, 24, stamp, 8);
  put(header, 32, static_cast<std::uint16_t>(frame.size()), 2);
  std::copy_n(header.begin(), std::min<std::size_t>(header_bytes, frame.size()), frame.begin());
}

void TestFrames::make(unsigned queue, std::span<std::uint8_t> frame, std::uint64_t now_ps) {
  fill(frame, queue, made_[queue]++, (now_ps - zero_ps_) / period_ps);
}

void TestFrames::check(unsigned queue, std::span<const std::uint8_t> frame) {
  std::uint64_t stamp = 0;
  if (frame.size() >= header_bytes) std::memcpy(&stamp, frame.data() + 24, 8);
  wanted_.resize(frame.size());
  fill(wanted_, queue, came_[queue]++, stamp);
  // Of a stamp that is cut off nothing is known.
  const std::size_t known = frame.size() < header_bytes ? std::min<std::size_t>(24, frame.size()) : frame.size();
  if (!std::equal(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(known), frame.begin()))
    throw CheckError("a frame in host memory is not the next one that the self-test sent to queue " +
                     std::to_string(queue));
  ++checked_;
  stamp_ = stamp;
}

}  // namespace meridian
