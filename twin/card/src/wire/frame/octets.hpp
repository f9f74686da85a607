// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/frame.hpp"

namespace meridian {

/// Numbers in frames, most significant byte first. The caller has checked that they lie inside.
template <std::integral Number>
void put_be(std::span<std::uint8_t> bytes, std::size_t at, Number number) {
  auto bits = static_cast<std::make_unsigned_t<Number>>(number);
  for (std::size_t i = sizeof number; i-- > 0; bits = static_cast<decltype(bits)>(bits >> 7 >> 1))
    bytes[at + i] = static_cast<std::uint8_t>(bits);
}

template <std::integral Number>
Number get_be(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::make_unsigned_t<Number> bits = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    bits = static_cast<decltype(bits)>((std::uint64_t{bits} << 8) | bytes[at + i]);
  return static_cast<Number>(bits);
}

inline void put_bytes(std::span<std::uint8_t> bytes, std::size_t at, std::span<const std::uint8_t> part) {
  std::memcpy(bytes.data() + at, part.data(), part.size());
}

/// Sum of 16-bit words for the Internet checksum (RFC 1071), an odd byte padded with zero.
inline std::uint32_t checksum_add(std::span<const std::uint8_t> bytes, std::uint32_t sum = 0) {
  std::uint64_t wide = sum;
  for (std::size_t i = 0; i < bytes.size(); ++i) wide += i % 2 == 0 ? std::uint32_t{bytes[i]} << 8 : bytes[i];
  while (wide >> 16 != 0) wide = (wide & 0xffff) + (wide >> 16);
  return static_cast<std::uint32_t>(wide);
}

inline std::uint16_t checksum_finish(std::uint32_t sum) {
  return static_cast<std::uint16_t>(~checksum_add({}, sum));
}

}  // namespace meridian
