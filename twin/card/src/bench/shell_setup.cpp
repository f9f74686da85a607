// SPDX-License-Identifier: Apache-2.0
#include "bench/shell_setup.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace meridian {

namespace {

// BAR2 of a PF
constexpr std::uint32_t function_page = 0x200000;
constexpr std::uint32_t filter_page = 0x110000;
constexpr std::uint32_t port_page = 0x102000;  // the same page lies at 0x2000 for the PS
constexpr std::uint32_t page = 0x1000;
constexpr std::uint32_t card_window = 0x100000;  // BAR2 address of what the PS has at 0

// Rings of the PS: offsets in their page, and of the transmit registers from the receive ones
constexpr std::uint32_t ring_page = 0xc000;
constexpr std::uint32_t ring_control = 0x00, ring_base_low = 0x08, ring_base_high = 0x0c, ring_producer = 0x10;
constexpr std::uint32_t transmit = 0x20;
constexpr std::uint32_t timestamp_status = 0x50, timestamp_nanoseconds = 0x54, timestamp_seconds_low = 0x58,
                        timestamp_seconds_high = 0x5c, timestamp_pop = 0x60;

constexpr std::size_t descriptor_bytes = 32;
constexpr std::uint64_t wait_ps = 100'000'000;

void write_pf(Card& card, std::uint32_t address, std::uint32_t value) {
  const AxilResult result = card.write(card.pf_bus(), address, value);
  if (result.response != 0) throw CheckError("a write of BAR2 address " + std::to_string(address) + " was refused");
}

RegisterWrite writer(Card& card) {
  return [&card](std::uint32_t address, std::uint32_t value) { write_pf(card, address, value); };
}

void write_ps(Card& card, std::uint32_t address, std::uint32_t value) {
  const AxilResult result = card.write(card.ps_bus(), address, value);
  if (result.response != 0) throw CheckError("a write of PS address " + std::to_string(address) + " was refused");
}

std::uint32_t low_word(const MacAddress& a) {
  return static_cast<std::uint32_t>(a[0] | (a[1] << 8) | (a[2] << 16)) | (std::uint32_t{a[3]} << 24);
}

std::uint32_t high_word(const MacAddress& a) {
  return static_cast<std::uint32_t>(a[4] | (a[5] << 8));
}

template <typename Word>
void put(Bytes& bytes, std::size_t offset, Word word) {
  std::memcpy(bytes.data() + offset, &word, sizeof word);
}

template <typename Word>
Word get(const Bytes& bytes, std::size_t offset) {
  Word word;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

}  // namespace

void set_queues(const RegisterWrite& write, unsigned function, unsigned first, unsigned count) {
  write(function_page + function * page, (first << 16) | count);
}

void set_queues(Card& card, unsigned function, unsigned first, unsigned count) {
  set_queues(writer(card), function, first, count);
}

void add_mac(Card& card, unsigned port, const MacAddress& address, unsigned function) {
  constexpr std::uint32_t any_vlan = 1U << 15;
  write_pf(card, filter_page + 0x00, low_word(address));
  write_pf(card, filter_page + 0x04, high_word(address));
  write_pf(card, filter_page + 0x08, any_vlan | (port << 16));
  write_pf(card, filter_page + 0x0c, function);
  write_pf(card, filter_page + 0x10, 0);
  const std::uint64_t end = card.now_ps() + wait_ps;
  std::uint32_t status = 1;
  while ((status & 1) != 0) {
    status = card.read(card.pf_bus(), filter_page + 0x14).data;
    if (card.now_ps() > end) throw HangError("the MAC table does not finish a command");
  }
  if ((status >> 4 & 3) == 1) throw CheckError("the MAC table is full");
}

void enable_host(Card& card, unsigned port) {
  write_pf(card, port_page + port * page + 0x04, 3);
}

void enforce_credit(const RegisterWrite& write, bool enforce) {
  write(filter_page + 0x30, enforce ? 1 : 0);
}

void enforce_credit(Card& card, bool enforce) {
  enforce_credit(writer(card), enforce);
}

void listen(Card& card, unsigned port, unsigned index, const MacAddress& address) {
  constexpr std::uint32_t valid = 1U << 31;
  const std::uint32_t at = port_page - card_window + port * page + 0x100;
  write_ps(card, at + 0x44 + 8 * index, 0);
  write_ps(card, at + 0x40 + 8 * index, low_word(address));
  write_ps(card, at + 0x44 + 8 * index, high_word(address));
  write_ps(card, at + 0x44 + 8 * index, high_word(address) | valid);
  write_ps(card, at, 3);  // enable, broadcast
}

PsRings::PsRings(Card& card, unsigned port)
    : card_(card), registers_(ring_page + port * page), base_(0x1'0000'0000 + std::uint64_t{port} * 0x1000'0000) {}

void PsRings::write_register(std::uint32_t offset, std::uint32_t value) {
  write_ps(card_, registers_ + offset, value);
}

void PsRings::start() {
  card_.ps_memory().load(rx_ring(), Bytes(descriptor_bytes * size));
  card_.ps_memory().load(tx_ring(), Bytes(descriptor_bytes * size));
  for (unsigned i = 0; i < size; ++i) post_receive(i);
  rx_producer_ = size;
  const std::uint64_t rings[] = {rx_ring(), tx_ring()};
  for (unsigned direction = 0; direction < 2; ++direction) {
    const std::uint32_t at = direction * transmit;
    write_register(at + ring_base_low, static_cast<std::uint32_t>(rings[direction]));
    write_register(at + ring_base_high, static_cast<std::uint32_t>(rings[direction] >> 32));
    write_register(at + ring_control, 1 | (size_log2 << 8));
  }
  write_register(ring_producer, rx_producer_);
}

void PsRings::post_receive(unsigned index) {
  Bytes half(16);
  put<std::uint64_t>(half, 0, rx_buffer(index));
  put<std::uint16_t>(half, 8, buffer_bytes);
  card_.ps_memory().load(rx_ring() + descriptor_bytes * (index % size), half);
}

bool PsRings::send(const Bytes& frame, std::optional<std::uint16_t> timestamp_tag) {
  const auto generation = [](std::uint16_t index) { return ((index / size) & 1U) ^ 1U; };
  while (tx_consumer_ != tx_producer_) {
    const Bytes end = card_.ps_memory().store(tx_ring() + descriptor_bytes * (tx_consumer_ % size) + 30, 2);
    if ((get<std::uint16_t>(end, 0) & 1U) != generation(tx_consumer_)) break;
    ++tx_consumer_;
  }
  if (static_cast<std::uint16_t>(tx_producer_ - tx_consumer_) >= size) return false;
  card_.ps_memory().load(tx_buffer(tx_producer_), frame);
  Bytes half(16);
  put<std::uint64_t>(half, 0, tx_buffer(tx_producer_));
  put<std::uint16_t>(half, 8, static_cast<std::uint16_t>(frame.size()));
  put<std::uint16_t>(half, 10, timestamp_tag.has_value() ? 1 : 0);
  put<std::uint16_t>(half, 12, timestamp_tag.value_or(0));
  card_.ps_memory().load(tx_ring() + descriptor_bytes * (tx_producer_ % size), half);
  ++tx_producer_;
  while (card_.ps_bus().pop()) continue;  // answers to earlier producer writes
  card_.ps_bus().write(registers_ + transmit + ring_producer, tx_producer_);
  return true;
}

std::optional<PsFrame> PsRings::receive() {
  const std::uint64_t descriptor = rx_ring() + descriptor_bytes * (rx_consumer_ % size);
  const unsigned generation = ((rx_consumer_ / size) & 1U) ^ 1U;
  const Bytes half = card_.ps_memory().store(descriptor + 16, 16);
  const auto flags = get<std::uint16_t>(half, 14);
  if ((flags & 1U) != generation) return std::nullopt;
  if ((flags & 4U) != 0) throw CheckError("ps rings: a receive descriptor came back with an error");
  PsFrame frame;
  frame.bytes = card_.ps_memory().store(rx_buffer(rx_consumer_), get<std::uint16_t>(half, 4));
  frame.timestamp.nanoseconds = get<std::uint32_t>(half, 0);
  frame.timestamp.seconds = get<std::uint32_t>(half, 8) | (std::uint64_t{get<std::uint16_t>(half, 12)} << 32);
  frame.timestamp_valid = (flags & 2U) != 0;
  ++rx_consumer_;
  post_receive(rx_producer_);
  ++rx_producer_;
  if (rx_producer_ % 32 == 0) {
    while (card_.ps_bus().pop()) continue;
    card_.ps_bus().write(registers_ + ring_producer, rx_producer_);
  }
  return frame;
}

PtpTime PsRings::transmit_timestamp() {
  const std::uint64_t end = card_.now_ps() + wait_ps;
  const auto read = [&](std::uint32_t offset) { return card_.read(card_.ps_bus(), registers_ + offset).data; };
  while ((read(timestamp_status) & 1) == 0)
    if (card_.now_ps() > end) throw HangError("a transmit timestamp does not come back");
  PtpTime time;
  time.nanoseconds = read(timestamp_nanoseconds);
  time.seconds = read(timestamp_seconds_low);
  time.seconds |= std::uint64_t{read(timestamp_seconds_high)} << 32;
  write_register(timestamp_pop, 1);
  return time;
}

}  // namespace meridian
