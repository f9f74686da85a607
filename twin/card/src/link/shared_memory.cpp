// SPDX-License-Identifier: Apache-2.0
#include "link/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "link/message_reader.hpp"

namespace meridian {
namespace {

constexpr std::size_t largest_entry = 64;  // of a ring

std::string name_of(const meridian_link_region& region) {
  return "region at " + of_hex(region.address) + ": ";
}

const meridian_link_region& check(const meridian_link_region& region) {
  if (region.bytes == 0) throw LinkError(name_of(region) + "it has no bytes");
  if (region.address + region.bytes < region.address && region.address + region.bytes != 0)
    throw LinkError(name_of(region) + "it goes beyond the end of the address space");
  if (region.function > 255 && region.function != MERIDIAN_LINK_ALL_FUNCTIONS)
    throw LinkError(name_of(region) + "there is no function " + std::to_string(region.function));
  return region;
}

void store(std::uint8_t* to, std::span<const std::uint8_t> from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from.data(), sizeof(word));
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELEASE);
}

}  // namespace

SharedRegion::SharedRegion(const meridian_link_region& region, Descriptor file)
    : place_(check(region)), mapping_(name_of(region), file, region.offset, region.bytes, region.writable != 0) {}

bool SharedRegion::holds(std::uint64_t address, std::size_t bytes) const {
  const std::uint64_t offset = address - place_.address;  // wraps to something large below the region
  return offset <= place_.bytes && bytes <= place_.bytes - offset;
}

void SharedRegion::read(std::uint64_t address, std::span<std::uint8_t> to) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  std::memcpy(to.data(), mapping_.bytes() + (address - place_.address), to.size());
}

void SharedRegion::write(std::uint64_t address, std::span<const std::uint8_t> from, Told told) {
  std::uint8_t* to = mapping_.bytes() + (address - place_.address);
  std::atomic_thread_fence(std::memory_order_release);
  const bool words = from.size() % 8 == 0 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0;
  if (!words || from.size() > largest_entry) {
    std::memcpy(to, from.data(), from.size());
    return;
  }
  for (std::size_t stored = 0; stored != from.size(); stored += 8) {
    const std::size_t at = told == Told::last ? stored : from.size() - 8 - stored;
    store(to + at, from.subspan(at, 8));
  }
}

void RegionTable::add(const meridian_link_region& region, Descriptor file) {
  if (regions_.size() >= MERIDIAN_LINK_MAX_REGIONS)
    throw LinkError("region at " + of_hex(region.address) + ": there are " + std::to_string(regions_.size()) +
                    " already, more cannot be");
  SharedRegion added(region, std::move(file));
  for (const SharedRegion& other : regions_) {
    const meridian_link_region& place = other.place();
    if (place.function != region.function) continue;
    if (region.address - place.address < place.bytes || place.address - region.address < region.bytes)
      throw LinkError("region at " + of_hex(region.address) + ": it overlaps the one at " + of_hex(place.address));
  }
  regions_.push_back(std::move(added));
}

void RegionTable::forget(unsigned function, std::uint64_t address) {
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const SharedRegion& region) {
    return region.place().function == function && region.place().address == address;
  });
  if (found == regions_.end()) throw LinkError("there is no region that begins at " + of_hex(address));
  regions_.erase(found);
}

SharedRegion* RegionTable::find(unsigned function, std::uint64_t address, std::size_t bytes) {
  for (const unsigned owner : {function, MERIDIAN_LINK_ALL_FUNCTIONS})
    for (SharedRegion& region : regions_)
      if (region.place().function == owner && region.holds(address, bytes)) return &region;
  return nullptr;
}

}  // namespace meridian
