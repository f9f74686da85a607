// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
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
  /// Doorbell of a function, 4 for each of its queues in the order of BAR 0; as a write to BAR 0.
  virtual void doorbell(unsigned function, unsigned index, std::uint32_t value) = 0;
  virtual void enable_function(unsigned function, bool enabled, unsigned parent) = 0;
  /// The PF that a VF has by the card's making: the server refuses another. Nothing if the host chooses it.
  virtual std::optional<unsigned> parent(unsigned) const { return std::nullopt; }
  virtual void reset_function(unsigned function, Done done) = 0;
  virtual void reset_host() = 0;  // the slot's reset, and what a host leaves behind when it goes

  // The PS.
  virtual void ps_read(std::uint64_t offset, unsigned width, Read done) = 0;
  virtual void ps_write(std::uint64_t offset, unsigned width, std::uint64_t value) = 0;
  virtual void reset_ps() = 0;  // asked for; a PS that goes does not reset the card

  /// A client took or gave back the command over time.
  virtual void set_lockstep(bool on) = 0;
  virtual void advance(std::uint64_t ps, Done done) = 0;

  /// Whether it takes another register access of that role now; until then that client's messages wait in its socket.
  virtual bool takes_access(meridian_link_role) const { return true; }
};

struct LinkSetting {
  std::chrono::milliseconds answer_time{10000};  // for a HELLO, a reply to a DMA read, any progress in reading
  std::size_t output_bytes = 64 << 20;           // a client for which more waits is dropped
  std::size_t patient_bytes = 4 << 20;           // with more than that, waits() asks for patience
  std::size_t connections = 16;                  // more are refused
  std::uint32_t first_tag = 1;                   // of the reads of host and PS each; those after it count up
};

/// The card's end of the link (meridian_link.h). Single-threaded: all work is done in poll().
///
/// Whatever a client sends costs only itself: a message that makes no sense closes its connection with a sentence, one
/// that floods waits in its own socket, one that does not read or does not answer DMA reads within the bound is
/// dropped.
class LinkServer {
 public:
  /// Throws InputError when it cannot listen there.
  LinkServer(const std::filesystem::path& socket, LinkCard& card, const LinkSetting& setting = {});
  ~LinkServer();
  LinkServer(const LinkServer&) = delete;
  LinkServer& operator=(const LinkServer&) = delete;

  /// Carries out what has come, sends what waits; blocks up to timeout_ms if there is nothing (0: never).
  /// extra: further descriptors that end the wait.
  void poll(int timeout_ms, std::span<const int> extra = {});

  /// Memory and interrupts of the client in that role; without one, reads are unsupported and writes go nowhere.
  MemoryBus& host();
  AxiMemoryBus& ps();

  bool has_host() const;
  bool has_ps() const;

  /// A client has to answer a read, or to take what waits for it: time should wait, so that a slow client costs
  /// simulated time nothing.
  bool waits() const;

  struct Statistics {
    std::uint64_t connections = 0;  // accepted with their HELLO
    std::uint64_t refused = 0;      // closed before or at their HELLO
    std::uint64_t dropped = 0;      // closed later, for what they did or did not do
    std::uint64_t timeouts = 0;     // bounds on time that ran out
    std::uint64_t messages = 0;     // from clients
    std::uint64_t doorbells = 0;    // rung in shared memory
    std::uint64_t dma_reads = 0, dma_writes = 0, interrupts = 0;
    std::uint64_t shared_bytes = 0;   // read and written in shared memory,
    std::uint64_t message_bytes = 0;  // and by messages
    std::uint64_t unsupported = 0;    // reads and writes that nobody took
  };
  const Statistics& statistics() const;

  struct Parts;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace meridian
