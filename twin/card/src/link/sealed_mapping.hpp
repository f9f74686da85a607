// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "link/descriptor.hpp"

namespace meridian {

std::string of_hex(std::uint64_t number);

/// A piece of a client's memory file, mapped. The file is sealed against shrinking, so that no access can fault.
class SealedMapping {
 public:
  /// Throws LinkError with the reason, behind what it is for, when the file cannot serve.
  SealedMapping(const std::string& what, const Descriptor& file, std::uint64_t offset, std::uint64_t bytes,
                bool writable);
  ~SealedMapping();
  SealedMapping(SealedMapping&& other) noexcept;
  SealedMapping& operator=(SealedMapping&& other) noexcept;
  SealedMapping(const SealedMapping&) = delete;
  SealedMapping& operator=(const SealedMapping&) = delete;

  std::uint8_t* bytes() const { return bytes_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::uint8_t* bytes_ = nullptr;
};

}  // namespace meridian
