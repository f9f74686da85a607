// SPDX-License-Identifier: Apache-2.0
#include "wire/frame/vlan_tags.hpp"

#include "wire/frame/ip_frame.hpp"

namespace meridian {

namespace {

constexpr std::size_t addresses = 12;  // of the two MAC addresses before the first tag
constexpr std::uint16_t id_mask = 0xfff;

}  // namespace

void VlanTags::insert(Bytes& frame) const {
  Bytes words(bytes());
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    put_be(words, 4 * i, tags_[i].type);
    put_be(words, 4 * i + 2, tags_[i].id);
  }
  frame.insert(frame.begin() + addresses, words.begin(), words.end());
}

bool VlanTags::match(std::span<const std::uint8_t> frame) const {
  if (frame.size() < layout::ethernet + bytes()) return false;
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    const std::size_t at = addresses + 4 * i;
    if (get_be<std::uint16_t>(frame, at) != tags_[i].type) return false;
    if ((get_be<std::uint16_t>(frame, at + 2) & id_mask) != tags_[i].id) return false;
  }
  return true;
}

Bytes VlanTags::strip(std::span<const std::uint8_t> frame) const {
  Bytes rest(frame.begin(), frame.end());
  const auto first = rest.begin() + addresses;
  rest.erase(first, first + static_cast<long>(bytes()));
  return rest;
}

}  // namespace meridian
