// SPDX-License-Identifier: Apache-2.0
#include "wire/frame/arp.hpp"

#include <algorithm>

#include "wire/frame/ip_frame.hpp"

namespace meridian {

std::optional<Bytes> arp_answer(const Bytes& frame, const MacAddress& mac, const Ip4Address& ip) {
  constexpr std::size_t operation = 20, sender = 22, target = 32, target_ip = 38, end = 42;
  if (frame.size() < end || get_be<std::uint16_t>(frame, 12) != layout::type_arp) return std::nullopt;
  const MacAddress broadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  if (!std::equal(mac.begin(), mac.end(), frame.begin()) &&
      !std::equal(broadcast.begin(), broadcast.end(), frame.begin()))
    return std::nullopt;
  // Ethernet, IPv4, their lengths, a request
  constexpr std::uint8_t request[] = {0, 1, 0x08, 0, 6, 4, 0, 1};
  if (!std::equal(std::begin(request), std::end(request), frame.begin() + layout::ethernet)) return std::nullopt;
  if (!std::equal(ip.begin(), ip.end(), frame.begin() + target_ip)) return std::nullopt;
  Bytes answer(layout::shortest_frame);
  std::copy_n(frame.begin() + 6, 6, answer.begin());
  put_bytes(answer, 6, mac);
  put_be(answer, 12, layout::type_arp);
  std::copy_n(std::begin(request), sizeof request, answer.begin() + layout::ethernet);
  put_be<std::uint16_t>(answer, operation, 2);
  put_bytes(answer, sender, mac);
  put_bytes(answer, sender + 6, ip);
  std::copy_n(frame.begin() + sender, 10, answer.begin() + target);
  return answer;
}

}  // namespace meridian
