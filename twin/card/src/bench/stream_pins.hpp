// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/pin_storage.hpp"

namespace meridian {

/// The pins of the QDMA's streams at 512 bits, with nothing of a shell behind them: frames of one size for every queue
/// that has a buffer, round robin, one beat a cycle; what comes back is counted and must be the same frames in the
/// same order of each queue.
class StreamPins : public PinStorage<16> {
 public:
  struct Setting {
    unsigned queues = 1;
    unsigned bytes = 64;       // 64 to 4096
    std::uint64_t gap_ps = 0;  // from one frame's first beat to the next one's
  };

  explicit StreamPins(const Setting& setting) : setting_(setting), queue_(setting.queues) {}

  /// Frames that came back.
  std::uint64_t returned() const { return returned_; }

  /// When the oldest frame of the queue that this was not asked of was first offered.
  std::uint64_t take_start(unsigned queue) {
    auto& starts = queue_[queue].starts;
    const std::uint64_t start = starts.front();
    starts.pop_front();
    return start;
  }

  /// What a shell's registers see at the edge, before the models drive.
  void sample() {
    if (tvalid_ != 0 && tready_ != 0) offset_ += beat_bytes;
    if (entry_valid_ != 0 && entry_ready_ != 0) entry_valid_ = 0;
    if (tm_valid_ != 0 && tm_ready_ != 0 && dir_ != 0 && tm_qid_ < queue_.size()) queue_[tm_qid_].buffers += avl_;
    if (status_valid_ != 0 && drop_ != 0) throw CheckError("the model has dropped a frame that had a buffer");
    if (h_valid_ != 0) take_beat();
  }

  void drive(std::uint64_t now_ps) {
    if (offset_ >= frame_bytes_) frame_bytes_ = 0;
    if (frame_bytes_ == 0 && entry_valid_ == 0 && now_ps >= next_ps_) begin(now_ps);
    tvalid_ = frame_bytes_ != 0;
    if (tvalid_ != 0) drive_beat();
  }

 private:
  struct Queue {
    std::uint64_t buffers = 0;
    std::uint64_t sent = 0;
    std::uint64_t returned = 0;
    std::deque<std::uint64_t> starts;
  };

  void begin(std::uint64_t now_ps) {
    for (unsigned tried = 0; tried < setting_.queues; ++tried) {
      const unsigned queue = turn_;
      turn_ = (turn_ + 1) % setting_.queues;
      if (queue_[queue].buffers == 0) continue;
      --queue_[queue].buffers;
      queue_[queue].starts.push_back(now_ps);
      number_ = queue_[queue].sent++;
      next_ps_ = now_ps + setting_.gap_ps;
      frame_bytes_ = setting_.bytes;
      offset_ = 0;
      offer_entry(queue, setting_.bytes);
      return;
    }
  }

  void drive_beat() {
    const unsigned left = frame_bytes_ - offset_;
    tlast_ = left <= beat_bytes;
    mty_ = static_cast<std::uint8_t>(tlast_ != 0 ? beat_bytes - left : 0);
    tdata_.fill(0);
    if (offset_ == 0) std::memcpy(tdata_.data(), &number_, sizeof number_);
  }

  void take_beat() {
    if (arrived_ == 0) {
      std::uint64_t number = 0;
      std::memcpy(&number, h_data_.data(), sizeof number);
      if (h_qid_ >= queue_.size() || number != queue_[h_qid_].returned++)
        throw CheckError("queue " + std::to_string(h_qid_) + " sent frame " + std::to_string(number) +
                         ", which is not the next one");
    }
    arrived_ += beat_bytes - (h_last_ != 0 ? h_mty_ : 0U);
    if (h_last_ == 0) return;
    if (arrived_ != setting_.bytes) throw CheckError("a frame came back with " + std::to_string(arrived_) + " bytes");
    arrived_ = 0;
    ++returned_;
  }

  Setting setting_;
  std::vector<Queue> queue_;
  std::uint64_t next_ps_ = 0;
  std::uint64_t number_ = 0;
  unsigned turn_ = 0;
  unsigned frame_bytes_ = 0, offset_ = 0;  // of the frame at the pins
  unsigned arrived_ = 0;
  std::uint64_t returned_ = 0;
};

}  // namespace meridian
