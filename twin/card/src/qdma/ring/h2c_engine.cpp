// SPDX-License-Identifier: Apache-2.0
#include "qdma/ring/h2c_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace meridian {

namespace {

constexpr std::size_t slots_limit = 64;  // of a queue
constexpr unsigned fetch_limit = 32;     // descriptors a read
constexpr unsigned turns_a_tick = 16;
constexpr std::size_t entry_bytes = 16;  // of a descriptor
constexpr std::size_t length_limit = 65535;
constexpr std::uint16_t start_of_packet = 1, end_of_packet = 2;

/// What a frame counts for: empty ones take room too.
std::size_t cost(const std::size_t length) {
  return std::max<std::size_t>(length, 64);
}

std::uint64_t tag_of(std::uint32_t epoch, std::uint32_t number) {
  return (std::uint64_t{epoch} << 32) | number;
}

}  // namespace

H2cEngine::H2cEngine(IpState& ip, QdmaH2c& stream) : ip_(ip), stream_(stream), queue_(ip.contexts.queues()) {}

void H2cEngine::list(unsigned queue) {
  if (queue_[queue].listed) return;
  queue_[queue].listed = true;
  active_.push_back(queue);
}

void H2cEngine::count(unsigned queue) {
  Queue& q = queue_[queue];
  const bool counts = !q.slots.empty() || q.fetching != 0;
  if (counts != q.counted) busy_ += counts ? 1U : ~0U;
  q.counted = counts;
}

void H2cEngine::hold(Queue& q, Slot& slot, std::size_t bytes) {
  q.held += bytes - slot.held;
  bytes_ += bytes - slot.held;
  slot.held = bytes;
}

void H2cEngine::doorbell(unsigned queue, unsigned pidx, bool arm) {
  DescriptorRing ring(ip_, false, queue);
  if (!ring.enabled()) return;
  const auto added = ring.advance_producer(pidx);
  if (!added) {
    queue_[queue].told = false;
    return forget(queue);
  }
  if (*added != 0) queue_[queue].told = true;
  ip_.status.add(false, queue, *added, pidx);
  if (arm) ring.arm();
  list(queue);
}

void H2cEngine::grant(unsigned queue, unsigned count) {
  if (queue >= queue_.size()) return;
  const SwContext& context = ip_.contexts.sw(false, queue);
  if (context.get(sw::enable) == 0 || context.get(sw::credit_enable) == 0) return;
  CreditContext& credits = ip_.contexts.credit(false, queue);
  credits.set(credit::count, std::min(credits.get(credit::count) + count, 65535U));
  list(queue);
}

void H2cEngine::restart(unsigned queue) {
  forget(queue);
  Queue& q = queue_[queue];
  ip_.contexts.credit(false, queue).set(credit::count, 0);
  if (std::exchange(q.told, false)) ip_.status.invalidate(false, queue, false);
  DescriptorRing ring(ip_, false, queue);
  q.fetch = ring.cidx() % ring.entries();
  if (ring.enabled() && ring.pidx() < ring.entries() && ring.pidx() != q.fetch) list(queue);
}

void H2cEngine::forget(unsigned queue) {
  Queue& q = queue_[queue];
  bytes_ -= q.held;
  const Queue old = std::exchange(q, Queue{});
  q.epoch = old.epoch + 1;
  q.listed = old.listed;
  q.counted = old.counted;
  q.told = old.told;
  stream_.cancel(queue);
  count(queue);
}

void H2cEngine::fail(unsigned queue, std::uint32_t kind, std::uint32_t leaf_bits) {
  DescriptorRing ring(ip_, false, queue);
  ring.fail(kind, leaf_bits, ring.pidx());
  queue_[queue].told = false;  // the ring has told it
  forget(queue);
}

void H2cEngine::run() {
  while (const auto sent = stream_.pop_sent()) complete(sent->queue, sent->tag);
  for (unsigned turn = 0; turn < turns_a_tick && !active_.empty() && bytes_ < ip_.setting.h2c_bytes; ++turn) {
    const unsigned queue = active_.front();
    active_.pop_front();
    queue_[queue].listed = false;
    serve(queue);
  }
}

void H2cEngine::serve(unsigned queue) {
  if (!DescriptorRing(ip_, false, queue).enabled()) return;
  fetch_descriptors(queue);
  fetch_data(queue);
  send_ready(queue);
  Queue& q = queue_[queue];
  if (q.read_next < q.slots.size()) list(queue);
}

void H2cEngine::fetch_descriptors(unsigned queue) {
  Queue& q = queue_[queue];
  const DescriptorRing ring(ip_, false, queue);
  // A context that is written with descriptors makes such a ring without a doorbell, which would be refused.
  if (!ring.usable()) return;
  // One at a time a queue: answers may come in any order, and descriptors must not.
  if (q.fetching != 0 || q.slots.size() > slots_limit - fetch_limit) return;
  unsigned number = std::min(ring.posted_in_a_row(q.fetch), fetch_limit);
  if (ip_.contexts.sw(false, queue).get(sw::credit_enable) != 0) {
    CreditContext& credits = ip_.contexts.credit(false, queue);
    number = std::min(number, credits.get(credit::count));
    credits.set(credit::count, credits.get(credit::count) - number);
  }
  if (number == 0) return;
  q.fetching = number;
  count(queue);
  ip_.link.read(ring.function(), ring.address(q.fetch), number * ring.entry_bytes(),
                [this, queue, epoch = q.epoch, number](bool ok, const Bytes& data) {
                  take_descriptors(queue, epoch, number, ok, data);
                });
  q.fetch = ring.next(q.fetch, number);
}

void H2cEngine::take_descriptors(unsigned queue, std::uint32_t epoch, unsigned number, bool ok, const Bytes& data) {
  Queue& q = queue_[queue];
  if (q.epoch != epoch) return;
  q.fetching = 0;
  if (!ok) {
    q.slots.emplace_back();
    q.slots.back().error = sw::descriptor_error;
    q.slots.back().leaf_bits = Errors::unsupported | Errors::on_descriptor;
  }
  const std::size_t stride = data.size() / number;
  for (unsigned i = 0; ok && i < number; ++i) q.slots.push_back(describe(data, i * stride, stride / entry_bytes));
  count(queue);
  list(queue);
}

H2cEngine::Slot H2cEngine::describe(const Bytes& data, std::size_t at, std::size_t entries) const {
  Slot slot;
  slot.metadata = static_cast<std::uint32_t>(load_word(data, at));
  const auto first_flags = static_cast<std::uint16_t>(load_word(data, at) >> 48);
  const bool has_pieces =
      ip_.setting.h2c_gather && entries > 1 && (first_flags & (start_of_packet | end_of_packet)) == start_of_packet;
  for (std::size_t i = 0; i < (has_pieces ? entries : 1); ++i) {
    const std::uint64_t low = load_word(data, at + i * entry_bytes);
    const auto length = static_cast<std::uint16_t>(low >> 32);
    if (has_pieces && (length == 0 || slot.length + length > length_limit)) {
      slot.error = sw::descriptor_error;
      slot.leaf_bits = Errors::parameter;
      break;
    }
    slot.pieces.push_back({load_word(data, at + i * entry_bytes + 8), length, slot.length});
    slot.length += length;
    if ((low >> 48 & end_of_packet) != 0) break;
  }
  return slot;
}

void H2cEngine::fetch_data(unsigned queue) {
  Queue& q = queue_[queue];
  if (q.read_next >= q.slots.size()) return;
  Slot& slot = q.slots[q.read_next];
  const auto number = static_cast<std::uint32_t>(q.first + q.read_next++);
  hold(q, slot, cost(slot.length));
  if (slot.length == 0) {
    slot.state = Slot::State::ready;
    return;
  }
  slot.data.resize(slot.length);
  slot.state = Slot::State::reading;
  slot.missing = slot.pieces.size();
  const unsigned function = ip_.contexts.sw(false, queue).get(sw::function);
  const std::uint32_t epoch = q.epoch;
  for (const Piece& piece : slot.pieces)
    ip_.link.read(function, piece.address, piece.length,
                  [this, queue, epoch, number, at = piece.at](bool ok, const Bytes& data) {
                    take_data(queue, epoch, number, at, ok, data);
                  });
}

void H2cEngine::take_data(unsigned queue, std::uint32_t epoch, std::uint32_t number, std::size_t at, bool ok,
                          const Bytes& data) {
  Queue& q = queue_[queue];
  if (q.epoch != epoch) return;
  Slot& slot = q.slots[static_cast<std::uint32_t>(number - q.first)];
  if (ok) {
    std::ranges::copy(data, slot.data.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    // Also if the descriptor has a fault behind this piece.
    slot.error = sw::dma_error;
    slot.leaf_bits = Errors::unsupported | Errors::on_dma;
  }
  if (--slot.missing != 0) return;
  slot.state = Slot::State::ready;
  // What is never sent must hold up nobody.
  if (slot.error != 0) hold(q, slot, 0);
  send_ready(queue);
}

void H2cEngine::send_ready(unsigned queue) {
  Queue& q = queue_[queue];
  while (q.send_next < q.slots.size() && q.slots[q.send_next].state == Slot::State::ready) {
    Slot& slot = q.slots[q.send_next];
    const std::uint64_t tag = tag_of(q.epoch, static_cast<std::uint32_t>(q.first + q.send_next));
    if (slot.error != 0) {
      if (q.send_next == 0) fail(queue, slot.error, slot.leaf_bits);
      return;
    }
    slot.state = Slot::State::sent;
    ++q.send_next;
    stream_.send(queue, {std::move(slot.data), false, slot.metadata, tag});
  }
}

void H2cEngine::complete(unsigned queue, std::uint64_t tag) {
  Queue& q = queue_[queue];
  const std::uint32_t done = static_cast<std::uint32_t>(tag) - q.first + 1;
  if (q.epoch != tag >> 32 || done > q.slots.size()) return;
  DescriptorRing ring(ip_, false, queue);
  for (unsigned i = 0; i < done; ++i) {
    hold(q, q.slots.front(), 0);
    q.slots.pop_front();
  }
  q.first += done;
  q.read_next -= done;
  q.send_next -= done;
  q.since_status += done;
  ring.advance_consumer(done);
  const SwContext& context = ip_.contexts.sw(false, queue);
  const bool drained = ring.cidx() == ring.pidx();
  const bool interval = context.get(sw::status_interval) != 0 && q.since_status >= ip_.csr.status_interval();
  if (drained || interval) {
    q.since_status = 0;
    if (context.get(sw::status_enable) != 0) ring.write_status();
    ring.interrupt();
  }
  count(queue);
  list(queue);
  // A fault whose turn this is ends the queue now: what is held behind it may be all that may be held.
  send_ready(queue);
}

std::string H2cEngine::waits_for() const {
  return idle() ? std::string() : "h2c: " + std::to_string(bytes_) + " bytes of " + std::to_string(busy_) + " queues";
}

void H2cEngine::reset() {
  for (unsigned queue = 0; queue < queue_.size(); ++queue)
    if (queue_[queue].counted || queue_[queue].listed) forget(queue);
  for (Queue& q : queue_) {
    const std::uint32_t epoch = q.epoch;
    q = Queue{};
    q.epoch = epoch + 1;
  }
  active_.clear();
  bytes_ = 0;
  busy_ = 0;
}

}  // namespace meridian
