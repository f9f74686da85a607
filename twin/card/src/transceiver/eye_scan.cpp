// SPDX-License-Identifier: Apache-2.0
#include "transceiver/eye_scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace meridian {

namespace {

constexpr double half = 0.5;
constexpr double depth = 20;                    // decades from the rim of an eye to its middle
constexpr double horizontal_steps = 64;         // of a unit interval, at the full rate (RXOUT_DIV 1)
constexpr double largest = 65535;               // of both counters
constexpr std::uint16_t reset_width = 6U << 5;  // 64 bits, of which the receiver has 32 at a time inside
constexpr unsigned state_reset = 0;
constexpr unsigned state_count = 3;
constexpr unsigned state_end = 2;

}  // namespace

double Eye::error_rate(double interval, double code) const {
  const double across = (interval - horizontal) / std::max(width / 2, 1e-9);
  const double up = code / std::max(height / 2, 1e-9);
  const double way = std::hypot(across, up);
  return way >= 1 ? half : half * std::pow(10.0, -depth * (1 - way));
}

EyeScan::EyeScan(double bit_ps, std::uint64_t seed) : bit_ps_(bit_ps), random_(seed) {
  registers_[drp::rx_data_width] = reset_width;
  registers_[drp::rx_int_datawidth] = 1;
}

unsigned EyeScan::measured_bits() const {
  unsigned masked = 0;
  for (unsigned i = 0; i < 5; ++i)
    masked += static_cast<unsigned>(std::popcount(registers_[drp::es_sdata_mask0 + i]) +
                                    std::popcount(registers_[drp::es_sdata_mask5 + i]));
  const unsigned inside = 16U << (registers_[drp::rx_int_datawidth] & 3U);
  return std::min(160 - masked, inside);
}

void EyeScan::receiver_reset() {
  enabled_ = (registers_[drp::es_control] & drp::es_enables) == drp::es_enables;
  running_ = false;
}

void EyeScan::run(std::uint64_t now_ps) {
  const unsigned inside = 16U << (registers_[drp::rx_int_datawidth] & 3U);
  const std::uint16_t offset = registers_[drp::es_horz_offset] >> 4;
  const int across = (offset & 0x400U) != 0 ? static_cast<int>(offset & 0x7ffU) - 0x800 : offset & 0x7ff;
  const std::uint16_t vertical = registers_[drp::rx_eyescan_vs];
  const double code = (vertical >> 2 & 0x7fU) * ((vertical >> 10 & 1U) != 0 ? -1.0 : 1.0);
  const double rate = signal_ ? eye_.error_rate(across / horizontal_steps, code) : half;
  const double words_a_sample = std::pow(2.0, 1 + (registers_[drp::es_control] & 0x1fU));
  const double errors_a_sample = rate * measured_bits() * words_a_sample;
  double samples = largest;
  if (errors_a_sample * largest >= largest) {
    errors_ = static_cast<std::uint16_t>(largest);
    samples = std::max(1.0, std::round(largest / errors_a_sample));
  } else {
    std::poisson_distribution<unsigned> drawn(errors_a_sample * largest);
    errors_ = static_cast<std::uint16_t>(std::min<double>(drawn(random_), largest));
  }
  samples_ = static_cast<std::uint16_t>(samples);
  done_ps_ = now_ps + static_cast<std::uint64_t>(samples * words_a_sample * inside * bit_ps_);
  running_ = true;
}

std::uint16_t EyeScan::read(unsigned address, std::uint64_t now_ps) const {
  const bool done = running_ && now_ps >= done_ps_;
  switch (address) {
    case drp::es_error_count:
      return done ? errors_ : 0;
    case drp::es_sample_count:
      return done ? samples_ : 0;
    case drp::es_control_status:
      if (!running_) return state_reset;
      return static_cast<std::uint16_t>(done ? state_end << 1 | 1U : state_count << 1);
    default:
      return registers_.at(address % drp::words);
  }
}

void EyeScan::write(unsigned address, std::uint16_t value, std::uint64_t now_ps) {
  std::uint16_t& word = registers_.at(address % drp::words);
  const std::uint16_t before = word;
  word = value;
  if (address != drp::es_control) return;
  if ((value & drp::es_run) == 0) running_ = false;
  if ((value & drp::es_run & ~before) != 0 && enabled_ && (value & drp::es_enables) == drp::es_enables) run(now_ps);
}

}  // namespace meridian
