// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/memory_bus.hpp"
#include "meridian_link.h"

namespace meridian {

/// What the card does for those who are linked to it. No call blocks; done may be called before the call returns.
class LinkCard {
 public:
  using Read = std::function<void(meridian_link_status, std::uint64_t value)>;
  using Done = std::function<void(meridian_link_status)>;

  virtual ~LinkCard() = default;
  virtual meridian_link_welcome welcome() const = 0;

  // The host.
  virtual void bar_read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) = 0;
  virtual void bar_write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width,
                         std::uint64_t value) = 0;
  virtual void enable_function(unsigned function, bool enabled, unsigned parent) = 0;
  virtual void reset_function(unsigned function, Done done) = 0;
  virtual void reset_host() = 0;  // the slot's reset, and what a host leaves behind when it goes

  // The PS.
  virtual void ps_read(std::uint64_t offset, unsigned width, Read done) = 0;
  virtual void ps_write(std::uint64_t offset, unsigned width, std::uint64_t value) = 0;
  virtual void reset_ps() = 0;

  /// A client took or gave back the command over time.
  virtual void set_lockstep(bool on) = 0;
  virtual void advance(std::uint64_t ps, Done done) = 0;
};

/// The card's end of the link (meridian_link.h). Single-threaded: all work is done in poll().
///
/// Whatever a client sends costs only itself: a message that makes no sense closes its connection with a sentence, one
/// that floods waits in its own socket, one that does not read or does not answer DMA reads within the bound is dropped.
class LinkServer {
 public:
  LinkServer(const std::filesystem::path& socket, LinkCard& card);
  ~LinkServer();
  LinkServer(const LinkServer&) = delete;
  LinkServer& operator=(const LinkServer&) = delete;

  /// Carries out what has come, sends what waits; blocks up to timeout_ms if there is nothing (0: never).
  /// extra: further descriptors that end the wait.
  void poll(int timeout_ms, std::span<const int> extra = {});

  /// Memory and interrupts of the client in that role; without one, reads are unsupported and writes go nowhere.
  MemoryBus& host();
  MemoryBus& ps();

  bool has_host() const;
  bool has_ps() const;

  /// Reads or replies from a client are awaited: time should wait for them.
  bool waits() const;

  struct Statistics {
    std::uint64_t connections = 0, refused = 0, messages = 0, dma_reads = 0, dma_writes = 0, interrupts = 0;
    std::uint64_t shared_bytes = 0, message_bytes = 0, unsupported = 0, timeouts = 0;
  };
  const Statistics& statistics() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace meridian
