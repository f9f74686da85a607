// SPDX-License-Identifier: Apache-2.0
#include "link/message_writer.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace meridian {

void MessageWriter::append(meridian_link_header header, std::span<const std::uint8_t> payload) {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  header.size = static_cast<std::uint32_t>(sizeof(header) + payload.size());
  const std::size_t at = buffer_.size();
  buffer_.resize(at + header.size);
  std::memcpy(buffer_.data() + at, &header, sizeof(header));
  if (!payload.empty()) std::memcpy(buffer_.data() + at + sizeof(header), payload.data(), payload.size());
}

void MessageWriter::clear() {
  buffer_.clear();
  begin_ = 0;
}

MessageWriter::Flushed MessageWriter::flush(int socket) {
  bool any = false;
  while (waiting() > 0) {
    const ssize_t sent = ::send(socket, buffer_.data() + begin_, waiting(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return Flushed::broken;
    if (sent <= 0) return any ? Flushed::some : Flushed::none;
    begin_ += static_cast<std::size_t>(sent);
    any = true;
  }
  return Flushed::all;
}

}  // namespace meridian
