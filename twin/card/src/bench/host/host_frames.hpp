// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "bench/host/numbered.hpp"

namespace meridian {

/// What is in the frames that a host makes, and what has to be in those that come to it.
class HostFrames {
 public:
  virtual ~HostFrames() = default;

  /// Writes the next frame of a queue, whose doorbell the host rings now.
  virtual void make(unsigned queue, std::span<std::uint8_t> frame, std::uint64_t now_ps) = 0;

  /// CheckError if this is not the next frame of the queue.
  virtual void check(unsigned queue, std::span<const std::uint8_t> frame) = 0;
};

/// Frames of a number alone.
class CountedFrames final : public HostFrames {
 public:
  explicit CountedFrames(unsigned queues) : queue_(queues) {}

  void make(unsigned queue, std::span<std::uint8_t> frame, std::uint64_t now_ps) override {
    const std::uint64_t number = queue_[queue].made++;
    std::memcpy(frame.data(), &number, number_bytes(static_cast<unsigned>(frame.size())));
    queue_[queue].starts.push_back(now_ps);
  }

  void check(unsigned queue, std::span<const std::uint8_t> frame) override {
    const auto bytes = static_cast<unsigned>(frame.size());
    std::uint64_t number = 0;
    std::memcpy(&number, frame.data(), number_bytes(bytes));
    if (number != number_in(queue_[queue].came++, bytes))
      throw CheckError("a frame in host memory is not the next one of its queue");
  }

  /// When the oldest frame of the queue that was made, and that this was not asked of, got its doorbell.
  std::uint64_t take_start(unsigned queue) {
    auto& starts = queue_[queue].starts;
    if (starts.empty()) throw CheckError("queue " + std::to_string(queue) + " sent a frame that the host has not made");
    const std::uint64_t start = starts.front();
    starts.pop_front();
    return start;
  }

 private:
  struct Queue {
    std::uint64_t made = 0, came = 0;
    std::deque<std::uint64_t> starts;
  };
  std::vector<Queue> queue_;
};

}  // namespace meridian
