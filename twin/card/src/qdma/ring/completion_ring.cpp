// SPDX-License-Identifier: Apache-2.0
#include "qdma/ring/completion_ring.hpp"

#include <cstring>

#include "qdma/state/words.hpp"

namespace meridian {

namespace {

enum Mode : std::uint32_t { disabled = 0, every = 1, user_count = 2, user = 3, user_timer = 4, user_timer_count = 5 };

constexpr Field bell_cidx{0, 0, 16}, bell_counter{0, 16, 4}, bell_timer{0, 20, 4}, bell_mode{0, 24, 3};
constexpr Field bell_status{0, 27, 1}, bell_irq{0, 28, 1};

}  // namespace

CompletionRing::CompletionRing(IpState& ip, unsigned queue)
    : ip_(ip), queue_(queue), context_(ip.contexts.completion(queue)) {
  const unsigned size = ip.csr.ring_size(context_.get(cmpt::size_index));
  entries_ = size > 1 ? size - 1 : 1;
}

unsigned CompletionRing::unread() const {
  return ring_distance(cidx() % entries_, pidx() % entries_, entries_);
}

bool CompletionRing::timed() const {
  const std::uint32_t mode = context_.get(cmpt::mode);
  return mode == user_timer || mode == user_timer_count;
}

bool CompletionRing::counted() const {
  const std::uint32_t mode = context_.get(cmpt::mode);
  return (mode == user_count || mode == user_timer_count) &&
         unread() >= ip_.csr.count_threshold(context_.get(cmpt::counter));
}

void CompletionRing::add(const CompletionEntry& entry, bool error) {
  if (!valid()) return;
  if (context_.get(cmpt::no_overflow_check) == 0 && unread() + 1 >= entries_) {
    ip_.errors.raise(Errors::Leaf::c2h, Errors::completion_full);
    return fail(cmpt::overflow);
  }
  write_entry(entry, error);
  const bool wraps = pidx() + 1 >= entries_;
  cmpt::set_pidx(context_, wraps ? 0 : pidx() + 1);
  if (wraps) context_.set(cmpt::color, ~context_.get(cmpt::color));
  if (error) return fail(cmpt::bad_descriptor);
  evaluate();
}

void CompletionRing::write_entry(const CompletionEntry& entry, bool error) {
  std::array<std::uint8_t, 64> bytes{};
  std::memcpy(bytes.data(), entry.words.data(), entry.bytes);
  const std::uint32_t format = ip_.csr.read(reg::completion_format);
  const auto put = [&](unsigned bit, bool value) {
    if (bit >= 8 * entry_bytes()) return;
    const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
    std::uint8_t& byte = bytes[bit / 8];
    byte = static_cast<std::uint8_t>(value ? byte | mask : byte & ~mask);
  };
  put(format & 0xffff, context_.get(cmpt::color) != 0);
  put(format >> 16, error);
  const std::uint64_t address = cmpt::base(context_) + std::uint64_t{pidx() % entries_} * entry_bytes();
  ip_.link.write(function(), address, std::span(bytes).first(entry_bytes()));
}

void CompletionRing::write_status() {
  if (context_.get(cmpt::status_enable) == 0) return;
  const std::uint64_t word =
      std::uint64_t{pidx()} | (std::uint64_t{cidx()} << 16) | (std::uint64_t{context_.get(cmpt::color)} << 32) |
      (std::uint64_t{context_.get(cmpt::irq_state)} << 33) | (std::uint64_t{context_.get(cmpt::error)} << 35);
  ip_.link.write(function(), cmpt::base(context_) + std::uint64_t{entries_} * entry_bytes(), to_bytes(word));
}

void CompletionRing::evaluate() {
  if (context_.get(cmpt::mode) == every || counted()) return trigger();
  if (timed()) start_timer();
}

void CompletionRing::trigger() {
  stop_timer();
  write_status();
  if (context_.get(cmpt::irq_enable) == 0 || context_.get(cmpt::irq_state) == cmpt::serviced) return;
  context_.set(cmpt::irq_state, cmpt::serviced);
  interrupt();
}

void CompletionRing::interrupt() {
  if (context_.get(cmpt::no_vf_interrupt) != 0 && function() >= 4) return;
  const unsigned vector = context_.get(cmpt::vector);
  if (context_.get(cmpt::aggregate) == 0) return ip_.interrupts.direct(function(), vector);
  ip_.interrupts.aggregated(vector, {true, queue_, pidx(), cidx(), context_.get(cmpt::color) != 0,
                                     context_.get(cmpt::irq_state), context_.get(cmpt::error)});
}

void CompletionRing::consume(std::uint32_t doorbell) {
  if (!valid()) return;
  const Context<1> bell{{doorbell}};
  const unsigned cidx_now = bell.get(bell_cidx);
  if (cidx_now >= entries_ || ring_distance(cidx() % entries_, cidx_now, entries_) > unread()) {
    ip_.errors.raise(Errors::Leaf::c2h, Errors::completion_cidx);
    return fail(cmpt::bad_cidx);
  }
  context_.set(cmpt::cidx, cidx_now);
  if (context_.get(cmpt::full_update) != 0) {
    context_.set(cmpt::counter, bell.get(bell_counter));
    context_.set(cmpt::timer, bell.get(bell_timer));
    context_.set(cmpt::mode, bell.get(bell_mode));
    context_.set(cmpt::status_enable, bell.get(bell_status));
    context_.set(cmpt::irq_enable, bell.get(bell_irq));
  }
  const bool arms = bell.get(bell_irq) != 0 && context_.get(cmpt::irq_enable) != 0;
  if (unread() == 0) {
    stop_timer();
    if (arms) context_.set(cmpt::irq_state, cmpt::armed);
    return;
  }
  if (arms) context_.set(cmpt::irq_state, cmpt::triggered);
  const std::uint32_t mode = context_.get(cmpt::mode);
  if (arms && mode != disabled && (!timed() || counted())) return trigger();
  write_status();
  if (timed()) start_timer();
}

void CompletionRing::timer_expired() {
  context_.set(cmpt::timer_running, 0);
  if (valid() && unread() != 0) trigger();
}

void CompletionRing::start_timer() {
  if (context_.get(cmpt::timer_running) != 0) return;
  context_.set(cmpt::timer_running, 1);
  timer_ = {true, ip_.now_ps + ip_.csr.timer_ps(context_.get(cmpt::timer))};
}

void CompletionRing::stop_timer() {
  context_.set(cmpt::timer_running, 0);
  timer_ = {true, std::nullopt};
}

void CompletionRing::fail(cmpt::Error error) {
  context_.set(cmpt::error, error);
  context_.set(cmpt::valid, 0);
  stop_timer();
  write_status();
  if (context_.get(cmpt::irq_enable) != 0) interrupt();
}

}  // namespace meridian
