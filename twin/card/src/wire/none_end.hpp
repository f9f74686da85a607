// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/wire_end.hpp"

namespace meridian {

/// Sends nothing, counts and drops what comes.
class NoneEnd : public WireEnd {
 public:
  void receive(const TxFrame& frame) override {
    ++frames_;
    bytes_ += frame.bytes.size();
    bad_ += frame.bad;
  }
  std::vector<RxFrame> poll(std::uint64_t, std::size_t) override { return {}; }
  std::uint64_t next_ps() const override { return never_ps; }
  void report(const WireReport& report) const override {
    report("received", static_cast<double>(frames_));
    report("received_bytes", static_cast<double>(bytes_));
    report("received_bad", static_cast<double>(bad_));
  }

 private:
  std::uint64_t frames_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t bad_ = 0;
};

}  // namespace meridian
