// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace meridian {

/// A machine's memory as the card's DMA sees it: the host's behind PCIe (each function has an address space of its
/// own), or the PS's behind AXI (function 0).
class MemoryBus {
 public:
  enum class Status : std::uint8_t { ok, unsupported };  // unsupported: nothing answers there, or nobody is there

  /// The bytes are valid during the call only; none when unsupported.
  using ReadDone = std::function<void(Status, std::span<const std::uint8_t>)>;

  virtual ~MemoryBus() = default;

  /// done is called exactly once, before read returns or later. At most 65536 bytes.
  virtual void read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) = 0;

  /// Posted; at most 65536 bytes. Writes and interrupts take effect in the order of the calls, and a read sees the
  /// writes before it.
  virtual void write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) = 0;

  /// PCIe: MSI-X vector of the function. AXI: vector is the level of the one line.
  virtual void interrupt(unsigned function, unsigned vector) = 0;
};

/// The PS's: AXI answers writes, too.
class AxiMemoryBus : public MemoryBus {
 public:
  using WriteDone = std::function<void(Status)>;

  /// As write() of function 0; done is called exactly once, before the call returns or later, and says whether all of
  /// it is in memory.
  virtual void write_answered(std::uint64_t address, std::span<const std::uint8_t> data, WriteDone done) = 0;
};

}  // namespace meridian
