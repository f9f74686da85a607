// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "wire/frame/addresses.hpp"
#include "wire/frame/octets.hpp"

namespace meridian {

/// Where things lie in frames without options and extension headers.
namespace layout {

constexpr std::size_t ethernet = 14;
constexpr std::size_t ip4 = 20;
constexpr std::size_t ip6 = 40;
constexpr std::size_t udp = 8;
constexpr std::uint16_t type_ip4 = 0x0800;
constexpr std::uint16_t type_arp = 0x0806;
constexpr std::uint16_t type_vlan = 0x8100;
constexpr std::uint16_t type_ip6 = 0x86dd;
constexpr std::uint16_t type_service_vlan = 0x88a8;
constexpr std::uint16_t type_ptp = 0x88f7;
constexpr std::uint8_t protocol_udp = 17;
constexpr std::size_t shortest_frame = 60;  // without FCS

}  // namespace layout

/// Writes an IPv4 header with its checksum at `at`; length is that of what follows it.
void put_ip4(std::span<std::uint8_t> frame, std::size_t at, const Ip4Address& source, const Ip4Address& destination,
             std::uint8_t protocol, std::size_t length, std::uint8_t ttl = 64);

void put_ip6(std::span<std::uint8_t> frame, std::size_t at, const Ip6Address& source, const Ip6Address& destination,
             std::uint8_t protocol, std::size_t length, std::uint8_t hop_limit = 64);

/// The sum that goes into the checksum field of UDP or TCP: over the addresses of the IP header at ip (its version is
/// looked up), protocol, length and the segment, whose own checksum field counts as it stands.
std::uint32_t segment_sum(std::span<const std::uint8_t> frame, std::size_t ip, std::size_t segment, std::size_t length);

/// Sets the checksum of the UDP segment, which is behind the IP header at ip.
void set_udp_checksum(std::span<std::uint8_t> frame, std::size_t ip, std::size_t segment);

}  // namespace meridian
