// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/host/engine_port.hpp"
#include "shell/card.hpp"

namespace meridian {

/// The registers of the shell's self-test block (docs/registers.md), over BAR2 as a host has them.
class SelfTestBlock {
 public:
  struct Test {
    bool generate = false, check = false;
    unsigned function = 0, queues = 1, bytes = 64;
    std::uint32_t interval = 0;  // cycles from frame to frame
    std::uint32_t frames = 0;    // 0: until it is stopped
  };

  struct Counters {
    std::uint64_t sent_frames, sent_bytes;
    std::uint64_t frames, bytes, good, damaged, foreign, too_short, marked, skipped, late;
  };

  /// InputError when the shell was generated without the block.
  SelfTestBlock(Card& card, EnginePort& engine);

  /// Returns the number of the run when it has begun. CheckError when it is refused, with the reason.
  unsigned start(const Test& test);

  Counters counters();
  std::uint64_t counter(std::uint32_t offset);

  /// Latencies are gathered for so many cycles from now on.
  void open_window(std::uint64_t cycles);

  /// What was gathered, in ns: mean, min, max, frames, and between which bounds the median lies. Null without a frame.
  nlohmann::json window();

 private:
  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);
  std::uint64_t both_words(std::uint32_t offset);
  nlohmann::json median(std::uint64_t frames);

  Card& card_;
  EnginePort& engine_;
  std::uint32_t shown_ = 0;  // number of the window shown before
  std::uint64_t window_end_ps_ = 0;
};

}  // namespace meridian
