// SPDX-License-Identifier: Apache-2.0
#include "lockstep.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace meridian {

namespace {

constexpr unsigned settle_cycles = 60, settle_limit = 200'000;
constexpr unsigned busy_polls = 1000;
constexpr unsigned reset_polls = 2000, reset_limit = 2'000'000;
constexpr std::uint32_t reset_register = 0x100;

QdmaSetting setting() {
  QdmaSetting s;
  s.queues = Lockstep::queues;
  s.pfs = Lockstep::pfs;
  s.h2c_gather = true;
  return s;
}

}  // namespace

Lockstep::Lockstep(std::uint64_t seed)
    : engine(seed), streams_(shell.make_streams(1)), model_(setting(), streams_, memory) {
  for (unsigned f = 0; f < functions; ++f) {
    enable_function(f, true);
    set_table(f);
    set_msix(f, true, false);
  }
}

void Lockstep::set_table(unsigned function) {
  std::vector<std::uint32_t> words;
  for (unsigned vector = 0; vector < MsixTables::vectors; ++vector) {
    const std::uint64_t address = message_address(function, vector);
    words.insert(words.end(), {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32),
                               function << 8 | vector | 0xda7a'0000, 0});
  }
  write_row(function, MsixTables::table(function), words);
}

void Lockstep::set_msix(unsigned function, bool enabled, bool masked) {
  engine.run(settle_cycles);  // messages from before leave
  follow_interrupts();
  tables.allow(function, enabled, masked);
  engine.set_msix(function, enabled, masked);
}

std::vector<unsigned> Lockstep::family(unsigned function) {
  std::vector<unsigned> all{function};
  for (unsigned f = first_vf; f < functions; ++f)
    if (function < first_vf && parent(f) == function) all.push_back(f);
  return all;
}

void Lockstep::follow_interrupts() {
  for (; followed_ < memory.events.size(); ++followed_) {
    const TestMemory::Event& event = memory.events[followed_];
    if (event.kind == TestMemory::Event::Kind::interrupt)
      tables.interrupt(event.function, static_cast<unsigned>(event.address));
  }
}

void Lockstep::forget_interrupts() {
  follow_interrupts();
  memory.events.clear();
  followed_ = 0;
  engine.interrupts.clear();
  tables.messages.clear();
  engine.host.messages.clear();
}

std::uint32_t Lockstep::expected(unsigned function, std::uint32_t offset) {
  if (!MsixTables::has(function, offset)) return model_.read(function, offset);
  follow_interrupts();
  return tables.read(function, offset);
}

void Lockstep::store(unsigned function, std::uint32_t offset, std::uint32_t value) {
  if (!MsixTables::has(function, offset)) return model_.write(function, offset, value);
  follow_interrupts();
  tables.write(function, offset, value);
}

void Lockstep::tick_model(unsigned cycles) {
  for (unsigned i = 0; i < cycles; ++i) {
    now_ps_ += 4000;
    streams_.c2h.sample(now_ps_);
    streams_.h2c.sample();
    streams_.flr.sample(now_ps_);
    streams_.credit.sample(now_ps_);
    shell.sample();
    shell.answers_resets = engine.answers_resets;
    model_.tick(now_ps_);
    streams_.c2h.drive();
    streams_.h2c.drive(now_ps_);
    streams_.flr.drive();
    streams_.credit.drive();
    shell.drive();
  }
}

/// A message is shown as pending until RQ has taken it.
void Lockstep::let_messages_leave(unsigned function, std::uint32_t offset) {
  if (MsixTables::has(function, offset)) engine.run(settle_cycles);
}

std::uint32_t Lockstep::read(unsigned function, std::uint32_t offset) {
  let_messages_leave(function, offset);
  const std::uint32_t wanted = expected(function, offset), found = engine.read(function, offset, 1).at(0);
  EXPECT_EQ(found, wanted) << "function " << function << ", offset 0x" << std::hex << offset;
  return found;
}

void Lockstep::read_row(unsigned function, std::uint32_t offset, unsigned words) {
  let_messages_leave(function, offset);
  const std::vector<std::uint32_t> found = engine.read(function, offset, words);
  for (unsigned i = 0; i < words; ++i)
    EXPECT_EQ(found[i], expected(function, offset + 4 * i))
        << "function " << function << ", offset 0x" << std::hex << offset + 4 * i;
}

void Lockstep::write(unsigned function, std::uint32_t offset, std::uint32_t value) {
  let_messages_leave(function, offset);
  store(function, offset, value);
  engine.write(function, offset, value);
}

void Lockstep::write_row(unsigned function, std::uint32_t offset, const std::vector<std::uint32_t>& words) {
  for (unsigned i = 0; i < words.size(); ++i) store(function, offset + 4 * i, words[i]);
  engine.write(function, offset, words);
}

void Lockstep::command(unsigned kind, unsigned operation, unsigned index, unsigned pf) {
  write(pf, 0x844, (kind << 1) | (operation << 5) | (index << 7));
  // The RTL is busy until a status entry of the ring that is at RQ has left.
  unsigned polls = 0;
  while ((engine.read(pf, 0x844, 1).at(0) & 1) != 0) ASSERT_LT(++polls, busy_polls) << "a command does not end";
  EXPECT_EQ(read(pf, 0x844) & 1, 0U) << "busy";
}

void Lockstep::write_context(unsigned kind, unsigned index, const std::array<std::uint32_t, 8>& words, unsigned pf) {
  for (unsigned i = 0; i < words.size(); ++i) write(pf, 0x804 + 4 * i, words[i]);
  for (unsigned i = 0; i < words.size(); ++i) write(pf, 0x824 + 4 * i, ~0U);
  command(kind, 1, index, pf);
}

std::array<std::uint32_t, 8> Lockstep::read_context(unsigned kind, unsigned index, unsigned pf) {
  command(kind, 2, index, pf);
  std::array<std::uint32_t, 8> words;
  for (unsigned i = 0; i < words.size(); ++i) words[i] = read(pf, 0x804 + 4 * i);
  return words;
}

void Lockstep::reset_by_mailbox(unsigned function) {
  write(function, mailbox(function) + reset_register, 1);
  unsigned polls = 0;
  while (engine.read(function, mailbox(function) + reset_register, 1).at(0) != 0) {
    ASSERT_LT(++polls, reset_polls) << "the reset of function " << function << " does not end";
    engine.run(1000);
  }
  tick_model(settle_cycles);
  follow_interrupts();
  for (const unsigned each : family(function)) tables.reset(each, false);
  compare();
}

void Lockstep::begin_reset_by_pcie(unsigned function) {
  model_done_ = false;
  enable_function(function, false);
  for (const unsigned each : family(function)) set_msix(each, false, false);
  model_.reset_function(function, [this] { model_done_ = true; });
  engine.set_in_process(function, true);
}

void Lockstep::finish_reset_by_pcie(unsigned function) {
  engine.set_in_process(function, false);
  engine.run(1);
  tick_model(settle_cycles);
  EXPECT_TRUE(model_done_) << "the model's reset of function " << function << " does not end";
  enable_function(function, true);
  follow_interrupts();
  for (const unsigned each : family(function)) {
    tables.reset(each, true);
    read_row(each, MsixTables::table(each), 4 * MsixTables::vectors);
    set_table(each);
    set_msix(each, true, false);
  }
  compare();
}

void Lockstep::reset_by_pcie(unsigned function) {
  engine.run(settle_cycles);  // interrupts from before leave
  begin_reset_by_pcie(function);
  ASSERT_TRUE(engine.waits_for_done(function, reset_limit)) << "the reset of function " << function << " does not end";
  finish_reset_by_pcie(function);
}

void Lockstep::settle() {
  engine.settle();
  const auto is_idle = [this] {
    return model_.idle() && streams_.h2c.idle() && shell.to_grant() == 0 && streams_.c2h.idle() && shell.to_send() == 0;
  };
  for (unsigned i = 0; !is_idle(); ++i) {
    ASSERT_LT(i, settle_limit) << "the model does not come to rest: " << model_.waits_for();
    tick_model(1);
  }
  tick_model(settle_cycles);
}

void Lockstep::set(unsigned function, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  memory.set(function, address, bytes);
  engine.host.memory.set(function, address, bytes);
}

void Lockstep::set_word(unsigned function, std::uint64_t address, std::uint64_t value) {
  memory.set_word(function, address, value);
  engine.host.memory.set_word(function, address, value);
}

void Lockstep::grant(unsigned queue, unsigned count) {
  shell.grant(queue, count);
  engine.grant(queue, count);
}

void Lockstep::enable_function(unsigned function, bool enabled) {
  follow_interrupts();
  tables.set_master(function, enabled);
  model_.enable_function(function, enabled, parent(function));
  engine.enable_function(function, enabled);
}

void Lockstep::take_away(unsigned vf) {
  enable_function(vf, false);
  engine.set_enables(vf, false, false);
  tables.reset(vf, true);
}

void Lockstep::give_back(unsigned vf) {
  engine.set_enables(vf, false, true);
  enable_function(vf, true);
}

void Lockstep::compare() {
  engine.run(settle_cycles);
  tick_model(settle_cycles);
  std::vector<Engine::Interrupt> wanted;
  for (const TestMemory::Event& event : memory.events)
    if (event.kind == TestMemory::Event::Kind::interrupt)
      wanted.emplace_back(event.function, static_cast<unsigned>(event.address));
  EXPECT_EQ(engine.interrupts, wanted);
  follow_interrupts();
  // Messages of different vectors may leave in another order.
  std::sort(tables.messages.begin(), tables.messages.end());
  std::sort(engine.host.messages.begin(), engine.host.messages.end());
  EXPECT_TRUE(engine.host.messages == tables.messages)
      << engine.host.messages.size() << " messages, not " << tables.messages.size();
  for (unsigned f = 0; f < functions; ++f)
    if (tables.pending(f) != 0 || random_.below(functions) == 0) read_row(f, MsixTables::pending_bits(f), 2);
  engine.host.messages.clear();
  tables.messages.clear();
  std::vector<unsigned> found = engine.resets, told = shell.resets;
  std::sort(found.begin(), found.end());
  std::sort(told.begin(), told.end());
  EXPECT_EQ(found, told);
  memory.events.clear();
  followed_ = 0;
  engine.interrupts.clear();
  engine.resets.clear();
  shell.resets.clear();
}

std::size_t Lockstep::compare_writes() {
  std::vector<RequesterHost::Request> found;
  for (const RequesterHost::Request& request : engine.host.requests)
    if (request.write &&
        (request.address < RequesterHost::messages_at || request.address >= RequesterHost::messages_end))
      found.push_back(request);
  std::size_t count = 0;
  for (const TestMemory::Event& event : memory.events) {
    if (event.kind != TestMemory::Event::Kind::write) continue;
    if (count == found.size()) {
      ADD_FAILURE() << "a write is missing";
      break;
    }
    const RequesterHost::Request& request = found[count++];
    EXPECT_EQ(request.function, event.function);
    EXPECT_EQ(request.address, event.address);
    EXPECT_EQ(request.bytes, event.bytes);
    EXPECT_EQ(engine.host.memory.get(event.function, event.address, event.bytes),
              memory.get(event.function, event.address, event.bytes));
  }
  EXPECT_EQ(found.size(), count) << "writes that the model does not make";
  engine.host.requests.clear();
  return count;
}

}  // namespace meridian
