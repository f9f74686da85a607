// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "bench/host/engine_port.hpp"

extern "C" {
#include "qdma_device.h"
#include "qdma_queue.h"
}

namespace meridian {

/// A function of the card for the library that the host's drivers share (host-driver/qdma). Registers are accessed at
/// once, since they are only used before the measurement; doorbells take the way of a posted write.
class DriverPort {
 public:
  /// flight_ps: of a doorbell to the card.
  DriverPort(EnginePort& engine, unsigned function, std::uint64_t flight_ps);
  DriverPort(const DriverPort&) = delete;
  DriverPort& operator=(const DriverPort&) = delete;

  static constexpr unsigned first_vf = 4;

  qdma_device* device() { return &device_; }
  unsigned function() const { return function_; }

  /// Whether the card has room for so many doorbells more. Else a core that rings stands still, as flow control gives
  /// it no credits. Those on their way do not count.
  bool has_room(std::size_t doorbells) const { return engine_.waiting() + doorbells <= most_waiting; }

  /// Goes on to now: doorbells that have arrived are rung.
  void run(std::uint64_t now_ps);

  /// Writes a frame and its header into the card, as a core does whose memory type combines writes.
  void push(unsigned queue, std::span<const std::uint8_t> frame, std::uint64_t header);

  /// What the library asks for.
  std::uint32_t read(std::uint32_t offset) { return engine_.read(function_, offset); }
  void write(std::uint32_t offset, std::uint32_t value);

 private:
  static constexpr std::size_t most_waiting = 64;  // chosen: what blocks for PCIe have room for is of this order

  /// A doorbell, or what is pushed.
  struct Posted {
    std::uint64_t at_ps;
    std::uint32_t offset, value;
    std::vector<std::uint8_t> pushed;
  };

  EnginePort& engine_;
  unsigned function_;
  std::uint64_t flight_ps_;
  std::uint64_t now_ps_ = 0;
  std::deque<Posted> posted_;
  qdma_device device_{};
};

}  // namespace meridian
