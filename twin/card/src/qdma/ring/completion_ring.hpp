// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "qdma/ip_state.hpp"
#include "stream/qdma_c2h.hpp"

namespace meridian {

/// A queue's ring of completions: entries with their colour, the status entry, the interrupt, and when the last two are
/// due. When, in the terms of the trigger modes:
///
/// every: with each entry. User count: when the unread entries reach the threshold. User: at a wish of the shell, which
/// has none. User timer: when the timer has run, which an entry starts. User timer and count: the sooner of both.
///
/// Beyond the modes, so that no reader is left waiting: an update of CIDX that leaves entries unread writes the status
/// entry at once and, if it arms the interrupt, sends it (in the timed modes: starts the timer); the timer refreshes
/// the status entry even while an interrupt is being serviced.
class CompletionRing {
 public:
  /// When a timer is to run; the owner keeps the clocks.
  struct Timer {
    bool change = false;
    std::optional<std::uint64_t> deadline_ps;
  };

  CompletionRing(IpState& ip, unsigned queue);

  bool valid() const { return context_.get(cmpt::valid) != 0; }

  /// Writes an entry; error: of a frame that met a bad descriptor, which ends the ring. Without a valid context
  /// nothing. An entry takes the size that the context has: what is missing is 0, what is too much is cut off.
  void add(const CompletionEntry& entry, bool error);

  /// A write of the CIDX doorbell.
  void consume(std::uint32_t doorbell);

  void timer_expired();

  /// What the calls above did to the queue's timer.
  const Timer& timer() const { return timer_; }

 private:
  unsigned entry_bytes() const { return 8U << context_.get(cmpt::entry_size); }
  unsigned function() const { return context_.get(cmpt::function); }
  unsigned pidx() const { return cmpt::pidx(context_); }
  unsigned cidx() const { return context_.get(cmpt::cidx); }
  unsigned unread() const;
  bool timed() const;
  bool counted() const;

  void write_entry(const CompletionEntry& entry, bool error);
  void write_status();
  void evaluate();
  void trigger();
  void interrupt();
  void start_timer();
  void stop_timer();
  void fail(cmpt::Error error);

  IpState& ip_;
  unsigned queue_;
  CompletionContext& context_;
  unsigned entries_;  // without the status entry
  Timer timer_;
};

}  // namespace meridian
