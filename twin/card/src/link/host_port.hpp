// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "link/link_server.hpp"

namespace meridian {

/// The card's end of PCIe: a model of the QDMA IP, or the integrated block in front of the shell's own DMA engine.
class HostPort {
 public:
  using Read = LinkCard::Read;

  static constexpr unsigned first_vf = 4;

  /// Bytes of a function's BAR 0, 2 or 4; 0: there is no such BAR. BAR 4 is there only on a card with a window for
  /// pushed frames, see bytes().
  static constexpr std::uint64_t bar_bytes(unsigned function, unsigned bar) {
    if (bar == 0) return function < first_vf ? 0x40000 : 0x8000;
    if (bar == 2) return function < first_vf ? 0x400000 : 0x1000;
    if (bar == 4) return function < first_vf ? 0x40000 : 0x8000;
    return 0;
  }

  virtual ~HostPort() = default;

  /// The card has a window for pushed frames.
  virtual bool has_window() const { return false; }
  std::uint32_t bytes(unsigned function, unsigned bar) const {
    return bar != 4 || has_window() ? static_cast<std::uint32_t>(bar_bytes(function, bar)) : 0;
  }

  /// How many functions the shell has. To one that is not there nothing is done, and its reset is done at once.
  virtual void set_functions(unsigned) {}

  /// Accesses of the host; what is not there reads all ones as unsupported, and takes no write.
  virtual void read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) = 0;
  virtual void write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) = 0;

  /// A doorbell that was rung in shared memory: a write to BAR 0, of which only the last value of each place counts.
  virtual void doorbell(unsigned function, std::uint32_t offset, std::uint32_t value) {
    write(function, 0, offset, 4, value);
  }

  /// What is under way of accesses but doorbells, enables and resets; and the reads among them.
  virtual std::size_t pending() const = 0;
  virtual std::size_t reads() const = 0;

  /// Hands out answers that have come.
  virtual void collect() = 0;

  /// The PF that a VF has by the making of the shell; nothing if the host chooses it.
  virtual std::optional<unsigned> parent(unsigned) const { return std::nullopt; }

  /// A function may access memory (bus master, VF enable) or may not; parent is a VF's PF.
  virtual void enable_function(unsigned function, bool enabled, unsigned parent) = 0;

  /// PCIe function level reset of a function that may not access memory any more.
  virtual void reset_function(unsigned function, std::function<void()> done) = 0;

  /// The slot is reset, or the host is gone: everything is as after power-on. What is open is answered as unsupported.
  virtual void reset() = 0;

  /// Once per rising edge of the host clock, between the pins' sample and drive.
  virtual void tick(std::uint64_t now_ps) = 0;

  virtual bool idle() const = 0;

  /// The next moment at which it does something by itself, all ones if none.
  virtual std::uint64_t next_ps() const = 0;

 protected:
  bool fits(unsigned function, unsigned bar, std::uint64_t offset, unsigned width) const {
    const bool is_width = width == 1 || width == 2 || width == 4 || width == 8;
    if (!is_width || offset % width != 0 || offset >= bytes(function, bar)) return false;
    return bar != 0 || width == 4;  // double words, as all drivers access it
  }
  static constexpr std::uint64_t ones(unsigned width) {
    return width == 0 || width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * width)) - 1;
  }
};

}  // namespace meridian
