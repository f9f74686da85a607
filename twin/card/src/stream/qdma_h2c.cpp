// SPDX-License-Identifier: Apache-2.0
#include "stream/qdma_h2c.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace meridian {

void QdmaH2c::send(unsigned queue, H2cFrame frame) {
  if (queue >= queues) throw InputError("h2c: choose a queue below 2048");
  if (frame.bytes.size() > 65535) throw InputError("h2c: a frame has 0 to 65535 bytes");
  queue_[queue].push_back(std::move(frame));
  ++pending_;
}

void QdmaH2c::cancel(unsigned queue) {
  const auto it = queue_.find(queue);
  if (it == queue_.end()) return;
  pending_ -= it->second.size();
  queue_.erase(it);
}

std::optional<QdmaH2c::Sent> QdmaH2c::pop_sent() {
  if (sent_.empty()) return std::nullopt;
  const Sent sent = sent_.front();
  sent_.pop_front();
  return sent;
}

void QdmaH2c::set_valid_percent(unsigned percent) {
  if (percent == 0 || percent > 100) throw InputError("h2c: choose 1 to 100 percent");
  valid_percent_ = percent;
}

void QdmaH2c::reset() {
  queue_.clear();
  sent_.clear();
  pending_ = 0;
  in_frame_ = offered_ = ended_ = false;
  pins_.tvalid = 0;
}

void QdmaH2c::sample() {
  if (!offered_) return;
  if (pins_.tready == 0) {
    ++statistics_.stalled;
    return;
  }
  offered_ = false;
  offset_ += 4 * pins_.tdata.size();
  if (pins_.tlast == 0) return;
  ++statistics_.frames;
  statistics_.bytes += frame_.bytes.size();
  --pending_;
  if (keep_sent_) sent_.push_back({current_, frame_.tag});
  in_frame_ = false;
  ended_ = true;
}

void QdmaH2c::drive(std::uint64_t now_ps) {
  if (ended_) statistics_.last_end_ps = now_ps;
  ended_ = false;
  if (offered_) return;
  pins_.tvalid = 0;
  if (pending_ == 0 || !random_.percent(valid_percent_)) return;
  offer(now_ps);
}

void QdmaH2c::offer(std::uint64_t now_ps) {
  if (!in_frame_) {
    auto next = queue_.upper_bound(current_);
    if (next == queue_.end()) next = queue_.begin();
    current_ = next->first;
    frame_ = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) queue_.erase(next);
    offset_ = 0;
    metadata_ = frame_.metadata.value_or(static_cast<std::uint32_t>(random_.next()));
    in_frame_ = true;
    statistics_.last_start_ps = now_ps;
    if (tap_) tap_(current_, frame_);
  }
  const std::size_t width = 4 * pins_.tdata.size();
  const std::size_t left = frame_.bytes.size() - std::min(offset_, frame_.bytes.size());
  const std::size_t count = std::min(left, width);
  std::fill(pins_.tdata.begin(), pins_.tdata.end(), 0xdeadbeefU);  // bytes that are not the frame's
  if (count != 0) std::memcpy(pins_.tdata.data(), frame_.bytes.data() + offset_, count);
  pins_.tcrc = 0;
  pins_.tuser_qid = static_cast<std::uint16_t>(current_);
  pins_.tuser_port_id = 0;
  pins_.tuser_err = frame_.error;
  pins_.tuser_mdata = metadata_;
  pins_.tuser_zero_byte = frame_.bytes.empty();
  pins_.tlast = left <= width;
  pins_.tuser_mty = pins_.tlast != 0 && count != 0 ? static_cast<std::uint8_t>(width - count) : 0;
  pins_.tvalid = 1;
  offered_ = true;
}

}  // namespace meridian
