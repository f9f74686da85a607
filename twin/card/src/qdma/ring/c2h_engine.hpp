// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "qdma/ip_state.hpp"
#include "qdma/ring/completions.hpp"
#include "qdma/ring/descriptor_ring.hpp"
#include "stream/qdma_c2h.hpp"

namespace meridian {

/// Card to host: takes frames from the stream, puts each into the next buffers of its queue, then its completion into
/// the queue's completion ring.
///
/// A frame whose queue is not there is dropped; one whose queue has too few buffers stops the stream, as in the IP, or
/// is dropped, by setting. The stream also waits while memory is behind and the room for frames inside is used up.
class C2hEngine {
 public:
  C2hEngine(IpState& ip, QdmaC2h& stream, Completions& completions);

  void doorbell(unsigned queue, unsigned pidx, bool arm);
  void restart(unsigned queue);
  void run();
  bool idle() const { return active_.empty() && bytes_ == 0 && fetches_ == 0 && !stream_.has_frame(); }
  std::string waits_for() const;
  void reset();

 private:
  struct Waiting {
    C2hFrame frame;
    unsigned buffers;
    std::size_t buffer_bytes;
  };
  struct Queue {
    std::uint32_t epoch = 0;  // counts restarts: answers of an earlier one are ignored
    unsigned fetch = 0;       // next descriptor to be fetched
    unsigned fetching = 0;    // descriptors whose fetch is under way
    unsigned reserved = 0;    // buffers of the frames that wait
    bool listed = false, told = false;
    std::deque<std::uint64_t> buffers;  // fetched, not used
    std::deque<Waiting> frames;
  };

  bool admit();
  void drop(const C2hFrame& frame);
  void list(unsigned queue);
  void serve(unsigned queue);
  void fetch(unsigned queue);
  void take_descriptors(unsigned queue, std::uint32_t epoch, unsigned count, bool ok, const Bytes& data);
  void deliver(unsigned queue);
  void fail(unsigned queue, std::uint32_t leaf_bits);
  void forget(unsigned queue);

  IpState& ip_;
  QdmaC2h& stream_;
  Completions& completions_;
  std::vector<Queue> queue_;
  std::deque<unsigned> active_;  // queues with a frame that may be delivered, in turn
  std::size_t bytes_ = 0;        // of frames inside
  unsigned fetches_ = 0;
  bool starved_ = false;  // the next frame has no buffer
};

}  // namespace meridian
