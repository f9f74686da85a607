// SPDX-License-Identifier: Apache-2.0
#include "mac/mac_rx.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"

namespace meridian {

void MacRx::send(RxFrame frame) {
  if (frame.bytes.empty() || frame.bytes.size() > 65535) throw InputError("a received frame has 1 to 65535 bytes");
  queue_.push_back(std::move(frame));
}

void MacRx::reset() {
  queue_.clear();
  busy_ = silent_ = cut_ = false;
  pins_.tvalid = pins_.tlast = pins_.tuser = pins_.tstamp_valid = 0;
}

void MacRx::set_link(bool up) {
  link_ = up;
  if (up || !busy_ || silent_) return;
  if (offset_ != 0) {
    cut_ = true;
  } else {
    silent_ = true;
    ++statistics_.link_down;
  }
}

void MacRx::start(std::uint64_t now_ps) {
  if (queue_.empty() || queue_.front().at_ps > now_ps) return;
  RxFrame& frame = queue_.front();
  // What is waiting takes the wire at once after the last frame, which this cycle lies before.
  std::uint64_t earliest = wire::cycle_start(cycle_);
  if (frame.gap != 0) earliest = cursor_.next_start(earliest) + frame.gap;
  sfd_end_ = cursor_.next_start(earliest) + wire::preamble;
  cursor_.commit(earliest, frame.bytes.size());
  first_beat_cycle_ = (sfd_end_ + wire::bytes_per_cycle - 1) / wire::bytes_per_cycle;
  const auto ahead = static_cast<double>(sfd_end_ - wire::cycle_start(cycle_));
  sfd_ps_ = now_ps + static_cast<std::uint64_t>(std::llround(ahead * period_ps_ / wire::bytes_per_cycle));
  if (frame.on_start) {
    const std::size_t length = frame.bytes.size();
    frame.on_start(frame.bytes, sfd_ps_);
    if (frame.bytes.size() != length) throw std::logic_error("on_start changed the length of a frame");
  }
  offset_ = 0;
  beat_ = 0;
  busy_ = true;
  silent_ = !link_;
  cut_ = false;
  if (silent_) {
    ++statistics_.link_down;
  } else {
    frame.bad |= fcs_fault_.hit();
  }
}

void MacRx::stamp() {
  const auto early = static_cast<double>(wire::cycle_start(first_beat_cycle_) - sfd_end_);
  const long early_ns = std::lround(early * period_ps_ / wire::bytes_per_cycle / 1000);
  stamp_ = PtpTime::sample(pins_.system_timer).plus(latency_ns_).minus(static_cast<std::uint32_t>(early_ns));
}

void MacRx::drive_beat(std::uint64_t now_ps) {
  const RxFrame& frame = queue_.front();
  const std::size_t left = frame.bytes.size() - offset_;
  const bool last = cut_ || left <= wire::bytes_per_cycle;
  if (beat_ == 0) {
    stamp();
    statistics_.last_start_ps = now_ps;
    statistics_.last_sfd_ps = sfd_ps_;
  }
  pins_.tvalid = 1;
  pins_.tdata = load_word(frame.bytes, offset_);
  pins_.tkeep = static_cast<std::uint8_t>(left < wire::bytes_per_cycle ? (1U << left) - 1 : 0xffU);
  pins_.tlast = last;
  pins_.tuser = last && (frame.bad || cut_);
  if (beat_ == timestamp_delay_ || (last && beat_ < timestamp_delay_)) {
    pins_.tstamp_valid = 1;
    stamp_.drive(pins_.tstamp);
  }
  ++beat_;
  if (!last) return;
  statistics_.last_end_ps = now_ps;
  const std::size_t passed = offset_ + std::min<std::size_t>(left, wire::bytes_per_cycle);
  statistics_.count(std::span(frame.bytes).first(passed), frame.bad || cut_, cut_);
  silent_ = cut_;
  cut_ = false;
}

void MacRx::drive(std::uint64_t now_ps) {
  pins_.tvalid = 0;
  pins_.tlast = 0;
  pins_.tuser = 0;
  pins_.tstamp_valid = 0;
  if (!busy_) start(now_ps);
  if (busy_ && cycle_ >= first_beat_cycle_) {
    if (!silent_) drive_beat(now_ps);
    offset_ += wire::bytes_per_cycle;
    if (offset_ >= queue_.front().bytes.size()) {
      queue_.pop_front();
      busy_ = false;
    }
  }
  ++cycle_;
}

}  // namespace meridian
