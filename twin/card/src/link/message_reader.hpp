// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>

#include "base/frame.hpp"
#include "link/descriptor.hpp"
#include "meridian_link.h"

namespace meridian {

/// A client broke the protocol; what() is the sentence it is told before its connection closes.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct LinkMessage {
  meridian_link_header header{};
  std::span<const std::uint8_t> payload;  // until the next receive()
};

/// Cuts what comes from a socket into messages. Holds one buffer of fixed size and few descriptors, so a client that
/// sends more waits in its own socket.
class MessageReader {
 public:
  MessageReader();

  enum class Received { some, nothing, end };

  /// Takes what the socket has, as far as there is room.
  Received receive(int socket);

  /// The next whole message; throws LinkError for a size that cannot be.
  std::optional<LinkMessage> next();

  /// next() would return a message or throw.
  bool has_message() const;

  /// The oldest descriptor that came and was not taken; none if none did.
  Descriptor take_descriptor();

 private:
  std::optional<meridian_link_header> peek() const;
  void keep_descriptors(const msghdr& message);

  Bytes buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::deque<Descriptor> descriptors_;
};

}  // namespace meridian
