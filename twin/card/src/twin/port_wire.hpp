// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "mac/mac_rx.hpp"
#include "mac/mac_tx.hpp"
#include "wire/wire_end.hpp"

namespace meridian {

/// A port's MAC and what is at the other end of its wire.
class PortWire {
 public:
  PortWire(MacRx& rx, MacTx& tx, std::unique_ptr<WireEnd> end) : rx_(rx), tx_(tx), end_(std::move(end)) {}

  /// Once a step: frames that have left go to the end, frames that are due go to the MAC. True if there was one.
  bool step(std::uint64_t now_ps) {
    bool moved = false;
    while (auto frame = tx_.pop()) {
      end_->receive(*frame);
      look_ = moved = true;
    }
    if (look_ || now_ps >= end_->next_ps()) {
      for (auto& frame : end_->poll(now_ps, rx_.pending() + queue_.size())) queue_.push_back(std::move(frame));
      look_ = false;
    }
    while (!queue_.empty() && queue_.front().at_ps <= now_ps + ahead_ps) {
      rx_.send(std::move(queue_.front()));
      queue_.pop_front();
      moved = true;
    }
    return moved;
  }

  /// Its descriptor became readable, or it was told something.
  void wake() { look_ = true; }

  std::uint64_t next_ps() const {
    if (look_) return 0;
    return queue_.empty() ? end_->next_ps() : std::min(queue_.front().at_ps, end_->next_ps());
  }

  WireEnd& end() { return *end_; }
  const WireEnd& end() const { return *end_; }

 private:
  static constexpr std::uint64_t ahead_ps = 100'000;

  MacRx& rx_;
  MacTx& tx_;
  std::unique_ptr<WireEnd> end_;
  std::deque<RxFrame> queue_;  // for later
  bool look_ = true;
};

}  // namespace meridian
