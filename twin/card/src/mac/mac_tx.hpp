// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/frame.hpp"
#include "mac/ptp_time.hpp"
#include "mac/wire_cursor.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// A frame that went out on the wire, without FCS.
struct TxFrame {
  Bytes bytes;
  std::uint64_t t_offered_ps = 0;  // first beat at the pins, taken or not
  std::uint64_t t_first_ps = 0;    // first beat taken
  std::uint64_t t_ps = 0;          // end of its start-of-frame delimiter on the wire
  std::uint64_t t_end_ps = 0;      // end of its FCS
  bool aborted = false;            // tuser at tlast: the wire carries a wrong FCS
  std::uint8_t ptp_op = 0;         // as asked on its first beat
  std::uint16_t ptp_tag = 0;
};

/// Transmit half of an Ethernet MAC: takes beats into a small elastic store and lays them on the wire, in wire time.
///
/// tready is low while the store is full, so that the shell is held to the rate of the wire, deficit idle count
/// included: a frame of 60 bytes (64 with FCS) costs 84 bytes, that is 10.5 cycles on the average. Inside a frame
/// tvalid must not fall (the MAC would underflow); a frame below 60 bytes, a hole in tkeep, or a beat that changes
/// while it waits for tready are errors too.
class MacTx {
 public:
  /// period_ps tells how long the eight bytes of a cycle take.
  MacTx(MacTxPins pins, std::string name, double period_ps)
      : pins_(pins), name_(std::move(name)), period_ps_(period_ps) {}

  std::optional<TxFrame> pop();
  bool has_frame() const { return !done_.empty(); }

  /// Nothing in the store or on the wire, and no timestamp on its way back.
  bool idle() const { return !in_frame_ && leaving_.empty() && stamps_.empty() && answers_.empty(); }

  struct Statistics {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t timestamps = 0;
    std::uint64_t first_ps = 0;  // t_ps of the first frame and of the last
    std::uint64_t last_ps = 0;
  };
  const Statistics& statistics() const { return statistics_; }

  /// Once per rising edge of the transmit clock: sample before the shell is evaluated, drive after.
  void sample(std::uint64_t now_ps);
  void drive();

  /// Drops what is in the store.
  void reset();

  /// Cycles pass without their edges; nothing may be under way.
  void skip(std::uint32_t cycles) { cycle_ += cycles; }

  static constexpr unsigned store_beats = 8;
  static constexpr unsigned latency_cycles = 4;            // store to wire
  static constexpr unsigned timestamp_latency_cycles = 8;  // start-of-frame delimiter to the answer

 private:
  struct Stamp {
    std::uint64_t cycle;      // in which the delimiter ends
    std::uint32_t offset_ns;  // within that cycle
    std::uint16_t tag;
  };
  struct Answer {
    std::uint64_t cycle;
    PtpTime time;
    std::uint16_t tag;
  };

  void accept(std::uint64_t now_ps);
  std::uint64_t wire_ps(std::uint64_t position, std::uint64_t now_ps) const;
  [[noreturn]] void fail(const std::string& what, std::uint64_t now_ps) const;

  MacTxPins pins_;
  std::string name_;
  double period_ps_;
  WireCursor cursor_;
  TxFrame frame_;
  std::deque<TxFrame> done_;
  std::deque<std::uint64_t> leaving_;  // wire time at which each beat in the store has left
  std::deque<Stamp> stamps_;
  std::deque<Answer> answers_;
  Statistics statistics_;
  std::uint64_t cycle_ = 0;
  std::uint64_t offered_ps_ = 0;  // first beat of the frame at the pins
  std::uint64_t earliest_ = 0;    // of the frame in progress
  std::uint64_t start_ = 0;
  std::uint64_t held_data_ = 0;
  std::uint8_t held_keep_ = 0;
  std::uint8_t held_last_ = 0;
  bool held_ = false;
  bool in_frame_ = false;
};

}  // namespace meridian
