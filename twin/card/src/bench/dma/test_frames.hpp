// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/frame.hpp"
#include "bench/host/host_frames.hpp"

namespace meridian {

/// Frames of the shell's self-test (spinal, selftest/TestFrame.scala): the host makes them as the generator does, and
/// looks at each byte of those that come.
class TestFrames final : public HostFrames {
 public:
  static constexpr unsigned header_bytes = 34;  // shorter frames have no time stamp that counts
  static constexpr std::uint64_t period_ps = 4000;
  static constexpr std::uint64_t destination = 0x0604'0302'0002, source = 0x0a09'0807'0002;  // first byte in 7:0

  explicit TestFrames(unsigned queues) : made_(queues), came_(queues) {}

  /// From now on frames are of this run of the block, and numbers begin anew.
  void begin(unsigned run);

  /// When the block's count of cycles was 0.
  void set_zero(std::uint64_t ps) { zero_ps_ = ps; }

  void make(unsigned queue, std::span<std::uint8_t> frame, std::uint64_t now_ps) override;
  void check(unsigned queue, std::span<const std::uint8_t> frame) override;

  /// Frames of this run that came.
  std::uint64_t checked() const { return checked_; }

  /// The time stamp of the last of these.
  std::uint64_t stamp() const { return stamp_; }

  static std::uint64_t stamp_of(const Bytes& frame) { return load_word(frame, 24); }

 private:
  void fill(std::span<std::uint8_t> frame, unsigned queue, std::uint64_t number, std::uint64_t stamp) const;

  std::vector<std::uint64_t> made_, came_;  // numbers, by queue
  Bytes wanted_;
  unsigned run_ = 0;
  std::uint64_t zero_ps_ = 0;
  std::uint64_t checked_ = 0, stamp_ = 0;
};

}  // namespace meridian
