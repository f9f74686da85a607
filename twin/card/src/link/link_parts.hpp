// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "link/connection.hpp"
#include "link/doorbell_page.hpp"
#include "link/link_bus.hpp"
#include "link/link_server.hpp"
#include "link/listener.hpp"

namespace meridian {

/// The host's memory: that of a function's own client where there is one, else that of the whole host.
class HostBus final : public MemoryBus {
 public:
  HostBus(const LinkSetting& setting, LinkServer::Statistics& statistics);

  void read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) override;
  void write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) override;
  void interrupt(unsigned function, unsigned vector) override;

  LinkBus& whole() { return whole_; }

  /// Of whoever plays that function now.
  LinkBus& of(unsigned function);

  /// Its client plays the function from now on.
  LinkBus& add(unsigned function);
  void remove(unsigned function) { owned_.erase(function); }
  bool is_owned(unsigned function) const { return owned_.contains(function); }

  template <typename F>
  void each(F&& call) {
    call(whole_);
    for (auto& [function, bus] : owned_) call(bus);
  }

 private:
  const LinkSetting& setting_;
  LinkServer::Statistics& statistics_;
  LinkBus whole_;
  std::map<unsigned, LinkBus> owned_;
};

/// What is inside the server: the sockets (link_server.cpp) and what each message does (link_requests.cpp).
struct LinkServer::Parts {
  using Client = std::shared_ptr<Connection>;

  Parts(const std::filesystem::path& socket, LinkCard& card_, const LinkSetting& setting_);

  LinkCard& card;
  LinkSetting setting;
  Statistics statistics;
  Listener listener;
  HostBus host{setting, statistics};
  LinkBus ps{MERIDIAN_LINK_AXI, setting, statistics};
  std::vector<Client> clients;
  std::array<std::uint8_t, LinkBus::functions> parents{};
  DoorbellPages doorbells;
  /// How many functions whose clients have left are still in reset.
  std::shared_ptr<unsigned> resets = std::make_shared<unsigned>(0);

  LinkBus& bus(const Connection& client) {
    if (client.role == MERIDIAN_LINK_AXI) return ps;
    return client.role == MERIDIAN_LINK_PCIE_FUNCTION ? host.of(client.function) : host.whole();
  }

  template <typename F>
  void each_bus(F&& call) {
    host.each(call);
    call(ps);
  }

  void accept();
  bool hears(const Connection& client) const;
  /// Whether a newcomer has to wait until what somebody has left is as after a reset.
  bool leaving();
  void serve(const Client& client);
  /// Acts on the doorbells in shared memory.
  void ring();
  void leave(Connection& client);
  void leave_host(Connection& client);
  unsigned parent_of(unsigned function) const;
  /// As a reset clears bus mastering in PCIe; a PF's takes its VFs along.
  void disable(unsigned function);
  void remove_dead(Connection::Clock::time_point now);
  bool backlog(Connection& client) const;
  int wait_ms(int timeout_ms, Connection::Clock::time_point now);

  /// Throws LinkError for a message that ends the connection.
  void carry_out(const Client& client, const LinkMessage& message);
  void hello(const Client& client, const LinkMessage& message);
  /// Where a client with that HELLO has its memory; throws LinkError when its role is taken.
  LinkBus& place_of(const meridian_link_hello& hello);
  void posted(const Client& client, const LinkMessage& message);
  /// Throws LinkError for one that makes no sense; the connection goes on.
  void request(const Client& client, const LinkMessage& message);
  void memory(const Client& client, const LinkMessage& message);
  void share_doorbells(const Client& client, const meridian_link_header& header);
  void bar_read(const Client& client, const meridian_link_header& header);
  void function_reset(const Client& client, const meridian_link_header& header);
  void function_state(const Client& client, const meridian_link_header& header);
  void reset(const Client& client, const meridian_link_header& header);
  void advance(const Client& client, const meridian_link_header& header);

  /// Counts the request as open until what is returned is called.
  LinkCard::Done replying(const Client& client, const meridian_link_header& header);
};

}  // namespace meridian
