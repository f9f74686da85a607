// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "mac/mac_rx.hpp"
#include "mac/mac_tx.hpp"
#include "transceiver/transceiver.hpp"
#include "wire/capture/capture_file.hpp"
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
      if (transceiver_ != nullptr && !leaves(*frame, now_ps)) {
        moved = true;
        continue;
      }
      if (cut_) {
        ++lost_;
        continue;
      }
      if (tap_) tap_(frame->t_ps, frame->bytes, CaptureDirection::outbound, frame->bad);
      end_->receive(*frame);
      look_ = moved = true;
    }
    if (look_ || now_ps >= end_->next_ps()) {
      for (auto& frame : end_->poll(now_ps, rx_.pending() + queue_.size())) {
        if (cut_ || (transceiver_ != nullptr && transceiver_->near()))
          ++lost_;
        else
          queue_.push_back(std::move(frame));
      }
      look_ = false;
    }
    while (!queue_.empty() && queue_.front().at_ps <= now_ps + ahead_ps) {
      if (tap_) watch(queue_.front());
      if (transceiver_ != nullptr && transceiver_->far()) send_back(queue_.front());
      rx_.send(std::move(queue_.front()));
      queue_.pop_front();
      moved = true;
    }
    while (!returning_.empty() && returning_.front().t_end_ps <= now_ps) {
      if (tap_)
        tap_(returning_.front().t_ps, returning_.front().bytes, CaptureDirection::outbound, returning_.front().bad);
      end_->receive(returning_.front());
      returning_.pop_front();
      look_ = moved = true;
    }
    return moved;
  }

  /// Frames pass it from now on, as its loopback says.
  void set_transceiver(Transceiver* transceiver) { transceiver_ = transceiver; }

  /// From now on nothing comes through either way, and neither end sees it: the fault is beyond a switch.
  void cut(bool on) { cut_ = on; }

  /// Frames that a cut took.
  std::uint64_t lost() const { return lost_; }

  /// Its descriptor became readable, or it was told something.
  void wake() { look_ = true; }

  std::uint64_t next_ps() const {
    if (look_) return 0;
    std::uint64_t next = end_->next_ps();
    if (!queue_.empty()) next = std::min(next, queue_.front().at_ps);
    if (!returning_.empty()) next = std::min(next, returning_.front().t_end_ps);
    return next;
  }

  /// Called for every frame on the wire with the end of its start-of-frame delimiter; none: nobody looks.
  using Tap = std::function<void(std::uint64_t time_ps, const Bytes& frame, CaptureDirection direction, bool bad)>;
  void set_tap(Tap tap) { tap_ = std::move(tap); }

  WireEnd& end() { return *end_; }
  const WireEnd& end() const { return *end_; }

 private:
  /// Whether a frame of the MAC gets to the wire. In a near loopback it comes back once its last bit has been sent, and
  /// the time of the way later.
  bool leaves(TxFrame& frame, std::uint64_t now_ps) {
    if (!transceiver_->sends_frames() || transceiver_->far()) {
      ++lost_;
      return false;
    }
    if (!transceiver_->near()) return true;
    RxFrame back;
    back.bytes = std::move(frame.bytes);
    back.at_ps = now_ps + loop_ps;
    back.bad = frame.bad;
    if (!back.bytes.empty() && transceiver_->damages()) {
      back.bytes.back() ^= 1;
      back.bad = true;
    }
    queue_.push_back(std::move(back));
    return false;
  }

  /// A frame that comes in goes out again, too, in a far loopback.
  void send_back(RxFrame& frame) {
    frame.on_start = [this, bad = frame.bad, hook = std::move(frame.on_start)](Bytes& bytes, std::uint64_t at) {
      if (hook) hook(bytes, at);
      TxFrame back;
      back.bytes = bytes;
      back.bad = bad;
      back.t_ps = at + loop_ps;
      const double bytes_to_come = static_cast<double>(bytes.size() + wire::fcs);
      back.t_end_ps = back.t_ps + static_cast<std::uint64_t>(bytes_to_come * transceiver_->ps_a_byte());
      returning_.push_back(std::move(back));
    };
  }

  /// Through the transceiver and back, in the model.
  static constexpr std::uint64_t loop_ps = 100'000;

  void watch(RxFrame& frame) {
    frame.on_start = [tap = tap_, bad = frame.bad, hook = std::move(frame.on_start)](Bytes& bytes, std::uint64_t at) {
      if (hook) hook(bytes, at);
      tap(at, bytes, CaptureDirection::inbound, bad);
    };
  }

  static constexpr std::uint64_t ahead_ps = 100'000;

  MacRx& rx_;
  MacTx& tx_;
  std::unique_ptr<WireEnd> end_;
  std::deque<RxFrame> queue_;  // for later
  Tap tap_;
  Transceiver* transceiver_ = nullptr;
  std::deque<TxFrame> returning_;
  bool look_ = true;
  bool cut_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace meridian
