// SPDX-License-Identifier: Apache-2.0
#include "wire/socket/socket_end.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace meridian {

namespace {

constexpr std::uint32_t wrong_fcs = 1;

}  // namespace

SocketEnd::SocketEnd(const std::filesystem::path& path) : listener_(path, SOCK_SEQPACKET) {}

void SocketEnd::receive(const TxFrame& frame) {
  if (!client_ || unsent_.size() >= unsent_limit) {
    ++dropped_;
    return;
  }
  Bytes message(header_bytes);
  const auto length = static_cast<std::uint32_t>(frame.bytes.size());
  const std::uint32_t flags = frame.bad ? wrong_fcs : 0;
  std::memcpy(message.data(), &frame.t_ps, 8);
  std::memcpy(message.data() + 8, &length, 4);
  std::memcpy(message.data() + 12, &flags, 4);
  message.insert(message.end(), frame.bytes.begin(), frame.bytes.end());
  unsent_.push_back(std::move(message));
  flush();
}

void SocketEnd::flush() {
  while (client_ && !unsent_.empty()) {
    const Bytes& message = unsent_.front();
    if (::send(client_.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
    ++sent_;
    unsent_.pop_front();
  }
}

std::optional<RxFrame> SocketEnd::next() {
  static thread_local std::array<std::uint8_t, header_bytes + longest_frame + 1> buffer;
  while (client_) {
    const auto count = ::recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count <= 0) {
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
      // A client that closes with frames unread makes the next call fail once, before what it has sent.
      if (count < 0 && errno == ECONNRESET && !reset_) {
        reset_ = true;
        continue;
      }
      reset_ = false;
      client_.reset();
      dropped_ += unsent_.size();
      unsent_.clear();
      return std::nullopt;
    }
    std::uint32_t length = 0, flags = 0;
    RxFrame frame;
    if (static_cast<std::size_t>(count) > header_bytes) {
      std::memcpy(&frame.at_ps, buffer.data(), 8);
      std::memcpy(&length, buffer.data() + 8, 4);
      std::memcpy(&flags, buffer.data() + 12, 4);
    }
    if (length == 0 || length > longest_frame || length + header_bytes != static_cast<std::size_t>(count)) {
      ++malformed_;
      continue;
    }
    frame.bytes.assign(buffer.begin() + header_bytes, buffer.begin() + count);
    frame.bad = (flags & wrong_fcs) != 0;
    ++received_;
    return frame;
  }
  return std::nullopt;
}

void SocketEnd::fetch(std::size_t pending) {
  if (!client_) client_ = listener_.accept();
  while (pending + fetched_.size() < pending_limit) {
    auto frame = next();
    if (!frame) return;
    fetched_.push_back(std::move(*frame));
  }
}

bool SocketEnd::tend() {
  flush();
  fetch(0);
  return !fetched_.empty();
}

std::vector<RxFrame> SocketEnd::poll(std::uint64_t, std::size_t pending) {
  fetch(pending);
  return std::exchange(fetched_, {});
}

void SocketEnd::report(const WireReport& report) const {
  report("to_client", static_cast<double>(sent_));
  report("from_client", static_cast<double>(received_));
  report("malformed", static_cast<double>(malformed_));
  report("dropped", static_cast<double>(dropped_));
}

}  // namespace meridian
