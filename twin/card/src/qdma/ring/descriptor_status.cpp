// SPDX-License-Identifier: Apache-2.0
#include "qdma/ring/descriptor_status.hpp"

#include <algorithm>

namespace meridian {

namespace {
constexpr std::size_t ahead = 4;  // messages that may wait at the pins
}

DescriptorStatus::Queue& DescriptorStatus::at(bool c2h, unsigned queue) {
  const std::uint32_t index = 2 * queue + (c2h ? 1 : 0);
  Queue& q = queue_[index];
  if (!q.waits) waiting_.push_back(index);
  q.waits = true;
  return q;
}

void DescriptorStatus::add(bool c2h, unsigned queue, unsigned count, unsigned pidx) {
  Queue& q = at(c2h, queue);
  q.added = std::min(q.added + count, 65535U);
  q.pidx = static_cast<std::uint16_t>(pidx);
}

void DescriptorStatus::invalidate(bool c2h, unsigned queue, bool error) {
  Queue& q = at(c2h, queue);
  q.invalid = true;
  q.error = error;
  q.added = 0;
}

void DescriptorStatus::run(QdmaC2h& stream) {
  while (!waiting_.empty() && stream.messages() < ahead) {
    const std::uint32_t index = waiting_.front();
    waiting_.pop_front();
    Queue& q = queue_[index];
    const auto number = static_cast<std::uint16_t>(index / 2);
    const bool c2h = (index & 1) != 0;
    if (q.invalid) stream.tell({number, 0, q.pidx, c2h, false, true, q.error});
    if (q.added != 0) stream.tell({number, static_cast<std::uint16_t>(q.added), q.pidx, c2h, true, false, false});
    q = Queue{};
  }
}

void DescriptorStatus::reset() {
  waiting_.clear();
  std::fill(queue_.begin(), queue_.end(), Queue{});
}

}  // namespace meridian
