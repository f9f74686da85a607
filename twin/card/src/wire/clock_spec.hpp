// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/ptp/grandmaster_clock.hpp"
#include "wire/wire_spec.hpp"

namespace meridian {

/// The options of a clock. fallback_seed: of its wander.
inline GrandmasterClockSetting take_clock(EndSpec& spec, std::uint64_t fallback_seed) {
  constexpr std::int64_t most_ns = 4'000'000'000'000'000'000;
  GrandmasterClockSetting clock;
  clock.offset_ns = spec.integer("offset_ns", 0, -most_ns, most_ns);
  clock.drift_ppb = spec.real("drift_ppb", 0, -1e7, 1e7);
  clock.wander_ns = spec.real("wander_ns", 0, 0, 1e9);
  clock.wander_ppb = spec.real("wander_ppb", 0, 0, 1e7);
  clock.seed = spec.number("seed", fallback_seed, 0, ~std::uint64_t{0});
  return clock;
}

}  // namespace meridian
