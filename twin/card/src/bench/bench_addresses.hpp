// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/shell_setup.hpp"

/// Who is who in the benches, and bounds that all of them share.
namespace meridian {

inline constexpr MacAddress ptp_multicast = {0x01, 0x1b, 0x19, 0x00, 0x00, 0x00};  // IEEE 1588 Annex E
inline constexpr MacAddress broadcast = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
inline constexpr MacAddress peer = {0x02, 0x00, 0x00, 0x00, 0x00, 0x99};
inline constexpr MacAddress host_address(unsigned port) {
  return {0x02, 0xaa, 0xbb, 0xcc, 0xdd, static_cast<std::uint8_t>(port)};
}
inline constexpr MacAddress ps_address(unsigned port) {
  return {0x02, 0x50, 0x53, 0x00, 0x00, static_cast<std::uint8_t>(port)};
}

inline constexpr std::uint64_t drain_limit_ps = 200'000'000;
inline constexpr std::size_t ptp_length = 68;  // Sync with its Ethernet header, padded
inline constexpr unsigned ahead = 256;         // frames queued in the models

}  // namespace meridian
