// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "qdma/ip_state.hpp"
#include "qdma/ring/c2h_engine.hpp"
#include "qdma/ring/completions.hpp"
#include "qdma/ring/h2c_engine.hpp"

namespace meridian {

/// The doorbells of a function: 16 bytes a queue, by the number the function has for it. What is not its queue is not
/// reached.
class Doorbells {
 public:
  Doorbells(IpState& ip, H2cEngine& h2c, C2hEngine& c2h, Completions& completions);

  /// offset: from the first doorbell of the function; bar_offset is for the error log.
  void write(unsigned function, std::uint32_t offset, std::uint32_t bar_offset, std::uint32_t value);

  /// What was written last.
  std::uint32_t read(unsigned function, std::uint32_t offset) const;

  void reset(unsigned queue) { written_[queue] = {}; }
  void reset();

 private:
  IpState& ip_;
  H2cEngine& h2c_;
  C2hEngine& c2h_;
  Completions& completions_;
  std::vector<std::array<std::uint32_t, 4>> written_;
};

}  // namespace meridian
