// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/frame.hpp"

namespace meridian {

/// A tag of IEEE 802.1Q: 0x8100 or 0x88A8, and the number of the VLAN (0: a priority tag).
struct VlanTag {
  std::uint16_t type = 0;
  std::uint16_t id = 0;
};

/// The tags that all frames of an end have, the outermost first.
class VlanTags {
 public:
  VlanTags() = default;
  explicit VlanTags(std::vector<VlanTag> tags) : tags_(std::move(tags)) {}

  std::size_t bytes() const { return 4 * tags_.size(); }

  /// Puts them into a frame, all of priority 0.
  void insert(Bytes& frame) const;

  /// Whether a frame begins with these, of any priority.
  bool match(std::span<const std::uint8_t> frame) const;

  /// A frame that matches without them.
  Bytes strip(std::span<const std::uint8_t> frame) const;

 private:
  std::vector<VlanTag> tags_;
};

}  // namespace meridian
