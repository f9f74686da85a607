// SPDX-License-Identifier: Apache-2.0
#include "mac/mac_counters.hpp"

#include <algorithm>

#include "mac/wire_cursor.hpp"

namespace meridian {

void MacCounters::count(std::span<const std::uint8_t> frame, bool is_bad, bool is_aborted) {
  static constexpr std::array<std::size_t, bucket_names.size() - 1> upper = {63, 64, 127, 255, 511, 1023, 1518};
  ++frames;
  bytes += frame.size();
  bad += is_bad;
  aborted += is_aborted;
  const auto* bucket = std::lower_bound(upper.begin(), upper.end(), frame.size() + wire::fcs);
  ++sizes[static_cast<std::size_t>(bucket - upper.begin())];
  if (frame.empty() || (frame[0] & 1) == 0) {
    ++unicast;
  } else if (frame.size() >= 6 && std::all_of(frame.begin(), frame.begin() + 6, [](auto b) { return b == 0xff; })) {
    ++broadcast;
  } else {
    ++multicast;
  }
}

}  // namespace meridian
