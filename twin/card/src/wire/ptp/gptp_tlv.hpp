// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "wire/frame/octets.hpp"
#include "wire/ptp/ptp_message.hpp"

namespace meridian {

/// Follow_Up information TLV (IEEE 802.1AS-2020 11.4.4.3): an organisation extension of 802.1, all rates and changes 0,
/// as a grandmaster has them.
inline Bytes follow_up_information_tlv() {
  Bytes tlv(32);
  put_be<std::uint16_t>(tlv, 0, 0x0003);  // ORGANIZATION_EXTENSION
  put_be<std::uint16_t>(tlv, 2, 28);
  const std::uint8_t identity[] = {0x00, 0x80, 0xc2, 0, 0, 1};  // organizationId, organizationSubType
  put_bytes(tlv, 4, identity);
  return tlv;
}

/// PATH_TRACE TLV (IEEE 1588-2019 16.2) of a path that begins here.
inline Bytes path_trace_tlv(const PtpClockIdentity& identity) {
  Bytes tlv(12);
  put_be<std::uint16_t>(tlv, 0, 0x0008);
  put_be<std::uint16_t>(tlv, 2, 8);
  put_bytes(tlv, 4, identity);
  return tlv;
}

}  // namespace meridian
