// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shell/card.hpp"
#include "shell/clock.hpp"

namespace meridian {

constexpr std::uint64_t host_period_fs(unsigned mhz) {
  return 1'000'000'000 / mhz;
}
constexpr std::uint64_t ps_period_fs = 4'000'000;

constexpr std::uint64_t mac_period_fs(MacRate rate) {
  return rate == MacRate::gbps25 ? 2'560'000 : 6'400'000;
}

/// Clocks in the scheduler: host, ps, then receive and transmit of each port.
enum : unsigned { host_clock, ps_clock, first_mac_clock };
constexpr unsigned rx_clock(unsigned port) {
  return first_mac_clock + 2 * port;
}
constexpr unsigned tx_clock(unsigned port) {
  return first_mac_clock + 2 * port + 1;
}

/// In the scheduler's order. InputError for an offset of a clock that is not there.
std::vector<ClockSetting> clock_settings(const CardSetting& setting, unsigned ports, unsigned host_mhz);

}  // namespace meridian
