// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

#include "shell/pins.hpp"
#include "transceiver/eye_scan.hpp"

namespace meridian {

/// As the pins have it (UG578, "Loopback").
enum class Loopback : std::uint8_t { none = 0, near_pcs = 1, near_pma = 2, far_pma = 4, far_pcs = 6 };

/// What a transceiver is made to meet.
struct TransceiverSetting {
  double error_rate = 0;      // of bits, as the pattern checker sees them
  unsigned peer_pattern = 0;  // that the other end of the wire sends in place of frames; 0: frames
  bool answers = true;        // to accesses by DRP
  bool near_locks = true;     // the receiver finds the transmitter's signal in a near loopback
  unsigned damage = 0;        // so many further frames have a wrong bit and a bad FCS behind a near loopback
  Eye eye = {};
};

/// A model of a port's transceiver at the pins of the shell: loopback, pattern generator and checker, registers by DRP.
///
/// A change of the loopback takes the receiver's lock, and a reset of its data path gives it back relock_ps after its
/// end. Frames are not its business: whoever moves them asks loopback(), sends_frames() and link().
///
/// The checker counts bits that are wrong: by the error rate that is set if the pattern that comes is the one it looks
/// for, else every second. Its counter stops at its largest value.
class Transceiver {
 public:
  static constexpr std::uint64_t relock_ps = 20'000'000;
  static constexpr unsigned drp_cycles = 8;

  /// period_ps: of the MAC's clock, in which 8 bytes pass; on the wire they take 66 bits.
  Transceiver(TransceiverPins pins, double period_ps, std::uint64_t seed);

  void set(const TransceiverSetting& setting);
  const TransceiverSetting& setting() const { return setting_; }

  /// Whether something comes by the wire that the receiver could lock to.
  void set_signal(bool signal);

  Loopback loopback() const { return static_cast<Loopback>(loopback_); }
  bool near() const { return loopback() == Loopback::near_pcs || loopback() == Loopback::near_pma; }
  /// Whether the next frame of a near loopback is damaged; the setting has one less after it.
  bool damages() { return setting_.damage != 0 && setting_.damage-- != 0; }

  bool far() const { return loopback() == Loopback::far_pma || loopback() == Loopback::far_pcs; }

  /// Frames of the MAC leave the transmitter: it sends no pattern.
  bool sends_frames() const { return tx_pattern_ == 0; }

  /// Frames reach the MAC.
  bool link(std::uint64_t now_ps) const;

  /// When the link may change by itself; never_lock if it will not.
  std::uint64_t lock_ps() const { return lock_ps_; }
  static constexpr std::uint64_t never_lock = ~std::uint64_t{0};

  double ps_a_byte() const { return ps_a_byte_; }
  std::uint64_t errors(std::uint64_t now_ps);

  /// At each rising edge of the clock of the name: sample before the shell is evaluated, drive after.
  /// in_reset: the shell holds the data path of the receiver in reset.
  void sample_ps(std::uint64_t now_ps, bool in_reset);
  void drive_ps();
  void sample_rx(std::uint64_t now_ps);
  void drive_rx();
  void sample_tx();

 private:
  unsigned pattern_that_comes() const;
  void count(std::uint64_t now_ps);
  void look();

  TransceiverPins pins_;
  double bit_ps_;
  double ps_a_byte_;
  std::mt19937_64 random_;
  TransceiverSetting setting_;
  EyeScan eye_;
  std::uint64_t lock_ps_ = 0;
  std::uint64_t counted_ps_ = 0;  // errors are counted up to here
  std::uint64_t errors_ = 0;
  std::uint64_t forced_ = 0;  // errors of the transmitter that the checker has not met
  std::uint8_t loopback_ = 0;
  unsigned tx_pattern_ = 0;
  unsigned rx_pattern_ = 0;
  unsigned answer_in_ = 0;  // ps cycles; 0: no access is under way
  std::uint16_t answer_ = 0;
  bool answer_now_ = false;
  bool in_reset_ = false;
  bool signal_ = true;
  bool error_ = false;
};

}  // namespace meridian
