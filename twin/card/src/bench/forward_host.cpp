// SPDX-License-Identifier: Apache-2.0
#include "bench/forward_host.hpp"

#include <array>
#include <cstring>

#include "qdma/state/context_fields.hpp"
#include "qdma/state/registers.hpp"

namespace meridian {

namespace {

constexpr unsigned ring_entries = 1024;
constexpr unsigned completion_entries = 2048;
constexpr unsigned buffers = 2 * ring_entries;
constexpr std::uint64_t buffer_bytes = 4096;

// A queue's piece of memory; each ring has its status behind its entries.
constexpr std::uint64_t c2h_at = 0x8000, completions_at = 0x10000, buffers_at = 0x20000;
constexpr std::uint64_t queue_bytes = buffers_at + buffers * buffer_bytes;

enum Kind : unsigned { sw_c2h = 0, sw_h2c = 1, prefetch_kind = 7, completion_kind = 6, fmap_kind = 0xc };
enum Mode : unsigned { user_timer_count = 5 };

std::uint64_t place(unsigned queue) {
  return queue * queue_bytes;
}

}  // namespace

void FlatMemory::read(unsigned, std::uint64_t address, std::uint32_t bytes, ReadDone done) {
  if (address > bytes_.size() || bytes > bytes_.size() - address) return done(Status::unsupported, {});
  done(Status::ok, std::span(bytes_).subspan(address, bytes));
}

void FlatMemory::write(unsigned, std::uint64_t address, std::span<const std::uint8_t> data) {
  if (address > bytes_.size() || data.size() > bytes_.size() - address) return;
  std::memcpy(bytes_.data() + address, data.data(), data.size());
  if (watch_) watch_(address);
}

std::uint64_t FlatMemory::word(std::uint64_t address) const {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes_.data() + address, sizeof value);
  return value;
}

void FlatMemory::set_word(std::uint64_t address, std::uint64_t value) {
  std::memcpy(bytes_.data() + address, &value, sizeof value);
}

ForwardHost::ForwardHost(const ForwardSetting& setting, QdmaIp& ip, FlatMemory& memory)
    : setting_(setting), ip_(ip), memory_(memory), queue_(setting.queues) {}

std::size_t ForwardHost::memory_bytes(unsigned queues) {
  return queues * queue_bytes;
}

std::optional<unsigned> ForwardHost::completion_at(std::uint64_t address, unsigned queues) {
  const auto queue = static_cast<unsigned>(address / queue_bytes);
  const std::uint64_t offset = address % queue_bytes;
  if (queue >= queues || offset < completions_at || offset >= completions_at + 8 * completion_entries)
    return std::nullopt;
  return queue;
}

void ForwardHost::context(unsigned kind, unsigned queue, std::span<const std::uint32_t> words) {
  constexpr unsigned write = 1;
  for (unsigned i = 0; i < 8; ++i) {
    ip_.write(0, reg::context_data + 4 * i, i < words.size() ? words[i] : 0);
    ip_.write(0, reg::context_mask + 4 * i, ~0U);
  }
  ip_.write(0, reg::context_command, kind << 1 | write << 5 | queue << 7);
}

void ForwardHost::start() {
  ip_.enable_function(0, true, 0);
  for (unsigned i = 0; i < 16; ++i) {
    ip_.write(0, reg::ring_size + 4 * i, i == 0 ? ring_entries + 1 : completion_entries + 1);
    ip_.write(0, reg::timer_count + 4 * i, 4);
    ip_.write(0, reg::count_threshold + 4 * i, 64);
    ip_.write(0, reg::buffer_size + 4 * i, buffer_bytes);
  }
  constexpr unsigned tick_cycles = 25;
  ip_.write(0, reg::timer_tick, tick_cycles);
  context(fmap_kind, 0, std::array<std::uint32_t, 2>{0, setting_.queues});
  for (unsigned queue = 0; queue < setting_.queues; ++queue) start_queue(queue);
}

void ForwardHost::start_queue(unsigned queue) {
  const auto base_words = [](SwContext& c, std::uint64_t base) {
    c.words[2] = static_cast<std::uint32_t>(base);
    c.words[3] = static_cast<std::uint32_t>(base >> 32);
  };
  SwContext h2c;
  for (const Field one : {sw::enable, sw::status_check, sw::status_interval, sw::descriptor_size, sw::status_enable})
    h2c.set(one, 1);
  base_words(h2c, place(queue));
  context(sw_h2c, queue, h2c.words);
  SwContext c2h;
  for (const Field one : {sw::enable, sw::credit_enable, sw::status_enable}) c2h.set(one, 1);
  base_words(c2h, place(queue) + c2h_at);
  context(sw_c2h, queue, c2h.words);
  PrefetchContext fetch;
  for (const Field one : {prefetch::enable, prefetch::valid}) fetch.set(one, 1);
  context(prefetch_kind, queue, fetch.words);
  CompletionContext entry;
  for (const Field one : {cmpt::status_enable, cmpt::color, cmpt::size_index, cmpt::valid}) entry.set(one, 1);
  entry.set(cmpt::mode, user_timer_count);
  const std::uint64_t base = place(queue) + completions_at;
  entry.words[1] = static_cast<std::uint32_t>(base >> 6);
  entry.words[2] |= static_cast<std::uint32_t>(base >> 38);
  context(completion_kind, queue, entry.words);
  for (unsigned i = 0; i < buffers; ++i) queue_[queue].spare.push_back(place(queue) + buffers_at + i * buffer_bytes);
  post(queue);
  ring(queue, reg::c2h_pidx, queue_[queue].c2h_pidx, 0);
}

void ForwardHost::ring(unsigned queue, std::uint32_t which, std::uint32_t value, std::uint64_t now_ps) {
  const std::uint32_t offset = reg::pf_doorbells + reg::doorbell_stride * queue + which;
  doorbells_.push_back({now_ps + setting_.flight_ps, offset, value});
}

void ForwardHost::take_sent(unsigned queue) {
  Queue& q = queue_[queue];
  const std::uint64_t status = memory_.word(place(queue) + 16 * ring_entries);
  for (const unsigned cidx = status >> 16 & 0xffff; q.h2c_cidx != cidx; q.h2c_cidx = (q.h2c_cidx + 1) % ring_entries) {
    q.spare.push_back(q.sending.front());
    q.sending.pop_front();
  }
}

unsigned ForwardHost::take_frames(unsigned queue) {
  Queue& q = queue_[queue];
  unsigned taken = 0;
  for (; taken < setting_.burst && q.sending.size() < ring_entries - 1; ++taken) {
    const std::uint64_t entry = memory_.word(place(queue) + completions_at + 8 * q.completion);
    if ((entry >> 1 & 1) != (q.color ? 1U : 0U)) break;
    const std::uint64_t length = entry >> 32 & 0xffff;
    const std::uint64_t descriptor = place(queue) + 16 * q.h2c_pidx;
    constexpr std::uint64_t whole_frame = 3;
    memory_.set_word(descriptor, length | length << 32 | whole_frame << 48);
    memory_.set_word(descriptor + 8, q.posted.front());
    q.sending.push_back(q.posted.front());
    q.posted.pop_front();
    q.h2c_pidx = (q.h2c_pidx + 1) % ring_entries;
    q.completion = (q.completion + 1) % completion_entries;
    if (q.completion == 0) q.color = !q.color;
  }
  return taken;
}

unsigned ForwardHost::post(unsigned queue) {
  Queue& q = queue_[queue];
  unsigned posted = 0;
  for (; q.posted.size() < ring_entries - 1 && !q.spare.empty(); ++posted) {
    memory_.set_word(place(queue) + c2h_at + 8 * q.c2h_pidx, q.spare.front());
    q.posted.push_back(q.spare.front());
    q.spare.pop_front();
    q.c2h_pidx = (q.c2h_pidx + 1) % ring_entries;
  }
  return posted;
}

void ForwardHost::look(unsigned queue, std::uint64_t now_ps) {
  Queue& q = queue_[queue];
  take_sent(queue);
  const unsigned taken = take_frames(queue);
  const unsigned posted = post(queue);
  if (taken != 0) {
    constexpr std::uint32_t keep_status = 1U << 27;
    ring(queue, reg::h2c_pidx, q.h2c_pidx, now_ps);
    ring(queue, reg::completion_cidx, q.completion | user_timer_count << 24 | keep_status, now_ps);
    ++looks_;
    forwarded_ += taken;
  }
  if (posted != 0) ring(queue, reg::c2h_pidx, q.c2h_pidx, now_ps);
}

void ForwardHost::tick(std::uint64_t now_ps) {
  for (; !doorbells_.empty() && doorbells_.front().at_ps <= now_ps; doorbells_.pop_front())
    ip_.write(0, doorbells_.front().offset, doorbells_.front().value);
  if (now_ps < next_look_ps_) return;
  next_look_ps_ = now_ps + setting_.poll_ps;
  for (unsigned queue = 0; queue < setting_.queues; ++queue) look(queue, now_ps);
}

}  // namespace meridian
