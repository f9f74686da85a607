// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meridian {

using Bytes = std::vector<std::uint8_t>;

/// Lower-case hexadecimal, two digits a byte, first byte on the wire first.
std::string to_hex(std::span<const std::uint8_t> bytes);

/// Inverse of to_hex; nothing when a digit is wrong or their number odd.
std::optional<Bytes> from_hex(std::string_view text);

/// Eight bytes of a frame from offset on as a word, byte 0 lowest; beyond the end zero.
inline std::uint64_t load_word(const Bytes& bytes, std::size_t offset) {
  std::uint64_t word = 0;
  if (offset < bytes.size()) std::memcpy(&word, bytes.data() + offset, std::min<std::size_t>(8, bytes.size() - offset));
  return word;
}

}  // namespace meridian
