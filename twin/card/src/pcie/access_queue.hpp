// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "pcie/packet.hpp"

namespace meridian::pcie {

/// Accesses of the host that wait for the shell, in their order. A read needs a credit, which the shell gives (PG213,
/// "Selective Flow Control for Non-Posted Requests"); while there is none, writes pass reads.
class AccessQueue {
 public:
  static constexpr unsigned most_credits = 32;

  void add(const Access& access) { packets_.push_back({encode(access), !access.data.empty()}); }
  std::size_t size() const { return packets_.size(); }
  bool has_write() const;

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
};

}  // namespace meridian::pcie
