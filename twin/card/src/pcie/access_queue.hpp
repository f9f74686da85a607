// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "pcie/packet.hpp"

namespace meridian::pcie {

/// Accesses of the host that wait for the shell, in their order. A read needs a credit, which the shell gives (PG213,
/// "Selective Flow Control for Non-Posted Requests"); while there is none, writes pass reads.
class AccessQueue {
 public:
  static constexpr unsigned most_credits = 32;

  void add(const Access& access);
  std::size_t size() const { return packets_.size(); }
  bool has_write() const { return writes_added_ != writes_taken_; }

  /// Since reset(): how many writes there were, and how many of these the shell has taken wholly.
  std::uint64_t writes_added() const { return writes_added_; }
  std::uint64_t writes_taken() const { return writes_taken_; }

  /// Once a cycle: the shell gives a credit or does not.
  void tick(bool credit);

  /// The beat that is to be shown, until pop(); null if there is none, or none that may be.
  const Beat* next();
  void pop();

  void reset();

 private:
  struct Packet {
    std::vector<Beat> beats;
    bool posted;
  };

  std::deque<Packet> packets_;  // one of which a beat was shown is the first
  std::size_t beat_ = 0;        // of the first
  bool begun_ = false;
  bool delivers_ = false;  // a read begins in this cycle
  unsigned credits_ = 0;
  std::uint64_t writes_added_ = 0, writes_taken_ = 0;
};

}  // namespace meridian::pcie
