// SPDX-License-Identifier: Apache-2.0
#include "qdma/interrupts.hpp"

#include "qdma/state/words.hpp"

namespace meridian {

namespace {

constexpr unsigned entry_bytes = 8;
constexpr unsigned entries_a_page = 4096 / entry_bytes;

unsigned entries(const CoalesceContext& ring) {
  return entries_a_page * (ring.get(coalesce::page_size) + 1);
}

}  // namespace

void Interrupts::aggregated(unsigned ring, const Event& event) {
  if (ring >= Contexts::rings) return;
  CoalesceContext& context = contexts_.coalesce(ring);
  if (context.get(coalesce::valid) == 0) return;
  const bool color = context.get(coalesce::color) != 0;
  const std::uint64_t entry = std::uint64_t{event.pidx & 0xffffU} | (std::uint64_t{event.cidx & 0xffffU} << 16) |
                              (std::uint64_t{event.color} << 32) | (std::uint64_t{event.irq_state & 3U} << 33) |
                              (std::uint64_t{event.error & 3U} << 35) | (std::uint64_t{event.c2h} << 38) |
                              (std::uint64_t{event.queue} << 39) | (std::uint64_t{color} << 63);
  const unsigned at = context.get(coalesce::pidx) % entries(context);
  link_.write(context.get(coalesce::function), coalesce::base(context) + std::uint64_t{entry_bytes} * at,
              to_bytes(entry));
  const bool wraps = at + 1 == entries(context);
  context.set(coalesce::pidx, wraps ? 0 : at + 1);
  if (wraps) context.set(coalesce::color, !color);
  if (context.get(coalesce::irq_state) == 0) send(ring);
}

void Interrupts::send(unsigned ring) {
  CoalesceContext& context = contexts_.coalesce(ring);
  context.set(coalesce::irq_state, 1);
  served_[ring].pidx_sent = context.get(coalesce::pidx);
  link_.interrupt(context.get(coalesce::function), context.get(coalesce::vector));
}

void Interrupts::acknowledge(unsigned function, unsigned ring, unsigned cidx) {
  if (ring >= Contexts::rings) return;
  CoalesceContext& context = contexts_.coalesce(ring);
  if (context.get(coalesce::valid) == 0 || context.get(coalesce::function) != function) return;
  Served& served = served_[ring];
  context.set(coalesce::irq_state, 0);
  const unsigned pidx = context.get(coalesce::pidx);
  // A handler that found nothing writes the value it wrote before; that alone must not start it again.
  const bool news = cidx != served.cidx || pidx != served.pidx_sent;
  served.cidx = cidx;
  if (pidx != cidx && news) send(ring);
}

}  // namespace meridian
