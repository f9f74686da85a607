// SPDX-License-Identifier: Apache-2.0
#include "wire/frame/addresses.hpp"

#include <arpa/inet.h>

#include <algorithm>

#include "base/frame.hpp"

namespace meridian {

std::optional<MacAddress> parse_mac(const std::string& text) {
  MacAddress address{};
  if (text.size() != 3 * address.size() - 1) return std::nullopt;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto byte = from_hex(std::string_view(text).substr(3 * i, 2));
    if (!byte || (i != 0 && text[3 * i - 1] != ':')) return std::nullopt;
    address[i] = byte->front();
  }
  return address;
}

std::optional<Ip4Address> parse_ip4(const std::string& text) {
  Ip4Address address{};
  if (inet_pton(AF_INET, text.c_str(), address.data()) != 1) return std::nullopt;
  return address;
}

std::optional<Ip6Address> parse_ip6(const std::string& text) {
  Ip6Address address{};
  if (inet_pton(AF_INET6, text.c_str(), address.data()) != 1) return std::nullopt;
  return address;
}

}  // namespace meridian
