// SPDX-License-Identifier: Apache-2.0
#include "link/message_reader.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

namespace meridian {
namespace {

static_assert(std::endian::native == std::endian::little, "the link is little endian");

constexpr std::size_t header_bytes = sizeof(meridian_link_header);
constexpr std::size_t largest = header_bytes + MERIDIAN_LINK_MAX_PAYLOAD;
constexpr std::size_t most_descriptors = 4;

}  // namespace

MessageReader::MessageReader() : buffer_(4 * largest) {}

MessageReader::Received MessageReader::receive(int socket) {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // What came with bytes that are used up belonged to no message that wants one.
  if (end_ == 0) descriptors_.clear();
  if (end_ == buffer_.size()) return Received::nothing;
  iovec part{buffer_.data() + end_, buffer_.size() - end_};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(16 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Received::nothing : Received::end;
  keep_descriptors(message);
  if (got == 0) return Received::end;
  end_ += static_cast<std::size_t>(got);
  return Received::some;
}

void MessageReader::keep_descriptors(const msghdr& message) {
  // CMSG_NXTHDR wants a pointer to what is not const and changes nothing.
  msghdr walk = message;
  for (cmsghdr* part = CMSG_FIRSTHDR(&walk); part != nullptr; part = CMSG_NXTHDR(&walk, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      Descriptor descriptor(number);
      if (descriptors_.size() < most_descriptors) descriptors_.push_back(std::move(descriptor));
    }
  }
}

std::optional<meridian_link_header> MessageReader::peek() const {
  if (end_ - begin_ < header_bytes) return std::nullopt;
  meridian_link_header header;
  std::memcpy(&header, buffer_.data() + begin_, header_bytes);
  return header;
}

bool MessageReader::has_message() const {
  const auto header = peek();
  return header && (header->size < header_bytes || header->size > largest || header->size <= end_ - begin_);
}

std::optional<LinkMessage> MessageReader::next() {
  const auto header = peek();
  if (!header) return std::nullopt;
  if (header->size < header_bytes || header->size > largest)
    throw LinkError("a message of " + std::to_string(header->size) + " bytes; sizes are " +
                    std::to_string(header_bytes) + " to " + std::to_string(largest));
  if (end_ - begin_ < header->size) return std::nullopt;
  LinkMessage message{*header, {buffer_.data() + begin_ + header_bytes, header->size - header_bytes}};
  begin_ += header->size;
  return message;
}

Descriptor MessageReader::take_descriptor() {
  if (descriptors_.empty()) return Descriptor();
  Descriptor first = std::move(descriptors_.front());
  descriptors_.pop_front();
  return first;
}

}  // namespace meridian
