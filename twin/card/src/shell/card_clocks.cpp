// SPDX-License-Identifier: Apache-2.0
#include "shell/card_clocks.hpp"

#include <string>

#include "base/error.hpp"

namespace meridian {

std::vector<ClockSetting> clock_settings(const CardSetting& setting, unsigned ports, unsigned host_mhz) {
  std::vector<ClockSetting> clocks;
  auto offsets = setting.clocks;
  const auto add = [&](const std::string& name, std::uint64_t nominal_fs) {
    const ClockOffset offset = offsets[name];
    offsets.erase(name);
    // Clocks of independent sources never keep in step; equal edges would hide errors at the crossings.
    const std::uint64_t phase = offset.phase_fs.value_or(7001 + 311'117 * clocks.size());
    clocks.push_back(ClockSetting::make(name, nominal_fs, offset.ppm, phase));
  };
  add("host", host_period_fs(host_mhz));
  add("ps", ps_period_fs);
  for (unsigned port = 0; port < ports; ++port) {
    add("mac_rx_" + std::to_string(port), mac_period_fs(setting.rate));
    add("mac_tx_" + std::to_string(port), mac_period_fs(setting.rate));
  }
  if (!offsets.empty()) throw InputError("no clock is named " + offsets.begin()->first);
  return clocks;
}

}  // namespace meridian
