// SPDX-License-Identifier: Apache-2.0
#include "transceiver/transceiver.hpp"

#include <algorithm>
#include <cmath>

namespace meridian {

namespace {

constexpr double bits_a_beat = 66;
constexpr std::uint64_t most_errors = 0xffffffff;

}  // namespace

Transceiver::Transceiver(TransceiverPins pins, double period_ps, std::uint64_t seed)
    : pins_(pins),
      bit_ps_(period_ps / bits_a_beat),
      ps_a_byte_(period_ps / 8),
      random_(seed),
      eye_(period_ps / bits_a_beat, seed ^ 0xe7e) {
  pins_.prbs_error = pins_.drp_rdy = 0;
  pins_.drp_do = 0;
}

void Transceiver::set(const TransceiverSetting& setting) {
  setting_ = setting;
  eye_.set_eye(setting.eye);
}

void Transceiver::set_signal(bool signal) {
  signal_ = signal;
  look();
}

void Transceiver::look() {
  eye_.set_signal(near() || signal_);
}

bool Transceiver::link(std::uint64_t now_ps) const {
  if (now_ps < lock_ps_) return false;
  return near() ? sends_frames() && setting_.near_locks : signal_ && setting_.peer_pattern == 0;
}

unsigned Transceiver::pattern_that_comes() const {
  if (near()) return tx_pattern_;
  return signal_ ? setting_.peer_pattern : 0;
}

std::uint64_t Transceiver::errors(std::uint64_t now_ps) {
  count(now_ps);
  return errors_;
}

void Transceiver::count(std::uint64_t now_ps) {
  if (now_ps <= counted_ps_) return;
  const double bits = static_cast<double>(now_ps - counted_ps_) / bit_ps_;
  counted_ps_ = now_ps;
  if (rx_pattern_ == 0) return;
  std::uint64_t more = 0;
  if (pattern_that_comes() != rx_pattern_ || now_ps < lock_ps_) {
    more = static_cast<std::uint64_t>(std::ceil(bits / 2));
  } else {
    if (setting_.error_rate > 0) {
      std::poisson_distribution<std::uint64_t> drawn(bits * setting_.error_rate);
      more = drawn(random_);
    }
    if (near()) more += forced_;
  }
  forced_ = 0;
  error_ = error_ || more != 0;
  errors_ = std::min(errors_ + more, most_errors);
}

void Transceiver::sample_ps(std::uint64_t now_ps, bool in_reset) {
  if (pins_.loopback != loopback_) {
    count(now_ps);
    loopback_ = pins_.loopback;
    lock_ps_ = never_lock;
    look();
  }
  if (in_reset != in_reset_) {
    count(now_ps);
    in_reset_ = in_reset;
    lock_ps_ = in_reset ? never_lock : now_ps + relock_ps;
    eye_.receiver_reset();
  }
  answer_now_ = answer_in_ != 0 && --answer_in_ == 0;
  if (pins_.drp_en == 0 || !setting_.answers) return;
  const unsigned address = pins_.drp_addr;
  if (pins_.drp_we != 0) eye_.write(address, pins_.drp_di, now_ps);
  count(now_ps);
  switch (address) {
    case drp::rx_prbs_err_cnt_l:
      answer_ = static_cast<std::uint16_t>(errors_);
      break;
    case drp::rx_prbs_err_cnt_h:
      answer_ = static_cast<std::uint16_t>(errors_ >> 16);
      break;
    default:
      answer_ = eye_.read(address, now_ps);
  }
  answer_in_ = drp_cycles;
}

void Transceiver::drive_ps() {
  pins_.drp_rdy = answer_now_ ? 1 : 0;
  pins_.drp_do = answer_now_ ? answer_ : 0;
}

void Transceiver::sample_rx(std::uint64_t now_ps) {
  if (pins_.rx_prbs == 0 && rx_pattern_ == 0) return;
  count(now_ps);
  rx_pattern_ = pins_.rx_prbs;
  if (pins_.count_reset != 0) errors_ = 0;
}

void Transceiver::drive_rx() {
  pins_.prbs_error = error_ && rx_pattern_ != 0 ? 1 : 0;
  error_ = false;
}

void Transceiver::sample_tx() {
  tx_pattern_ = pins_.tx_prbs;
  if (pins_.force_error != 0 && tx_pattern_ != 0) ++forced_;
}

}  // namespace meridian
