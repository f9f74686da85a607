// SPDX-License-Identifier: Apache-2.0
#include "qdma/ring/descriptor_ring.hpp"

#include "qdma/state/words.hpp"

namespace meridian {

DescriptorRing::DescriptorRing(IpState& ip, bool c2h, unsigned queue)
    : ip_(ip),
      c2h_(c2h),
      queue_(queue),
      sw_(ip.contexts.sw(c2h, queue)),
      hw_(ip.contexts.hw(c2h, queue)),
      entries_(ip.csr.ring_size(sw_.get(sw::ring_index))) {
  entries_ = entries_ > 1 ? entries_ - 1 : 1;
}

bool DescriptorRing::usable() const {
  const bool memory = sw_.get(sw::memory) != 0, bypass = sw_.get(sw::bypass) != 0;
  const bool too_small = entry_bytes() < (c2h_ ? 8U : 16U) || entries_ < 2;
  constexpr unsigned last_function = 255;
  return !memory && !bypass && !too_small && !misplaced() && function() <= last_function;
}

std::optional<unsigned> DescriptorRing::advance_producer(unsigned pidx) {
  const unsigned old = this->pidx();
  const bool outside = pidx >= entries_ || old >= entries_ || cidx() >= entries_;
  if (!usable() || outside) {
    fail(sw::descriptor_error, Errors::parameter, pidx);
    return std::nullopt;
  }
  const unsigned added = ring_distance(old, pidx, entries_);
  if (ring_distance(cidx(), old, entries_) + added >= entries_) {  // backwards, or over the consumer
    fail(sw::descriptor_error, Errors::parameter, pidx);
    return std::nullopt;
  }
  sw_.set(sw::pidx, pidx);
  if (added != 0) hw_.set(hw::pending, 1);
  return added;
}

void DescriptorRing::advance_consumer(unsigned count) {
  hw_.set(hw::cidx, next(cidx(), count));
  if (cidx() == pidx()) hw_.set(hw::pending, 0);
}

void DescriptorRing::write_status() {
  if (misplaced()) return;
  const std::uint64_t word =
      std::uint64_t{sw_.get(sw::error)} | (std::uint64_t{cidx()} << 16) | (std::uint64_t{pidx()} << 32);
  ip_.link.write(function(), address(entries_), to_bytes(word));
}

void DescriptorRing::interrupt() {
  if (sw_.get(sw::irq_enable) == 0) return;
  if (sw_.get(sw::irq_arm) == 0) {
    sw_.set(sw::irq_request, 1);
    return;
  }
  send_interrupt();
}

void DescriptorRing::arm() {
  sw_.set(sw::irq_arm, 1);
  if (sw_.get(sw::irq_request) != 0 && sw_.get(sw::irq_enable) != 0) send_interrupt();
}

void DescriptorRing::send_interrupt() {
  sw_.set(sw::irq_arm, 0);
  sw_.set(sw::irq_request, 0);
  const unsigned vector = sw_.get(sw::vector);
  if (sw_.get(sw::no_vf_interrupt) != 0 && function() >= 4) return;
  if (sw_.get(sw::aggregate) == 0) return ip_.interrupts.direct(function(), vector);
  ip_.interrupts.aggregated(vector, {c2h_, queue_, pidx(), cidx(), false, 0, sw_.get(sw::error)});
}

void DescriptorRing::fail(std::uint32_t kind, std::uint32_t leaf_bits, unsigned new_pidx) {
  ip_.errors.log_descriptor(c2h_, queue_, cidx(), pidx(), new_pidx);
  sw_.set(sw::error, sw_.get(sw::error) | kind);
  const bool was_enabled = enabled();
  sw_.set(sw::enable, 0);
  if (was_enabled && sw_.get(sw::error_sent) == 0) {
    sw_.set(sw::error_sent, 1);
    if (sw_.get(sw::status_enable) != 0 && !c2h_) write_status();
    interrupt();
  }
  ip_.errors.raise(Errors::Leaf::descriptor, leaf_bits);
  ip_.status.invalidate(c2h_, queue_, true);
}

}  // namespace meridian
