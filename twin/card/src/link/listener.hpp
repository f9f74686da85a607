// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <filesystem>

#include "link/descriptor.hpp"

namespace meridian {

/// A UNIX socket (SOCK_STREAM or SOCK_SEQPACKET) that listens; only the user who started the card may connect. Removes
/// its file at the end.
class Listener {
 public:
  /// A file left by a card that is gone is replaced; throws InputError when something else stands there or answers.
  explicit Listener(const std::filesystem::path& path, int type = SOCK_STREAM);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int get() const { return socket_.get(); }

  /// The next connection, not blocking; none if nobody waits.
  Descriptor accept();

 private:
  std::filesystem::path path_;
  Descriptor socket_;
};

}  // namespace meridian
