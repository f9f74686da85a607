// SPDX-License-Identifier: Apache-2.0
#include "mac/mac_rx.hpp"

#include <utility>

#include "base/error.hpp"

namespace meridian {

void MacRx::send(RxFrame frame) {
  if (frame.bytes.empty() || frame.bytes.size() > 65535) throw InputError("a received frame has 1 to 65535 bytes");
  queue_.push_back(std::move(frame));
}

void MacRx::reset() {
  queue_.clear();
  busy_ = false;
  pins_.tvalid = pins_.tlast = pins_.tuser = pins_.tstamp_valid = 0;
}

void MacRx::sample() {
  timer_ = PtpTime::sample(pins_.system_timer);
}

void MacRx::start(std::uint64_t now_ps) {
  if (queue_.empty() || queue_.front().at_ps > now_ps) return;
  const RxFrame& frame = queue_.front();
  // What is waiting takes the wire at once after the last frame, which this cycle lies before.
  std::uint64_t earliest = wire::cycle_start(cycle_);
  if (frame.gap != 0) earliest = cursor_.next_start(earliest) + frame.gap;
  const std::uint64_t sfd_end = cursor_.next_start(earliest) + wire::preamble;
  cursor_.commit(earliest, frame.bytes.size());
  first_beat_cycle_ = (sfd_end + wire::bytes_per_cycle - 1) / wire::bytes_per_cycle;
  offset_ = 0;
  beat_ = 0;
  busy_ = true;
}

void MacRx::drive(std::uint64_t now_ps) {
  pins_.tvalid = 0;
  pins_.tlast = 0;
  pins_.tuser = 0;
  pins_.tstamp_valid = 0;
  if (!busy_) start(now_ps);
  if (busy_ && cycle_ >= first_beat_cycle_) {
    const RxFrame& frame = queue_.front();
    const std::size_t left = frame.bytes.size() - offset_;
    const bool last = left <= wire::bytes_per_cycle;
    if (beat_ == 0) {
      stamp_ = timer_;
      statistics_.last_start_ps = now_ps;
    }
    pins_.tvalid = 1;
    pins_.tdata = load_word(frame.bytes, offset_);
    pins_.tkeep = static_cast<std::uint8_t>(last ? (1U << left) - 1 : 0xffU);
    pins_.tlast = last;
    pins_.tuser = last && frame.bad;
    if (beat_ == timestamp_delay_ || (last && beat_ < timestamp_delay_)) {
      pins_.tstamp_valid = 1;
      stamp_.drive(pins_.tstamp);
    }
    offset_ += wire::bytes_per_cycle;
    ++beat_;
    if (last) {
      ++statistics_.frames;
      statistics_.last_end_ps = now_ps;
      statistics_.bytes += frame.bytes.size();
      statistics_.bad += frame.bad;
      queue_.pop_front();
      busy_ = false;
    }
  }
  ++cycle_;
}

}  // namespace meridian
