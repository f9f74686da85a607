// SPDX-License-Identifier: Apache-2.0
#include "interrupt_rings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace meridian {

namespace {

constexpr unsigned interrupt_context = 8;

}  // namespace

InterruptRings::InterruptRings(std::uint64_t seed) : Lockstep(seed) {
  engine.host.on_message = [this](const MsixTables::Message& message) {
    if (message.function >= functions || message.address != message_address(message.function, ring_vector)) return;
    EXPECT_NE(news_.at(message.function), 0U)
        << "function " << message.function << ": a message is ahead of the entry that it tells of";
    if (news_[message.function] != 0) --news_[message.function];
  };
}

void InterruptRings::begin_interrupts(unsigned function, unsigned pages, unsigned pidx) {
  const std::uint64_t base = interrupt_ring(function);
  pages_.at(function) = pages;
  write_context(interrupt_context, function,
                {1U | ring_vector << 1 | 1U << 14 | static_cast<std::uint32_t>(base >> 12) << 15,
                 static_cast<std::uint32_t>(base >> 29), (pages - 1) << 3 | pidx << 6, function << 18});
}

void InterruptRings::bell(unsigned function, unsigned cidx) {
  ++news_.at(function);
  write(function, function < first_vf ? 0x18000 : 0x3000, function << 16 | cidx);
}

bool InterruptRings::is_entry(unsigned function, std::uint64_t address) {
  if (address < interrupt_rings || address >= interrupt_ring(functions)) return false;
  EXPECT_EQ(function, (address - interrupt_rings) / interrupt_ring_bytes) << "an entry of another function's ring";
  ++news_.at(function);
  return true;
}

void InterruptRings::compare_interrupts() {
  for (unsigned f = 0; f < functions; ++f)
    if (pages_[f] != 0) compare_interrupts(f);
}

/// The order of entries is that in which queues were served, which is not the model's.
void InterruptRings::compare_interrupts(unsigned function) {
  read_context(interrupt_context, function);
  news_[function] = tables.pending(function) >> ring_vector & 1;
  constexpr std::uint64_t color = std::uint64_t{1} << 63;
  const auto entries = [&](const TestMemory& of) {
    const Bytes bytes = of.get(function, interrupt_ring(function), 8 * std::size_t{interrupt_entries(function)});
    std::vector<std::uint64_t> words(interrupt_entries(function));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  };
  std::vector<std::uint64_t> found = entries(engine.host.memory), wanted = entries(memory);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i] & color, wanted[i] & color)
        << "entry " << i << " of the interrupt ring of function " << function;
    found[i] &= ~color;
    wanted[i] &= ~color;
  }
  std::sort(found.begin(), found.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(found, wanted) << "the interrupt ring of function " << function;
}

}  // namespace meridian
