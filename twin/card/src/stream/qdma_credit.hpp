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

/// dsc_crdt_in of the QDMA IP: descriptors that the shell lets a queue fetch.
///
/// Rules held against the shell: nothing changes while vld waits for rdy; a grant is of 1 or more descriptors, of an
/// H2C queue (dir 0), without fence.
class QdmaCredit {
 public:
  struct Grant {
    std::uint16_t queue, count;
    bool operator==(const Grant&) const = default;
  };

  QdmaCredit(CreditPins pins, std::uint64_t seed) : pins_(pins), random_(seed) {}

  std::optional<Grant> pop() {
    if (grants_.empty()) return std::nullopt;
    const Grant grant = grants_.front();
    grants_.pop_front();
    return grant;
  }

  /// Percentage of cycles in which a grant is taken.
  void set_ready_percent(unsigned percent) {
    if (percent == 0 || percent > 100) throw InputError("credit: choose 1 to 100 percent");
    ready_ = percent;
  }

  /// Grants nobody has popped; a model without descriptors pops none.
  bool idle() const { return grants_.empty(); }

  /// Once per rising edge of the host clock: sample before the shell is evaluated, drive after.
  void sample(std::uint64_t now_ps) {
    if (held_ && pins_.vld == 0) fail("vld fell before rdy", now_ps);
    if (pins_.vld == 0) return;
    const Grant grant{pins_.qid, pins_.crdt};
    if (held_ && grant != *held_) fail("a grant changed while it waited for rdy", now_ps);
    if (pins_.dir != 0) fail("a grant for C2H", now_ps);
    if (pins_.fence != 0) fail("fence is set", now_ps);
    if (grant.count == 0) fail("a grant of nothing", now_ps);
    held_ = grant;
    if (pins_.rdy == 0) return;
    held_.reset();
    grants_.push_back(grant);
  }

  void drive() { pins_.rdy = random_.percent(ready_); }

  void reset() {
    grants_.clear();
    held_.reset();
    pins_.rdy = 0;
  }

 private:
  [[noreturn]] static void fail(const std::string& what, std::uint64_t now_ps) {
    throw CheckError("qdma credit at " + std::to_string(now_ps) + " ps: " + what);
  }

  CreditPins pins_;
  Random random_;
  std::deque<Grant> grants_;
  std::optional<Grant> held_;
  unsigned ready_ = 100;
};

}  // namespace meridian
