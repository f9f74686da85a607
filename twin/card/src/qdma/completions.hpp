// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "qdma/ip_state.hpp"

namespace meridian {

/// The completion rings of all queues, and their timers in the order in which they end.
class Completions {
 public:
  explicit Completions(IpState& ip) : ip_(ip), deadline_(ip.contexts.queues(), none) {}

  void add(unsigned queue, std::uint64_t entry, bool error);
  void consume(unsigned queue, std::uint32_t doorbell);

  /// The context was written: its timer is over.
  void restart(unsigned queue);

  void run();
  std::uint64_t next_ps() const { return timers_.empty() ? none : timers_.begin()->first; }
  void reset();

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  void set_timer(unsigned queue, std::uint64_t deadline_ps);

  IpState& ip_;
  std::vector<std::uint64_t> deadline_;
  std::set<std::pair<std::uint64_t, unsigned>> timers_;
};

}  // namespace meridian
