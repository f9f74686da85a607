// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "shell/card.hpp"

/// What a driver does to the shell's registers, as far as benches of the whole shell need it.
namespace meridian {

using MacAddress = std::array<std::uint8_t, 6>;

/// Writes a register of a PF's BAR2.
using RegisterWrite = std::function<void(std::uint32_t address, std::uint32_t value)>;

/// Gives a function its queues.
void set_queues(const RegisterWrite& write, unsigned function, unsigned first, unsigned count);
void set_queues(Card& card, unsigned function, unsigned first, unsigned count);

/// An entry of the MAC table for any VLAN; HangError when the table does not take it.
void add_mac(Card& card, unsigned port, const MacAddress& address, unsigned function);

/// Opens a port for the host, both ways.
void enable_host(Card& card, unsigned port);

/// Frames for a queue without free buffers are dropped (or, not enforced, handed on all the same).
void enforce_credit(const RegisterWrite& write, bool enforce);
void enforce_credit(Card& card, bool enforce);

/// The PS takes frames to this address of a port; index is the entry of the port's list.
void listen(Card& card, unsigned port, unsigned index, const MacAddress& address);

/// A frame the PS received.
struct PsFrame {
  Bytes bytes;
  PtpTime timestamp;
  bool timestamp_valid = false;
};

/// The PS's driver for the rings of one port: descriptors and buffers in PS memory, as docs/ps-port.md tells.
class PsRings {
 public:
  PsRings(Card& card, unsigned port);

  /// Starts both rings with all receive buffers posted.
  void start();

  /// Posts a frame; the write of the producer index goes out without being waited for. False when the ring is full.
  bool send(const Bytes& frame, std::optional<std::uint16_t> timestamp_tag = std::nullopt);

  /// The next received frame, if there is one, and its buffer given back.
  std::optional<PsFrame> receive();

  /// A transmit timestamp that came back, waited for.
  PtpTime transmit_timestamp();

 private:
  static constexpr unsigned size_log2 = 8;
  static constexpr unsigned size = 1U << size_log2;
  static constexpr unsigned buffer_bytes = 10240;

  void write_register(std::uint32_t offset, std::uint32_t value);
  std::uint64_t rx_ring() const { return base_; }
  std::uint64_t tx_ring() const { return base_ + 0x10000; }
  std::uint64_t rx_buffer(unsigned index) const {
    return base_ + 0x100000 + std::uint64_t{index % size} * buffer_bytes;
  }
  std::uint64_t tx_buffer(unsigned index) const {
    return base_ + 0x800000 + std::uint64_t{index % size} * buffer_bytes;
  }
  void post_receive(unsigned index);

  Card& card_;
  std::uint32_t registers_;
  std::uint64_t base_;
  std::uint16_t rx_consumer_ = 0;
  std::uint16_t rx_producer_ = 0;
  std::uint16_t tx_producer_ = 0;
  std::uint16_t tx_consumer_ = 0;
};

}  // namespace meridian
