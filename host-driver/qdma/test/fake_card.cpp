// SPDX-License-Identifier: Apache-2.0
#include "fake_card.hpp"

#include <cstring>

namespace {

constexpr std::uint32_t mailbox = QDMA_PF_MAILBOX;

bool is_within(std::uint32_t offset, std::uint32_t first, unsigned words) {
  return offset >= first && offset < first + 4 * words;
}

}  // namespace

FakeCard::FakeCard() {
  registers[QDMA_IDENTIFIER] = 0x1fd30000;
  registers[QDMA_CHANNEL_STREAM] = 0x30000;
  registers[QDMA_CHANNEL_CAPABILITY] = 0x800;
  registers[QDMA_FUNCTION_NUMBER] = 2;
  registers[QDMA_MISC_CAPABILITY] = 0x02200003;
  registers[QDMA_PREFETCH_CACHE] = 0x40;
  registers[QDMA_COALESCE_DEPTH] = 0x20;
}

std::uint32_t FakeCard::read(std::uint32_t offset) {
  if (gone) return 0xffffffff;
  ++accesses;
  if (offset == QDMA_CONTEXT_COMMAND && busy_reads != 0) {
    --busy_reads;
    return QDMA_CONTEXT_BUSY;
  }
  if (offset == mailbox + QDMA_MAILBOX_RESET || offset == QDMA_VF_MAILBOX + QDMA_MAILBOX_RESET) {
    if (reset_reads == 0) return 0;
    --reset_reads;
    return 1;
  }
  if (offset == mailbox + QDMA_MAILBOX_STATUS) {
    const bool is_busy = target_is_busy || deaf.contains(registers[mailbox + QDMA_MAILBOX_TARGET]);
    std::uint32_t status = is_busy ? QDMA_MAILBOX_STATUS_OUT : 0;
    if (acknowledged) status |= QDMA_MAILBOX_STATUS_ACK;
    if (!incoming.empty()) status |= QDMA_MAILBOX_STATUS_IN | incoming.front().first << 4;
    if (loses_first && !incoming.empty()) incoming.pop_front();
    loses_first = false;
    return status;
  }
  if (is_within(offset, mailbox + QDMA_MAILBOX_IN(0), QDMA_MAILBOX_WORDS) && !incoming.empty()) {
    if (registers[mailbox + QDMA_MAILBOX_TARGET] != incoming.front().first) return 0;
    std::uint32_t word = 0;
    std::memcpy(&word, incoming.front().second.byte + (offset - mailbox - QDMA_MAILBOX_IN(0)), 4);
    return word;
  }
  return registers[offset];
}

void FakeCard::write(std::uint32_t offset, std::uint32_t value) {
  if (gone) return;
  ++accesses;
  writes.emplace_back(offset, value);
  if (offset == QDMA_CONTEXT_COMMAND) return command(value);
  if (offset == mailbox + QDMA_MAILBOX_COMMAND) return mailbox_command(value);
  if (is_within(offset, mailbox + QDMA_MAILBOX_ACK(0), QDMA_MAILBOX_ACK_WORDS)) acknowledged = false;
  const bool clears = offset == QDMA_ERROR_STATUS || offset == QDMA_DESCRIPTOR_ERROR || offset == QDMA_DOORBELL_ERROR ||
                      offset == QDMA_C2H_ERROR || offset == QDMA_C2H_FATAL || offset == QDMA_H2C_ERROR ||
                      offset == 0x0e4 || offset == 0x0ec || offset == 0x0f4 || offset == 0x0fc;  // memory
  std::uint32_t& place = registers[offset];
  place = clears ? place & ~value : value;
}

void FakeCard::command(std::uint32_t word) {
  commands.push_back(word);
  registers[QDMA_CONTEXT_COMMAND] = word;
  const unsigned select = word >> 1 & 15, operation = word >> 5 & 3, number = word >> 7 & 0x1fff;
  Words& words = context(select, number);
  for (unsigned i = 0; i < 8; ++i) {
    std::uint32_t& data = registers[QDMA_CONTEXT_DATA(i)];
    const std::uint32_t mask = registers[QDMA_CONTEXT_MASK(i)];
    if (operation == QDMA_CONTEXT_CLEAR) words[i] = 0;
    if (operation == QDMA_CONTEXT_WRITE) words[i] = (words[i] & ~mask) | (data & mask);
    if (operation == QDMA_CONTEXT_READ) data = words[i];
  }
  if (operation != QDMA_CONTEXT_INVALIDATE) return;
  if (select <= QDMA_SELECT_SW_H2C) words[1] &= ~1U;
  if (select == QDMA_SELECT_INTERRUPT_RING) words[0] &= ~1U;
  if (select == QDMA_SELECT_COMPLETION) words[3] &= ~(1U << 28);
  if (select == QDMA_SELECT_PREFETCH) words[1] &= ~(1U << 13);
}

void FakeCard::mailbox_command(std::uint32_t word) {
  if ((word & QDMA_MAILBOX_COMMAND_RECEIVE) != 0 && !incoming.empty()) incoming.pop_front();
  if ((word & QDMA_MAILBOX_COMMAND_SEND) == 0) return;
  qdma_message message{};
  for (unsigned i = 0; i < QDMA_MAILBOX_WORDS; ++i)
    std::memcpy(message.byte + 4 * i, &registers[mailbox + QDMA_MAILBOX_OUT(i)], 4);
  sent.emplace_back(registers[mailbox + QDMA_MAILBOX_TARGET], message);
}

extern "C" {

u32 qdma_os_read(const void* bar, u32 offset) {
  return static_cast<FakeCard*>(const_cast<void*>(bar))->read(offset);
}

void qdma_os_write(void* bar, u32 offset, u32 value) {
  static_cast<FakeCard*>(bar)->write(offset, value);
}

}  // extern "C"

namespace {

FakeCard* waiting = nullptr;

}  // namespace

void watch_delays(FakeCard* card) {
  waiting = card;
}

extern "C" void qdma_os_delay_us(u32 us) {
  if (waiting != nullptr) waiting->delayed_us += us;
}
