// SPDX-License-Identifier: Apache-2.0
#include "link/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "link/message_reader.hpp"

namespace meridian {
namespace {

std::string of_hex(std::uint64_t number) {
  constexpr auto digits = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), digits[number & 15]);
  while ((number >>= 4) != 0);
  return "0x" + text;
}

/// Throws LinkError unless the file is there for as long as it is mapped.
struct stat check(const meridian_link_region& region, const Descriptor& file) {
  const std::string name = "region at " + of_hex(region.address) + ": ";
  if (!file) throw LinkError(name + "no file descriptor came with it");
  if (region.bytes == 0) throw LinkError(name + "it has no bytes");
  if (region.address + region.bytes < region.address && region.address + region.bytes != 0)
    throw LinkError(name + "it goes beyond the end of the address space");
  if (region.function > 255 && region.function != MERIDIAN_LINK_ALL_FUNCTIONS)
    throw LinkError(name + "there is no function " + std::to_string(region.function));
  struct stat found{};
  if (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode))
    throw LinkError(name + "the descriptor is no memory file");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    throw LinkError(name + "the file is not sealed against shrinking (memfd_create, F_SEAL_SHRINK)");
  // The size after the seal: it can only grow from here.
  if (::fstat(file.get(), &found) != 0) throw LinkError(name + "the descriptor is no memory file");
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (region.offset > size || region.bytes > size - region.offset)
    throw LinkError(name + std::to_string(region.bytes) + " bytes from " + of_hex(region.offset) +
                    " on, but the file has " + std::to_string(size));
  return found;
}

}  // namespace

SharedRegion::SharedRegion(const meridian_link_region& region, Descriptor file) : place_(region) {
  const struct stat found = check(region, file);
  // Files of huge pages are mapped by huge pages; their block size says how large.
  const auto block = static_cast<std::uint64_t>(found.st_blksize);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t unit = std::has_single_bit(block) ? std::max(page, block) : page;
  const std::uint64_t from = region.offset / unit * unit;
  mapped_bytes_ = (region.offset + region.bytes - from + unit - 1) / unit * unit;
  const int protection = region.writable != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
  void* mapping = ::mmap(nullptr, mapped_bytes_, protection, MAP_SHARED, file.get(), static_cast<off_t>(from));
  if (mapping == MAP_FAILED)
    throw LinkError("region at " + of_hex(region.address) + ": it cannot be mapped, " + std::strerror(errno));
  mapping_ = mapping;
  bytes_ = static_cast<std::uint8_t*>(mapping) + (region.offset - from);
}

SharedRegion::~SharedRegion() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : place_(other.place_),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      bytes_(other.bytes_) {}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

bool SharedRegion::holds(std::uint64_t address, std::size_t bytes) const {
  const std::uint64_t offset = address - place_.address;  // wraps to something large below the region
  return offset <= place_.bytes && bytes <= place_.bytes - offset;
}

void SharedRegion::read(std::uint64_t address, std::span<std::uint8_t> to) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  std::memcpy(to.data(), bytes_ + (address - place_.address), to.size());
}

void SharedRegion::write(std::uint64_t address, std::span<const std::uint8_t> from) {
  std::uint8_t* to = bytes_ + (address - place_.address);
  std::atomic_thread_fence(std::memory_order_release);
  if (from.size() == 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data(), 8);
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELEASE);
  } else {
    std::memcpy(to, from.data(), from.size());
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
