// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "qdma/ip_state.hpp"

namespace meridian {

/// A queue's ring of descriptors, as its contexts and the tables describe it at this moment.
class DescriptorRing {
 public:
  DescriptorRing(IpState& ip, bool c2h, unsigned queue);

  bool enabled() const { return sw_.get(sw::enable) != 0; }
  unsigned function() const { return sw_.get(sw::function); }
  unsigned pidx() const { return sw_.get(sw::pidx); }
  unsigned cidx() const { return hw_.get(hw::cidx); }
  unsigned entry_bytes() const { return 8U << sw_.get(sw::descriptor_size); }

  /// Its status entry could cross 4 KiB, which PCIe forbids: the ring is refused, and no entry is written.
  bool misplaced() const { return !c2h_ && sw::base(sw_) % 8 != 0; }

  /// Whether the ring is of a kind that this IP is built with, and of a function that there can be.
  bool usable() const;

  /// Entries without the status entry.
  unsigned entries() const { return entries_; }
  std::uint64_t address(unsigned index) const { return sw::base(sw_) + std::uint64_t{index} * entry_bytes(); }
  unsigned next(unsigned index, unsigned count = 1) const { return (index + count) % entries_; }

  /// Descriptors from index from on that software has posted, up to the end of the ring.
  unsigned posted_in_a_row(unsigned from) const {
    if (from >= entries_ || pidx() >= entries_) return 0;  // somebody changed the table of sizes meanwhile
    return pidx() >= from ? pidx() - from : entries_ - from;
  }

  /// A new producer index: the number of descriptors it adds, or nothing, and the queue is in error, if the ring cannot
  /// have them, or is not usable.
  std::optional<unsigned> advance_producer(unsigned pidx);

  /// count descriptors, the oldest, are done.
  void advance_consumer(unsigned count);

  /// The status entry.
  void write_status();

  /// The queue's interrupt: at once if software armed it, else as soon as it does.
  void interrupt();
  void arm();

  /// Stops the queue until its context is written anew: registers, status entry and interrupt tell of it.
  void fail(std::uint32_t kind, std::uint32_t leaf_bits, unsigned new_pidx);

 private:
  void send_interrupt();

  IpState& ip_;
  bool c2h_;
  unsigned queue_;
  SwContext& sw_;
  HwContext& hw_;
  unsigned entries_;
};

}  // namespace meridian
