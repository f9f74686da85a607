// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "qdma/ip_state.hpp"

namespace meridian {

/// The mailbox: a message of 128 bytes each way between a VF and its PF, with acknowledge bits and an interrupt a
/// function. A function sees its own only; a PF chooses among its VFs by the target register.
///
/// A message stays as it was sent until the other side has received it: writes to the window are ignored meanwhile, and
/// so is another send. Thus a VF can have one event waiting at its PF, no more.
class Mailbox {
 public:
  explicit Mailbox(IpState& ip) : ip_(ip), functions_(Contexts::functions) {}

  /// The VF's mailbox is new when the PF is another.
  void set_parent(unsigned vf, unsigned pf);
  std::optional<unsigned> parent(unsigned vf) const { return functions_[vf].parent; }

  /// The queues that a reset by the mailbox's register takes from a function, as a PF has said: PG302, "Function Map
  /// Table", has this map beside that of the contexts.
  unsigned first_queue(unsigned function) const { return map_[function] & 0xfff; }
  unsigned queue_count(unsigned function) const { return map_[function] >> 12 & 0xfff; }

  /// offset: in the function's window, a multiple of 4 below reg::pf_mailbox_end, of a VF reg::vf_mailbox_end.
  std::uint32_t read(unsigned function, std::uint32_t offset) const;
  void write(unsigned function, std::uint32_t offset, std::uint32_t value);

  /// Forgets the function's messages, both ways, and its interrupt; its queues are as they were.
  void reset(unsigned function);
  void reset();

 private:
  static constexpr unsigned message_words = 32;

  struct Message {
    std::array<std::uint32_t, message_words> words{};
    bool full = false;
  };
  struct Function {
    bool interrupt_enabled = false;
    unsigned vector = 0;
    std::optional<unsigned> parent;  // of a VF
    Message to_pf, to_vf;            // of a VF
    unsigned target = 0;             // of a PF, as are the next two
    std::deque<unsigned> senders;    // VFs whose message waits, oldest first
    std::array<std::uint32_t, 8> acknowledged{};
  };

  static bool is_pf(unsigned function) { return function < 4; }
  /// The VF whose messages the function's windows show: itself, or a PF's target if it is the PF's.
  std::optional<unsigned> vf_of(unsigned function) const;
  std::uint32_t status(unsigned function) const;
  void command(unsigned function, std::uint32_t value);
  void send(unsigned function);
  void receive(unsigned function);
  void forget_sender(unsigned pf, unsigned vf);
  void interrupt(unsigned function);

  IpState& ip_;
  std::vector<Function> functions_;
  std::array<std::uint32_t, Contexts::functions> map_{};  // one for all PFs
};

}  // namespace meridian
