// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "base/frame.hpp"

namespace meridian {

/// A moment of a PTP clock: nanoseconds since its epoch, and picoseconds (0 to 999) more.
struct PtpInstant {
  std::int64_t ns = 0;
  std::uint32_t ps = 0;

  bool operator==(const PtpInstant&) const = default;
};

/// Nanoseconds in units of 2^-16, as in correctionField (IEEE 1588-2019 13.3.2.9).
constexpr std::int64_t scaled_ns(std::int64_t ns, std::int64_t ps = 0) {
  return ns * 65536 + (ps * 65536 + 500) / 1000;
}

/// b - a, scaled.
constexpr std::int64_t scaled_between(const PtpInstant& a, const PtpInstant& b) {
  return scaled_ns(b.ns - a.ns, std::int64_t{b.ps}) - scaled_ns(0, std::int64_t{a.ps});
}

/// Of corrections: a hostile one may wrap, as its field does.
constexpr std::int64_t add_corrections(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// messageType (IEEE 1588-2019 table 36).
enum class PtpType : std::uint8_t {
  sync = 0x0,
  delay_req = 0x1,
  pdelay_req = 0x2,
  pdelay_resp = 0x3,
  follow_up = 0x8,
  delay_resp = 0x9,
  pdelay_resp_follow_up = 0xa,
  announce = 0xb,
  signaling = 0xc,
  management = 0xd,
};

constexpr bool is_event(PtpType type) {
  return static_cast<std::uint8_t>(type) < 8;
}

namespace ptp_flag {  // of flagField, the first octet in the high byte

constexpr std::uint16_t two_step = 0x0200;
constexpr std::uint16_t unicast = 0x0400;
constexpr std::uint16_t leap61 = 0x0001;
constexpr std::uint16_t leap59 = 0x0002;
constexpr std::uint16_t utc_offset_valid = 0x0004;
constexpr std::uint16_t ptp_timescale = 0x0008;
constexpr std::uint16_t time_traceable = 0x0010;
constexpr std::uint16_t frequency_traceable = 0x0020;

}  // namespace ptp_flag

using PtpClockIdentity = std::array<std::uint8_t, 8>;

struct PtpPortIdentity {
  PtpClockIdentity clock{};
  std::uint16_t port = 0;

  bool operator==(const PtpPortIdentity&) const = default;
};

struct PtpHeader {
  PtpType type = PtpType::sync;
  std::uint8_t major_sdo = 0;
  std::uint8_t minor_version = 1;
  std::uint8_t domain = 0;
  std::uint8_t minor_sdo = 0;
  std::uint16_t flags = 0;
  std::int64_t correction = 0;  // scaled ns
  PtpPortIdentity source;
  std::uint16_t sequence = 0;
  std::int8_t log_interval = 0x7f;
  std::uint16_t length = 0;  // with TLVs; set by the builder
};

namespace ptp_layout {

constexpr std::size_t header = 34;
constexpr std::size_t correction = 8;
constexpr std::size_t timestamp = 34;        // of every message that has one
constexpr std::size_t requesting_port = 44;  // of the answers to requests

}  // namespace ptp_layout

/// Length without TLVs; nothing for a type that the standard reserves.
std::optional<std::size_t> ptp_length(PtpType type);

/// A message with its header and a body of zeros, behind it the TLVs.
Bytes build_ptp(const PtpHeader& header, std::span<const std::uint8_t> tlvs = {});

void put_timestamp(std::span<std::uint8_t> message, const PtpInstant& instant);
void put_correction(std::span<std::uint8_t> message, std::int64_t correction);
void put_port(std::span<std::uint8_t> message, std::size_t at, const PtpPortIdentity& port);

/// Whole nanoseconds of the message's timestamp; the sign bit of PTP's 48-bit seconds is none.
std::int64_t get_timestamp(std::span<const std::uint8_t> message);
PtpPortIdentity get_port(std::span<const std::uint8_t> message, std::size_t at);

/// What is wrong with a message.
enum class PtpFault : std::uint8_t { version, type, length, tlv, timestamp };

/// The header of a message, checked as a whole: version 2, a known type, a length that fits type and bytes, TLVs that
/// fill the rest, nanoseconds below 10^9. Bytes behind messageLength (padding) do not matter.
std::variant<PtpHeader, PtpFault> parse_ptp(std::span<const std::uint8_t> message);

}  // namespace meridian
