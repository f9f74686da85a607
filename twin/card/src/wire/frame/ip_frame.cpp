// SPDX-License-Identifier: Apache-2.0
#include "wire/frame/ip_frame.hpp"

#include <algorithm>

namespace meridian {

void put_ip4(std::span<std::uint8_t> frame, std::size_t at, const Ip4Address& source, const Ip4Address& destination,
             std::uint8_t protocol, std::size_t length, std::uint8_t ttl) {
  const auto header = frame.subspan(at, layout::ip4);
  std::fill(header.begin(), header.end(), std::uint8_t{0});
  header[0] = 0x45;
  put_be(header, 2, static_cast<std::uint16_t>(layout::ip4 + length));
  put_be<std::uint16_t>(header, 6, 0x4000);  // do not fragment
  header[8] = ttl;
  header[9] = protocol;
  put_bytes(header, 12, source);
  put_bytes(header, 16, destination);
  put_be(header, 10, checksum_finish(checksum_add(header)));
}

void put_ip6(std::span<std::uint8_t> frame, std::size_t at, const Ip6Address& source, const Ip6Address& destination,
             std::uint8_t protocol, std::size_t length, std::uint8_t hop_limit) {
  const auto header = frame.subspan(at, layout::ip6);
  put_be<std::uint32_t>(header, 0, 0x60000000);
  put_be(header, 4, static_cast<std::uint16_t>(length));
  header[6] = protocol;
  header[7] = hop_limit;
  put_bytes(header, 8, source);
  put_bytes(header, 24, destination);
}

std::uint32_t segment_sum(std::span<const std::uint8_t> frame, std::size_t ip, std::size_t segment,
                          std::size_t length) {
  const bool six = frame[ip] >> 4 == 6;
  std::uint32_t sum = checksum_add(six ? frame.subspan(ip + 8, 32) : frame.subspan(ip + 12, 8));
  sum += six ? frame[ip + 6] : frame[ip + 9];
  sum += static_cast<std::uint32_t>(length);
  return checksum_add(frame.subspan(segment, length), sum);
}

void set_udp_checksum(std::span<std::uint8_t> frame, std::size_t ip, std::size_t segment) {
  put_be<std::uint16_t>(frame, segment + 6, 0);
  const auto sum = checksum_finish(segment_sum(frame, ip, segment, get_be<std::uint16_t>(frame, segment + 4)));
  put_be<std::uint16_t>(frame, segment + 6, sum == 0 ? 0xffff : sum);  // 0 would mean that there is none
}

}  // namespace meridian
