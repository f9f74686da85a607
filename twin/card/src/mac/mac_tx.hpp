// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/frame.hpp"
#include "mac/fcs_fault.hpp"
#include "mac/mac_counters.hpp"
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
  bool aborted = false;            // tuser at tlast
  bool bad = false;                // the wire carries a wrong FCS: aborted, or on demand
  std::uint8_t ptp_op = 0;         // as asked on its first beat
  std::uint16_t ptp_tag = 0;
};

/// Transmit half of an Ethernet MAC: takes beats into a small elastic store and lays them on the wire, in wire time.
///
/// tready is low while the store is full, so that the shell is held to the rate of the wire, deficit idle count
/// included: a frame of 60 bytes (64 with FCS) costs 84 bytes, that is 10.5 cycles on the average. Inside a frame
/// tvalid must not fall (the MAC would underflow); a frame below 60 bytes, a hole in tkeep, or a beat that changes
/// while it waits for tready are errors too.
///
/// A two-step timestamp is that of the end of the start-of-frame delimiter: the shell's system timer as it stands after
/// the edge before it, plus the half cycle by which a delimiter in the second lane ends after that edge (1 ns of 1.28
/// at 25 Gb/s, 3 ns of 3.2 at 10 Gb/s), less a fixed latency. Its accuracy is that of MacRx.
///
/// A MAC can be slower than its wire, as one whose peer asks for pauses (IEEE 802.3 annex 31B): it takes no new frame
/// until its share of the time since the last one has passed. A frame that has begun goes on at the rate of the wire.
///
/// A link that is down passes nothing: a frame during which it is down at any time is counted and gone. Its timestamp
/// comes back all the same, as the MAC does not know that nobody listens.
class MacTx {
 public:
  /// period_ps tells how long the eight bytes of a cycle take.
  MacTx(MacTxPins pins, std::string name, double period_ps)
      : pins_(pins), name_(std::move(name)), period_ps_(period_ps) {}

  /// Time from where the MAC stamps to the wire: taken off every timestamp.
  void set_timestamp_latency(std::uint32_t ns) { latency_ns_ = ns; }

  /// Up at first. Says nothing to the shell, whose mac_link_up pin is not the MAC's.
  void set_link(bool up);
  bool link() const { return link_; }

  /// Frames that get a wrong FCS on demand.
  FcsFault& fcs_fault() { return fcs_fault_; }

  /// How much of the wire's time frames may take: 100 (at first) is all of it, 0 takes no frame more.
  void set_share(unsigned percent);

  std::optional<TxFrame> pop();
  bool has_frame() const { return !done_.empty(); }

  /// Nothing in the store or on the wire, and no timestamp on its way back.
  bool idle() const { return !in_frame_ && leaving_.empty() && stamps_.empty() && answers_.empty(); }

  struct Statistics : MacCounters {
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
  FcsFault fcs_fault_;
  Statistics statistics_;
  std::uint64_t cycle_ = 0;
  std::uint64_t offered_ps_ = 0;  // first beat of the frame at the pins
  std::uint64_t earliest_ = 0;    // of the frame in progress
  std::uint64_t start_ = 0;
  std::uint64_t held_data_ = 0;
  std::uint8_t held_keep_ = 0;
  std::uint8_t held_last_ = 0;
  std::uint64_t paused_until_ = 0;  // position on the wire before which no frame begins
  unsigned share_ = 100;            // percent
  std::uint32_t latency_ns_ = 0;
  bool link_ = true;
  bool lost_ = false;  // the link was down during the frame in progress
  bool held_ = false;
  bool in_frame_ = false;
};

}  // namespace meridian
