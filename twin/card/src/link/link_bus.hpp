// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/memory_bus.hpp"
#include "link/connection.hpp"
#include "link/link_server.hpp"
#include "link/shared_memory.hpp"

namespace meridian {

/// The memory behind one role, whoever plays it at the moment: through shared regions where there are some, else by
/// messages. Without a client, and for a function that may not, reads are unsupported and writes go nowhere.
///
/// Both ways keep one order: a write by message takes all later accesses of its function along, until the client has
/// answered a read behind it (a fence is a read of no bytes).
class LinkBus final : public AxiMemoryBus {
 public:
  static constexpr unsigned functions = 256;

  LinkBus(meridian_link_role role, const LinkSetting& setting, LinkServer::Statistics& statistics);

  void read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) override;
  void write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) override;
  /// As function 0. Where it goes by message, a read behind it tells whether memory is there.
  void write_answered(std::uint64_t address, std::span<const std::uint8_t> data, WriteDone done) override;
  void interrupt(unsigned function, unsigned vector) override;

  /// A client plays the role from now on.
  void attach(std::shared_ptr<Connection> client);

  /// It does no more: open reads are unsupported, its regions and permissions are gone.
  void detach();

  const std::shared_ptr<Connection>& client() const { return client_; }

  /// PCIE: a function may access memory. The PS always may.
  void enable(unsigned function, bool enabled) { enabled_.at(function) = enabled; }
  bool enabled(unsigned function) const { return enabled_.at(function); }
  void disable_all() { enabled_.fill(false); }

  RegionTable& regions() { return regions_; }

  /// The client's reply to a read; throws LinkError when there was no such read or its size is not what was asked.
  void answered(const LinkMessage& reply);

  bool waits() const { return reads_ > 0; }

  /// Reads without the fences that the client has to answer, and of how many bytes.
  std::size_t open_reads() const { return reads_ - waiting_.size(); }
  std::size_t open_bytes() const { return bytes_; }

  /// When the oldest read or fence will have waited too long.
  std::optional<Connection::Clock::time_point> deadline() const;

 private:
  struct Read {
    unsigned function;
    std::uint32_t bytes;
    Connection::Clock::time_point since;
    ReadDone done;  // none: a fence
  };
  struct Order {
    bool by_message = false;  // a write by message may not be in memory yet
    bool fenced = false;      // a fence is under way,
    bool behind = false;      // and something was written behind it
  };

  struct Waiting {
    unsigned function;
    std::uint64_t address;
    std::uint32_t bytes;
    ReadDone done;
  };

  bool allowed(unsigned function) const;
  SharedRegion* region(unsigned function, std::uint64_t address, std::size_t bytes);
  enum class Put : std::uint8_t { nowhere, in_memory, sent };
  Put put(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data);
  bool is_full(std::uint32_t bytes) const;
  void ask(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done);
  void ask_waiting();

  meridian_link_role role_;
  const LinkSetting& setting_;
  LinkServer::Statistics& statistics_;
  std::shared_ptr<Connection> client_;
  RegionTable regions_;
  std::array<bool, functions> enabled_{};
  std::array<Order, functions> order_{};
  std::map<std::uint32_t, Read> open_;  // by tag, which counts up and around
  std::size_t reads_ = 0;               // without the fences, the waiting ones included
  std::size_t bytes_ = 0;               // of the open ones
  std::deque<Waiting> waiting_;         // for room within what a client has to bear
  std::uint32_t next_tag_;
  unsigned line_level_ = 0;
};

}  // namespace meridian
