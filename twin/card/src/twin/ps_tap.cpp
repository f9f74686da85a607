// SPDX-License-Identifier: Apache-2.0
#include "twin/ps_tap.hpp"

#include <cstring>

#include "meridian_regs.h"

namespace meridian {

namespace {

// Of docs/ps-port.md.
constexpr std::uint64_t descriptor_bytes = 32;
constexpr std::uint64_t completion_offset = 16;
constexpr std::size_t completion_bytes = 16;
constexpr std::size_t length_offset = 4;  // in the completion
constexpr std::size_t flags_offset = 14;
constexpr std::uint16_t error_flag = 4;

template <typename Number>
Number load(std::span<const std::uint8_t> bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace

void PsTap::register_write(std::uint64_t offset, std::uint32_t value) {
  constexpr std::uint64_t stride = MERIDIAN_PS_RING_PS_BASE(1) - MERIDIAN_PS_RING_PS_BASE(0);
  if (offset < MERIDIAN_PS_RING_PS_BASE(0)) return;
  const std::uint64_t port = (offset - MERIDIAN_PS_RING_PS_BASE(0)) / stride;
  if (port >= most_ports) return;
  const auto take = [&](Ring& ring, std::uint64_t control, std::uint64_t low, std::uint64_t high) {
    const std::uint64_t place = (offset - MERIDIAN_PS_RING_PS_BASE(0)) % stride;
    if (place == low) ring.base = (ring.base & ~std::uint64_t{0xffffffff}) | value;
    if (place == high) ring.base = (ring.base & 0xffffffff) | (std::uint64_t{value} << 32);
    if (place == control) {
      const unsigned log2 =
          (value & MERIDIAN_PS_RING_RX_CONTROL_SIZE_LOG2_MASK) >> MERIDIAN_PS_RING_RX_CONTROL_SIZE_LOG2_SHIFT;
      if ((value & MERIDIAN_PS_RING_RX_CONTROL_ENABLE_MASK) != 0) ring.bytes = descriptor_bytes << log2;
    }
  };
  take(rings_[port][0], MERIDIAN_PS_RING_RX_CONTROL, MERIDIAN_PS_RING_RX_BASE_LOW, MERIDIAN_PS_RING_RX_BASE_HIGH);
  take(rings_[port][1], MERIDIAN_PS_RING_TX_CONTROL, MERIDIAN_PS_RING_TX_BASE_LOW, MERIDIAN_PS_RING_TX_BASE_HIGH);
}

void PsTap::write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) {
  memory_.write(function, address, data);
  look(address, data);
}

void PsTap::write_answered(std::uint64_t address, std::span<const std::uint8_t> data, WriteDone done) {
  memory_.write_answered(address, data, std::move(done));
  look(address, data);
}

void PsTap::look(std::uint64_t address, std::span<const std::uint8_t> data) {
  if (!tap_ || data.size() != completion_bytes) return;
  for (unsigned port = 0; port < most_ports; ++port)
    for (unsigned transmit = 0; transmit < 2; ++transmit) {
      const Ring& ring = rings_[port][transmit];
      if (address < ring.base || address - ring.base >= ring.bytes) continue;
      if ((address - ring.base) % descriptor_bytes != completion_offset) continue;
      const auto length = load<std::uint16_t>(data, length_offset);
      if (length != 0 && (load<std::uint16_t>(data, flags_offset) & error_flag) == 0)
        completed(port, transmit != 0 ? CaptureDirection::outbound : CaptureDirection::inbound,
                  address - completion_offset, length);
    }
}

void PsTap::completed(unsigned port, CaptureDirection direction, std::uint64_t descriptor, std::uint16_t length) {
  memory_.read(0, descriptor, 8, [this, port, direction, length](Status status, std::span<const std::uint8_t> head) {
    if (status != Status::ok) return;
    memory_.read(0, load<std::uint64_t>(head, 0), length,
                 [this, port, direction](Status got, std::span<const std::uint8_t> frame) {
                   if (got == Status::ok && tap_) tap_(port, direction, frame);
                 });
  });
}

}  // namespace meridian
