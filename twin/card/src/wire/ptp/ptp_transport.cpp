// SPDX-License-Identifier: Apache-2.0
#include "wire/ptp/ptp_transport.hpp"

#include <algorithm>

#include "wire/frame/ip_frame.hpp"

namespace meridian {

namespace {

constexpr std::uint16_t event_port = 319;
constexpr std::uint16_t general_port = 320;

constexpr PtpAddress to_all[] = {
    {{0x01, 0x00, 0x5e, 0x00, 0x01, 0x81}, {224, 0, 1, 129}, {}},
    {{0x33, 0x33, 0x00, 0x00, 0x01, 0x81}, {}, {0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x81}},
    {{0x01, 0x1b, 0x19, 0x00, 0x00, 0x00}, {}, {}}};
constexpr PtpAddress to_peer[] = {
    {{0x01, 0x00, 0x5e, 0x00, 0x00, 0x6b}, {224, 0, 0, 107}, {}},
    {{0x33, 0x33, 0x00, 0x00, 0x00, 0x6b}, {}, {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x6b}},
    {{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}, {}, {}}};

template <std::size_t Size>
std::array<std::uint8_t, Size> address_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::array<std::uint8_t, Size> address;
  std::copy_n(bytes.begin() + static_cast<long>(at), Size, address.begin());
  return address;
}

bool is_ip6_multicast(const Ip6Address& address, const Ip6Address& group) {
  // The scope, the low half of the second byte, is the sender's choice.
  return address[0] == 0xff && std::equal(address.begin() + 2, address.end(), group.begin() + 2);
}

}  // namespace

std::size_t PtpPath::payload_at() const {
  return layout::ethernet + tags_.bytes();
}

std::size_t PtpPath::offset() const {
  switch (transport_) {
    case PtpTransport::udp4:
      return payload_at() + layout::ip4 + layout::udp;
    case PtpTransport::udp6:
      return payload_at() + layout::ip6 + layout::udp;
    case PtpTransport::ethernet:
      break;
  }
  return payload_at();
}

Bytes PtpPath::wrap(std::span<const std::uint8_t> message, bool event, To to) const {
  const auto index = static_cast<std::size_t>(transport_);
  return wrap(message, event, to == To::peer || peer_multicast_ ? to_peer[index] : to_all[index]);
}

Bytes PtpPath::wrap(std::span<const std::uint8_t> message, bool event, const PtpAddress& to) const {
  Bytes frame(layout::ethernet);
  put_bytes(frame, 0, to.mac);
  put_bytes(frame, 6, own_.mac);
  tags_.insert(frame);
  frame.resize(std::max(offset() + message.size(), layout::shortest_frame));
  put_bytes(frame, offset(), message);
  if (transport_ == PtpTransport::ethernet) {
    put_be(frame, type_at(), layout::type_ptp);
    return frame;
  }
  const std::size_t segment = offset() - layout::udp;
  const std::size_t length = layout::udp + message.size();
  const std::uint16_t port = event ? event_port : general_port;
  put_be(frame, segment, port);
  put_be(frame, segment + 2, port);
  put_be(frame, segment + 4, static_cast<std::uint16_t>(length));
  if (transport_ == PtpTransport::udp4) {
    put_be(frame, type_at(), layout::type_ip4);
    const std::uint8_t ttl = to.ip4 == to_peer[0].ip4 ? 1 : 64;
    put_ip4(frame, payload_at(), own_.ip4, to.ip4, layout::protocol_udp, length, ttl);
  } else {
    put_be(frame, type_at(), layout::type_ip6);
    const std::uint8_t hops = to.ip6 == to_peer[1].ip6 ? 1 : 64;
    put_ip6(frame, payload_at(), own_.ip6, to.ip6, layout::protocol_udp, length, hops);
  }
  set_udp_checksum(frame, payload_at(), segment);
  return frame;
}

void PtpPath::update_checksum(Bytes& frame) const {
  if (transport_ != PtpTransport::ethernet) set_udp_checksum(frame, payload_at(), offset() - layout::udp);
}

bool PtpPath::for_us(const MacAddress& destination) const {
  const auto index = static_cast<std::size_t>(transport_);
  return destination == own_.mac || destination == to_all[index].mac || destination == to_peer[index].mac;
}

std::variant<PtpPayload, PtpFrameFault> PtpPath::unwrap(std::span<const std::uint8_t> frame) const {
  if (!tags_.match(frame) || !for_us(address_at<6>(frame, 0))) return PtpFrameFault::foreign;
  const auto type = get_be<std::uint16_t>(frame, type_at());
  PtpAddress from{address_at<6>(frame, 6), {}, {}};
  const std::size_t ip = payload_at();
  switch (transport_) {
    case PtpTransport::ethernet:
      if (type != layout::type_ptp) return PtpFrameFault::foreign;
      return PtpPayload{ip, frame.size() - ip, std::nullopt, from};
    case PtpTransport::udp4: {
      if (type != layout::type_ip4) return PtpFrameFault::foreign;
      if (frame.size() < ip + layout::ip4 || frame[ip] >> 4 != 4) return PtpFrameFault::ip;
      const std::size_t header = 4U * (frame[ip] & 15);
      const std::size_t length = get_be<std::uint16_t>(frame, ip + 2);
      if (header < layout::ip4 || length < header || ip + length > frame.size()) return PtpFrameFault::ip;
      if (checksum_finish(checksum_add(frame.subspan(ip, header))) != 0) return PtpFrameFault::ip;
      if (frame[ip + 9] != layout::protocol_udp) return PtpFrameFault::foreign;
      if ((get_be<std::uint16_t>(frame, ip + 6) & 0x3fff) != 0) return PtpFrameFault::ip;  // a fragment
      const auto to = address_at<4>(frame, ip + 16);
      if (to != own_.ip4 && to != to_all[0].ip4 && to != to_peer[0].ip4) return PtpFrameFault::foreign;
      from.ip4 = address_at<4>(frame, ip + 12);
      return unwrap_udp(frame, ip, ip + header, length - header, false, from);
    }
    case PtpTransport::udp6: {
      if (type != layout::type_ip6) return PtpFrameFault::foreign;
      if (frame.size() < ip + layout::ip6 || frame[ip] >> 4 != 6) return PtpFrameFault::ip;
      const std::size_t length = get_be<std::uint16_t>(frame, ip + 4);
      if (ip + layout::ip6 + length > frame.size()) return PtpFrameFault::ip;
      if (frame[ip + 6] != layout::protocol_udp) return PtpFrameFault::foreign;
      const auto to = address_at<16>(frame, ip + 24);
      if (to != own_.ip6 && !is_ip6_multicast(to, to_all[1].ip6) && !is_ip6_multicast(to, to_peer[1].ip6))
        return PtpFrameFault::foreign;
      from.ip6 = address_at<16>(frame, ip + 8);
      return unwrap_udp(frame, ip, ip + layout::ip6, length, true, from);
    }
  }
  return PtpFrameFault::foreign;
}

std::variant<PtpPayload, PtpFrameFault> PtpPath::unwrap_udp(std::span<const std::uint8_t> frame, std::size_t ip,
                                                            std::size_t segment, std::size_t length, bool checksum_must,
                                                            PtpAddress from) const {
  if (length < layout::udp) return PtpFrameFault::udp;
  const auto port = get_be<std::uint16_t>(frame, segment + 2);
  if (port != event_port && port != general_port) return PtpFrameFault::foreign;
  const std::size_t udp_length = get_be<std::uint16_t>(frame, segment + 4);
  if (udp_length < layout::udp || udp_length > length) return PtpFrameFault::udp;
  const bool has_checksum = get_be<std::uint16_t>(frame, segment + 6) != 0;
  if (has_checksum ? checksum_finish(segment_sum(frame, ip, segment, udp_length)) != 0 : checksum_must)
    return PtpFrameFault::udp;
  return PtpPayload{segment + layout::udp, udp_length - layout::udp, port == event_port, from};
}

}  // namespace meridian
