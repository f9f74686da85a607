// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "pcie/packet.hpp"
#include "shell/pins.hpp"

namespace meridian::pcie {

/// A stream of the shell, which has to keep a beat as it is until it is taken (AXI4-Stream, "Handshake signaling").
class SteadyBeat {
 public:
  explicit SteadyBeat(const char* stream) : stream_(stream) {}

  /// At each clock edge. CheckError if a beat that was not taken has changed or is gone.
  void check(bool valid, bool ready, WidePin data, std::uint8_t keep, bool last, std::uint64_t user) {
    if (waits_ && !valid) throw CheckError("pcie: " + std::string(stream_) + " takes back a beat");
    if (waits_ &&
        (keep != keep_ || last != last_ || user != user_ || !std::equal(data_.begin(), data_.end(), data.begin())))
      throw CheckError("pcie: " + std::string(stream_) + " changes a beat that waits");
    waits_ = valid && !ready;
    if (!waits_) return;
    std::copy_n(data.begin(), data_.size(), data_.begin());
    keep_ = keep;
    last_ = last;
    user_ = user;
  }

  void reset() { waits_ = false; }

 private:
  const char* stream_;
  bool waits_ = false, last_ = false;
  std::array<std::uint32_t, beat_words> data_{};
  std::uint8_t keep_ = 0;
  std::uint64_t user_ = 0;
};

}  // namespace meridian::pcie
