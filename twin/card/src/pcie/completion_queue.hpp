// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/random.hpp"
#include "pcie/packet.hpp"

namespace meridian::pcie {

/// Completions that wait for the shell. Those of one read keep their order, and those of several come in any, as PCIe
/// allows: packets of the first few reads are mixed at random.
class CompletionQueue {
 public:
  explicit CompletionQueue(std::uint64_t seed) : random_(seed) {}

  void add(const Completion& completion);
  bool empty() const { return reads_.empty(); }
  bool has(std::uint8_t tag) const { return packets(tag) != 0; }
  std::size_t packets(std::uint8_t tag) const;  // that the shell has not taken wholly

  /// The beat that is to be shown, until pop(); null if there is none.
  const Beat* next();
  void pop();

  void reset();

 private:
  static constexpr std::uint32_t mixed = 4;  // reads

  struct Read {
    std::uint8_t tag;
    bool whole = false;  // its last packet is there
    std::deque<std::vector<Beat>> packets;
  };

  Random random_;
  std::deque<Read> reads_;
  std::size_t read_ = 0, beat_ = 0;  // which is shown
  bool begun_ = false;
};

}  // namespace meridian::pcie
