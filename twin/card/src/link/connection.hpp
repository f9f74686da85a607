// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "link/descriptor.hpp"
#include "link/link_server.hpp"
#include "link/message_reader.hpp"
#include "link/message_writer.hpp"

namespace meridian {

/// One client's socket, from its acceptance to its end. Nothing here blocks or throws for what a client did: a
/// connection that cannot go on is failed() and left for its owner to remove.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(Descriptor socket, const LinkSetting& setting, Clock::time_point now);

  int socket() const { return socket_.get(); }

  // What HELLO said.
  std::optional<meridian_link_role> role;
  unsigned version = 0;
  unsigned function = 0;  // that it plays, PCIE_FUNCTION
  std::string name = "a client";
  bool lockstep = false;

  bool is_host() const { return role == MERIDIAN_LINK_PCIE || role == MERIDIAN_LINK_PCIE_FUNCTION; }
  bool plays(unsigned number) const { return role != MERIDIAN_LINK_PCIE_FUNCTION || number == function; }

  /// Requests without a reply.
  unsigned requests = 0;

  MessageReader& reader() { return reader_; }
  void receive();

  void send(const meridian_link_header& header, std::span<const std::uint8_t> payload = {});
  void reply(const meridian_link_header& request, meridian_link_status status, std::uint64_t value = 0,
             std::string_view sentence = {});
  std::size_t waiting() const { return writer_.waiting(); }
  void flush(Clock::time_point now);

  /// Tells the client why, closes when it has been told. The first reason counts.
  void fail(const std::string& sentence);

  bool failed() const { return !reason_.empty() || gone_; }

  /// The client has closed its end or takes nothing more. What it sent before is still read and carried out.
  bool leaves() const { return ended_ || mute_; }

  /// Its end has been read, so the socket has no more news.
  bool ended() const { return ended_; }

  /// Makes it failed() once the client has closed its end and no whole message is left.
  void finish();
  const std::string& reason() const { return reason_; }

  /// The client has closed its end; what it sent before may still be there to be read.
  bool hung_up() const;

  /// Nothing is left to do with it.
  bool over(Clock::time_point now) const;

  /// When it has to be looked at, for a bound that runs.
  std::optional<Clock::time_point> deadline() const;

  /// Fails it if a bound on time has passed; true if one has.
  bool expire(Clock::time_point now);

 private:
  const LinkSetting& setting_;
  Descriptor socket_;
  MessageReader reader_;
  MessageWriter writer_;
  Clock::time_point accepted_;
  std::optional<Clock::time_point> stuck_since_;  // it takes nothing of what waits
  std::optional<Clock::time_point> failed_at_;
  std::string reason_;
  bool mute_ = false;   // the client takes nothing more
  bool ended_ = false;  // the end of what it sent has been read
  bool gone_ = false;
};

}  // namespace meridian
