// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/frame.hpp"
#include "base/random.hpp"

class VDmaEngine;

namespace meridian {

/// The shell's frames to the host and their completions, at the pins of the
/// RTL. It sends what FakeShell sends to the model: the same entries with the
/// same numbers.
class C2hShell {
 public:
  struct Status {
    unsigned queue;
    bool drop, error;

    bool operator==(const Status&) const = default;
  };

  explicit C2hShell(std::uint64_t seed) : random_(seed) {}

  /// A frame for a queue, behind those before it.
  void send(unsigned queue, Bytes bytes);
  std::size_t to_send() const { return frames_.size() + entries_.size(); }

  std::vector<Status> status;  // what axis_c2h_status has told
  bool sends = true;

  /// Pins before the edge, and what has passed at it: true if something has.
  void drive(VDmaEngine& top, bool runs);
  bool sample(VDmaEngine& top);

 private:
  struct Entry {
    unsigned queue, length, packet;
  };

  void offer_beat(VDmaEngine& top) const;
  void offer_entry(VDmaEngine& top) const;

  Random random_;
  std::deque<std::pair<unsigned, Bytes>> frames_;
  std::deque<Entry> entries_;
  std::size_t offset_ = 0;  // in the first frame
  bool beat_offered_ = false, entry_offered_ = false;
  unsigned packet_ = 0;
};

}  // namespace meridian
