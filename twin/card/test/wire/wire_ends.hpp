// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "wire/traffic/traffic_frame.hpp"
#include "wire/wire_end.hpp"
#include "wire_bench.hpp"

namespace meridian {

/// Keeps what the card sends.
class KeepEnd : public WireEnd {
 public:
  explicit KeepEnd(std::vector<TxFrame>& kept) : kept_(kept) {}
  void receive(const TxFrame& frame) override { kept_.push_back(frame); }
  std::vector<RxFrame> poll(std::uint64_t, std::size_t) override { return {}; }
  std::uint64_t next_ps() const override { return never_ps; }

 private:
  std::vector<TxFrame>& kept_;
};

/// Of a frame that must be a whole test frame.
inline TrafficMark mark_of(const Arrived& frame) {
  const auto read = traffic_read(frame.bytes);
  EXPECT_TRUE(std::holds_alternative<TrafficMark>(read));
  return std::holds_alternative<TrafficMark>(read) ? std::get<TrafficMark>(read) : TrafficMark{};
}

}  // namespace meridian
