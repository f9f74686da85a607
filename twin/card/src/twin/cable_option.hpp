// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace meridian {

/// A port of a card in this process, both counted from 0.
struct CablePlug {
  unsigned card = 0;
  unsigned port = 0;
  bool operator==(const CablePlug&) const = default;
  std::string text() const { return std::to_string(card) + '.' + std::to_string(port); }
};

/// A cable between two ports of the cards in this process.
struct CableOption {
  CablePlug first;
  CablePlug second;
  std::uint64_t delay_ps = 0;  // each way
};

constexpr std::string_view cable_help =
    R"(  --cable A.P=B.Q[,delay=TIME]   joins port P of card A to port Q of card B, both counted from 0. The delay is
                        that of one direction (0). A frame longer than the delay arrives when its last bit has been sent
)";

/// From what stands behind --cable; InputError that says what is wrong. Whether there are such cards is not asked.
CableOption parse_cable(const std::string& text);

}  // namespace meridian
