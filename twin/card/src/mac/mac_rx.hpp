// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/frame.hpp"
#include "mac/fcs_fault.hpp"
#include "mac/mac_counters.hpp"
#include "mac/ptp_time.hpp"
#include "mac/wire_cursor.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// A frame to come in from the wire, without FCS.
struct RxFrame {
  Bytes bytes = {};
  std::uint64_t at_ps = 0;  // its preamble starts not before this
  bool bad = false;         // as with a wrong FCS
  std::uint32_t gap = 0;    // more bytes of idle before it than the wire needs
  /// Called once, when the frame takes its place on the wire, with the exact end of its start-of-frame delimiter: may
  /// still change bytes (a one-step Sync), not their number. Not called for a frame that a reset drops.
  std::function<void(Bytes&, std::uint64_t sfd_ps)> on_start = {};
};

/// Receive half of an Ethernet MAC: frames from a queue, in wire time, to the shell's receive pins.
///
/// Without at_ps and gap frames come back to back at line rate. The first beat stands at the pins in the first cycle
/// that begins at or after the end of the start-of-frame delimiter; the beats of a frame are contiguous.
///
/// The timestamp is that of the end of the start-of-frame delimiter: the shell's own system timer as it stands after
/// the edge that brings the first beat, less the half cycle by which a delimiter in the second lane ends before that
/// edge (1 ns of 1.28 at 25 Gb/s, 3 ns of 3.2 at 10 Gb/s), plus a fixed latency. So a stamp is exact to the timer's
/// rounding (half a nanosecond) and at most 0.28 ns more.
///
/// A link that is down passes nothing: its frames take their time on the wire and are counted, and one that is at the
/// pins when the link goes ends there as a bad one.
class MacRx {
 public:
  /// period_ps tells how long the eight bytes of a cycle take.
  MacRx(MacRxPins pins, double period_ps) : pins_(pins), period_ps_(period_ps) {}

  void send(RxFrame frame);

  /// The timestamp pulse comes this many beats after the first one, with tlast if the frame ends before.
  void set_timestamp_delay(unsigned beats) { timestamp_delay_ = beats; }

  /// Time from the wire to where the MAC stamps: added to every timestamp, the frame itself is not delayed.
  void set_timestamp_latency(std::uint32_t ns) { latency_ns_ = ns; }

  /// Up at first. Says nothing to the shell, whose mac_link_up pin is not the MAC's.
  void set_link(bool up);
  bool link() const { return link_; }

  /// Frames that get a wrong FCS on demand.
  FcsFault& fcs_fault() { return fcs_fault_; }

  /// Frames not yet at their end, and of these the ones that have not taken their place on the wire.
  std::size_t pending() const { return queue_.size(); }
  std::size_t waiting() const { return queue_.size() - (busy_ ? 1 : 0); }
  bool idle() const { return queue_.empty(); }

  struct Statistics : MacCounters {
    std::uint64_t last_sfd_ps = 0;    // end of the start-of-frame delimiter of the last frame
    std::uint64_t last_start_ps = 0;  // first beat of the last frame
    std::uint64_t last_end_ps = 0;    // last beat of the last frame
  };
  const Statistics& statistics() const { return statistics_; }

  /// Once per rising edge of the receive clock, after the shell is evaluated.
  void drive(std::uint64_t now_ps);

  /// Drops what is queued and what is on its way.
  void reset();

  /// Cycles pass without their edges; nothing may be under way.
  void skip(std::uint32_t cycles) { cycle_ += cycles; }

 private:
  void start(std::uint64_t now_ps);
  void drive_beat(std::uint64_t now_ps);
  void stamp();

  MacRxPins pins_;
  double period_ps_;
  std::deque<RxFrame> queue_;
  WireCursor cursor_;
  FcsFault fcs_fault_;
  Statistics statistics_;
  PtpTime stamp_;
  std::uint64_t cycle_ = 0;
  std::uint64_t first_beat_cycle_ = 0;
  std::size_t offset_ = 0;
  std::uint64_t sfd_end_ = 0;  // of the frame in progress, in bytes of wire time and in ps
  std::uint64_t sfd_ps_ = 0;
  unsigned timestamp_delay_ = 0;
  std::uint32_t latency_ns_ = 0;
  unsigned beat_ = 0;
  bool link_ = true;
  bool silent_ = false;  // the frame in progress, or its rest, does not pass
  bool cut_ = false;     // its next beat is the last: the link went down
  bool busy_ = false;    // queue_.front() has its place on the wire
};

}  // namespace meridian
