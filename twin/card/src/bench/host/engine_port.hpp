// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace meridian {

/// The card's DMA engine as a host has it: BAR0 of its functions, BAR2 of PF 0, and time. An access is at the card when
/// it is made: its way across the link is the caller's.
class EnginePort {
 public:
  virtual ~EnginePort() = default;

  /// As figures have it.
  virtual const char* name() const = 0;

  /// A function may access memory.
  virtual void enable_function(unsigned function) = 0;

  /// BAR0. A read is waited for.
  virtual std::uint32_t read(unsigned function, std::uint32_t offset) = 0;
  virtual void write(unsigned function, std::uint32_t offset, std::uint32_t value) = 0;

  /// A packet to BAR4, the window of pushed frames. CheckError on a card that has none.
  virtual void push(unsigned function, std::uint32_t offset, std::span<const std::uint8_t> bytes) = 0;

  /// BAR2 of PF 0. CheckError when the shell refuses. A read is waited for, a write if posts_registers() does not hold.
  virtual std::uint32_t read_register(std::uint32_t address) = 0;
  virtual void write_register(std::uint32_t address, std::uint32_t value) = 0;
  virtual bool posts_registers() const = 0;

  /// Accesses that have arrived and wait for the card.
  virtual std::size_t waiting() const = 0;

  /// How long an access of the host waits at most before it gets onto the link; when the answer that the shell has just
  /// given has left the card.
  virtual std::uint64_t access_wait_ps() const = 0;
  virtual std::uint64_t answer() = 0;

  /// Once per rising edge of the host clock, between the pins' sample and drive.
  virtual void tick(std::uint64_t now_ps) = 0;
};

}  // namespace meridian
