// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace meridian {

/// The CRC-32 of IEEE 802.3. crc: that of the bytes before, 0 at first.
inline std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t crc = 0) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t entry = i;
      for (int bit = 0; bit < 8; ++bit) entry = entry >> 1 ^ ((entry & 1) != 0 ? 0xedb88320U : 0);
      entries[i] = entry;
    }
    return entries;
  }();
  crc = ~crc;
  for (const auto byte : bytes) crc = crc >> 8 ^ table[(crc ^ byte) & 0xff];
  return ~crc;
}

}  // namespace meridian
