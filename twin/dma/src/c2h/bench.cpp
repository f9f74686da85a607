// SPDX-License-Identifier: Apache-2.0
#include "c2h/bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "qdma/state/context_fields.hpp"
#include "qdma/state/registers.hpp"

namespace meridian {

namespace {

constexpr unsigned sw_c2h = 0, hw_c2h = 2, credit_c2h = 4, completion = 6, prefetch_kind = 7, fmap_kind = 0xc;
constexpr unsigned clear_operation = 0, invalidate_operation = 3;
constexpr unsigned cached_limit = 64;      // descriptors of a ring that the RTL may have fetched and tells of
constexpr unsigned credit_limit = 20'000;  // cycles
constexpr std::uint64_t irq_state_bits = 3ULL << 33;
constexpr std::uint32_t pf_doorbells = 0x18000, vf_doorbells = 0x3000;

std::string name_of(unsigned queue) {
  return "queue " + std::to_string(queue);
}

}  // namespace

C2hBench::C2hBench(std::uint64_t seed) : InterruptRings(seed), ring_(queues), random_(seed + 2000) {
  for (unsigned i = 0; i < sizes.size(); ++i) {
    write(0, reg::ring_size + 4 * i, sizes[i]);
    write(0, reg::buffer_size + 4 * i, buffers[i]);
    write(0, reg::count_threshold + 4 * i, thresholds[i]);
    write(0, reg::timer_count + 4 * i, timers[i]);
  }
  write(0, reg::timer_tick, tick);
  for (unsigned f = 0; f < functions; ++f)
    write_context(fmap_kind, f, {f * queues_of_a_function, queues_of_a_function});
  engine.host.on_write = [this](unsigned of, std::uint64_t address) {
    written(of, address, engine.host.requests.back().bytes);
  };
  engine.on_interrupt = [this](const Engine::Interrupt& interrupt) { interrupted(interrupt); };
}

unsigned C2hBench::need(unsigned queue, unsigned length) const {
  return (length + buffer_bytes(queue) - 1) / buffer_bytes(queue);
}

void C2hBench::begin(unsigned queue, const Setting& setting) {
  sort_out();
  Ring& ring = ring_[queue];
  ring = Ring{};
  ring.setting = setting;
  ring.used = true;
  for (unsigned i = 0; i <= entries(queue); ++i)
    for (unsigned word = 0; word < 1U << setting.entry; ++word)
      set_word(function(queue), entry_address(queue, i) + 8 * word, 0);
  write_contexts(queue);
  sort_out();
  ring.status[0].clear();
  ring.status[1].clear();
}

void C2hBench::write_contexts(unsigned queue) {
  const Setting& s = ring_[queue].setting;
  SwContext c;
  c.set(sw::function, function(queue));
  c.set(sw::enable, 1);
  c.set(sw::credit_enable, 1);
  c.set(sw::ring_index, s.size_index);
  c.set(sw::status_enable, 1);
  c.set(sw::irq_enable, s.buffer_interrupt);
  c.set(sw::irq_arm, s.buffer_interrupt);
  c.set(sw::vector, s.aggregate ? function(queue) : buffer_vector);
  c.set(sw::aggregate, s.aggregate);
  c.words[2] = static_cast<std::uint32_t>(ring_address(queue));
  c.words[3] = static_cast<std::uint32_t>(ring_address(queue) >> 32);
  command(sw_c2h, clear_operation, queue);
  command(hw_c2h, clear_operation, queue);
  command(credit_c2h, clear_operation, queue);
  PrefetchContext p;
  p.set(prefetch::buffer_index, s.buffer_index);
  p.set(prefetch::enable, s.prefetch);
  p.set(prefetch::valid, 1);
  write_context(prefetch_kind, queue, {p.words[0], p.words[1]});
  CompletionContext k;
  k.set(cmpt::status_enable, 1);
  k.set(cmpt::irq_enable, s.interrupt);
  k.set(cmpt::irq_state, cmpt::triggered);
  k.set(cmpt::mode, s.mode);
  k.set(cmpt::function, function(queue));
  k.set(cmpt::counter, s.counter);
  k.set(cmpt::timer, s.timer);
  k.set(cmpt::color, 1);
  k.set(cmpt::size_index, s.size_index);
  k.set(cmpt::entry_size, s.entry);
  k.set(cmpt::valid, 1);
  k.set(cmpt::full_update, s.full_update);
  k.set(cmpt::no_overflow_check, s.no_overflow_check);
  k.set(cmpt::vector, s.aggregate ? function(queue) : queue % queues_of_a_function);
  k.set(cmpt::aggregate, s.aggregate);
  k.words[1] = static_cast<std::uint32_t>(completions(queue) >> 6);
  k.words[2] |= static_cast<std::uint32_t>(completions(queue) >> 38) & 0x3ffffff;
  command(completion, clear_operation, queue);
  write_context(completion, queue,
                {k.words[0], k.words[1], k.words[2], k.words[3], k.words[4], k.words[5], k.words[6]});
  write_context(sw_c2h, queue, c.words);
}

void C2hBench::invalidate(unsigned queue) {
  for (const unsigned kind : {sw_c2h, prefetch_kind, completion}) command(kind, invalidate_operation, queue);
  ring_[queue].used = false;
}

unsigned C2hBench::room(unsigned queue) const {
  const Ring& ring = ring_[queue];
  // Of what was compared alone is it known that its buffers are used.
  std::size_t used = 0;
  for (std::size_t i = 0; i < ring.compared; ++i) used += ring.frames[i].buffers.size();
  return entries(queue) - 1 - static_cast<unsigned>(ring.posted.size() - used);
}

void C2hBench::post(unsigned queue, unsigned count) {
  Ring& ring = ring_[queue];
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t address = next_buffer_ + random_.below(4096);
    next_buffer_ += 0x4000;
    set_word(function(queue), ring_address(queue) + 8 * ring.pidx, address);
    ring.posted.push_back(address);
    ring.pidx = (ring.pidx + 1) % entries(queue);
  }
  doorbell(queue, ring.pidx);
}

void C2hBench::doorbell(unsigned queue, unsigned pidx) {
  const unsigned by = function(queue);
  write(by, (by < first_vf ? pf_doorbells : vf_doorbells) + 16 * (queue % queues_of_a_function) + reg::c2h_pidx, pidx);
}

unsigned C2hBench::unread(unsigned queue) const {
  const Ring& ring = ring_[queue];
  return (static_cast<unsigned>(ring.compared % entries(queue)) + entries(queue) - ring.cidx) % entries(queue);
}

bool C2hBench::send(unsigned queue, unsigned length) {
  sort_out();
  Ring& ring = ring_[queue];
  const auto open = static_cast<unsigned>(ring.frames.size() - ring.compared);
  if (unread(queue) + open + 2 >= entries(queue) && !ring.setting.no_overflow_check) return false;
  if (ring.setting.no_overflow_check && unread(queue) + open + 1 >= entries(queue)) return false;
  if (need(queue, length) > credit(queue) || need(queue, length) > 31) return false;
  send_anyway(queue, length);
  return true;
}

void C2hBench::send_anyway(unsigned queue, unsigned length) {
  Ring& ring = ring_[queue];
  Frame frame{Bytes(length), {}};
  for (std::uint8_t& byte : frame.bytes) byte = static_cast<std::uint8_t>(random_.next());
  shell.send(queue, frame.bytes);
  engine.c2h.send(queue, frame.bytes);
  const unsigned count = ring.setting.lost ? 0 : need(queue, length);
  for (unsigned i = 0; i < count && ring.given < ring.posted.size(); ++i) {
    const std::uint64_t address = ring.posted[ring.given++];
    frame.buffers.push_back(address);
    expected_[{function(queue), address}] = std::min(buffer_bytes(queue), length - i * buffer_bytes(queue));
  }
  ring.used_buffers += static_cast<unsigned>(frame.buffers.size());
  ring.frames.push_back(std::move(frame));
}

void C2hBench::wait_for_credit(unsigned queue, unsigned count) {
  for (unsigned i = 0; i < credit_limit; ++i) {
    sort_out();
    if (credit(queue) >= count) return;
    engine.run(1);
  }
  FAIL() << name_of(queue) << ": the engine does not tell of buffers";
}

void C2hBench::read_completions(unsigned queue, unsigned count, bool arms) {
  Ring& ring = ring_[queue];
  ring.cidx = (ring.cidx + count) % entries(queue);
  const Setting& s = ring.setting;
  completion_doorbell(queue, ring.cidx | s.counter << 16 | s.timer << 20 | s.mode << 24 | 1U << 27 |
                                 (arms && s.interrupt ? 1U << 28 : 0));
}

void C2hBench::completion_doorbell(unsigned queue, std::uint32_t value) {
  const unsigned by = function(queue);
  write(by, (by < first_vf ? pf_doorbells : vf_doorbells) + 16 * (queue % queues_of_a_function) + reg::completion_cidx,
        value);
}

/// Each message goes to its queue.
void C2hBench::sort_out() {
  const auto follow = [this](std::vector<DescriptorMessage>& messages, unsigned which) {
    for (const DescriptorMessage& message : messages) {
      if (!message.c2h) continue;
      EXPECT_EQ(message.qen, !message.qinv);
      unsigned& available = ring_.at(message.qid).available[which];
      available = message.qinv ? 0 : available + message.avl;
    }
    messages.clear();
  };
  follow(engine.messages, 0);
  follow(shell.messages, 1);
  for (const C2hShell::Status& status : engine.c2h.status) ring_.at(status.queue).status[0].push_back(status);
  engine.c2h.status.clear();
  for (const FakeShell::Status& status : shell.status)
    ring_.at(status.queue).status[1].push_back({status.queue, status.drop, status.error});
  shell.status.clear();
}

void C2hBench::written(unsigned of, std::uint64_t address, unsigned bytes) {
  if (is_entry(of, address)) {
    EXPECT_EQ(bytes, 8U);
    return told_by_entry(of, address);
  }
  if (address >= completions_at && address < completions_at + completion_room * queues) {
    const auto queue = static_cast<unsigned>((address - completions_at) / completion_room);
    EXPECT_EQ(of, function(queue)) << name_of(queue) << ": a completion of another function";
    return written_completion(queue, address, bytes);
  }
  // Payload: a part of a frame in its buffer.
  auto it = expected_.upper_bound({of, address});
  const bool found =
      it != expected_.begin() && (--it)->first.first == of && address + bytes <= it->first.second + it->second;
  EXPECT_TRUE(found) << "function " << of << " writes to 0x" << std::hex << address << ", where no frame belongs";
}

void C2hBench::written_completion(unsigned queue, std::uint64_t address, unsigned bytes) {
  Ring& ring = ring_[queue];
  if (!ring.used) return;  // of its past, perhaps
  if (address == status_address(queue)) {
    EXPECT_EQ(bytes, 8U);
    const std::uint64_t word = engine.host.memory.word(function(queue), address);
    EXPECT_EQ(word & 0xffff, ring.arrived % entries(queue)) << name_of(queue) << ": PIDX of a status entry";
    ++ring.statuses;
    return;
  }
  EXPECT_EQ(address, entry_address(queue, static_cast<unsigned>(ring.arrived % entries(queue))))
      << name_of(queue) << ": an entry is in another's place";
  EXPECT_EQ(bytes, 8U << ring.setting.entry);
  if (ring.arrived < ring.frames.size()) compare_arrived(queue);
  ++ring.arrived;
}

/// The payload of the frame whose completion comes is in its buffers.
void C2hBench::compare_arrived(unsigned queue) {
  const Frame& frame = ring_[queue].frames[ring_[queue].arrived];
  for (std::size_t i = 0; i < frame.buffers.size(); ++i) {
    const std::size_t from = i * buffer_bytes(queue);
    const std::size_t count = std::min<std::size_t>(buffer_bytes(queue), frame.bytes.size() - from);
    const Bytes found = engine.host.memory.get(function(queue), frame.buffers[i], count);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), frame.bytes.begin() + static_cast<std::ptrdiff_t>(from)))
        << name_of(queue) << ": a completion is ahead of its payload";
  }
}

void C2hBench::interrupted(const Engine::Interrupt& interrupt) {
  const auto [of, vector] = interrupt;
  if (vector >= queues_of_a_function) return;
  interrupted(of * queues_of_a_function + vector);
}

/// Of the queue that an interrupt ring's entry names; those of errors of a ring of buffers have no status entry.
void C2hBench::told_by_entry(unsigned of, std::uint64_t address) {
  const std::uint64_t entry = engine.host.memory.word(of, address);
  const auto queue = static_cast<unsigned>(entry >> 39 & 0xff'ffff);
  constexpr std::uint64_t of_c2h = std::uint64_t{1} << 38, error = std::uint64_t{3} << 35;
  ASSERT_LT(queue, queues);
  if ((entry & of_c2h) != 0 && (entry & error) == 0) interrupted(queue);
}

void C2hBench::interrupted(unsigned queue) {
  Ring& ring = ring_[queue];
  // Entries of completions behind it may be there already.
  EXPECT_LE(++ring.interrupts, ring.statuses) << name_of(queue) << ": an interrupt is ahead of its status entry";
}

void C2hBench::compare_queue(unsigned queue) {
  Ring& ring = ring_[queue];
  if (!ring.used) return;
  const std::string name = name_of(queue);
  if (!ring.failed) {
    ASSERT_EQ(ring.arrived, ring.frames.size()) << name << ": completions";
    for (std::size_t i = ring.compared; i < ring.frames.size(); ++i)
      for (const std::uint64_t address : ring.frames[i].buffers) {
        const unsigned bytes = expected_.at({function(queue), address});
        EXPECT_TRUE(engine.host.memory.get(function(queue), address - 1, bytes + 2) ==
                    memory.get(function(queue), address - 1, bytes + 2))
            << name << ", frame " << i;
      }
    ring.compared = ring.frames.size();
    const unsigned found = ring.available[0], wanted = ring.available[1];
    EXPECT_TRUE(found == wanted || (found < wanted && found >= ring.used_buffers + cached_limit))
        << name << ": " << found << " descriptors were told by tm_dsc_sts, " << wanted << " by the model's, and "
        << ring.used_buffers << " are used";
  } else if (!ring.refused) {
    EXPECT_EQ(ring.available[0], ring.available[1]) << name << ": descriptors told by tm_dsc_sts";
  }
  const std::size_t bytes = std::size_t{8} << ring.setting.entry;
  for (unsigned i = 0; i < entries(queue); ++i)
    EXPECT_TRUE(engine.host.memory.get(function(queue), entry_address(queue, i), bytes) ==
                memory.get(function(queue), entry_address(queue, i), bytes))
        << name << ", entry " << i;
  // How often a timer has run since the interrupt was armed shows in the state
  // that a status entry tells.
  const std::uint64_t mask = is_timed(ring.setting.mode) ? ~irq_state_bits : ~std::uint64_t{0};
  EXPECT_EQ(engine.host.memory.word(function(queue), status_address(queue)) & mask,
            memory.word(function(queue), status_address(queue)) & mask)
      << name << ": status entry";
  EXPECT_TRUE(ring.status[0] == ring.status[1])
      << name << ": axis_c2h_status, " << ring.status[0].size() << " times, not " << ring.status[1].size();
  for (std::vector<C2hShell::Status>& status : ring.status) status.clear();
  for (const unsigned kind : {sw_c2h, hw_c2h, credit_c2h, completion, prefetch_kind}) read_context(kind, queue);
}

void C2hBench::compare_all() {
  settle();
  tick_model(longest_timer);
  settle();
  sort_out();
  compare_interrupts();
  for (unsigned queue = 0; queue < queues; ++queue) compare_queue(queue);
  for (const std::uint32_t at : {0x248U, 0x254U, 0x25cU, 0x260U, 0x27cU, 0x264U, 0xaf0U, 0xaf8U, 0xb04U}) read(0, at);
  // Queues are served in another order.
  follow_interrupts();
  std::sort(engine.interrupts.begin(), engine.interrupts.end());
  std::sort(memory.events.begin(), memory.events.end(), [](const auto& one, const auto& other) {
    return std::pair(one.function, one.address) < std::pair(other.function, other.address);
  });
  compare();
  engine.host.requests.clear();
}

void C2hBench::compare_failed(unsigned queue) {
  ring_[queue].failed = true;
  compare_all();
}

void C2hBench::compare_refused(unsigned queue) {
  ring_[queue].refused = true;
  compare_failed(queue);
  const Ring& ring = ring_[queue];
  EXPECT_EQ(ring.available[0], std::min(ring.available[1], cached_limit) + ring.frames.back().buffers.size())
      << name_of(queue);
}

void C2hBench::drop(unsigned queue) {
  settle();
  tick_model(longest_timer);
  settle();
  sort_out();
  for (std::vector<C2hShell::Status>& status : ring_[queue].status) status.clear();
}

}  // namespace meridian
