// SPDX-License-Identifier: Apache-2.0
// BAR0 of a QDMA as far as the library uses it: registers that keep what is written, contexts behind their command, a
// mailbox with one VF on its other side.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

extern "C" {
#include "../mailbox/qdma_mailbox.h"
#include "../qdma_context.h"
#include "../qdma_device.h"
#include "../qdma_interrupt.h"
#include "../qdma_queue.h"
#include "../qdma_ring.h"
}

/// Counts the delays from here on in that card.
class FakeCard;
void watch_delays(FakeCard* card);

class FakeCard {
 public:
  using Words = std::array<std::uint32_t, 8>;

  FakeCard();

  std::uint32_t read(std::uint32_t offset);
  void write(std::uint32_t offset, std::uint32_t value);

  /// Select and number; what was never written is all zero.
  Words& context(unsigned select, unsigned number) { return contexts[{select, number}]; }

  std::map<std::uint32_t, std::uint32_t> registers;
  std::map<std::pair<unsigned, unsigned>, Words> contexts;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;  // offset and value, in order
  std::vector<std::uint32_t> commands;                          // words given to the command register
  std::uint32_t delayed_us = 0;
  unsigned busy_reads = 0;   // the next reads of the command register say busy
  unsigned reset_reads = 0;  // the next reads of a mailbox's reset register say that it goes on
  bool gone = false;

  // The mailbox of a PF: messages that wait, with their source; what was sent, with its target.
  std::deque<std::pair<unsigned, qdma_message>> incoming;
  std::vector<std::pair<unsigned, qdma_message>> sent;
  bool target_is_busy = false;
  std::set<unsigned> deaf;  // targets that are busy for ever
  std::uint64_t accesses = 0;
  bool loses_first = false;  // a reset takes the first message when a PF has looked who sent it
  bool acknowledged = false;

 private:
  void command(std::uint32_t word);
  void mailbox_command(std::uint32_t word);
};
