// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "qdma/pcie_link.hpp"
#include "qdma/state/contexts.hpp"

namespace meridian {

/// Interrupts of queues and of errors: straight to a vector, or through a ring in host memory that many queues share
/// and that has the vector.
class Interrupts {
 public:
  /// What an entry of a ring tells of a queue.
  struct Event {
    bool c2h = false;
    unsigned queue = 0;
    unsigned pidx = 0, cidx = 0;
    bool color = false;
    unsigned irq_state = 0, error = 0;
  };

  Interrupts(Contexts& contexts, PcieLink& link) : contexts_(contexts), link_(link), served_(Contexts::rings) {}

  void direct(unsigned function, unsigned vector) { link_.interrupt(function, vector); }

  /// Nothing if the ring is not valid.
  void aggregated(unsigned ring, const Event& event);

  /// A write of a ring's CIDX; nothing if the ring is not the function's.
  void acknowledge(unsigned function, unsigned ring, unsigned cidx);

  void restart(unsigned ring) { served_[ring] = {}; }

 private:
  struct Served {
    unsigned cidx = 0;       // last told by software
    unsigned pidx_sent = 0;  // when the last interrupt was sent
  };

  void send(unsigned ring);

  Contexts& contexts_;
  PcieLink& link_;
  std::vector<Served> served_;
};

}  // namespace meridian
