// SPDX-License-Identifier: Apache-2.0
#include "link/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

namespace meridian {
namespace {

constexpr auto farewell = std::chrono::milliseconds(500);  // for the client to take the sentence

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Connection::Connection(Descriptor socket, const LinkSetting& setting, Clock::time_point now)
    : setting_(setting), socket_(std::move(socket)), accepted_(now) {
  // Room for a burst of small messages; a smaller buffer, if the system wants that, is only slower.
  constexpr int room = 1 << 20;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

void Connection::receive() {
  const MessageReader::Received received = reader_.receive(socket_.get());
  // A client that takes nothing more sends nothing more either, once what it had sent is read.
  ended_ = received == MessageReader::Received::end || (mute_ && received == MessageReader::Received::nothing);
}

void Connection::finish() {
  if (ended_ && !reader_.has_message()) gone_ = true;
}

void Connection::send(const meridian_link_header& header, std::span<const std::uint8_t> payload) {
  if (failed() || mute_) return;
  writer_.append(header, payload);
  if (writer_.waiting() > setting_.output_bytes) {
    // Nobody would read the sentence behind all that.
    reason_ = name + " does not read: " + std::to_string(writer_.waiting()) + " bytes wait for it";
    gone_ = true;
  }
}

void Connection::reply(const meridian_link_header& request, meridian_link_status status, std::uint64_t value,
                       std::string_view sentence) {
  meridian_link_header header = request;
  header.type = static_cast<std::uint16_t>(request.type | MERIDIAN_LINK_REPLY);
  header.status = static_cast<std::uint16_t>(status);
  header.value = value;
  send(header, bytes_of(sentence));
}

void Connection::flush(Clock::time_point now) {
  if (gone_) return;
  switch (writer_.flush(socket_.get())) {
    case MessageWriter::Flushed::broken:
      mute_ = true;
      writer_.clear();
      stuck_since_.reset();
      break;
    case MessageWriter::Flushed::none:
      if (!stuck_since_) stuck_since_ = now;
      break;
    case MessageWriter::Flushed::some:
    case MessageWriter::Flushed::all:
      stuck_since_.reset();
      break;
  }
}

void Connection::fail(const std::string& sentence) {
  if (failed()) return;
  meridian_link_header header{};
  header.type = MERIDIAN_LINK_ERROR;
  header.status = MERIDIAN_LINK_INVALID;
  writer_.append(header, bytes_of(sentence));
  reason_ = sentence;
  failed_at_ = Clock::now();
  flush(*failed_at_);
}

bool Connection::hung_up() const {
  pollfd one{socket_.get(), 0, 0};
  return ::poll(&one, 1, 0) == 1 && (one.revents & POLLHUP) != 0;
}

bool Connection::over(Clock::time_point now) const {
  return gone_ || (failed_at_ && (writer_.waiting() == 0 || now >= *failed_at_ + farewell));
}

std::optional<Connection::Clock::time_point> Connection::deadline() const {
  if (gone_) return Clock::time_point{};
  if (failed_at_) return writer_.waiting() == 0 ? Clock::time_point{} : *failed_at_ + farewell;
  std::optional<Clock::time_point> first;
  if (!role) first = accepted_ + setting_.answer_time;
  if (stuck_since_ && (!first || *stuck_since_ + setting_.answer_time < *first))
    first = *stuck_since_ + setting_.answer_time;
  return first;
}

bool Connection::expire(Clock::time_point now) {
  if (failed()) return false;
  if (!role && now >= accepted_ + setting_.answer_time) {
    fail("no HELLO came");
    return true;
  }
  if (stuck_since_ && now >= *stuck_since_ + setting_.answer_time) {
    reason_ = name + " does not read";
    gone_ = true;
    return true;
  }
  return false;
}

}  // namespace meridian
