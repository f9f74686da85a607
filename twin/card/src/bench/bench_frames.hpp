// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.hpp"
#include "base/frame.hpp"
#include "bench/shell_setup.hpp"

namespace meridian {

/// Frames of a bench: numbered, with a payload that follows from the number, so that each can be checked alone.
class NumberedFrames {
 public:
  NumberedFrames(const MacAddress& destination, const MacAddress& source, std::size_t length)
      : destination_(destination), source_(source), length_(length) {}

  Bytes make(std::uint32_t number) const {
    Bytes frame(length_);
    std::copy(destination_.begin(), destination_.end(), frame.begin());
    std::copy(source_.begin(), source_.end(), frame.begin() + 6);
    frame[12] = 0x88;  // local experimental Ethertype (IEEE 802)
    frame[13] = 0xb5;
    std::memcpy(frame.data() + header, &number, sizeof number);
    for (std::size_t i = header + sizeof number; i < length_; ++i) frame[i] = static_cast<std::uint8_t>(number + 7 * i);
    return frame;
  }

  /// CheckError unless the bytes are those of this number.
  void check(const Bytes& bytes, std::uint32_t number, const char* where) const {
    if (bytes == make(number)) return;
    throw CheckError(std::string(where) + ": frame " + std::to_string(number) + " of " + std::to_string(length_) +
                     " bytes came out as " + to_hex(bytes));
  }

  static std::uint32_t number_of(const Bytes& bytes) {
    std::uint32_t number = 0;
    if (bytes.size() >= header + sizeof number) std::memcpy(&number, bytes.data() + header, sizeof number);
    return number;
  }

 private:
  static constexpr std::size_t header = 14;
  MacAddress destination_;
  MacAddress source_;
  std::size_t length_;
};

}  // namespace meridian
