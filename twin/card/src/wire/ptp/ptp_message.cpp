// SPDX-License-Identifier: Apache-2.0
#include "wire/ptp/ptp_message.hpp"

#include "wire/frame/octets.hpp"

namespace meridian {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::uint8_t control_field(PtpType type) {  // for version 1 hardware only (IEEE 1588-2019 table 42)
  switch (type) {
    case PtpType::sync:
      return 0;
    case PtpType::delay_req:
      return 1;
    case PtpType::follow_up:
      return 2;
    case PtpType::delay_resp:
      return 3;
    case PtpType::management:
      return 4;
    default:
      return 5;
  }
}

bool has_timestamp(PtpType type) {
  return type != PtpType::signaling && type != PtpType::management;
}

}  // namespace

std::optional<std::size_t> ptp_length(PtpType type) {
  switch (type) {
    case PtpType::sync:
    case PtpType::delay_req:
    case PtpType::follow_up:
    case PtpType::signaling:
      return 44;
    case PtpType::pdelay_req:
    case PtpType::pdelay_resp:
    case PtpType::pdelay_resp_follow_up:
    case PtpType::delay_resp:
      return 54;
    case PtpType::announce:
      return 64;
    case PtpType::management:
      return 48;
  }
  return std::nullopt;
}

Bytes build_ptp(const PtpHeader& header, std::span<const std::uint8_t> tlvs) {
  const std::size_t body = ptp_length(header.type).value();
  Bytes message(body + tlvs.size());
  message[0] = static_cast<std::uint8_t>(header.major_sdo << 4 | static_cast<std::uint8_t>(header.type));
  message[1] = static_cast<std::uint8_t>(header.minor_version << 4 | 2);
  put_be(message, 2, static_cast<std::uint16_t>(message.size()));
  message[4] = header.domain;
  message[5] = header.minor_sdo;
  put_be(message, 6, header.flags);
  put_correction(message, header.correction);
  put_port(message, 20, header.source);
  put_be(message, 30, header.sequence);
  message[32] = control_field(header.type);
  message[33] = static_cast<std::uint8_t>(header.log_interval);
  std::copy(tlvs.begin(), tlvs.end(), message.begin() + static_cast<long>(body));
  return message;
}

void put_timestamp(std::span<std::uint8_t> message, const PtpInstant& instant) {
  std::int64_t seconds = instant.ns / second_ns;
  std::int64_t ns = instant.ns % second_ns;
  if (ns < 0) {
    ns += second_ns;
    --seconds;
  }
  put_be(message, ptp_layout::timestamp, static_cast<std::uint16_t>(seconds >> 32));
  put_be(message, ptp_layout::timestamp + 2, static_cast<std::uint32_t>(seconds));
  put_be(message, ptp_layout::timestamp + 6, static_cast<std::uint32_t>(ns));
}

void put_correction(std::span<std::uint8_t> message, std::int64_t correction) {
  put_be(message, ptp_layout::correction, correction);
}

void put_port(std::span<std::uint8_t> message, std::size_t at, const PtpPortIdentity& port) {
  put_bytes(message, at, port.clock);
  put_be(message, at + 8, port.port);
}

std::int64_t get_timestamp(std::span<const std::uint8_t> message) {
  constexpr std::uint64_t most_seconds = 9'000'000'000;  // what nanoseconds in 63 bits hold
  const std::uint64_t seconds = std::uint64_t{get_be<std::uint16_t>(message, ptp_layout::timestamp)} << 32 |
                                get_be<std::uint32_t>(message, ptp_layout::timestamp + 2);
  return static_cast<std::int64_t>(std::min(seconds, most_seconds)) * second_ns +
         get_be<std::uint32_t>(message, ptp_layout::timestamp + 6);
}

PtpPortIdentity get_port(std::span<const std::uint8_t> message, std::size_t at) {
  PtpPortIdentity port;
  std::copy_n(message.begin() + static_cast<long>(at), port.clock.size(), port.clock.begin());
  port.port = get_be<std::uint16_t>(message, at + 8);
  return port;
}

std::variant<PtpHeader, PtpFault> parse_ptp(std::span<const std::uint8_t> message) {
  if (message.size() < ptp_layout::header) return PtpFault::length;
  if ((message[1] & 15) != 2) return PtpFault::version;
  PtpHeader header;
  header.type = static_cast<PtpType>(message[0] & 15);
  const auto body = ptp_length(header.type);
  if (!body) return PtpFault::type;
  header.length = get_be<std::uint16_t>(message, 2);
  if (header.length < *body || header.length > message.size()) return PtpFault::length;
  for (std::size_t at = *body; at < header.length;) {
    const std::size_t left = header.length - at;
    if (left < 4) return PtpFault::tlv;
    const std::size_t length = get_be<std::uint16_t>(message, at + 2);
    if (length % 2 != 0 || length > left - 4) return PtpFault::tlv;
    at += 4 + length;
  }
  if (has_timestamp(header.type) && get_be<std::uint32_t>(message, ptp_layout::timestamp + 6) >= second_ns)
    return PtpFault::timestamp;
  header.major_sdo = message[0] >> 4;
  header.minor_version = message[1] >> 4;
  header.domain = message[4];
  header.minor_sdo = message[5];
  header.flags = get_be<std::uint16_t>(message, 6);
  header.correction = get_be<std::int64_t>(message, ptp_layout::correction);
  header.source = get_port(message, 20);
  header.sequence = get_be<std::uint16_t>(message, 30);
  header.log_interval = static_cast<std::int8_t>(message[33]);
  return header;
}

}  // namespace meridian
