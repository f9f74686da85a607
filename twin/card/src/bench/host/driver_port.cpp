// SPDX-License-Identifier: Apache-2.0
#include "bench/host/driver_port.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"

extern "C" {
#include "qdma_ring.h"

std::uint32_t qdma_os_read(const void* bar, std::uint32_t offset) {
  return static_cast<meridian::DriverPort*>(const_cast<void*>(bar))->read(offset);
}

void qdma_os_write(void* bar, std::uint32_t offset, std::uint32_t value) {
  static_cast<meridian::DriverPort*>(bar)->write(offset, value);
}

// The model has done a command before anybody can see it busy, and an engine goes on while a register is read.
void qdma_os_delay_us(std::uint32_t) {}
}

namespace meridian {

namespace {
constexpr std::size_t line_bytes = 64;  // of a cache, in which a core combines writes
}

DriverPort::DriverPort(EnginePort& engine, unsigned function, std::uint64_t flight_ps)
    : engine_(engine), function_(function), flight_ps_(flight_ps) {
  engine.enable_function(function);
  const int error = function < first_vf ? qdma_identify(&device_, this) : qdma_identify_vf(&device_, this);
  if (error != 0) throw CheckError("the library refuses the card's DMA engine: error " + std::to_string(-error));
}

void DriverPort::write(std::uint32_t offset, std::uint32_t value) {
  constexpr std::uint32_t doorbells_bytes = 0x1000;  // of 256 queues
  if (device_.doorbells != 0 && offset >= device_.doorbells && offset < device_.doorbells + doorbells_bytes)
    posted_.push_back({now_ps_ + flight_ps_, offset, value, {}});
  else
    engine_.write(function_, offset, value);
}

void DriverPort::push(unsigned queue, std::span<const std::uint8_t> frame, std::uint64_t header) {
  const std::uint32_t at = QDMA_WINDOW_BYTES * queue;
  for (std::size_t from = 0; from < frame.size(); from += line_bytes) {
    const auto line = frame.subspan(from, std::min(line_bytes, frame.size() - from));
    Posted posted{now_ps_ + flight_ps_, at + static_cast<std::uint32_t>(from), 0, {line.begin(), line.end()}};
    posted.pushed.resize((line.size() + sizeof(header) - 1) / sizeof(header) * sizeof(header));
    posted_.push_back(std::move(posted));
  }
  std::vector<std::uint8_t> last(sizeof(header));
  std::memcpy(last.data(), &header, sizeof(header));
  posted_.push_back({now_ps_ + flight_ps_, at + QDMA_WINDOW_HEADER, 0, std::move(last)});
}

void DriverPort::run(std::uint64_t now_ps) {
  now_ps_ = now_ps;
  for (; !posted_.empty() && posted_.front().at_ps <= now_ps; posted_.pop_front()) {
    const Posted& posted = posted_.front();
    if (posted.pushed.empty())
      engine_.write(function_, posted.offset, posted.value);
    else
      engine_.push(function_, posted.offset, posted.pushed);
  }
}

}  // namespace meridian
