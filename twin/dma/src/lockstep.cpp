// SPDX-License-Identifier: Apache-2.0
#include "lockstep.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace meridian {

namespace {

constexpr unsigned settle_cycles = 40, settle_limit = 200'000;
constexpr unsigned busy_polls = 1000;
constexpr unsigned reset_polls = 2000, reset_limit = 2'000'000;
constexpr std::uint32_t reset_register = 0x100;

QdmaSetting setting() {
  QdmaSetting s;
  s.queues = Lockstep::queues;
  s.pfs = Lockstep::pfs;
  return s;
}

}  // namespace

Lockstep::Lockstep(std::uint64_t seed)
    : engine(seed), streams_(shell.make_streams(1)), model_(setting(), streams_, memory) {
  for (unsigned f = 0; f < functions; ++f) enable_function(f, true);
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

std::uint32_t Lockstep::read(unsigned function, std::uint32_t offset) {
  const std::uint32_t wanted = model_.read(function, offset), found = engine.read(function, offset, 1).at(0);
  EXPECT_EQ(found, wanted) << "function " << function << ", offset 0x" << std::hex << offset;
  return found;
}

void Lockstep::read_row(unsigned function, std::uint32_t offset, unsigned words) {
  const std::vector<std::uint32_t> found = engine.read(function, offset, words);
  for (unsigned i = 0; i < words; ++i)
    EXPECT_EQ(found[i], model_.read(function, offset + 4 * i))
        << "function " << function << ", offset 0x" << std::hex << offset + 4 * i;
}

void Lockstep::write(unsigned function, std::uint32_t offset, std::uint32_t value) {
  model_.write(function, offset, value);
  engine.write(function, offset, value);
}

void Lockstep::write_row(unsigned function, std::uint32_t offset, const std::vector<std::uint32_t>& words) {
  for (unsigned i = 0; i < words.size(); ++i) model_.write(function, offset + 4 * i, words[i]);
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
  compare();
}

void Lockstep::begin_reset_by_pcie(unsigned function) {
  model_done_ = false;
  enable_function(function, false);
  model_.reset_function(function, [this] { model_done_ = true; });
  engine.set_in_process(function, true);
}

void Lockstep::finish_reset_by_pcie(unsigned function) {
  engine.set_in_process(function, false);
  engine.run(1);
  tick_model(settle_cycles);
  EXPECT_TRUE(model_done_) << "the model's reset of function " << function << " does not end";
  enable_function(function, true);
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
  model_.enable_function(function, enabled, parent(function));
  engine.enable_function(function, enabled);
}

void Lockstep::compare() {
  engine.run(settle_cycles);
  tick_model(settle_cycles);
  std::vector<Engine::Interrupt> wanted;
  for (const TestMemory::Event& event : memory.events)
    if (event.kind == TestMemory::Event::Kind::interrupt)
      wanted.emplace_back(event.function, static_cast<unsigned>(event.address));
  EXPECT_EQ(engine.interrupts, wanted);
  std::vector<unsigned> found = engine.resets, told = shell.resets;
  std::sort(found.begin(), found.end());
  std::sort(told.begin(), told.end());
  EXPECT_EQ(found, told);
  memory.events.clear();
  engine.interrupts.clear();
  engine.resets.clear();
  shell.resets.clear();
}

}  // namespace meridian
