// SPDX-License-Identifier: Apache-2.0
#include "link/link_server.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "link/link_parts.hpp"

namespace meridian {
namespace {

// So that no client keeps the others, or the card, waiting.
constexpr unsigned messages_a_turn = 256;

}  // namespace

LinkServer::Parts::Parts(const std::filesystem::path& socket, LinkCard& card_, const LinkSetting& setting_)
    : card(card_), setting(setting_), listener(socket) {}

void LinkServer::Parts::accept() {
  while (Descriptor socket = listener.accept()) {
    auto client = std::make_shared<Connection>(std::move(socket), setting, Connection::Clock::now());
    if (clients.size() >= setting.connections)
      client->fail("there are " + std::to_string(clients.size()) + " connections already");
    clients.push_back(std::move(client));
  }
}

bool LinkServer::Parts::hears(const Connection& client) const {
  return !client.role || card.takes_access(client.is_host() ? MERIDIAN_LINK_PCIE : MERIDIAN_LINK_AXI);
}

bool LinkServer::Parts::backlog(Connection& client) const {
  return !client.failed() && client.reader().has_message() && hears(client);
}

bool LinkServer::Parts::leaving() {
  bool any = *resets != 0;
  each_bus([&any](const LinkBus& one) { any = any || (one.client() && one.client()->hung_up()); });
  return any;
}

void LinkServer::Parts::serve(const Client& client) {
  // Who follows a client that has left must not be refused because that one's last messages are still being read, and
  // finds no reset under way, as a driver does that Linux lets access a function.
  if (!client->role && leaving()) return;
  try {
    for (unsigned i = 0; i < messages_a_turn && !client->failed() && hears(*client); ++i) {
      const auto message = client->reader().next();
      if (!message) return;
      ++statistics.messages;
      if (client->is_host()) ring();  // what was rung before it was sent
      carry_out(client, *message);
    }
  } catch (const LinkError& error) {
    client->fail(error.what());
  }
}

void LinkServer::Parts::ring() {
  doorbells.look([this](unsigned function, unsigned index, std::uint32_t value) {
    ++statistics.doorbells;
    card.doorbell(function, index, value);
  });
}

void LinkServer::Parts::leave(Connection& client) {
  if (!client.reason().empty()) ++statistics.dropped;
  // The card first: what it is told about its reads then finds it as after the reset.
  // The PS that goes leaves its clock and its ports as they are; its rings end by themselves, as nothing answers them.
  if (client.role == MERIDIAN_LINK_PCIE) leave_host(client);
  if (client.role == MERIDIAN_LINK_PCIE_FUNCTION) {
    doorbells.drop(client.function);
    disable(client.function);
    ++*resets;
    card.reset_function(client.function, [resets = resets](meridian_link_status) { --*resets; });
  }
  if (client.lockstep) card.set_lockstep(false);
  bus(client).detach();
  if (client.role == MERIDIAN_LINK_PCIE_FUNCTION) host.remove(client.function);
}

void LinkServer::Parts::leave_host(Connection& client) {
  card.reset_host();
  doorbells.clear();
  host.each([&](const LinkBus& one) {
    if (one.client() && one.client().get() != &client) one.client()->fail("the host has left");
  });
}

void LinkServer::Parts::remove_dead(Connection::Clock::time_point now) {
  each_bus([&](const LinkBus& one) {
    const auto limit = one.deadline();
    if (!limit || now < *limit || one.client()->failed()) return;
    ++statistics.timeouts;
    one.client()->fail(one.client()->name + " has not answered a DMA read in time");
  });
  for (std::size_t i = 0; i < clients.size();) {
    const Client client = clients[i];
    if (client->expire(now)) ++statistics.timeouts;
    // Its role is free at once, not when it has read why.
    if (client->failed() && client->role && bus(*client).client() == client) leave(*client);
    if (client->over(now)) {
      if (!client->role) ++statistics.refused;
      clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

int LinkServer::Parts::wait_ms(int timeout_ms, Connection::Clock::time_point now) {
  auto bound = now + std::chrono::milliseconds(timeout_ms);
  for (const Client& client : clients) {
    if (backlog(*client)) return 0;
    bound = std::min(bound, client->deadline().value_or(bound));
  }
  each_bus([&bound](const LinkBus& one) { bound = std::min(bound, one.deadline().value_or(bound)); });
  if (bound <= now) return 0;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(bound - now).count());
}

LinkServer::LinkServer(const std::filesystem::path& socket, LinkCard& card, const LinkSetting& setting)
    : parts_(std::make_unique<Parts>(socket, card, setting)) {}

LinkServer::~LinkServer() = default;

void LinkServer::poll(int timeout_ms, std::span<const int> extra) {
  Parts& p = *parts_;
  auto now = Connection::Clock::now();
  for (const auto& client : p.clients)
    if (client->waiting() > 0) client->flush(now);

  std::vector<pollfd> watched{{p.listener.get(), POLLIN, 0}};
  const std::vector<Parts::Client> clients = p.clients;
  for (const auto& client : clients) {
    const bool reads = !client->failed() && p.hears(*client);
    const int events = (reads ? POLLIN : 0) | (client->waiting() > 0 ? POLLOUT : 0);
    // A client that has closed its end while nobody hears it would wake the card again and again.
    watched.push_back({events != 0 && !client->ended() ? client->socket() : -1, static_cast<short>(events), 0});
  }
  for (const int descriptor : extra) watched.push_back({descriptor, POLLIN, 0});
  int wait_ms = timeout_ms <= 0 ? 0 : p.wait_ms(timeout_ms, now);
  const bool sleeps = wait_ms > 0;
  if (sleeps && !p.doorbells.sleep()) wait_ms = 0;
  const int ready = ::poll(watched.data(), watched.size(), wait_ms);
  if (sleeps) p.doorbells.wake();
  if (ready < 0)
    for (pollfd& one : watched) one.revents = 0;

  p.ring();
  now = Connection::Clock::now();
  if (watched[0].revents != 0) p.accept();
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const Parts::Client& client = clients[i];
    const bool has_news = client->leaves() || (watched[i + 1].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    // What is left from the last turn goes first, so that the buffer has room.
    if (p.backlog(*client)) p.serve(client);
    if (has_news && !client->failed() && !client->ended() && !client->reader().has_message()) {
      client->receive();
      p.serve(client);
    }
    client->finish();
  }
  for (const auto& client : p.clients)
    if (client->waiting() > 0) client->flush(now);
  p.remove_dead(now);
}

MemoryBus& LinkServer::host() {
  return parts_->host;
}
AxiMemoryBus& LinkServer::ps() {
  return parts_->ps;
}
bool LinkServer::has_host() const {
  bool any = false;
  parts_->host.each([&any](const LinkBus& one) { any = any || one.client() != nullptr; });
  return any;
}
bool LinkServer::has_ps() const {
  return parts_->ps.client() != nullptr;
}

bool LinkServer::waits() const {
  bool any = false;
  parts_->each_bus([&](const LinkBus& bus) {
    if (!bus.client() || bus.client()->failed()) return;
    // What is awaited may stand behind register accesses, which need time to be taken.
    any = any ||
          (parts_->hears(*bus.client()) && (bus.waits() || bus.client()->waiting() > parts_->setting.patient_bytes));
  });
  return any;
}

const LinkServer::Statistics& LinkServer::statistics() const {
  return parts_->statistics;
}

}  // namespace meridian
