// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/frame.hpp"
#include "meridian_link.h"

namespace meridian {

/// What waits to be sent on one socket. Grows as far as its owner lets it.
class MessageWriter {
 public:
  /// Sets the header's size.
  void append(meridian_link_header header, std::span<const std::uint8_t> payload);

  enum class Flushed { all, some, none, broken };

  /// Sends what the socket takes.
  Flushed flush(int socket);

  std::size_t waiting() const { return buffer_.size() - begin_; }

  /// Forgets what waits.
  void clear();

 private:
  Bytes buffer_;
  std::size_t begin_ = 0;
};

}  // namespace meridian
