// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "bench/host/numbered.hpp"
#include "stream/pin_storage.hpp"

namespace meridian {

/// The pins of the QDMA's streams at 512 bits, with nothing of a shell behind them. C2H frames of one size go to every
/// queue that has a buffer, round robin, one beat a cycle; what comes by H2C is counted, and must be frames of that
/// size in the order of their numbers.
class StreamPins : public PinStorage<16> {
 public:
  /// Where C2H frames come from. one_by_one: the generator's next one waits until the last has come back by H2C.
  enum class Source { none, generator, one_by_one, loop };

  struct Setting {
    Source source = Source::generator;
    unsigned queues = 1;
    unsigned bytes = 64;       // 1 to 4096
    std::uint64_t gap_ps = 0;  // from one frame's first beat to the next one's
    std::uint64_t seed = 1;
  };

  /// What has passed the pins in a direction, whatever it was.
  struct Passed {
    std::uint64_t frames = 0, bytes = 0;
  };

  explicit StreamPins(const Setting& setting) : setting_(setting), queue_(setting.queues), random_(setting.seed) {
    size_ = completions_of_16_bytes;
  }

  const Passed& c2h() const { return c2h_; }
  const Passed& h2c() const { return h2c_; }

  /// When the oldest frame of the queue that this was not asked of was first offered.
  std::uint64_t take_start(unsigned queue) {
    auto& starts = queue_[queue].starts;
    if (starts.empty()) throw CheckError("queue " + std::to_string(queue) + " has a completion without a frame");
    const std::uint64_t start = starts.front();
    starts.pop_front();
    return start;
  }

  /// Called for each frame of H2C as its last beat is taken.
  void set_arrival(std::function<void(unsigned queue)> arrival) { arrival_ = std::move(arrival); }

  /// Of one_by_one: called as a frame's first beat is back, with the time since it was offered.
  void set_round_trip(std::function<void(std::uint64_t ps)> round_trip) { round_trip_ = std::move(round_trip); }

  /// What a shell's registers see at the edge, before the models drive.
  void sample(std::uint64_t now_ps) {
    if (tvalid_ != 0 && tready_ != 0) pass_beat();
    if (entry_valid_ != 0 && entry_ready_ != 0) entry_valid_ = 0;
    if (tm_valid_ != 0 && tm_ready_ != 0 && dir_ != 0 && tm_qid_ < queue_.size()) queue_[tm_qid_].buffers += avl_;
    if (status_valid_ != 0 && drop_ != 0) throw CheckError("the model has dropped a frame that had a buffer");
    if (h_valid_ != 0 && h_ready_ != 0) take_beat(now_ps);
  }

  void drive(std::uint64_t now_ps) {
    if (offset_ >= frame_bytes_) frame_bytes_ = 0;
    if (frame_bytes_ == 0 && entry_valid_ == 0 && now_ps >= next_ps_) begin(now_ps);
    tvalid_ = frame_bytes_ != 0;
    if (tvalid_ != 0) drive_beat();
    h_ready_ = looped_.size() < loop_frames;
  }

 private:
  static constexpr std::uint8_t completions_of_16_bytes = 1;
  static constexpr std::size_t loop_frames = 64;  // kept between H2C and C2H

  struct Queue {
    std::uint64_t buffers = 0;
    std::uint64_t made = 0;
    std::uint64_t came = 0;
    std::deque<std::uint64_t> starts;
  };

  void begin(std::uint64_t now_ps) {
    if (setting_.source == Source::loop) return begin_looped(now_ps);
    if (setting_.source == Source::none || (setting_.source == Source::one_by_one && out_)) return;
    for (unsigned tried = 0; tried < setting_.queues; ++tried) {
      const unsigned queue = turn_;
      turn_ = (turn_ + 1) % setting_.queues;
      if (queue_[queue].buffers != 0) return offer(queue, now_ps);
    }
  }

  /// In the order in which they came: the first one waits for a buffer, and all others behind it.
  void begin_looped(std::uint64_t now_ps) {
    if (looped_.empty() || queue_[looped_.front()].buffers == 0) return;
    offer(looped_.front(), now_ps);
    looped_.pop_front();
  }

  void offer(unsigned queue, std::uint64_t now_ps) {
    --queue_[queue].buffers;
    queue_[queue].starts.push_back(now_ps);
    number_ = queue_[queue].made++;
    next_ps_ = now_ps + setting_.gap_ps;
    out_ = true;
    out_ps_ = now_ps;
    frame_bytes_ = setting_.bytes;
    offset_ = 0;
    offer_entry(queue, setting_.bytes);
  }

  void drive_beat() {
    const unsigned left = frame_bytes_ - offset_;
    tlast_ = left <= beat_bytes;
    mty_ = static_cast<std::uint8_t>(tlast_ != 0 ? beat_bytes - left : 0);
    tdata_.fill(0);
    if (offset_ == 0) std::memcpy(tdata_.data(), &number_, number_bytes(frame_bytes_));
  }

  void pass_beat() {
    offset_ += beat_bytes;
    c2h_.bytes += beat_bytes - (tlast_ != 0 ? mty_ : 0U);
    c2h_.frames += tlast_;
  }

  void take_beat(std::uint64_t now_ps) {
    if (arrived_ == 0) take_start_of_frame(now_ps);
    const unsigned bytes = beat_bytes - (h_last_ != 0 ? h_mty_ : 0U);
    arrived_ += bytes;
    h2c_.bytes += bytes;
    if (h_last_ == 0) return;
    if (arrived_ != setting_.bytes) throw CheckError("a frame came with " + std::to_string(arrived_) + " bytes");
    arrived_ = 0;
    ++h2c_.frames;
    if (arrival_) arrival_(h_qid_);
    if (setting_.source == Source::loop) looped_.push_back(h_qid_);
    if (setting_.source != Source::one_by_one) return;
    // At any phase of what the host does.
    next_ps_ = now_ps + 200'000 + random_.below(1'000'000);
    out_ = false;
  }

  void take_start_of_frame(std::uint64_t now_ps) {
    std::uint64_t number = 0;
    std::memcpy(&number, h_data_.data(), number_bytes(setting_.bytes));
    if (h_qid_ >= queue_.size() || number != number_in(queue_[h_qid_].came++, setting_.bytes))
      throw CheckError("queue " + std::to_string(h_qid_) + " sent frame " + std::to_string(number) +
                       ", which is not the next one");
    if (round_trip_) round_trip_(now_ps - out_ps_);
  }

  Setting setting_;
  std::vector<Queue> queue_;
  Random random_;
  std::function<void(unsigned)> arrival_;
  std::function<void(std::uint64_t)> round_trip_;
  std::deque<unsigned> looped_;  // queues of frames that came and are to go back
  Passed c2h_, h2c_;
  std::uint64_t next_ps_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t out_ps_ = 0;  // when the last frame was offered
  bool out_ = false;          // it has not come back
  unsigned turn_ = 0;
  unsigned frame_bytes_ = 0, offset_ = 0;  // of the frame at the pins
  unsigned arrived_ = 0;
};

}  // namespace meridian
