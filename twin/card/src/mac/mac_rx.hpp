// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/frame.hpp"
#include "mac/ptp_time.hpp"
#include "mac/wire_cursor.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// A frame to come in from the wire, without FCS.
struct RxFrame {
  Bytes bytes;
  std::uint64_t at_ps = 0;  // its preamble starts not before this
  bool bad = false;         // as with a wrong FCS
  std::uint32_t gap = 0;    // more bytes of idle before it than the wire needs
  /// Called when the frame takes its place on the wire, with the end of its start-of-frame delimiter: may still change
  /// bytes (a one-step Sync), not their number.
  std::function<void(Bytes&, std::uint64_t sfd_ps)> on_start = {};
};

/// Receive half of an Ethernet MAC: frames from a queue, in wire time, to the shell's receive pins.
///
/// Without at_ps and gap frames come back to back at line rate. The first beat stands at the pins in the first cycle
/// that begins at or after the end of the start-of-frame delimiter; the beats of a frame are contiguous. The timestamp
/// is the shell's own system timer at the clock edge that brings the first beat.
class MacRx {
 public:
  explicit MacRx(MacRxPins pins) : pins_(pins) {}

  void send(RxFrame frame);

  /// The timestamp pulse comes this many beats after the first one, with tlast if the frame ends before.
  void set_timestamp_delay(unsigned beats) { timestamp_delay_ = beats; }

  std::size_t pending() const { return queue_.size() + (busy_ ? 1 : 0); }
  bool idle() const { return pending() == 0; }

  struct Statistics {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bad = 0;
    std::uint64_t last_start_ps = 0;  // first beat of the last frame
    std::uint64_t last_end_ps = 0;    // last beat of the last frame
  };
  const Statistics& statistics() const { return statistics_; }

  /// Once per rising edge of the receive clock: sample before the shell is evaluated, drive after.
  void sample();
  void drive(std::uint64_t now_ps);

  /// Drops what is queued and what is on its way.
  void reset();

  /// Cycles pass without their edges; nothing may be under way.
  void skip(std::uint32_t cycles) { cycle_ += cycles; }

 private:
  void start(std::uint64_t now_ps);

  MacRxPins pins_;
  std::deque<RxFrame> queue_;
  WireCursor cursor_;
  Statistics statistics_;
  PtpTime timer_;
  PtpTime stamp_;
  std::uint64_t cycle_ = 0;
  std::uint64_t first_beat_cycle_ = 0;
  std::size_t offset_ = 0;
  unsigned timestamp_delay_ = 0;
  unsigned beat_ = 0;
  bool busy_ = false;  // queue_.front() has its place on the wire
};

}  // namespace meridian
