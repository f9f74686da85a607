// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "base/memory_bus.hpp"
#include "wire/capture/capture_file.hpp"

namespace meridian {

/// Sits between the card and the PS's memory and sees which frames the PS's rings have done: where the rings are it
/// learns from the writes to their registers, frames it reads from memory when the card writes a completion.
class PsTap final : public AxiMemoryBus {
 public:
  using Tap = std::function<void(unsigned port, CaptureDirection direction, std::span<const std::uint8_t> frame)>;

  explicit PsTap(AxiMemoryBus& memory) : memory_(memory) {}

  /// None: it only hands on.
  void set_tap(Tap tap) { tap_ = std::move(tap); }

  /// A write to the PS's registers.
  void register_write(std::uint64_t offset, std::uint32_t value);

  void read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) override {
    memory_.read(function, address, bytes, std::move(done));
  }
  void write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) override;
  void write_answered(std::uint64_t address, std::span<const std::uint8_t> data, WriteDone done) override;
  void interrupt(unsigned function, unsigned vector) override { memory_.interrupt(function, vector); }

 private:
  static constexpr unsigned most_ports = 4;
  struct Ring {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;  // 0: not started
  };

  void look(std::uint64_t address, std::span<const std::uint8_t> data);
  void completed(unsigned port, CaptureDirection direction, std::uint64_t descriptor, std::uint16_t length);

  AxiMemoryBus& memory_;
  Tap tap_;
  std::array<std::array<Ring, 2>, most_ports> rings_{};  // receive, transmit
};

}  // namespace meridian
