// SPDX-License-Identifier: Apache-2.0
#include "wire/traffic/traffic_frame.hpp"

#include <algorithm>

#include "base/crc32.hpp"
#include "wire/frame/ip_frame.hpp"

namespace meridian {

namespace {

constexpr std::uint8_t mark_byte = 0x4d;
constexpr std::uint16_t type_test = 0x88b5;  // local experimental (IEEE 802)
constexpr std::uint16_t type_service_vlan = 0x88a8;
constexpr std::uint8_t protocol_tcp = 6;
constexpr std::size_t tcp = 20;
constexpr std::size_t crc_at = 14;  // in the mark

std::uint32_t payload_crc(std::span<const std::uint8_t> payload) {
  return crc32(payload.subspan(TrafficMark::bytes), crc32(payload.first(crc_at)));
}

std::size_t segment_header(TrafficProtocol protocol) {
  return protocol == TrafficProtocol::tcp ? tcp : layout::udp;
}

}  // namespace

std::size_t traffic_header(const TrafficFlow& flow) {
  const std::size_t link = layout::ethernet + (flow.vlan ? 4 : 0);
  return flow.protocol == TrafficProtocol::ethernet ? link : link + layout::ip4 + segment_header(flow.protocol);
}

std::size_t traffic_shortest(const TrafficFlow& flow) {
  return std::max(traffic_header(flow) + TrafficMark::bytes, layout::shortest_frame + (flow.vlan ? 4 : 0));
}

Bytes traffic_frame(const TrafficFlow& flow, const TrafficMark& mark, std::size_t length) {
  Bytes frame(length);
  put_bytes(frame, 0, flow.destination);
  put_bytes(frame, 6, flow.source);
  std::size_t at = 12;
  if (flow.vlan) {
    put_be(frame, at, layout::type_vlan);
    put_be(frame, at + 2, *flow.vlan);
    at += 4;
  }
  put_be(frame, at, flow.protocol == TrafficProtocol::ethernet ? type_test : layout::type_ip4);
  at += 2;
  if (flow.protocol != TrafficProtocol::ethernet) {
    const bool is_tcp = flow.protocol == TrafficProtocol::tcp;
    const std::size_t segment = at + layout::ip4;
    put_ip4(frame, at, flow.source_ip, flow.destination_ip, is_tcp ? protocol_tcp : layout::protocol_udp,
            length - segment);
    put_be(frame, segment, flow.source_port);
    put_be(frame, segment + 2, flow.destination_port);
    if (is_tcp) {
      put_be(frame, segment + 4, mark.sequence);
      frame[segment + 12] = 0x50;  // no options
      frame[segment + 13] = 0x10;  // ACK
      put_be<std::uint16_t>(frame, segment + 14, 0xffff);
    } else {
      put_be(frame, segment + 4, static_cast<std::uint16_t>(length - segment));
    }
    at = segment + segment_header(flow.protocol);
  }
  frame[at] = mark_byte;
  frame[at + 1] = mark.generator;
  put_be(frame, at + 2, mark.flow);
  put_be(frame, at + 4, mark.sequence);
  for (std::size_t i = at + TrafficMark::bytes; i < length; ++i)
    frame[i] = static_cast<std::uint8_t>(mark.sequence + 7 * i);
  return frame;
}

void traffic_stamp(Bytes& frame, std::size_t offset, TrafficProtocol protocol, std::uint64_t sent_ps) {
  const auto payload = std::span(frame).subspan(offset);
  put_be(payload, 8, static_cast<std::uint16_t>(sent_ps >> 32));
  put_be(payload, 10, static_cast<std::uint32_t>(sent_ps));
  put_be(payload, crc_at, payload_crc(payload));
  if (protocol == TrafficProtocol::ethernet) return;
  const std::size_t segment = offset - segment_header(protocol);
  const std::size_t ip = segment - layout::ip4;
  if (protocol == TrafficProtocol::udp) return set_udp_checksum(frame, ip, segment);
  put_be<std::uint16_t>(frame, segment + 16, 0);
  put_be(frame, segment + 16, checksum_finish(segment_sum(frame, ip, segment, frame.size() - segment)));
}

std::variant<TrafficMark, TrafficFault> traffic_read(const Bytes& frame) {
  const std::span<const std::uint8_t> all(frame);
  std::size_t at = 12;
  for (int tags = 0; tags < 2 && at + 6 <= all.size(); ++tags) {
    const auto type = get_be<std::uint16_t>(all, at);
    if (type != layout::type_vlan && type != type_service_vlan) break;
    at += 4;
  }
  if (at + 2 > all.size()) return TrafficFault::foreign;
  const auto type = get_be<std::uint16_t>(all, at);
  at += 2;
  std::span<const std::uint8_t> payload;
  bool wrong_sum = false;
  if (type == type_test) {
    payload = all.subspan(at);
  } else if (type == layout::type_ip4) {
    if (at + layout::ip4 > all.size() || all[at] >> 4 != 4) return TrafficFault::foreign;
    const std::size_t header = 4U * (all[at] & 15);
    const std::size_t length = get_be<std::uint16_t>(all, at + 2);
    if (header < layout::ip4 || length < header || at + length > all.size()) return TrafficFault::foreign;
    wrong_sum = checksum_finish(checksum_add(all.subspan(at, header))) != 0;
    const std::uint8_t protocol = all[at + 9];
    const std::size_t segment = at + header;
    std::size_t left = length - header;
    std::size_t head = layout::udp;
    if (protocol == protocol_tcp) {
      if (left < tcp) return TrafficFault::foreign;
      head = 4U * (all[segment + 12] >> 4);
      if (head < tcp) return TrafficFault::foreign;
    } else if (protocol != layout::protocol_udp) {
      return TrafficFault::foreign;
    } else if (left >= head) {
      left = std::min<std::size_t>(left, get_be<std::uint16_t>(all, segment + 4));
    }
    if (left < head) return TrafficFault::foreign;
    const bool has_sum = protocol == protocol_tcp || get_be<std::uint16_t>(all, segment + 6) != 0;
    wrong_sum |= has_sum && checksum_finish(segment_sum(all, at, segment, left)) != 0;
    payload = all.subspan(segment + head, left - head);
  }
  if (payload.size() < TrafficMark::bytes || payload[0] != mark_byte) return TrafficFault::foreign;
  if (get_be<std::uint32_t>(payload, crc_at) != payload_crc(payload)) return TrafficFault::corrupt;
  if (wrong_sum) return TrafficFault::checksum;
  TrafficMark mark;
  mark.generator = payload[1];
  mark.flow = get_be<std::uint16_t>(payload, 2);
  mark.sequence = get_be<std::uint32_t>(payload, 4);
  mark.sent_ps = std::uint64_t{get_be<std::uint16_t>(payload, 8)} << 32 | get_be<std::uint32_t>(payload, 10);
  return mark;
}

}  // namespace meridian
