// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "link/descriptor.hpp"
#include "link/sealed_mapping.hpp"
#include "meridian_link.h"

namespace meridian {

/// The word of a ring entry in which its owner is told: that of the DMA engine has its colour in the first one, that of
/// the PS's rings its generation in the last one.
enum class Told : std::uint8_t { first, last };

/// A piece of a client's memory that DMA reaches.
class SharedRegion {
 public:
  /// Throws LinkError with the reason when the file cannot serve.
  SharedRegion(const meridian_link_region& region, Descriptor file);

  const meridian_link_region& place() const { return place_; }
  bool holds(std::uint64_t address, std::size_t bytes) const;

  /// The bytes must be held. A copy, as the client may change them at any time.
  void read(std::uint64_t address, std::span<std::uint8_t> to) const;

  /// An aligned word of 8 bytes is seen whole, and after everything written before it; of an aligned ring entry of up
  /// to 64 bytes the word in which its owner is told is seen after the others.
  void write(std::uint64_t address, std::span<const std::uint8_t> from, Told told);

 private:
  meridian_link_region place_{};
  SealedMapping mapping_;
};

/// The regions of one client.
class RegionTable {
 public:
  /// Throws LinkError with the reason.
  void add(const meridian_link_region& region, Descriptor file);
  void forget(unsigned function, std::uint64_t address);
  void clear() { regions_.clear(); }
  bool empty() const { return regions_.empty(); }

  /// The region that holds all of the bytes: the function's own before one of all functions. Null if there is none.
  SharedRegion* find(unsigned function, std::uint64_t address, std::size_t bytes);

 private:
  std::vector<SharedRegion> regions_;
};

}  // namespace meridian
