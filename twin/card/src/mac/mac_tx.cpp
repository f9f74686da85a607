// SPDX-License-Identifier: Apache-2.0
#include "mac/mac_tx.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::size_t shortest_frame = 60;  // IEEE 802.3: 64 with FCS
constexpr std::size_t longest_frame = 16384;
constexpr std::uint8_t two_step = 2;

}  // namespace

std::optional<TxFrame> MacTx::pop() {
  if (done_.empty()) return std::nullopt;
  TxFrame frame = std::move(done_.front());
  done_.pop_front();
  return frame;
}

void MacTx::fail(const std::string& what, std::uint64_t now_ps) const {
  throw CheckError(name_ + " at " + std::to_string(now_ps) + " ps: " + what);
}

std::uint64_t MacTx::wire_ps(std::uint64_t position, std::uint64_t now_ps) const {
  const double bytes = static_cast<double>(position) - static_cast<double>(wire::cycle_start(cycle_));
  return now_ps + static_cast<std::uint64_t>(std::llround(bytes * period_ps_ / wire::bytes_per_cycle));
}

void MacTx::sample(std::uint64_t now_ps) {
  const bool valid = pins_.tvalid != 0;
  if (in_frame_ && !valid) fail("tvalid fell inside a frame (transmit underflow)", now_ps);
  if (held_ && !valid) fail("tvalid fell before tready", now_ps);
  if (held_ && (pins_.tdata != held_data_ || pins_.tkeep != held_keep_ || pins_.tlast != held_last_))
    fail("a beat changed while it waited for tready", now_ps);
  if (valid && !in_frame_ && !held_) offered_ps_ = now_ps;
  held_ = valid && pins_.tready == 0;
  if (held_) {
    held_data_ = pins_.tdata;
    held_keep_ = pins_.tkeep;
    held_last_ = pins_.tlast;
  }
  if (valid && pins_.tready != 0) accept(now_ps);
}

void MacTx::accept(std::uint64_t now_ps) {
  if (!in_frame_) {
    earliest_ = wire::cycle_start(cycle_ + latency_cycles);
    start_ = cursor_.next_start(earliest_);
    const std::uint64_t sfd_end = start_ + wire::preamble;
    frame_ = TxFrame{};
    frame_.t_offered_ps = offered_ps_;
    frame_.t_first_ps = now_ps;
    frame_.t_ps = wire_ps(sfd_end, now_ps);
    frame_.ptp_op = pins_.ptp_op;
    frame_.ptp_tag = pins_.ptp_tag;
    if (pins_.ptp_op == two_step) {
      const double offset_ps =
          static_cast<double>(sfd_end % wire::bytes_per_cycle) * period_ps_ / wire::bytes_per_cycle;
      stamps_.push_back(
          {sfd_end / wire::bytes_per_cycle, static_cast<std::uint32_t>(std::lround(offset_ps / 1000)), pins_.ptp_tag});
    } else if (pins_.ptp_op != 0) {
      fail("tx_ptp_1588op is " + std::to_string(pins_.ptp_op) + ": the shell may ask for 0 or 2 only", now_ps);
    }
    in_frame_ = true;
    lost_ = !link_;
  }
  const bool last = pins_.tlast != 0;
  const unsigned keep = pins_.tkeep;
  const auto count = static_cast<std::size_t>(std::popcount(keep));
  if (count == 0 || keep != (1U << count) - 1) fail("tkeep has a hole or is 0", now_ps);
  if (!last && count != wire::bytes_per_cycle) fail("tkeep is not all ones before tlast", now_ps);
  const std::size_t offset = frame_.bytes.size();
  frame_.bytes.resize(offset + count);
  const std::uint64_t data = pins_.tdata;
  std::memcpy(frame_.bytes.data() + offset, &data, count);
  leaving_.push_back(start_ + wire::preamble + frame_.bytes.size());
  if (frame_.bytes.size() > longest_frame) fail("a frame is longer than 16384 bytes", now_ps);
  if (!last) return;

  if (frame_.bytes.size() < shortest_frame)
    fail("a frame of " + std::to_string(frame_.bytes.size()) + " bytes is not padded to 60", now_ps);
  cursor_.commit(earliest_, frame_.bytes.size());
  frame_.aborted = pins_.tuser != 0;
  frame_.t_end_ps = wire_ps(start_ + wire::preamble + frame_.bytes.size() + wire::fcs, now_ps);
  in_frame_ = false;
  const std::uint64_t end = start_ + wire::preamble + frame_.bytes.size() + wire::fcs + wire::gap;
  if (share_ != 0 && share_ != 100) paused_until_ = end + (end - start_) * (100 - share_) / share_;
  if (lost_) {
    ++statistics_.link_down;
    return;
  }
  frame_.bad = fcs_fault_.hit() || frame_.aborted;
  if (statistics_.frames == 0) statistics_.first_ps = frame_.t_ps;
  statistics_.last_ps = frame_.t_ps;
  statistics_.count(frame_.bytes, frame_.bad, frame_.aborted);
  done_.push_back(std::move(frame_));
}

void MacTx::set_link(bool up) {
  link_ = up;
  if (!up) lost_ = true;
}

void MacTx::set_share(unsigned percent) {
  if (percent > 100) throw InputError("a MAC's share of its wire is " + std::to_string(percent) + " %: give 0 to 100");
  share_ = percent;
  paused_until_ = 0;
}

void MacTx::reset() {
  leaving_.clear();
  stamps_.clear();
  answers_.clear();
  held_ = in_frame_ = false;
  pins_.tready = pins_.tstamp_valid = 0;
}

void MacTx::drive() {
  if (!stamps_.empty() && stamps_.front().cycle <= cycle_) {
    const Stamp stamp = stamps_.front();
    stamps_.pop_front();
    const PtpTime time = PtpTime::sample(pins_.system_timer).plus(stamp.offset_ns).minus(latency_ns_);
    answers_.push_back({cycle_ + timestamp_latency_cycles, time, stamp.tag});
  }
  ++cycle_;
  while (!leaving_.empty() && leaving_.front() <= wire::cycle_start(cycle_)) leaving_.pop_front();
  const bool paused = !in_frame_ && (share_ == 0 || wire::cycle_start(cycle_ + latency_cycles) < paused_until_);
  pins_.tready = leaving_.size() < store_beats && !paused;
  pins_.tstamp_valid = 0;
  if (!answers_.empty() && answers_.front().cycle <= cycle_) {
    pins_.tstamp_valid = 1;
    pins_.tstamp_tag = answers_.front().tag;
    answers_.front().time.drive(pins_.tstamp);
    answers_.pop_front();
    ++statistics_.timestamps;
  }
}

}  // namespace meridian
