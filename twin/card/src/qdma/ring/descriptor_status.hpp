// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "stream/qdma_c2h.hpp"

namespace meridian {

/// What the shell is to hear of descriptors through tm_dsc_sts. Messages about one queue that wait together become one,
/// so however fast hosts ring doorbells, no more than two wait for a queue and direction.
class DescriptorStatus {
 public:
  explicit DescriptorStatus(unsigned queues) : queue_(2 * queues) {}

  void add(bool c2h, unsigned queue, unsigned count, unsigned pidx);

  /// The queue has no descriptors any more, because it was stopped or because it met an error.
  void invalidate(bool c2h, unsigned queue, bool error);

  void run(QdmaC2h& stream);
  bool idle() const { return waiting_.empty(); }
  void reset();

 private:
  struct Queue {
    std::uint32_t added = 0;
    std::uint16_t pidx = 0;
    bool invalid = false, error = false, waits = false;
  };

  Queue& at(bool c2h, unsigned queue);

  std::vector<Queue> queue_;  // H2C even, C2H odd
  std::deque<std::uint32_t> waiting_;
};

}  // namespace meridian
