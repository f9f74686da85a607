// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/random.hpp"
#include "pcie/packet.hpp"

namespace meridian::pcie {

/// Completions that wait for the shell. Those of one read keep their order, and those of several come in any, as PCIe
/// allows: packets of the first few reads are mixed at random. None passes a write of the host that came before it
/// (PG213, "Receive Transaction Ordering").
class CompletionQueue {
 public:
  explicit CompletionQueue(std::uint64_t seed) : random_(seed) {}

  /// behind: so many writes of the host.
  void add(const Completion& completion, std::uint64_t behind);
  bool empty() const { return reads_.empty(); }
  bool has(std::uint8_t tag) const { return packets(tag) != 0; }
  std::size_t packets(std::uint8_t tag) const;  // that the shell has not taken wholly

  /// The beat that is to be shown, until pop(); null if there is none. taken: writes that the shell has taken.
  const Beat* next(std::uint64_t taken);
  void pop();

  void reset();

 private:
  static constexpr std::uint32_t mixed = 4;  // reads

  struct Packet {
    std::vector<Beat> beats;
    std::uint64_t behind;
  };
  struct Read {
    std::uint8_t tag;
    bool whole = false;  // its last packet is there
    std::deque<Packet> packets;
  };

  Random random_;
  std::deque<Read> reads_;
  std::size_t read_ = 0, beat_ = 0;  // which is shown
  bool begun_ = false;
};

}  // namespace meridian::pcie
