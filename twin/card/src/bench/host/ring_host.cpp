// SPDX-License-Identifier: Apache-2.0
#include "bench/host/ring_host.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

extern "C" {
#include "qdma_context.h"
#include "qdma_ring.h"
}

namespace meridian {

namespace {

constexpr unsigned ring_entries = 1024;
constexpr unsigned completion_entries = 2048;
constexpr unsigned completion_bytes = 16;
constexpr std::uint64_t buffer_bytes = 4096;
constexpr std::size_t doorbells_a_look = 3;  // at a queue, at most
constexpr std::uint64_t random_bytes = std::uint64_t{1} << 30;

// A queue's piece of memory; each ring has its status behind its entries.
constexpr std::uint64_t c2h_at = 0x8000, completions_at = 0x10000, buffers_at = 0x20000;

/// Places in the tables that contexts choose from, which hold what our DPDK driver chooses.
enum Index : unsigned { ring_index = 0, completion_index = 1 };

qdma_tables tables() {
  qdma_tables made{};
  std::fill(std::begin(made.rings), std::end(made.rings), completion_entries + 1);
  made.rings[ring_index] = ring_entries + 1;
  std::fill(std::begin(made.timers), std::end(made.timers), 100);
  std::fill(std::begin(made.counters), std::end(made.counters), 64);
  std::fill(std::begin(made.buffers), std::end(made.buffers), buffer_bytes);
  return made;
}

/// Of a queue; as many as both of its rings can hold, or its share of the memory that is accessed at random. A host
/// that sends back has so many in all queues together, but 256 in each: it takes them ever longer until they have
/// settled where they stay, the more there are.
unsigned buffers(const HostSetting& setting) {
  if (setting.random) return static_cast<unsigned>(random_bytes / buffer_bytes / setting.queues);
  return setting.role == HostRole::forward ? std::max(2 * ring_entries / setting.queues, 256U) : 2 * ring_entries;
}

std::uint64_t queue_bytes(const HostSetting& setting) {
  return buffers_at + buffers(setting) * buffer_bytes;
}

void must(int error, const char* what) {
  if (error != 0) throw CheckError(std::string("the library cannot ") + what + ": error " + std::to_string(-error));
}

}  // namespace

RingHost::RingHost(const HostSetting& setting, EnginePort& engine, FlatMemory& memory, HostFrames& frames)
    : setting_(setting),
      memory_(memory),
      frames_(frames),
      pf_(engine, 0, setting.flight_ps),
      vf_(setting.vf ? std::make_unique<DriverPort>(engine, DriverPort::first_vf, setting.flight_ps) : nullptr),
      port_(vf_ ? *vf_ : pf_),
      queue_(setting.queues) {}

std::size_t RingHost::memory_bytes(const HostSetting& setting) {
  return setting.queues * queue_bytes(setting);
}

std::uint64_t RingHost::place(unsigned queue) const {
  return queue * queue_bytes(setting_);
}

std::optional<unsigned> RingHost::completion_at(std::uint64_t address) const {
  const auto queue = static_cast<unsigned>(address / queue_bytes(setting_));
  const std::uint64_t offset = address % queue_bytes(setting_);
  if (queue >= setting_.queues || offset < completions_at ||
      offset >= completions_at + completion_bytes * completion_entries)
    return std::nullopt;
  return queue;
}

void RingHost::start() {
  const qdma_tables all = tables();
  pf_.device()->user_mhz = 250;
  qdma_write_tables(pf_.device(), &all);
  must(qdma_map_function(pf_.device(), port_.function(), 0, setting_.queues), "map queues to a function");
  for (unsigned queue = 0; queue < setting_.queues; ++queue) start_queue(queue);
}

void RingHost::start_queue(unsigned queue) {
  qdma_h2c_setting h2c{};
  h2c.queue = queue;
  h2c.function = port_.function();
  h2c.ring = place(queue);
  h2c.ring_index = ring_index;
  must(qdma_h2c_start(pf_.device(), &h2c), "start a transmit queue");
  qdma_c2h_setting c2h{};
  c2h.queue = queue;
  c2h.function = port_.function();
  c2h.ring = place(queue) + c2h_at;
  c2h.ring_index = ring_index;
  c2h.completions = place(queue) + completions_at;
  c2h.completion_index = completion_index;
  c2h.entry_log2 = 1;  // 16 bytes
  c2h.trigger = QDMA_TRIGGER_USER_TIMER_COUNT;
  c2h.prefetch = true;
  must(qdma_c2h_start(pf_.device(), &c2h), "start a receive queue");
  share_buffers(queue);
  if (takes()) {
    post(queue);
    qdma_c2h_doorbell(port_.device(), queue, queue_[queue].c2h_pidx);
  }
}

void RingHost::share_buffers(unsigned queue) {
  Queue& q = queue_[queue];
  std::vector<std::uint64_t> all(buffers(setting_));
  for (unsigned i = 0; i < all.size(); ++i) all[i] = place(queue) + buffers_at + i * buffer_bytes;
  if (setting_.random) {
    Random random(setting_.seed + queue);
    for (unsigned i = static_cast<unsigned>(all.size()); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  }
  const auto sent = makes() ? all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2) : all.end();
  q.spare.assign(all.begin(), sent);
  q.spare_sent.assign(sent, all.end());
}

void RingHost::take_sent(unsigned queue) {
  Queue& q = queue_[queue];
  const unsigned cidx = qdma_h2c_status_cidx(memory_.word(place(queue) + QDMA_H2C_DESCRIPTOR_BYTES * ring_entries));
  for (; q.h2c_cidx != cidx; q.h2c_cidx = (q.h2c_cidx + 1) % ring_entries) {
    (makes() ? q.spare_sent : q.spare).push_back(q.sending.front());
    q.sending.pop_front();
  }
}

void RingHost::check(unsigned queue, std::uint64_t entry, std::uint64_t buffer) {
  const unsigned bytes = qdma_completion_length(entry);
  // Until the host makes frames, those that come are of another length.
  const bool wrong = begin_ps_ != ~std::uint64_t{0} && bytes != setting_.bytes;
  if (qdma_completion_error(entry) || wrong)
    throw CheckError("a completion tells of " + std::to_string(bytes) + " bytes, not " +
                     std::to_string(setting_.bytes));
  frames_.check(queue, memory_.bytes(buffer, bytes));
}

unsigned RingHost::take_frames(unsigned queue) {
  Queue& q = queue_[queue];
  unsigned taken = 0;
  for (; taken < setting_.burst && q.sending.size() < ring_entries - 1; ++taken) {
    const std::uint64_t entry = memory_.word(place(queue) + completions_at + completion_bytes * q.completion);
    if (qdma_completion_color(entry) != (q.color ? 1U : 0U)) break;
    const std::uint64_t buffer = q.posted.front();
    q.posted.pop_front();
    check(queue, entry, buffer);
    if (setting_.role == HostRole::forward)
      send(queue, buffer, qdma_completion_length(entry));
    else
      q.spare.push_back(buffer);
    q.completion = (q.completion + 1) % completion_entries;
    if (q.completion == 0) q.color = !q.color;
  }
  return taken;
}

unsigned RingHost::make_frames(unsigned queue, std::uint64_t now_ps) {
  Queue& q = queue_[queue];
  unsigned made = 0;
  for (; made < setting_.burst && q.sending.size() < ring_entries - 1 && !q.spare_sent.empty(); ++made) {
    if (setting_.gap_ps != 0 && made_ * setting_.gap_ps > now_ps - begin_ps_) break;
    const std::uint64_t buffer = q.spare_sent.front();
    q.spare_sent.pop_front();
    frames_.make(queue, memory_.bytes(buffer, setting_.bytes), now_ps);
    send(queue, buffer, setting_.bytes);
    ++made_;
  }
  return made;
}

void RingHost::send(unsigned queue, std::uint64_t buffer, unsigned length) {
  Queue& q = queue_[queue];
  const std::uint64_t descriptor = place(queue) + QDMA_H2C_DESCRIPTOR_BYTES * q.h2c_pidx;
  const std::uint64_t word = qdma_h2c_descriptor(length);
  memory_.set_word(descriptor, word);
  memory_.set_word(descriptor + 8, buffer);
  if (length <= setting_.push && q.sending.empty())
    port_.push(queue, memory_.bytes(buffer, length), qdma_push_header(word, length, q.h2c_pidx));
  q.sending.push_back(buffer);
  q.h2c_pidx = (q.h2c_pidx + 1) % ring_entries;
}

unsigned RingHost::post(unsigned queue) {
  Queue& q = queue_[queue];
  unsigned posted = 0;
  for (; q.posted.size() < ring_entries - 1 && !q.spare.empty(); ++posted) {
    memory_.set_word(place(queue) + c2h_at + QDMA_C2H_DESCRIPTOR_BYTES * q.c2h_pidx, q.spare.front());
    q.posted.push_back(q.spare.front());
    q.spare.pop_front();
    q.c2h_pidx = (q.c2h_pidx + 1) % ring_entries;
  }
  return posted;
}

void RingHost::look(unsigned queue, std::uint64_t now_ps) {
  Queue& q = queue_[queue];
  const unsigned before = q.h2c_pidx;
  take_sent(queue);
  const unsigned taken = takes() ? take_frames(queue) : 0;
  if (makes() && now_ps >= begin_ps_) make_frames(queue, now_ps);
  const unsigned posted = takes() ? post(queue) : 0;
  if (q.h2c_pidx != before) qdma_h2c_doorbell(port_.device(), queue, q.h2c_pidx, false);
  if (taken != 0) {
    const u32 mode = qdma_completion_mode(QDMA_TRIGGER_USER_TIMER_COUNT, 0, 0);
    qdma_completion_doorbell(port_.device(), queue, q.completion, mode, false);
    ++looks_;
    taken_ += taken;
  }
  if (posted != 0) qdma_c2h_doorbell(port_.device(), queue, q.c2h_pidx);
}

void RingHost::run(std::uint64_t now_ps) {
  pf_.run(now_ps);
  if (vf_) vf_->run(now_ps);
  if (now_ps < next_look_ps_ || !port_.has_room(doorbells_a_look * queue_.size())) return;
  next_look_ps_ = now_ps + setting_.poll_ps;
  for (unsigned queue = 0; queue < setting_.queues; ++queue) look(queue, now_ps);
}

}  // namespace meridian
