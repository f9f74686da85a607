// SPDX-License-Identifier: Apache-2.0
#include "qdma/ring/doorbells.hpp"

#include <algorithm>

namespace meridian {

Doorbells::Doorbells(IpState& ip, H2cEngine& h2c, C2hEngine& c2h, Completions& completions)
    : ip_(ip), h2c_(h2c), c2h_(c2h), completions_(completions), written_(ip.contexts.queues()) {}

void Doorbells::write(unsigned function, std::uint32_t offset, std::uint32_t bar_offset, std::uint32_t value) {
  const auto queue = ip_.contexts.absolute(function, offset / reg::doorbell_stride);
  if (!queue) {
    // A function that has no queues at all is one that is being taken down: no error.
    if (ip_.contexts.queue_count(function) == 0) return;
    ip_.errors.log_access(function, bar_offset);
    return ip_.errors.raise(Errors::Leaf::request, Errors::queue_range);
  }
  const std::uint32_t which = offset % reg::doorbell_stride;
  written_[*queue][which / 4] = value;
  const unsigned index = value & 0xffff;
  const bool arm = (value >> 16 & 1) != 0;
  switch (which) {
    case reg::interrupt_cidx:
      return ip_.interrupts.acknowledge(function, (value >> 16) & 0xff, index);
    case reg::h2c_pidx:
      return h2c_.doorbell(*queue, index, arm);
    case reg::c2h_pidx:
      return c2h_.doorbell(*queue, index, arm);
    case reg::completion_cidx:
      return completions_.consume(*queue, value);
    default:
      return;
  }
}

std::uint32_t Doorbells::read(unsigned function, std::uint32_t offset) const {
  const auto queue = ip_.contexts.absolute(function, offset / reg::doorbell_stride);
  return queue ? written_[*queue][offset % reg::doorbell_stride / 4] : 0;
}

void Doorbells::reset() {
  std::fill(written_.begin(), written_.end(), std::array<std::uint32_t, 4>{});
}

}  // namespace meridian
