// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/streams.hpp"

namespace meridian {

/// The pins of the QDMA's streams at 512 bits, with nothing of a shell behind them: frames of one size for every queue
/// that has a buffer, round robin, one beat a cycle; what comes back is counted and must be the same frames in the
/// same order of each queue.
class StreamPins {
 public:
  struct Setting {
    unsigned queues = 1;
    unsigned bytes = 64;       // 64 to 4096
    std::uint64_t gap_ps = 0;  // from one frame's first beat to the next one's
  };

  explicit StreamPins(const Setting& setting) : setting_(setting), queue_(setting.queues) {}

  Qdma make_streams(std::uint64_t seed) {
    return {QdmaC2h(C2hPins{tdata_, tlast_, mty_, marker_, port_, len_, qid_, has_completion_, tvalid_, tready_},
                    CmptPins{entry_, size_, parity_, entry_qid_, type_, packet_, entry_port_, entry_marker_, trigger_,
                             entry_valid_, entry_ready_},
                    C2hStatusPins{drop_, last_, completed_, error_, status_qid_, status_valid_},
                    TmStatusPins{tm_port_, qen_, byp_, dir_, mm_, tm_error_, tm_qid_, avl_, qinv_, irq_arm_, pidx_,
                                 tm_valid_, tm_ready_},
                    seed),
            QdmaH2c(H2cPins{h_data_, h_crc_, h_qid_, h_port_, h_err_, h_mdata_, h_mty_, h_zero_, h_last_, h_valid_,
                            h_ready_},
                    seed),
            QdmaFlr(FlrPins{flr_fnc_, flr_set_, flr_done_fnc_, flr_done_})};
  }

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
  static constexpr unsigned beat_bytes = 64;
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
      len_ = static_cast<std::uint16_t>(setting_.bytes);
      qid_ = entry_qid_ = static_cast<std::uint16_t>(queue);
      offer_entry();
      return;
    }
  }

  /// The shell's completion of 8 bytes.
  void offer_entry() {
    constexpr std::uint32_t used = 1U << 3, end_of_frame = 1U << 20;
    ++packet_;
    entry_[0] = used | std::uint32_t{len_} << 4 | end_of_frame;
    entry_[1] = len_ | std::uint32_t{packet_} << 16;
    parity_ = 0;
    for (unsigned word = 0; word < 2; ++word)
      if (std::popcount(entry_[word]) % 2 == 0) parity_ = static_cast<std::uint16_t>(parity_ | 1U << word);
    for (unsigned word = 2; word < 16; ++word) parity_ = static_cast<std::uint16_t>(parity_ | 1U << word);
    entry_valid_ = 1;
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

  std::array<std::uint32_t, 16> tdata_{}, entry_{}, h_data_{};
  std::uint8_t tlast_ = 0, mty_ = 0, marker_ = 0, port_ = 0, has_completion_ = 1, tvalid_ = 0, tready_ = 0;
  std::uint16_t len_ = 0, qid_ = 0;
  std::uint8_t size_ = 0, type_ = 3, entry_port_ = 0, entry_marker_ = 0, trigger_ = 0, entry_valid_ = 0,
               entry_ready_ = 0;
  std::uint16_t parity_ = 0, entry_qid_ = 0, packet_ = 0;
  std::uint8_t drop_ = 0, last_ = 0, completed_ = 0, error_ = 0, status_valid_ = 0;
  std::uint16_t status_qid_ = 0;
  std::uint8_t tm_port_ = 0, qen_ = 0, byp_ = 0, dir_ = 0, mm_ = 0, tm_error_ = 0, qinv_ = 0, irq_arm_ = 0,
               tm_valid_ = 0, tm_ready_ = 1;
  std::uint16_t tm_qid_ = 0, avl_ = 0, pidx_ = 0;
  std::uint32_t h_crc_ = 0, h_mdata_ = 0;
  std::uint16_t h_qid_ = 0;
  std::uint8_t h_port_ = 0, h_err_ = 0, h_mty_ = 0, h_zero_ = 0, h_last_ = 0, h_valid_ = 0, h_ready_ = 1;
  std::uint8_t flr_fnc_ = 0, flr_set_ = 0, flr_done_fnc_ = 0, flr_done_ = 0;

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
