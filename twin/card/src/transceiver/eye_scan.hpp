// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace meridian {

/// Registers of an UltraScale+ transceiver channel by DRP, of those that the eye scan and the pattern checker use.
/// Addresses and fields: UG578 and UG576, as public drivers have them (vivado/check/facts/transceiver.txt).
namespace drp {
constexpr unsigned words = 1024;
constexpr unsigned rx_data_width = 0x003;  // [8:5]
constexpr unsigned es_control = 0x03c;     // [15:10] control, [9] error detector, [8] eye scan, [4:0] prescale
constexpr unsigned es_sdata_mask0 = 0x049;
constexpr unsigned es_horz_offset = 0x04f;  // [15:4]
constexpr unsigned rx_int_datawidth = 0x066;
constexpr unsigned rx_eyescan_vs = 0x097;  // [10] below, [9] UT sign, [8:2] code
constexpr unsigned es_sdata_mask5 = 0x0f1;
constexpr unsigned es_error_count = 0x251;
constexpr unsigned es_sample_count = 0x252;
constexpr unsigned es_control_status = 0x253;
constexpr unsigned rx_prbs_err_cnt_l = 0x25e;
constexpr unsigned rx_prbs_err_cnt_h = 0x25f;
constexpr std::uint16_t es_run = 1U << 10;
constexpr std::uint16_t es_enables = 3U << 8;
}  // namespace drp

/// A model of an eye: an ellipse, in whose middle the bit error rate is 0.5e-20 and outside of which it is 0.5. On the
/// way out its logarithm grows in a straight line.
struct Eye {
  double width = 0.7;     // of the ellipse, in unit intervals
  double height = 180;    // of it, in codes of the vertical offset, of which a scan reaches 254
  double horizontal = 0;  // where its middle is, in unit intervals

  /// At a place: unit intervals from the sampling point, and codes of the vertical offset.
  double error_rate(double interval, double code) const;
};

/// A model of the statistical eye scan of a receiver (UG578, "RX Margin Analysis"): it counts samples of words, and
/// bits that differ from those of the data path's own sampler, until one of the counters has its largest value.
///
/// It differs from a transceiver: errors are drawn from the modelled eye, not from a signal; qualifiers are not looked
/// at; the sampler is always aligned. The scan runs only if it was enabled before the last reset of the receiver.
class EyeScan {
 public:
  /// bit_ps: time of a bit.
  EyeScan(double bit_ps, std::uint64_t seed);

  void set_eye(const Eye& eye) { eye_ = eye; }

  /// Without a signal every second bit is wrong.
  void set_signal(bool signal) { signal_ = signal; }

  std::uint16_t read(unsigned address, std::uint64_t now_ps) const;
  void write(unsigned address, std::uint16_t value, std::uint64_t now_ps);

  /// Of the receiver.
  void receiver_reset();

 private:
  void run(std::uint64_t now_ps);
  unsigned measured_bits() const;

  double bit_ps_;
  std::mt19937_64 random_;
  Eye eye_;
  std::array<std::uint16_t, drp::words> registers_{};
  std::uint64_t done_ps_ = 0;
  std::uint16_t errors_ = 0;
  std::uint16_t samples_ = 0;
  bool signal_ = true;
  bool enabled_ = false;
  bool running_ = false;
};

}  // namespace meridian
