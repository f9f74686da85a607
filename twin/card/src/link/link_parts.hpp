// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "link/connection.hpp"
#include "link/link_bus.hpp"
#include "link/link_server.hpp"
#include "link/listener.hpp"

namespace meridian {

/// What is inside the server: the sockets (link_server.cpp) and what each message does (link_requests.cpp).
struct LinkServer::Parts {
  using Client = std::shared_ptr<Connection>;

  Parts(const std::filesystem::path& socket, LinkCard& card_, const LinkSetting& setting_);

  LinkCard& card;
  LinkSetting setting;
  Statistics statistics;
  Listener listener;
  LinkBus host{MERIDIAN_LINK_PCIE, setting, statistics};
  LinkBus ps{MERIDIAN_LINK_AXI, setting, statistics};
  std::vector<Client> clients;
  std::array<std::uint8_t, LinkBus::functions> parents{};

  LinkBus& bus(const Connection& client) { return client.role == MERIDIAN_LINK_AXI ? ps : host; }

  void accept();
  bool hears(const Connection& client) const;
  bool holder_left() const;
  void serve(const Client& client);
  void leave(Connection& client);
  void remove_dead(Connection::Clock::time_point now);
  bool backlog(Connection& client) const;
  int wait_ms(int timeout_ms, Connection::Clock::time_point now) const;

  /// Throws LinkError for a message that ends the connection.
  void carry_out(const Client& client, const LinkMessage& message);
  void hello(const Client& client, const LinkMessage& message);
  void posted(const Client& client, const LinkMessage& message);
  /// Throws LinkError for one that makes no sense; the connection goes on.
  void request(const Client& client, const LinkMessage& message);
  void memory(const Client& client, const LinkMessage& message);
  void bar_read(const Client& client, const meridian_link_header& header);
  void function_reset(const Client& client, const meridian_link_header& header);
  void reset(const Client& client, const meridian_link_header& header);
  void advance(const Client& client, const meridian_link_header& header);

  /// Counts the request as open until what is returned is called.
  LinkCard::Done replying(const Client& client, const meridian_link_header& header);
};

}  // namespace meridian
