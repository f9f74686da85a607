// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/frame.hpp"
#include "wire/frame/addresses.hpp"

namespace meridian {

/// The answer to an ARP request (RFC 826) for that address; nothing if the frame is something else.
std::optional<Bytes> arp_answer(const Bytes& frame, const MacAddress& mac, const Ip4Address& ip);

}  // namespace meridian
