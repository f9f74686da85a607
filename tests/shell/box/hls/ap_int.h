// SPDX-License-Identifier: Apache-2.0
// Stands for the header of Vitis HLS of this name: as much of it as examples/boxes/hls needs, for a host's compiler.
#pragma once
#include <array>
#include <cstdint>

/// A number of N bits whose bytes are read and written one at a time.
template <int N> class ap_uint {
public:
  class Range {
  public:
    Range(ap_uint &number, int byte) : number_(number), byte_(byte) {}
    unsigned to_uint() const { return number_.bytes_[byte_]; }
    Range &operator=(unsigned value) {
      number_.bytes_[byte_] = static_cast<uint8_t>(value);
      return *this;
    }

  private:
    ap_uint &number_;
    int byte_;
  };
  Range range(int, int low) { return Range(*this, low / 8); }
  Range range(int, int low) const { return Range(const_cast<ap_uint &>(*this), low / 8); }
  bool operator[](int bit) const { return bytes_[bit / 8] >> bit % 8 & 1; }

private:
  std::array<uint8_t, (N + 7) / 8> bytes_{};
};
