// SPDX-License-Identifier: Apache-2.0
#include "qdma/ring/completions.hpp"

#include <algorithm>
#include <utility>

#include "qdma/ring/completion_ring.hpp"

namespace meridian {

namespace {
constexpr std::uint32_t arm_bit = 1U << 28;
}

void Completions::set_timer(unsigned queue, std::uint64_t deadline_ps) {
  if (deadline_[queue] != none) timers_.erase({deadline_[queue], queue});
  deadline_[queue] = deadline_ps;
  if (deadline_ps != none) timers_.emplace(deadline_ps, queue);
}

void Completions::add(unsigned queue, const CompletionEntry& entry, bool error) {
  CompletionRing ring(ip_, queue);
  ring.add(entry, error);
  if (ring.timer().change) set_timer(queue, ring.timer().deadline_ps.value_or(none));
}

void Completions::consume(unsigned queue, std::uint32_t doorbell) {
  if (!ip_.link.behind() && !waiting_[queue]) return carry_out(queue, doorbell);
  if (waiting_[queue])
    doorbell |= *waiting_[queue] & arm_bit;
  else
    ringing_.push_back(queue);
  waiting_[queue] = doorbell;
}

void Completions::carry_out(unsigned queue, std::uint32_t doorbell) {
  CompletionRing ring(ip_, queue);
  ring.consume(doorbell);
  if (ring.timer().change) set_timer(queue, ring.timer().deadline_ps.value_or(none));
}

void Completions::restart(unsigned queue) {
  set_timer(queue, none);
  if (std::exchange(waiting_[queue], std::nullopt)) ringing_.erase(std::find(ringing_.begin(), ringing_.end(), queue));
  ip_.contexts.completion(queue).set(cmpt::timer_running, 0);
}

void Completions::run() {
  while (!ringing_.empty() && !ip_.link.behind()) {
    const unsigned queue = ringing_.front();
    ringing_.pop_front();
    carry_out(queue, *std::exchange(waiting_[queue], std::nullopt));
  }
  while (!timers_.empty() && timers_.begin()->first <= ip_.now_ps) {
    const unsigned queue = timers_.begin()->second;
    set_timer(queue, none);
    CompletionRing(ip_, queue).timer_expired();
  }
}

void Completions::reset() {
  timers_.clear();
  ringing_.clear();
  std::fill(waiting_.begin(), waiting_.end(), std::nullopt);
  std::fill(deadline_.begin(), deadline_.end(), none);
}

}  // namespace meridian
