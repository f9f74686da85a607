// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/frame.hpp"
#include "wire/frame/addresses.hpp"

namespace meridian {

enum class TrafficProtocol : std::uint8_t { udp, tcp, ethernet };

/// One flow's header.
struct TrafficFlow {
  MacAddress destination{};
  MacAddress source{};
  std::optional<std::uint16_t> vlan;  // the tag's 16 bits
  TrafficProtocol protocol = TrafficProtocol::udp;
  Ip4Address source_ip{};
  Ip4Address destination_ip{};
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
};

/// What a test frame says of itself, in the 18 bytes that begin its payload: a mark, whose it is, which it is, when it
/// was sent (48 bits of picoseconds) and a CRC-32 of all the payload.
struct TrafficMark {
  std::uint8_t generator = 0;
  std::uint16_t flow = 0;
  std::uint32_t sequence = 0;
  std::uint64_t sent_ps = 0;

  static constexpr std::size_t bytes = 18;
  static constexpr std::uint64_t time_mask = (std::uint64_t{1} << 48) - 1;
};

/// Bytes before the payload.
std::size_t traffic_header(const TrafficFlow& flow);

/// Shortest frame (without FCS) of the flow: room for the mark; 60 bytes even if something takes the VLAN tag off.
std::size_t traffic_shortest(const TrafficFlow& flow);

/// A frame of that length (without FCS), complete but for its time and the checksums, which traffic_stamp() sets.
Bytes traffic_frame(const TrafficFlow& flow, const TrafficMark& mark, std::size_t length);

/// offset: of the payload in a frame of traffic_frame().
void traffic_stamp(Bytes& frame, std::size_t offset, TrafficProtocol protocol, std::uint64_t sent_ps);

enum class TrafficFault : std::uint8_t {
  foreign,   // no test frame
  checksum,  // of IP, UDP or TCP
  corrupt,   // a test frame whose payload is not what was sent
};

/// Reads a frame that came back, with up to two VLAN tags, IPv4 options and TCP options if there are any.
std::variant<TrafficMark, TrafficFault> traffic_read(const Bytes& frame);

}  // namespace meridian
