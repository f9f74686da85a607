// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "mac/mac_rx.hpp"
#include "mac/mac_tx.hpp"

namespace meridian {

constexpr std::uint64_t never_ps = ~std::uint64_t{0};

/// Takes the name and the value of a figure.
using WireReport = std::function<void(std::string_view name, double value)>;

/// What is at the other end of a port's wire. All times are twin time.
class WireEnd {
 public:
  virtual ~WireEnd() = default;

  /// A frame the card sent; its last bit is on the wire.
  virtual void receive(const TxFrame& frame) = 0;

  /// Frames for the card, in the order of the wire; at_ps may lie ahead. pending: how many handed over earlier have
  /// not begun. Called at next_ps(), and after any receive() or readable descriptor.
  virtual std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) = 0;

  /// The next moment at which poll may have something; never_ps while only a frame or the outside can change that.
  virtual std::uint64_t next_ps() const = 0;

  /// A descriptor that turns readable when the outside has something (TAP, packet socket).
  virtual std::optional<int> descriptor() const { return std::nullopt; }

  /// Called often where there is a descriptor, also while time stands still. True: poll() has something.
  virtual bool tend() { return false; }

  /// All that was counted and measured, so far.
  virtual void report(const WireReport&) const {}

  /// Nothing more is expected from this end unless it is spoken to: a replay has ended, a generator has sent all.
  virtual bool done() const { return next_ps() == never_ps; }
};

}  // namespace meridian
