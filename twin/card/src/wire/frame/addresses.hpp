// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace meridian {

using MacAddress = std::array<std::uint8_t, 6>;
using Ip4Address = std::array<std::uint8_t, 4>;
using Ip6Address = std::array<std::uint8_t, 16>;

/// Six pairs of hexadecimal digits with colons; nothing if it is anything else.
std::optional<MacAddress> parse_mac(const std::string& text);
std::optional<Ip4Address> parse_ip4(const std::string& text);
std::optional<Ip6Address> parse_ip6(const std::string& text);

}  // namespace meridian
