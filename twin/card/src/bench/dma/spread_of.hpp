// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace meridian {

/// Mean, median, least and largest of some times, in units of so many ps.
inline nlohmann::json spread_of(std::vector<std::uint64_t> ps, double unit_ps) {
  std::sort(ps.begin(), ps.end());
  const auto in_units = [&](double time) { return time / unit_ps; };
  const double sum = std::accumulate(ps.begin(), ps.end(), 0.0);
  return {{"mean", in_units(sum / static_cast<double>(ps.size()))},
          {"median", in_units(static_cast<double>(ps[ps.size() / 2]))},
          {"min", in_units(static_cast<double>(ps.front()))},
          {"max", in_units(static_cast<double>(ps.back()))},
          {"frames", ps.size()}};
}

}  // namespace meridian
