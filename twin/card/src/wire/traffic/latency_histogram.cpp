// SPDX-License-Identifier: Apache-2.0
#include "wire/traffic/latency_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace meridian {

std::uint64_t LatencyHistogram::percentile(double share) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen < std::max<std::uint64_t>(rank, 1)) continue;
    if (i < fine) return i;
    const std::size_t octave = i / fine - 1;
    const std::uint64_t last = ((fine + i % fine + 1) << octave) - 1;
    return std::clamp(last, least_, most_);
  }
  return most_;
}

}  // namespace meridian
