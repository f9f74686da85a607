// SPDX-License-Identifier: Apache-2.0
#include "qdma/completions.hpp"

#include "qdma/completion_ring.hpp"

namespace meridian {

void Completions::set_timer(unsigned queue, std::uint64_t deadline_ps) {
  if (deadline_[queue] != none) timers_.erase({deadline_[queue], queue});
  deadline_[queue] = deadline_ps;
  if (deadline_ps != none) timers_.emplace(deadline_ps, queue);
}

void Completions::add(unsigned queue, std::uint64_t entry, bool error) {
  CompletionRing ring(ip_, queue);
  ring.add(entry, error);
  if (ring.timer().change) set_timer(queue, ring.timer().deadline_ps.value_or(none));
}

void Completions::consume(unsigned queue, std::uint32_t doorbell) {
  CompletionRing ring(ip_, queue);
  ring.consume(doorbell);
  if (ring.timer().change) set_timer(queue, ring.timer().deadline_ps.value_or(none));
}

void Completions::restart(unsigned queue) {
  set_timer(queue, none);
  ip_.contexts.completion(queue).set(cmpt::timer_running, 0);
}

void Completions::run() {
  while (!timers_.empty() && timers_.begin()->first <= ip_.now_ps) {
    const unsigned queue = timers_.begin()->second;
    set_timer(queue, none);
    CompletionRing(ip_, queue).timer_expired();
  }
}

void Completions::reset() {
  timers_.clear();
  std::fill(deadline_.begin(), deadline_.end(), none);
}

}  // namespace meridian
