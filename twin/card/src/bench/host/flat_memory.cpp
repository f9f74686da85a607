// SPDX-License-Identifier: Apache-2.0
#include "bench/host/flat_memory.hpp"

#include <cstring>
#include <new>

namespace meridian {

FlatMemory::FlatMemory(std::size_t bytes, std::uint64_t flight_ps)
    : size_(bytes), flight_ps_(flight_ps), bytes_(static_cast<std::uint8_t*>(std::calloc(bytes, 1))) {
  if (!bytes_) throw std::bad_alloc();
}

void FlatMemory::read(unsigned, std::uint64_t address, std::uint32_t bytes, ReadDone done) {
  if (!holds(address, bytes)) return done(Status::unsupported, {});
  done(Status::ok, std::span(bytes_.get() + address, bytes));
}

void FlatMemory::write(unsigned, std::uint64_t address, std::span<const std::uint8_t> data) {
  if (holds(address, data.size()))
    arriving_.push_back({now_ps_ + flight_ps_, address, Bytes(data.begin(), data.end())});
}

void FlatMemory::run(std::uint64_t now_ps) {
  now_ps_ = now_ps;
  for (; !arriving_.empty() && arriving_.front().at_ps <= now_ps; arriving_.pop_front()) {
    const Write& write = arriving_.front();
    std::memcpy(bytes_.get() + write.address, write.data.data(), write.data.size());
    if (watch_) watch_(write.address);
  }
}

std::uint64_t FlatMemory::word(std::uint64_t address, unsigned bytes) const {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes_.get() + address, bytes);
  return value;
}

void FlatMemory::set_word(std::uint64_t address, std::uint64_t value, unsigned bytes) {
  std::memcpy(bytes_.get() + address, &value, bytes);
}

}  // namespace meridian
