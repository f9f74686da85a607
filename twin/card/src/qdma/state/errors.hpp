// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "qdma/interrupts.hpp"
#include "qdma/state/csr.hpp"

namespace meridian {

/// Error registers: a leaf per part of the IP, their summary, and the one interrupt that tells of it. Status bits are
/// cleared by writing ones; the interrupt is sent once each time it is armed.
class Errors {
 public:
  enum class Leaf : std::uint8_t { descriptor, request, c2h, c2h_fatal, h2c };

  // Bits of Leaf::descriptor.
  static constexpr std::uint32_t parameter = 1U << 4, unsupported = 1U << 2, on_descriptor = 1U << 21,
                                 on_dma = 1U << 20;
  // Bits of Leaf::request.
  static constexpr std::uint32_t queue_range = 1U << 5;
  // Bits of Leaf::c2h.
  static constexpr std::uint32_t completion_cidx = 1U << 14, completion_full = 1U << 13, descriptor_count = 1U << 9,
                                 descriptor_response = 1U << 4;

  Errors(Csr& csr, Interrupts& interrupts) : csr_(csr), interrupts_(interrupts) {}

  void raise(Leaf leaf, std::uint32_t bits);

  /// Which descriptor ring it was; the first since the leaf was cleared is kept.
  void log_descriptor(bool c2h, unsigned queue, unsigned cidx, unsigned old_pidx, unsigned new_pidx);

  /// Which access it was; likewise.
  void log_access(unsigned function, std::uint32_t offset);

  /// A write to one of these registers; false if it is none.
  bool write(std::uint32_t offset, std::uint32_t value);

 private:
  std::uint32_t get(std::uint32_t offset) const { return csr_.read(offset); }
  void tell();

  Csr& csr_;
  Interrupts& interrupts_;
};

}  // namespace meridian
