// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "qdma/ip_state.hpp"
#include "stream/qdma_c2h.hpp"

namespace meridian {

/// The completion rings of all queues, and their timers in the order in which they end.
class Completions {
 public:
  explicit Completions(IpState& ip) : ip_(ip), deadline_(ip.contexts.queues(), none), waiting_(ip.contexts.queues()) {}

  void add(unsigned queue, const CompletionEntry& entry, bool error);

  /// A write of the CIDX doorbell. While memory is behind, the last one of a queue waits: each may cause a write, and
  /// hosts can ring faster than a link can carry.
  void consume(unsigned queue, std::uint32_t doorbell);

  /// The context was written: its timer is over.
  void restart(unsigned queue);

  void run();
  bool idle() const { return ringing_.empty(); }
  std::uint64_t next_ps() const { return timers_.empty() ? none : timers_.begin()->first; }
  void reset();

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  void carry_out(unsigned queue, std::uint32_t doorbell);
  void set_timer(unsigned queue, std::uint64_t deadline_ps);

  IpState& ip_;
  std::vector<std::uint64_t> deadline_;
  std::set<std::pair<std::uint64_t, unsigned>> timers_;
  std::vector<std::optional<std::uint32_t>> waiting_;  // doorbells
  std::deque<unsigned> ringing_;                       // whose they are, in turn
};

}  // namespace meridian
