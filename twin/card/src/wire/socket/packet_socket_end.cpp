// SPDX-License-Identifier: Apache-2.0
#include "wire/socket/packet_socket_end.hpp"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "wire/frame/ip_frame.hpp"

namespace meridian {

namespace {

/// The virtio header (virtio 1.2, 5.1.6) before each frame of the socket; Linux's header of it is no C++.
struct OffloadHeader {
  std::uint8_t flags = 0;
  std::uint8_t segmentation = 0;
  std::uint16_t header_length = 0;
  std::uint16_t segment_size = 0;
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(OffloadHeader) == 10);
constexpr std::uint8_t needs_checksum = 1;

constexpr std::size_t largest_read = 65'536 + 64;

[[noreturn]] void fail(const std::string& interface, const char* what) {
  throw InputError("interface " + interface + ": " + what + ": " + std::strerror(errno));
}

template <typename Value>
void set_option(int descriptor, int option, const Value& value, const std::string& interface, const char* what) {
  if (setsockopt(descriptor, SOL_PACKET, option, &value, sizeof value) != 0) fail(interface, what);
}

/// The sum over what the checksum covers, with the field holding the sum of the pseudo header.
void complete_checksum(std::span<std::uint8_t> frame, std::size_t start, std::size_t offset) {
  if (start + offset + 2 > frame.size()) return;
  const std::uint16_t sum = checksum_finish(checksum_add(frame.subspan(start)));
  put_be<std::uint16_t>(frame, start + offset, sum == 0 ? 0xffff : sum);
}

void put_tag_back(Bytes& frame, const tpacket_auxdata& data) {
  constexpr std::size_t addresses = 12;
  const auto type = (data.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? data.tp_vlan_tpid : layout::type_vlan;
  frame.insert(frame.begin() + addresses, 4, 0);
  put_be<std::uint16_t>(frame, addresses, type);
  put_be<std::uint16_t>(frame, addresses + 2, data.tp_vlan_tci);
}

}  // namespace

PacketSocketEnd::PacketSocketEnd(const std::string& interface, const DescriptorSetting& setting)
    : DescriptorEnd(setting), buffer_(largest_read) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) fail(interface, "cannot be used");
  // With no protocol until it is bound, it gets nothing of other interfaces.
  descriptor_ = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) fail(interface, "packet socket");
  const int on = 1;
  set_option(descriptor_, PACKET_VNET_HDR, on, interface, "offload headers");
  set_option(descriptor_, PACKET_AUXDATA, on, interface, "VLAN tags");
  set_option(descriptor_, PACKET_IGNORE_OUTGOING, on, interface, "ignore outgoing frames");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  if (bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail(interface, "bind");
  packet_mreq membership{};
  membership.mr_ifindex = static_cast<int>(index);
  membership.mr_type = PACKET_MR_PROMISC;
  set_option(descriptor_, PACKET_ADD_MEMBERSHIP, membership, interface, "promiscuous mode");
}

DescriptorEnd::Io PacketSocketEnd::take(Bytes& frame) {
  OffloadHeader offload;
  iovec parts[] = {{&offload, sizeof offload}, {buffer_.data(), buffer_.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(tpacket_auxdata))];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = recvmsg(descriptor_, &message, 0);
  if (length < 0) return result_of(errno);
  if ((message.msg_flags & MSG_TRUNC) != 0 || offload.segmentation != 0) return Io::too_long;
  if (length < static_cast<ssize_t>(sizeof offload)) return Io::done;  // an empty frame
  frame.assign(buffer_.begin(), buffer_.begin() + (length - static_cast<ssize_t>(sizeof offload)));
  if ((offload.flags & needs_checksum) != 0) complete_checksum(frame, offload.checksum_start, offload.checksum_offset);
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_PACKET || part->cmsg_type != PACKET_AUXDATA) continue;
    tpacket_auxdata data{};
    std::memcpy(&data, CMSG_DATA(part), sizeof data);
    if ((data.tp_status & TP_STATUS_VLAN_VALID) != 0 && frame.size() >= layout::ethernet) put_tag_back(frame, data);
  }
  return Io::done;
}

DescriptorEnd::Io PacketSocketEnd::give(const Bytes& frame) {
  OffloadHeader offload;
  iovec parts[] = {{&offload, sizeof offload}, {const_cast<std::uint8_t*>(frame.data()), frame.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  return sendmsg(descriptor_, &message, MSG_NOSIGNAL) >= 0 ? Io::done : result_of(errno);
}

}  // namespace meridian
