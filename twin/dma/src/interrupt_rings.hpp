// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lockstep.hpp"

namespace meridian {

/// Interrupt rings in lockstep, one of each function, which has the function's number. A ring's message never comes
/// ahead of what it tells of, and at each quiet moment contexts and entries are the same.
class InterruptRings : public Lockstep {
 public:
  explicit InterruptRings(std::uint64_t seed);

  /// A function's ring begins at a PIDX.
  void begin_interrupts(unsigned function, unsigned pages = 1, unsigned pidx = 0);
  /// Software has read the ring's entries up to here.
  void bell(unsigned function, unsigned cidx);

  static constexpr unsigned ring_vector = 12;
  static std::uint64_t interrupt_ring(unsigned function) { return interrupt_rings + interrupt_ring_bytes * function; }
  unsigned interrupt_entries(unsigned function) const { return 512 * pages_.at(function); }
  unsigned interrupt_pidx(unsigned function) { return read_context(8, function)[2] >> 6 & 0xfff; }
  /// An entry that the RTL has written.
  std::uint64_t interrupt_entry(unsigned function, unsigned index) {
    return engine.host.memory.word(function, interrupt_ring(function) + 8 * std::uint64_t{index});
  }

 protected:
  /// Whether a write of the RTL is an entry.
  bool is_entry(unsigned function, std::uint64_t address);
  /// Of each function that has a ring.
  void compare_interrupts();

 private:
  static constexpr std::uint64_t interrupt_rings = 0x5'0000'0000, interrupt_ring_bytes = 0x1'0000;

  void compare_interrupts(unsigned function);

  std::vector<unsigned> pages_ = std::vector<unsigned>(functions);  // none: no ring
  std::vector<unsigned> news_ = std::vector<unsigned>(functions);   // what messages may tell of
};

}  // namespace meridian
