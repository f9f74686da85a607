// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "base/frame.hpp"
#include "wire/frame/addresses.hpp"
#include "wire/frame/vlan_tags.hpp"

namespace meridian {

enum class PtpTransport : std::uint8_t { udp4, udp6, ethernet };

struct PtpAddress {
  MacAddress mac{};
  Ip4Address ip4{};
  Ip6Address ip6{};
};

/// A PTP message inside a frame.
struct PtpPayload {
  std::size_t offset = 0;  // of the message in the frame
  std::size_t length = 0;
  std::optional<bool> event_port;  // of UDP: came to 319, not 320
  PtpAddress from;
};

enum class PtpFrameFault : std::uint8_t {
  foreign,  // not PTP over this transport, or not for us
  ip,       // lengths, checksum, fragments
  udp,      // length, checksum
};

/// PTP over one transport, at one address, behind these VLAN tags and no others: IEEE 1588-2019 annexes C (UDP/IPv4),
/// D (UDP/IPv6) and E (Ethernet).
class PtpPath {
 public:
  /// peer_multicast: everything goes to the address of peer delay, as IEEE 802.1AS has it.
  PtpPath(PtpTransport transport, const PtpAddress& own, bool peer_multicast = false, VlanTags tags = {})
      : transport_(transport), own_(own), peer_multicast_(peer_multicast), tags_(std::move(tags)) {}

  enum class To : std::uint8_t { all, peer };

  /// The frame of a message, padded to 60 bytes, to a multicast address or to a station.
  Bytes wrap(std::span<const std::uint8_t> message, bool event, To to) const;
  Bytes wrap(std::span<const std::uint8_t> message, bool event, const PtpAddress& to) const;

  /// The message in a frame made by wrap.
  std::span<std::uint8_t> message(Bytes& frame) const { return std::span(frame).subspan(offset()); }

  /// After a change of the message.
  void update_checksum(Bytes& frame) const;

  std::variant<PtpPayload, PtpFrameFault> unwrap(std::span<const std::uint8_t> frame) const;

  std::size_t offset() const;
  const VlanTags& tags() const { return tags_; }

  /// Where the frame's EtherType is, behind the tags.
  std::size_t type_at() const { return payload_at() - 2; }

 private:
  std::size_t payload_at() const;
  bool for_us(const MacAddress& destination) const;
  std::variant<PtpPayload, PtpFrameFault> unwrap_udp(std::span<const std::uint8_t> frame, std::size_t ip,
                                                     std::size_t segment, std::size_t length, bool checksum_must,
                                                     PtpAddress from) const;

  PtpTransport transport_;
  PtpAddress own_;
  bool peer_multicast_;
  VlanTags tags_;
};

}  // namespace meridian
