// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>

#include "base/frame.hpp"
#include "base/memory_bus.hpp"

namespace meridian {

/// Flat memory from address 0 on; nothing answers beyond it. What the card writes is there, and seen by the host, when
/// it has crossed the link. Reads of the card take what is there: it reads nothing that it has written itself.
class FlatMemory final : public MemoryBus {
 public:
  /// flight_ps: of a write, from the moment at which it has left the card.
  FlatMemory(std::size_t bytes, std::uint64_t flight_ps);

  void read(unsigned, std::uint64_t address, std::uint32_t bytes, ReadDone done) override;
  void write(unsigned, std::uint64_t address, std::span<const std::uint8_t> data) override;
  void interrupt(unsigned, unsigned) override {}

  /// Goes on to now: what has arrived is there. Writes that come later leave the card now.
  void run(std::uint64_t now_ps);

  /// The lowest bytes of what is at the address, 8 at most.
  std::uint64_t word(std::uint64_t address, unsigned bytes = 8) const;
  void set_word(std::uint64_t address, std::uint64_t value, unsigned bytes = 8);

  /// So many bytes of it, as they are.
  std::span<std::uint8_t> bytes(std::uint64_t address, std::size_t count) { return {bytes_.get() + address, count}; }

  /// Called for each write with its address, when it has arrived.
  void set_watch(std::function<void(std::uint64_t address)> watch) { watch_ = std::move(watch); }

 private:
  struct Write {
    std::uint64_t at_ps;
    std::uint64_t address;
    Bytes data;
  };
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };

  bool holds(std::uint64_t address, std::size_t bytes) const { return address <= size_ && bytes <= size_ - address; }

  std::size_t size_;
  std::uint64_t flight_ps_;
  std::unique_ptr<std::uint8_t[], Free> bytes_;  // pages that nobody touches cost nothing
  std::deque<Write> arriving_;
  std::uint64_t now_ps_ = 0;
  std::function<void(std::uint64_t)> watch_;
};

}  // namespace meridian
