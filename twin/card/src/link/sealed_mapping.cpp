// SPDX-License-Identifier: Apache-2.0
#include "link/sealed_mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "link/message_reader.hpp"

namespace meridian {
namespace {

/// Throws LinkError unless the file is there for as long as it is mapped.
struct stat check(const std::string& what, const Descriptor& file, std::uint64_t offset, std::uint64_t bytes) {
  if (!file) throw LinkError(what + "no file descriptor came with it");
  struct stat found{};
  if (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode))
    throw LinkError(what + "the descriptor is no memory file");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    throw LinkError(what + "the file is not sealed against shrinking (memfd_create, F_SEAL_SHRINK)");
  // The size after the seal: it can only grow from here.
  if (::fstat(file.get(), &found) != 0) throw LinkError(what + "the descriptor is no memory file");
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (offset > size || bytes > size - offset)
    throw LinkError(what + std::to_string(bytes) + " bytes from " + of_hex(offset) + " on, but the file has " +
                    std::to_string(size));
  return found;
}

}  // namespace

std::string of_hex(std::uint64_t number) {
  constexpr auto digits = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), digits[number & 15]);
  while ((number >>= 4) != 0);
  return "0x" + text;
}

SealedMapping::SealedMapping(const std::string& what, const Descriptor& file, std::uint64_t offset, std::uint64_t bytes,
                             bool writable) {
  const struct stat found = check(what, file, offset, bytes);
  // Files of huge pages are mapped by huge pages; their block size says how large.
  const auto block = static_cast<std::uint64_t>(found.st_blksize);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t unit = std::has_single_bit(block) ? std::max(page, block) : page;
  const std::uint64_t from = offset / unit * unit;
  mapped_bytes_ = (offset + bytes - from + unit - 1) / unit * unit;
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* mapping = ::mmap(nullptr, mapped_bytes_, protection, MAP_SHARED, file.get(), static_cast<off_t>(from));
  if (mapping == MAP_FAILED) throw LinkError(what + "it cannot be mapped, " + std::strerror(errno));
  mapping_ = mapping;
  bytes_ = static_cast<std::uint8_t*>(mapping) + (offset - from);
}

SealedMapping::~SealedMapping() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_bytes_);
}

SealedMapping::SealedMapping(SealedMapping&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), mapped_bytes_(other.mapped_bytes_), bytes_(other.bytes_) {}

SealedMapping& SealedMapping::operator=(SealedMapping&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace meridian
