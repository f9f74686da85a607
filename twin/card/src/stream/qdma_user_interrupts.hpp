// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// usr_irq of the QDMA IP: messages of MSI-X that the shell asks for. Without the pins, of a shell without a user's
/// module, it does nothing.
///
/// Each request is answered some cycles later, as the IP does when the message is on the link, or by a failure (PG302,
/// "User Interrupts"). Rules held against the shell: a request stands as it is until the answer, and falls behind it.
class QdmaUserInterrupts {
 public:
  struct Message {
    unsigned function, vector;
    bool operator==(const Message&) const = default;
  };

  QdmaUserInterrupts() : random_(0) {}
  QdmaUserInterrupts(std::optional<UserInterruptPins> pins, std::uint64_t seed) : random_(seed) {
    if (pins) pins_.emplace(*pins);
  }

  /// A message that was sent.
  std::optional<Message> pop() {
    if (sent_.empty()) return std::nullopt;
    const Message message = sent_.front();
    sent_.pop_front();
    return message;
  }

  /// From now on no message can be sent, or all can.
  void set_fails(bool fails) { fails_ = fails; }

  bool idle() const { return !held_ && sent_.empty(); }

  /// Once per rising edge of the host clock: sample before the shell is evaluated, drive after.
  void sample(std::uint64_t now_ps) {
    if (!pins_) return;
    const bool valid = pins_->in_vld != 0;
    if (state_ == State::answering) {  // the shell sees the answer with this edge
      if (!valid) fail("vld fell before the answer", now_ps);
      state_ = State::answered;
      return;
    }
    if (state_ == State::answered) {
      if (valid) fail("vld stands after the answer", now_ps);
      state_ = State::waiting;
      return;
    }
    if (held_ && !valid) fail("vld fell before the answer", now_ps);
    if (!valid) return;
    const Message message{pins_->in_fnc, pins_->in_vec};
    if (held_ && message != *held_) fail("a request changed before the answer", now_ps);
    if (!held_) wait_ = static_cast<unsigned>(random_.below(longest_wait));
    held_ = message;
  }

  void drive() {
    if (!pins_) return;
    pins_->out_ack = pins_->out_fail = 0;
    if (!held_) return;
    if (wait_ != 0) {
      --wait_;
      return;
    }
    const bool fails = fails_ || held_->vector >= vectors;
    (fails ? pins_->out_fail : pins_->out_ack) = 1;
    if (!fails) sent_.push_back(*held_);
    held_.reset();
    state_ = State::answering;
  }

  void reset() {
    held_.reset();
    state_ = State::waiting;
    if (pins_) pins_->out_ack = pins_->out_fail = 0;
  }

 private:
  static constexpr unsigned longest_wait = 40;  // cycles
  static constexpr unsigned vectors = 8;        // of a function (PG302, "Features")

  [[noreturn]] static void fail(const std::string& what, std::uint64_t now_ps) {
    throw CheckError("usr_irq at " + std::to_string(now_ps) + " ps: " + what);
  }

  std::optional<UserInterruptPins> pins_;
  Random random_;
  std::optional<Message> held_;
  std::deque<Message> sent_;
  unsigned wait_ = 0;
  bool fails_ = false;
  enum class State : std::uint8_t { waiting, answering, answered } state_ = State::waiting;
};

}  // namespace meridian
