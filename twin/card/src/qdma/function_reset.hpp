// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>

#include "qdma/ip_state.hpp"
#include "qdma/mailbox.hpp"
#include "qdma/ring/doorbells.hpp"
#include "stream/streams.hpp"

namespace meridian {

/// Function level reset, of the mailbox's register or of PCIe as PcieReset::all: the function loses its queues, its
/// interrupt rings and its messages at once; then the shell is told, and when it too has let go of the function, the
/// reset is done. A PF's reset is one of its VFs too.
class FunctionReset {
 public:
  FunctionReset(IpState& ip, QdmaFlr& shell, Mailbox& mailbox, Doorbells& doorbells)
      : ip_(ip), shell_(shell), mailbox_(mailbox), doorbells_(doorbells) {}

  void start(unsigned function, std::function<void()> done);
  bool under_way(unsigned function) const;

  void run();
  bool idle() const { return jobs_.empty(); }
  std::string waits_for() const;

  /// Nobody waits any more: what is under way counts as done.
  void reset();

 private:
  struct Job {
    unsigned function;
    std::set<unsigned> open;  // functions the shell has not let go of
    std::function<void()> done;
  };

  void clear(unsigned function);

  IpState& ip_;
  QdmaFlr& shell_;
  Mailbox& mailbox_;
  Doorbells& doorbells_;
  std::deque<Job> jobs_;
};

}  // namespace meridian
