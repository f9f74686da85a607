// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "qdma/ip_state.hpp"
#include "qdma/ring/descriptor_ring.hpp"
#include "stream/qdma_h2c.hpp"

namespace meridian {

/// Host to card: fetches descriptors and what they point at, hands frames to the stream in the order of their queue,
/// and writes back how far it is once the shell has taken them.
///
/// Queues take turns, one frame a turn. What is fetched and not yet taken by the shell is bounded, whatever hosts do.
class H2cEngine {
 public:
  H2cEngine(IpState& ip, QdmaH2c& stream);

  void doorbell(unsigned queue, unsigned pidx, bool arm);

  /// The shell lets a queue fetch count descriptors more. Only one that has credits enabled takes them.
  void grant(unsigned queue, unsigned count);

  /// The queue's context was written: what was under way is forgotten.
  void restart(unsigned queue);

  void run();
  bool idle() const { return active_.empty() && busy_ == 0; }
  std::string waits_for() const;
  void reset();

 private:
  struct Piece {
    std::uint64_t address = 0;
    std::uint16_t length = 0;
    std::size_t at = 0;  // in the frame
  };
  struct Slot {
    enum class State : std::uint8_t { described, reading, ready, sent };
    std::vector<Piece> pieces;
    std::uint32_t metadata = 0;
    std::size_t length = 0;   // of all pieces
    std::size_t missing = 0;  // pieces that are being read
    std::size_t held = 0;     // what it counts for in bytes_
    std::uint32_t error = 0;  // kind, as in the context; the queue stops when what is before has ended
    std::uint32_t leaf_bits = 0;
    State state = State::described;
    Bytes data;
  };
  struct Queue {
    std::uint32_t epoch = 0;    // counts restarts: answers of an earlier one are ignored
    unsigned fetch = 0;         // next descriptor to be fetched
    unsigned fetching = 0;      // descriptors whose fetch is under way
    unsigned since_status = 0;  // frames since the last write-back
    std::uint32_t first = 0;    // running number of slots.front()
    std::size_t read_next = 0;  // first slot in state described
    std::size_t send_next = 0;  // first slot not sent
    std::size_t held = 0;       // bytes counted in bytes_
    bool listed = false, counted = false;
    bool told = false;  // the shell was told of descriptors
    std::deque<Slot> slots;
  };

  void list(unsigned queue);
  void serve(unsigned queue);
  void fetch_descriptors(unsigned queue);
  void take_descriptors(unsigned queue, std::uint32_t epoch, unsigned count, bool ok, const Bytes& data);
  Slot describe(const Bytes& data, std::size_t at, std::size_t entries) const;
  void fetch_data(unsigned queue);
  void take_data(unsigned queue, std::uint32_t epoch, std::uint32_t number, std::size_t at, bool ok, const Bytes& data);
  void send_ready(unsigned queue);
  void complete(unsigned queue, std::uint64_t tag);
  void fail(unsigned queue, std::uint32_t kind, std::uint32_t leaf_bits);
  void forget(unsigned queue);
  void hold(Queue& q, Slot& slot, std::size_t bytes);
  void count(unsigned queue);

  IpState& ip_;
  QdmaH2c& stream_;
  std::vector<Queue> queue_;
  std::deque<unsigned> active_;  // queues with something to fetch, in turn
  std::size_t bytes_ = 0;        // fetched or being fetched, not yet taken by the shell
  unsigned busy_ = 0;            // queues with slots or fetches
};

}  // namespace meridian
