// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace meridian {

/// A little-endian word as it lies in host memory. The models run on little-endian machines only.
inline std::array<std::uint8_t, 8> to_bytes(std::uint64_t word) {
  std::array<std::uint8_t, 8> bytes;
  std::memcpy(bytes.data(), &word, bytes.size());
  return bytes;
}

/// From index from on to index to, in a ring of size entries.
inline unsigned ring_distance(unsigned from, unsigned to, unsigned size) {
  return to >= from ? to - from : to + size - from;
}

}  // namespace meridian
