// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace meridian {

/// Which frames of a direction get a wrong FCS. The rules add up: a frame is hit when one of them says so.
class FcsFault {
 public:
  /// Every nth frame, counted from this call; 0: none.
  void every(std::uint64_t n) {
    every_ = n;
    count_ = 0;
  }

  /// Each frame with this probability, 0 to 1.
  void probability(double probability, std::uint64_t seed) {
    probability_ = probability;
    random_ = Random(seed);
  }

  /// The next so many frames, beside those still due.
  void next(std::uint64_t frames) { next_ += frames; }

  /// Asked once for each frame, in their order.
  bool hit() {
    bool wrong = every_ != 0 && ++count_ % every_ == 0;
    if (probability_ > 0 && random_.fraction() < probability_) wrong = true;
    if (next_ != 0) {
      --next_;
      wrong = true;
    }
    return wrong;
  }

 private:
  std::uint64_t every_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t next_ = 0;
  double probability_ = 0;
  Random random_{0};
};

}  // namespace meridian
