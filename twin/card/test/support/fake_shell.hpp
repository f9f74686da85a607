// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "stream/pin_storage.hpp"

namespace meridian {

/// The shell's end of the QDMA streams: sends what it is told to, takes what comes, answers function resets.
class FakeShell : public PinStorage<8> {
 public:
  struct Taken {
    unsigned queue;
    Bytes bytes;
    std::uint32_t metadata;
  };
  struct Status {
    unsigned queue;
    bool drop, error;
  };

  std::vector<Taken> taken;
  std::vector<DescriptorMessage> messages;
  std::vector<Status> status;
  std::vector<unsigned> resets;
  bool h2c_ready = true;
  bool status_ready = true;
  bool answers_resets = true;

  /// A frame for a queue, behind those before it.
  void send(unsigned queue, Bytes bytes) { frames_.push_back({queue, std::move(bytes)}); }
  std::size_t to_send() const { return frames_.size() + (active_ || entry_valid_ != 0 ? 1 : 0); }

  /// Lets a queue fetch descriptors.
  void grant(unsigned queue, unsigned count) { grants_.emplace_back(queue, count); }
  std::size_t to_grant() const { return grants_.size() + (crdt_valid_ != 0 ? 1 : 0); }

  /// What the shell's registers see at the edge, before the models drive.
  void sample() {
    if (tvalid_ != 0 && tready_ != 0) offset_ += beat_bytes;
    if (entry_valid_ != 0 && entry_ready_ != 0) entry_valid_ = 0;
    if (h_valid_ != 0 && h_ready_ != 0) take_beat();
    if (tm_valid_ != 0 && tm_ready_ != 0)
      messages.push_back({tm_qid_, avl_, pidx_, dir_ != 0, qen_ != 0, qinv_ != 0, tm_error_ != 0});
    if (crdt_valid_ != 0 && crdt_ready_ != 0) crdt_valid_ = 0;
    if (status_valid_ != 0) status.push_back({status_qid_, drop_ != 0, error_ != 0});
    if (flr_set_ != 0) {
      resets.push_back(flr_fnc_);
      to_answer_.push_back(flr_fnc_);
    }
  }

  void drive() {
    h_ready_ = h2c_ready;
    tm_ready_ = status_ready;
    if (crdt_valid_ == 0 && !grants_.empty()) {
      crdt_qid_ = static_cast<std::uint16_t>(grants_.front().first);
      crdt_ = static_cast<std::uint16_t>(grants_.front().second);
      crdt_valid_ = 1;
      grants_.pop_front();
    }
    flr_done_ = answers_resets && !to_answer_.empty();
    if (flr_done_ != 0) {
      flr_done_fnc_ = to_answer_.front();
      to_answer_.pop_front();
    }
    if (active_ && offset_ >= frame_.second.size()) active_ = false;
    if (!active_ && !frames_.empty() && entry_valid_ == 0) begin();
    tvalid_ = active_;
    if (active_) beat();
  }

 private:
  void begin() {
    frame_ = std::move(frames_.front());
    frames_.pop_front();
    active_ = true;
    offset_ = 0;
    offer_entry(frame_.first, frame_.second.size());
  }

  void beat() {
    const std::size_t left = frame_.second.size() - offset_;
    const std::size_t count = std::min<std::size_t>(left, beat_bytes);
    tdata_.fill(0);
    std::memcpy(tdata_.data(), frame_.second.data() + offset_, count);
    tlast_ = left <= beat_bytes;
    mty_ = static_cast<std::uint8_t>(tlast_ != 0 ? beat_bytes - count : 0);
  }

  void take_beat() {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(h_data_.data());
    if (h_zero_ == 0) arriving_.insert(arriving_.end(), bytes, bytes + beat_bytes - h_mty_);
    if (h_last_ != 0) taken.push_back({h_qid_, std::exchange(arriving_, {}), h_mdata_});
  }

  std::deque<std::pair<unsigned, Bytes>> frames_;
  std::deque<std::pair<unsigned, unsigned>> grants_;
  std::pair<unsigned, Bytes> frame_;
  std::size_t offset_ = 0;
  bool active_ = false;
  Bytes arriving_;
  std::deque<std::uint8_t> to_answer_;
};

}  // namespace meridian
