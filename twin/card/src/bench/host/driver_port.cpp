// SPDX-License-Identifier: Apache-2.0
#include "bench/host/driver_port.hpp"

#include <string>

#include "base/error.hpp"

extern "C" {

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

DriverPort::DriverPort(EnginePort& engine, unsigned function, std::uint64_t flight_ps)
    : engine_(engine), function_(function), flight_ps_(flight_ps) {
  engine.enable_function(function);
  const int error = function < first_vf ? qdma_identify(&device_, this) : qdma_identify_vf(&device_, this);
  if (error != 0) throw CheckError("the library refuses the card's DMA engine: error " + std::to_string(-error));
}

void DriverPort::write(std::uint32_t offset, std::uint32_t value) {
  constexpr std::uint32_t doorbells_bytes = 0x1000;  // of 256 queues
  if (device_.doorbells != 0 && offset >= device_.doorbells && offset < device_.doorbells + doorbells_bytes)
    doorbells_.push_back({now_ps_ + flight_ps_, offset, value});
  else
    engine_.write(function_, offset, value);
}

void DriverPort::run(std::uint64_t now_ps) {
  now_ps_ = now_ps;
  for (; !doorbells_.empty() && doorbells_.front().at_ps <= now_ps; doorbells_.pop_front())
    engine_.write(function_, doorbells_.front().offset, doorbells_.front().value);
}

}  // namespace meridian
