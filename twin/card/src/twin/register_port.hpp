// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "link/link_server.hpp"
#include "shell/axil.hpp"

namespace meridian {

/// Accesses of 1 to 8 bytes on an AXI4-Lite bus of 32 bits. What lies beyond the window, is not aligned, or is answered
/// with an error reads all ones.
class RegisterPort {
 public:
  RegisterPort(AxilMaster& bus, std::uint64_t window_bytes) : bus_(bus), window_(window_bytes) {}

  void read(unsigned function, std::uint64_t offset, unsigned width, LinkCard::Read done);
  void write(unsigned function, std::uint64_t offset, unsigned width, std::uint64_t value);

  /// Hands out what the bus has answered.
  void collect();

  std::size_t pending() const { return open_.size(); }
  std::size_t reads() const { return reads_; }
  std::uint64_t errors() const { return errors_; }

  /// The bus is in reset: what is open is answered as unsupported.
  void reset();

 private:
  struct Open {
    std::uint64_t id;  // of the last bus access it needs
    unsigned left;     // bus accesses
    unsigned width;
    unsigned shift;
    std::uint64_t value = 0;
    bool failed = false;
    LinkCard::Read done;  // none: a write
  };

  bool fits(std::uint64_t offset, unsigned width) const;
  void answer(Open& open);

  AxilMaster& bus_;
  std::uint64_t window_;
  std::deque<Open> open_;
  std::size_t reads_ = 0;  // of these
  std::uint64_t errors_ = 0;
};

}  // namespace meridian
