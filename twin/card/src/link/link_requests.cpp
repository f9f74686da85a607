// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>

#include "link/link_parts.hpp"

namespace meridian {
namespace {

constexpr unsigned pfs = 4;
constexpr std::uint64_t longest_advance_ps = 1'000'000'000'000'000'000;  // eleven days; time has 64 bits

template <typename T>
T payload_as(const LinkMessage& message, const char* name) {
  if (message.payload.size() != sizeof(T))
    throw LinkError(std::string(name) + " with " + std::to_string(message.payload.size()) +
                    " bytes of payload instead of " + std::to_string(sizeof(T)));
  T value;
  std::memcpy(&value, message.payload.data(), sizeof(T));
  return value;
}

bool is_access(const meridian_link_header& header) {
  const unsigned width = header.width;
  return (width == 1 || width == 2 || width == 4 || width == 8) && header.address % width == 0 && header.bar < 6 &&
         header.function < LinkBus::functions;
}

unsigned first_version(unsigned type) {
  if (type == MERIDIAN_LINK_FUNCTION_STATE) return 3;
  return type == MERIDIAN_LINK_DOORBELLS || type == MERIDIAN_LINK_WAKE ? 2 : 1;
}

const char* const only_the_host = "only the host has functions";
const char* const no_function = "functions are 0 to 255";
const char* const only_its_own = "the client plays one function alone";
const char* const only_its_family = "the client plays one function alone, and asks for that and for VFs of it";
const char* const no_access =
    "a register access is 1, 2, 4 or 8 bytes wide, aligned, in BAR 0 to 5 of function 0 to 255";

/// What the client calls itself, fit to be shown.
std::string readable(const meridian_link_hello& hello) {
  const char* const end = std::find(hello.name, hello.name + sizeof(hello.name), '\0');
  std::string name(hello.name, end);
  std::replace_if(name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name.empty() ? "a client" : name;
}

}  // namespace

LinkBus& LinkServer::Parts::place_of(const meridian_link_hello& hello) {
  const auto free = [](LinkBus& bus, const std::string& what) -> LinkBus& {
    if (bus.client()) throw LinkError(what + " is played by " + bus.client()->name + " already");
    return bus;
  };
  if (hello.role == MERIDIAN_LINK_PCIE) return free(host.whole(), "the host");
  if (hello.role == MERIDIAN_LINK_AXI) return free(ps, "the PS");
  if (hello.role != MERIDIAN_LINK_PCIE_FUNCTION || hello.version < 2)
    throw LinkError("there is no role " + std::to_string(hello.role));
  if (hello.function >= LinkBus::functions) throw LinkError(no_function);
  if (host.is_owned(hello.function)) return free(host.of(hello.function), "function " + std::to_string(hello.function));
  return host.add(hello.function);
}

void LinkServer::Parts::hello(const Client& client, const LinkMessage& message) {
  if (message.header.type != MERIDIAN_LINK_HELLO) throw LinkError("the first message has to be HELLO");
  // The magic and the version stand first in every version.
  meridian_link_hello hello{};
  std::memcpy(&hello, message.payload.data(), std::min(message.payload.size(), sizeof(hello)));
  if (message.payload.size() < 6 || hello.magic != MERIDIAN_LINK_MAGIC)
    throw LinkError("this is a Meridian card's link, and the HELLO is of something else");
  if (hello.version == 0 || hello.version > MERIDIAN_LINK_VERSION)
    throw LinkError("the client speaks version " + std::to_string(hello.version) +
                    " of the link, the card speaks versions 1 to " + std::to_string(MERIDIAN_LINK_VERSION));
  payload_as<meridian_link_hello>(message, "HELLO");
  if ((hello.flags & ~static_cast<unsigned>(MERIDIAN_LINK_LOCKSTEP)) != 0)
    throw LinkError("there are no such flags: " + std::to_string(hello.flags));
  const bool lockstep = (hello.flags & MERIDIAN_LINK_LOCKSTEP) != 0;
  each_bus([&](const LinkBus& other) {
    if (lockstep && other.client() && other.client()->lockstep)
      throw LinkError(other.client()->name + " has the command over time already");
  });
  LinkBus& wanted = place_of(hello);

  client->role = static_cast<meridian_link_role>(hello.role);
  client->function = hello.function;
  client->version = hello.version;
  client->name = readable(hello);
  client->lockstep = lockstep;
  ++statistics.connections;
  meridian_link_welcome welcome = card.welcome();
  welcome.version = hello.version;
  client->reply(message.header, MERIDIAN_LINK_OK, 0, {reinterpret_cast<const char*>(&welcome), sizeof(welcome)});
  wanted.attach(client);
  if (lockstep) card.set_lockstep(true);
}

void LinkServer::Parts::carry_out(const Client& client, const LinkMessage& message) {
  if (!client->role) return hello(client, message);
  const meridian_link_header& header = message.header;
  const bool knows = client->version >= first_version(header.type);
  switch (knows ? header.type : 0) {
    case MERIDIAN_LINK_DMA_READ | MERIDIAN_LINK_REPLY:
      return bus(*client).answered(message);
    case MERIDIAN_LINK_BAR_WRITE:
      return posted(client, message);
    case MERIDIAN_LINK_WAKE:
      if (!client->is_host()) throw LinkError(only_the_host);
      return;  // it has woken the card
    case MERIDIAN_LINK_MEMORY:
    case MERIDIAN_LINK_DOORBELLS:
    case MERIDIAN_LINK_FORGET:
    case MERIDIAN_LINK_BAR_READ:
    case MERIDIAN_LINK_FUNCTION:
    case MERIDIAN_LINK_FUNCTION_STATE:
    case MERIDIAN_LINK_RESET_FUNCTION:
    case MERIDIAN_LINK_RESET:
    case MERIDIAN_LINK_ADVANCE:
      break;
    case MERIDIAN_LINK_HELLO:
      throw LinkError("a second HELLO");
    default:
      throw LinkError("a client does not send messages of type " + std::to_string(header.type) +
                      (knows ? "" : " in version " + std::to_string(client->version)));
  }
  if (client->requests >= MERIDIAN_LINK_MAX_REQUESTS)
    throw LinkError("more than " + std::to_string(MERIDIAN_LINK_MAX_REQUESTS) + " requests without a reply");
  try {
    request(client, message);
  } catch (const LinkError& error) {
    client->reply(header, MERIDIAN_LINK_INVALID, 0, error.what());
  }
}

void LinkServer::Parts::posted(const Client& client, const LinkMessage& message) {
  const meridian_link_header& header = message.header;
  if (!message.payload.empty()) throw LinkError("BAR_WRITE has its value in the header, and no payload");
  if (!is_access(header)) throw LinkError(no_access);
  if (client->role == MERIDIAN_LINK_AXI) {
    if (header.bar != 0 || header.function != 0) throw LinkError("the PS has function 0 and BAR 0 only");
    card.ps_write(header.address, header.width, header.value);
  } else {
    if (!client->plays(header.function)) throw LinkError(only_its_own);
    card.bar_write(header.function, header.bar, header.address, header.width, header.value);
  }
}

void LinkServer::Parts::request(const Client& client, const LinkMessage& message) {
  const meridian_link_header& header = message.header;
  if (header.type == MERIDIAN_LINK_MEMORY) return memory(client, message);
  if (!message.payload.empty()) throw LinkError("a request of that type has no payload");
  if (header.type == MERIDIAN_LINK_FUNCTION_STATE) return function_state(client, header);
  if (!client->plays(header.function)) throw LinkError(only_its_own);
  switch (header.type) {
    case MERIDIAN_LINK_FORGET:
      bus(*client).regions().forget(header.function, header.address);
      return client->reply(header, MERIDIAN_LINK_OK);
    case MERIDIAN_LINK_BAR_READ:
      return bar_read(client, header);
    case MERIDIAN_LINK_RESET:
      return reset(client, header);
    case MERIDIAN_LINK_ADVANCE:
      return advance(client, header);
    default:
      break;
  }
  if (!client->is_host()) throw LinkError(only_the_host);
  if (header.function >= LinkBus::functions) throw LinkError(no_function);
  if (header.type == MERIDIAN_LINK_DOORBELLS) return share_doorbells(client, header);
  if (header.type == MERIDIAN_LINK_RESET_FUNCTION) return function_reset(client, header);
  if (header.value > 1 || header.bar >= pfs) throw LinkError("FUNCTION: value is 0 or 1, bar the parent PF, 0 to 3");
  if (const auto parent = card.parent(header.function); parent && *parent != header.bar)
    throw LinkError("FUNCTION: function " + std::to_string(header.function) + " is a VF of PF " +
                    std::to_string(*parent) + " in this card, not of PF " + std::to_string(header.bar));
  parents[header.function] = header.bar;
  host.of(header.function).enable(header.function, header.value != 0);
  card.enable_function(header.function, header.value != 0, header.bar);
  client->reply(header, MERIDIAN_LINK_OK);
}

void LinkServer::Parts::memory(const Client& client, const LinkMessage& message) {
  Descriptor file = client->reader().take_descriptor();
  auto region = payload_as<meridian_link_region>(message, "MEMORY");
  if (client->role == MERIDIAN_LINK_AXI && region.function != MERIDIAN_LINK_ALL_FUNCTIONS && region.function != 0)
    throw LinkError("the PS has function 0 only");
  if (region.function != MERIDIAN_LINK_ALL_FUNCTIONS && !client->plays(region.function)) throw LinkError(only_its_own);
  bus(*client).regions().add(region, std::move(file));
  client->reply(message.header, MERIDIAN_LINK_OK);
}

void LinkServer::Parts::share_doorbells(const Client& client, const meridian_link_header& header) {
  const Descriptor file = client->reader().take_descriptor();
  if (header.value == 0 && !file)
    doorbells.forget(header.function);
  else
    doorbells.add(header.function, header.address, header.value, file);
  client->reply(header, MERIDIAN_LINK_OK);
}

void LinkServer::Parts::bar_read(const Client& client, const meridian_link_header& header) {
  if (!is_access(header)) throw LinkError(no_access);
  auto done = [header, weak = std::weak_ptr(client)](meridian_link_status status, std::uint64_t value) {
    const Client asker = weak.lock();
    if (!asker) return;
    --asker->requests;
    asker->reply(header, status, status == MERIDIAN_LINK_OK ? value : ~std::uint64_t{0});
  };
  ++client->requests;
  if (client->role == MERIDIAN_LINK_AXI) {
    if (header.bar != 0 || header.function != 0) return done(MERIDIAN_LINK_UNSUPPORTED, 0);
    card.ps_read(header.address, header.width, std::move(done));
  } else {
    card.bar_read(header.function, header.bar, header.address, header.width, std::move(done));
  }
}

LinkCard::Done LinkServer::Parts::replying(const Client& client, const meridian_link_header& header) {
  ++client->requests;
  return [this, header, weak = std::weak_ptr(client)](meridian_link_status status) {
    const Client asker = weak.lock();
    if (!asker) return;
    --asker->requests;
    asker->reply(header, status, header.type == MERIDIAN_LINK_ADVANCE ? card.welcome().time_ps : 0);
  };
}

void LinkServer::Parts::advance(const Client& client, const meridian_link_header& header) {
  if (!client->lockstep) throw LinkError("ADVANCE is for a client that asked for LOCKSTEP in its HELLO");
  if (header.value > longest_advance_ps)
    throw LinkError("ADVANCE by " + std::to_string(header.value) + " ps; " + std::to_string(longest_advance_ps) +
                    " ps are the most at once");
  card.advance(header.value, replying(client, header));
}

/// By the card's making, or as its host last said.
unsigned LinkServer::Parts::parent_of(unsigned function) const {
  return card.parent(function).value_or(parents[function]);
}

void LinkServer::Parts::disable(unsigned function) {
  for (unsigned i = 0; i < LinkBus::functions; ++i) {
    const bool is_child = function < pfs && i >= pfs && parent_of(i) == function;
    LinkBus& one = host.of(i);
    if ((i != function && !is_child) || !one.enabled(i)) continue;
    one.enable(i, false);
    card.enable_function(i, false, parent_of(i));
  }
}

void LinkServer::Parts::function_reset(const Client& client, const meridian_link_header& header) {
  disable(header.function);
  card.reset_function(header.function, replying(client, header));
}

void LinkServer::Parts::function_state(const Client& client, const meridian_link_header& header) {
  if (!client->is_host()) throw LinkError(only_the_host);
  const unsigned function = header.function;
  if (function >= LinkBus::functions) throw LinkError(no_function);
  const bool is_child = function >= pfs && parent_of(function) == client->function && client->function < pfs;
  if (!client->plays(function) && !is_child) throw LinkError(only_its_family);
  client->reply(header, MERIDIAN_LINK_OK, host.of(function).enabled(function) ? 1 : 0);
}

void LinkServer::Parts::reset(const Client& client, const meridian_link_header& header) {
  if (client->role == MERIDIAN_LINK_AXI) {
    card.reset_ps();
  } else if (client->role == MERIDIAN_LINK_PCIE_FUNCTION) {
    throw LinkError("the slot is reset by the whole host only");
  } else {
    host.each([](LinkBus& one) { one.disable_all(); });
    card.reset_host();
  }
  client->reply(header, MERIDIAN_LINK_OK);
}

}  // namespace meridian
