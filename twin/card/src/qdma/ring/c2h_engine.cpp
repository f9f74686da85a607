// SPDX-License-Identifier: Apache-2.0
#include "qdma/ring/c2h_engine.hpp"

#include <algorithm>
#include <utility>

namespace meridian {

namespace {

constexpr std::size_t bytes_limit = 131072;
constexpr unsigned prefetch_limit = 64;  // buffers kept of a queue with prefetch
constexpr unsigned fetch_limit = 64;     // descriptors a read
constexpr unsigned turns_a_tick = 16;
constexpr unsigned buffers_limit = 31;  // of a frame

/// What a frame counts for: small ones take room too.
std::size_t cost(const C2hFrame& frame) {
  return std::max<std::size_t>(frame.bytes.size(), 64);
}

}  // namespace

C2hEngine::C2hEngine(IpState& ip, QdmaC2h& stream, Completions& completions)
    : ip_(ip), stream_(stream), completions_(completions), queue_(ip.contexts.queues()) {}

void C2hEngine::list(unsigned queue) {
  if (queue_[queue].listed) return;
  queue_[queue].listed = true;
  active_.push_back(queue);
}

void C2hEngine::doorbell(unsigned queue, unsigned pidx, bool arm) {
  DescriptorRing ring(ip_, true, queue);
  if (!ring.enabled()) return;
  const auto added = ring.advance_producer(pidx);
  if (!added) return forget(queue);
  if (arm) ring.arm();
  if (*added == 0) return;
  queue_[queue].told = true;
  ip_.status.add(true, queue, *added, pidx);
}

void C2hEngine::restart(unsigned queue) {
  forget(queue);
  Queue& q = queue_[queue];
  if (std::exchange(q.told, false)) ip_.status.invalidate(true, queue, false);
  const DescriptorRing ring(ip_, true, queue);
  q.fetch = ring.cidx() % ring.entries();
  if (!ring.enabled() || ring.pidx() >= ring.entries() || ring.pidx() == q.fetch) return;
  q.told = true;
  ip_.status.add(true, queue, (ring.pidx() + ring.entries() - q.fetch) % ring.entries(), ring.pidx());
}

void C2hEngine::forget(unsigned queue) {
  Queue& q = queue_[queue];
  for (const Waiting& waiting : q.frames) {
    bytes_ -= cost(waiting.frame);
    drop(waiting.frame);
  }
  const Queue old = std::exchange(q, Queue{});
  q.epoch = old.epoch + 1;
  q.listed = old.listed;
  q.told = old.told;
}

void C2hEngine::drop(const C2hFrame& frame) {
  stream_.report(frame.queue, true, false);
}

void C2hEngine::fail(unsigned queue, std::uint32_t leaf_bits) {
  DescriptorRing ring(ip_, true, queue);
  ring.fail(sw::descriptor_error, leaf_bits, ring.pidx());
  ip_.errors.raise(Errors::Leaf::c2h, Errors::descriptor_response);
  Queue& q = queue_[queue];
  if (!q.frames.empty()) completions_.add(queue, q.frames.front().frame.completion, true);
  q.told = false;
  forget(queue);
}

void C2hEngine::run() {
  while (stream_.has_frame() && bytes_ < bytes_limit)
    if (!admit()) break;
  stream_.set_stall(stream_.has_frame());
  for (unsigned turn = 0; turn < turns_a_tick && !active_.empty() && !ip_.link.behind(); ++turn) {
    const unsigned queue = active_.front();
    active_.pop_front();
    queue_[queue].listed = false;
    serve(queue);
  }
}

bool C2hEngine::admit() {
  const C2hFrame& next = stream_.front();
  const unsigned queue = next.queue;
  starved_ = false;
  const auto refuse = [this] {
    drop(*stream_.pop());
    return true;
  };
  if (queue >= queue_.size()) return refuse();
  const DescriptorRing ring(ip_, true, queue);
  const PrefetchContext& context = ip_.contexts.prefetch(queue);
  const std::uint64_t size = ip_.csr.buffer_size(context.get(prefetch::buffer_index));
  if (!ring.enabled() || context.get(prefetch::valid) == 0 || size == 0) return refuse();
  const std::uint64_t need = std::max<std::uint64_t>(1, (next.bytes.size() + size - 1) / size);
  // More than the ring can ever hold, or than the IP can spread a frame over: waiting would not help.
  if (need > buffers_limit || need >= ring.entries()) {
    ip_.errors.raise(Errors::Leaf::c2h, Errors::descriptor_count);
    return refuse();
  }
  Queue& q = queue_[queue];
  const unsigned posted = (ring.pidx() + ring.entries() - ring.cidx() % ring.entries()) % ring.entries();
  if (posted < q.reserved + need) {
    if (ip_.setting.c2h_drop) return refuse();
    starved_ = true;
    return false;
  }
  q.reserved += static_cast<unsigned>(need);
  bytes_ += cost(next);
  q.frames.push_back({*stream_.pop(), static_cast<unsigned>(need), size});
  list(queue);
  return true;
}

void C2hEngine::serve(unsigned queue) {
  Queue& q = queue_[queue];
  fetch(queue);
  if (q.frames.empty()) return;
  if (q.buffers.size() < q.frames.front().buffers) {
    // Nothing to fetch, though it was there when the frame came: somebody changed the table of ring sizes meanwhile.
    if (q.fetching == 0) fail(queue, Errors::parameter);
    return;  // listed when descriptors come
  }
  deliver(queue);
  if (!q.frames.empty()) list(queue);
}

void C2hEngine::fetch(unsigned queue) {
  Queue& q = queue_[queue];
  const DescriptorRing ring(ip_, true, queue);
  // One at a time a queue: answers may come in any order, and buffers are used in the order of the ring.
  if (q.fetching != 0 || !ring.enabled()) return;
  const bool ahead = ip_.contexts.prefetch(queue).get(prefetch::enable) != 0;
  const std::size_t want = std::max<std::size_t>(q.reserved, ahead ? prefetch_limit : 0);
  // Ahead of need only in halves, so that a busy queue does not read descriptors one by one.
  if (q.buffers.size() >= want || (q.buffers.size() >= q.reserved && q.buffers.size() > want / 2)) return;
  const std::size_t room = std::min<std::size_t>(want - q.buffers.size(), fetch_limit);
  const auto number = static_cast<unsigned>(std::min<std::size_t>(ring.posted_in_a_row(q.fetch), room));
  if (number == 0) return;
  q.fetching = number;
  ++fetches_;
  ip_.link.read(ring.function(), ring.address(q.fetch), number * ring.entry_bytes(),
                [this, queue, epoch = q.epoch, number](bool ok, const Bytes& data) {
                  --fetches_;
                  take_descriptors(queue, epoch, number, ok, data);
                });
  q.fetch = ring.next(q.fetch, number);
}

void C2hEngine::take_descriptors(unsigned queue, std::uint32_t epoch, unsigned number, bool ok, const Bytes& data) {
  Queue& q = queue_[queue];
  if (q.epoch != epoch) return;
  q.fetching = 0;
  if (!ok) return fail(queue, Errors::unsupported | Errors::on_descriptor);
  const std::size_t stride = data.size() / number;
  for (unsigned i = 0; i < number; ++i) q.buffers.push_back(load_word(data, i * stride));
  list(queue);
}

void C2hEngine::deliver(unsigned queue) {
  Queue& q = queue_[queue];
  DescriptorRing ring(ip_, true, queue);
  const Waiting waiting = std::move(q.frames.front());
  q.frames.pop_front();
  q.reserved -= waiting.buffers;
  bytes_ -= cost(waiting.frame);
  std::span<const std::uint8_t> left(waiting.frame.bytes);
  for (unsigned i = 0; i < waiting.buffers; ++i) {
    const std::size_t bytes = std::min(left.size(), waiting.buffer_bytes);
    if (bytes != 0) ip_.link.write(ring.function(), q.buffers.front(), left.first(bytes));
    left = left.subspan(bytes);
    q.buffers.pop_front();
  }
  ring.advance_consumer(waiting.buffers);
  stream_.report(queue, false, false);
  completions_.add(queue, waiting.frame.completion, false);
}

std::string C2hEngine::waits_for() const {
  if (starved_ && stream_.has_frame()) return "c2h: a buffer of queue " + std::to_string(stream_.front().queue);
  return idle() ? std::string() : "c2h: " + std::to_string(bytes_) + " bytes of frames";
}

void C2hEngine::reset() {
  for (unsigned queue = 0; queue < queue_.size(); ++queue) {
    Queue& q = queue_[queue];
    if (q.told) ip_.status.invalidate(true, queue, false);
    forget(queue);
    q.listed = q.told = false;
  }
  while (stream_.has_frame()) drop(*stream_.pop());
  active_.clear();
  fetches_ = 0;
  starved_ = false;
}

}  // namespace meridian
