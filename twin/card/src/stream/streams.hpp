// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "shell/pins.hpp"
#include "stream/qdma_c2h.hpp"
#include "stream/qdma_credit.hpp"
#include "stream/qdma_h2c.hpp"
#include "stream/qdma_user_interrupts.hpp"

namespace meridian {

/// Function-level reset handshake of the QDMA IP: a one-cycle usr_flr_set, then usr_flr_done with the same function.
class QdmaFlr {
 public:
  explicit QdmaFlr(FlrPins pins) : pins_(pins) {}

  void request(unsigned function) {
    if (function > 255) throw InputError("flr: choose a function of 0 to 255");
    wanted_.push_back(static_cast<std::uint8_t>(function));
  }

  /// A function whose reset is done.
  std::optional<unsigned> pop() {
    if (done_.empty()) return std::nullopt;
    const unsigned function = done_.front();
    done_.pop_front();
    return function;
  }

  /// Requested, and not answered.
  bool under_way(unsigned function) const {
    return std::find(wanted_.begin(), wanted_.end(), function) != wanted_.end() ||
           std::find(open_.begin(), open_.end(), function) != open_.end();
  }

  bool idle() const { return wanted_.empty() && open_.empty(); }
  const std::deque<std::uint8_t>& open() const { return open_; }

  void sample(std::uint64_t now_ps) {
    if (pins_.done_vld == 0) return;
    for (auto it = open_.begin(); it != open_.end(); ++it) {
      if (*it != pins_.done_fnc) continue;
      open_.erase(it);
      done_.push_back(pins_.done_fnc);
      return;
    }
    throw CheckError("qdma flr at " + std::to_string(now_ps) + " ps: done for function " +
                     std::to_string(pins_.done_fnc) + ", which is not in reset");
  }

  void drive() {
    pins_.set = !wanted_.empty();
    if (wanted_.empty()) return;
    pins_.fnc = wanted_.front();
    open_.push_back(wanted_.front());
    wanted_.pop_front();
  }

  void reset() {
    wanted_.clear();
    open_.clear();
    pins_.set = 0;
  }

 private:
  FlrPins pins_;
  std::deque<std::uint8_t> wanted_, open_, done_;
};

/// Stand-in for the QDMA IP at its stream pins. It knows no descriptors and no registers.
struct Qdma {
  QdmaC2h c2h;
  QdmaH2c h2c;
  QdmaFlr flr;
  QdmaCredit credit;
  QdmaUserInterrupts user_interrupts = {};

  void sample(std::uint64_t now_ps) {
    c2h.sample(now_ps);
    h2c.sample();
    flr.sample(now_ps);
    credit.sample(now_ps);
    user_interrupts.sample(now_ps);
  }

  void drive(std::uint64_t now_ps) {
    c2h.drive();
    h2c.drive(now_ps);
    flr.drive();
    credit.drive();
    user_interrupts.drive();
  }

  void reset() {
    c2h.reset();
    h2c.reset();
    flr.reset();
    credit.reset();
    user_interrupts.reset();
  }

  /// In words, what is under way; empty when nothing is.
  std::string waits_for() const {
    for (const std::string& what : {c2h.waits_for(), h2c.waits_for()})
      if (!what.empty()) return what;
    if (!flr.idle()) return "usr_flr_done";
    return user_interrupts.idle() ? "" : "usr_irq";
  }
};

}  // namespace meridian
