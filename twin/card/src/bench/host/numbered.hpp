// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace meridian {

/// Frames of a queue are numbered in their first eight bytes, or in as many as they have.
constexpr unsigned number_bytes(unsigned frame_bytes) {
  return std::min(frame_bytes, 8U);
}

/// What a frame of that length has of the number.
constexpr std::uint64_t number_in(std::uint64_t number, unsigned frame_bytes) {
  return frame_bytes >= 8 ? number : number & ((std::uint64_t{1} << (8 * frame_bytes)) - 1);
}

}  // namespace meridian
