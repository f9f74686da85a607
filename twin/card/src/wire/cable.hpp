// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

struct CableSetting {
  std::uint64_t forth_ps = 0;  // from the first port to the second
  std::uint64_t back_ps = 0;
};

/// A cable between two ports in one process: each port gets one of the ends.
///
/// A frame's start-of-frame delimiter arrives later than it left by the delay, to the picosecond (then the receiving
/// MAC's clock takes it up). As a frame is known only when its last bit is handed over, one that is longer than the
/// delay arrives when it is known; report() tells how many and how late. receive() at one end changes next_ps() of the
/// other.
std::pair<std::unique_ptr<WireEnd>, std::unique_ptr<WireEnd>> make_cable(const CableSetting& setting,
                                                                         const WireSetting& wire);

}  // namespace meridian
