// SPDX-License-Identifier: Apache-2.0
#include "h2c/bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

namespace meridian {

namespace {

constexpr unsigned sw_h2c = 1, hw_h2c = 3, credit_h2c = 5, fmap = 0xc;
constexpr unsigned clear_operation = 0, invalidate_operation = 3;
constexpr unsigned ring_sizes = 0x204;
constexpr unsigned window = 4, window_bytes = 512, window_header = 256;  // a BAR, and what a queue has of it
constexpr std::uint64_t start = 1, end = 2;                              // of a packet

}  // namespace

H2cBench::H2cBench(std::uint64_t seed) : InterruptRings(seed), ring_(queues), random_(seed + 1000) {
  for (unsigned i = 0; i < sizes.size(); ++i) write(0, ring_sizes + 4 * i, sizes[i]);
  for (unsigned f = 0; f < functions; ++f) write_context(fmap, f, {f * queues_of_a_function, queues_of_a_function});
  // Where no memory is, each page has its error.
  engine.host.answer_of = [](unsigned, std::uint64_t address) {
    constexpr unsigned page = 4096;
    if (address < nowhere) return RequesterHost::Answer::data;
    return static_cast<RequesterHost::Answer>(1 + address / page % RequesterHost::errors);
  };
  engine.host.on_write = [this](unsigned of, std::uint64_t address) { check_status(of, address); };
}

void H2cBench::begin(unsigned queue, const Setting& setting) {
  sort_out();
  Ring& ring = ring_[queue];
  ring = Ring{};
  ring.setting = setting;
  ring.used = ring.begins = true;
  const std::uint64_t base = ring_address(queue);
  // Enable, credits, interval, size, stride, status entries, interrupt.
  const std::uint32_t word = 1U | (setting.credits ? 1U << 1 : 0) | (setting.interval ? 1U << 3 : 0) |
                             setting.size_index << 12 | (setting.small ? 0 : 1 + setting.stride) << 16 |
                             (setting.status ? 1U << 20 : 0) | (setting.interrupt ? 1U << 21 : 0);
  // Cleared first: else the old ring would move CIDX on.
  command(sw_h2c, clear_operation, queue);
  write_context(hw_h2c, queue, {});
  write_context(sw_h2c, queue,
                {function(queue) << 17, word, static_cast<std::uint32_t>(base), static_cast<std::uint32_t>(base >> 32),
                 setting.aggregate ? function(queue) | 1U << 11 : queue % 8});
  set_word(function(queue), status_address(queue), 0);
  ring.begins = false;
}

void H2cBench::invalidate(unsigned queue) {
  command(sw_h2c, invalidate_operation, queue);
  ring_[queue].used = false;
}

std::uint64_t H2cBench::place(unsigned length) {
  const std::uint64_t address = next_place_ + random_.below(4096);
  next_place_ = address + length;
  return address;
}

unsigned H2cBench::room(unsigned queue) const {
  const Ring& ring = ring_[queue];
  const auto open = static_cast<unsigned>(ring.posted.size() - ring.compared);
  return open + 1 >= entries(queue) ? 0 : entries(queue) - 1 - open;
}

void H2cBench::post(unsigned queue, const std::vector<Piece>& pieces) {
  Ring& ring = ring_[queue];
  const std::size_t room = entries_of_descriptor(queue);
  if (pieces.empty() || pieces.size() > room) throw std::invalid_argument("a descriptor has other entries");
  Posted posted{pieces, static_cast<std::uint32_t>(random_.next()), {}};
  // Entries that are not the frame's are anything.
  for (std::size_t i = 0; i < room; ++i) {
    const std::uint64_t at = descriptor_address(queue, ring.pidx) + 16 * i;
    set_word(function(queue), at, random_.next());
    set_word(function(queue), at + 8, random_.next());
    if (i >= pieces.size()) continue;
    const Piece& piece = pieces[i];
    Bytes bytes(piece.length);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_.next());
    set(function(queue), piece.address, bytes);
    posted.bytes.insert(posted.bytes.end(), bytes.begin(), bytes.end());
    const auto metadata = i == 0 ? posted.metadata : static_cast<std::uint32_t>(random_.next());
    const std::uint64_t low = metadata | std::uint64_t{piece.length} << 32 | flags(i, pieces.size(), room) << 48;
    set_word(function(queue), at, low);
    set_word(function(queue), at + 8, piece.address);
  }
  ring.posted.push_back(std::move(posted));
  ring.pidx = (ring.pidx + 1) % entries(queue);
}

/// Start and end, and bits that mean nothing. The descriptor's end is a frame's end, too.
std::uint64_t H2cBench::flags(std::size_t entry, std::size_t pieces, std::size_t room) {
  const std::uint64_t nothing = random_.below(1U << 14) << 2;
  const bool any = random_.below(2) != 0;
  if (pieces == 1) {
    if (room == 1) return nothing | random_.below(4);
    constexpr std::array<unsigned, 3> alone = {0, start | end, end};
    return nothing | alone.at(random_.below(alone.size()));
  }
  if (entry == 0) return nothing | start;
  const bool ends = entry + 1 == pieces && (pieces != room || any);
  return nothing | (random_.below(2) != 0 ? start : 0U) | (ends ? end : 0U);
}

void H2cBench::post_pieces(unsigned queue, const std::vector<unsigned>& lengths) {
  std::vector<Piece> pieces;
  for (const unsigned length : lengths) pieces.push_back({place(length), length});
  post(queue, pieces);
}

void H2cBench::doorbell(unsigned queue, unsigned pidx) {
  const unsigned by = function(queue), number = queue % queues_of_a_function;
  const std::uint32_t arm = ring_[queue].setting.interrupt ? 1U << 16 : 0;
  ring_[queue].rung = ring_[queue].posted.size();
  write(by, (by < first_vf ? 0x18004 : 0x3004) + 16 * number, pidx | arm);
}

std::vector<H2cBench::Chunk> H2cBench::chunks(unsigned queue) const {
  const Ring& ring = ring_[queue];
  const Posted& posted = ring.posted.back();
  const auto length = static_cast<std::uint32_t>(posted.bytes.size());
  std::vector<std::uint32_t> words((length + 7) / 8 * 2);
  for (std::uint32_t i = 0; i < length; ++i) words[i / 4] |= std::uint32_t{posted.bytes[i]} << (i % 4 * 8);
  const std::uint32_t index = (ring.pidx + entries(queue) - 1) % entries(queue);
  return {{0, words}, {window_header, {posted.metadata, length | index << 16}}};
}

void H2cBench::push(unsigned queue, const std::vector<Chunk>& chunks) {
  const unsigned at = window_bytes * (queue % queues_of_a_function);
  ring_[queue].posted.back().pushed = true;
  for (const Chunk& chunk : chunks) engine.write(function(queue), at + chunk.offset, chunk.words, window);
}

unsigned H2cBench::unread(unsigned queue) const {
  const auto was_read = [this, queue](const Posted& posted) {
    const Piece& piece = posted.pieces.front();
    return engine.host.answered(function(queue), piece.address, piece.length) != 0;
  };
  const std::vector<Posted>& posted = ring_[queue].posted;
  return static_cast<unsigned>(std::count_if(posted.begin(), posted.end(), std::not_fn(was_read)));
}

void H2cBench::grant(unsigned queue, unsigned count) {
  ring_[queue].credits += count;
  Lockstep::grant(queue, count);
}

std::size_t H2cBench::expected(const Ring& ring) const {
  return ring.setting.credits ? static_cast<std::size_t>(std::min<std::uint64_t>(ring.rung, ring.credits)) : ring.rung;
}

/// Each frame and message goes to its queue.
void H2cBench::sort_out() {
  for (Engine::Frame& frame : engine.frames) ring_.at(frame.queue).found.push_back(std::move(frame));
  engine.frames.clear();
  for (const FakeShell::Taken& frame : shell.taken)
    ring_.at(frame.queue).wanted.push_back({frame.queue, frame.bytes, frame.metadata, false});
  shell.taken.clear();
  for (const DescriptorMessage& message : engine.messages) follow(ring_.at(message.qid), 0, message);
  engine.messages.clear();
  for (const DescriptorMessage& message : shell.messages)
    if (!message.c2h) follow(ring_.at(message.qid), 1, message);
  shell.messages.clear();
}

const Engine::Frame& H2cBench::newest(unsigned queue) {
  sort_out();
  const std::vector<Engine::Frame>& found = ring_[queue].found;
  return found.at(found.size() - 1);
}

void H2cBench::follow(Ring& ring, unsigned which, const DescriptorMessage& message) {
  EXPECT_EQ(message.qen, !message.qinv);
  ring.available[which] = message.qinv ? 0 : ring.available[which] + message.avl;
}

/// A status entry of the RTL: what it says has ended was read before.
void H2cBench::check_status(unsigned of, std::uint64_t address) {
  if (is_entry(of, address)) return;
  sort_out();
  for (unsigned queue = of * queues_of_a_function; queue < (of + 1) * queues_of_a_function; ++queue) {
    Ring& ring = ring_[queue];
    if (ring.begins) return;  // an entry of its past, perhaps
    if (!ring.used || status_address(queue) != address) continue;
    const std::uint64_t word = engine.host.memory.word(of, address);
    const auto cidx = static_cast<unsigned>(word >> 16 & 0xffff);
    const std::size_t before = ring.told % entries(queue);
    ring.told += (cidx + entries(queue) - before) % entries(queue);
    EXPECT_LE(ring.told, expected(ring)) << "queue " << queue << ": a status entry is ahead of what is posted";
    if (ring.told == 0 || ring.told > ring.posted.size()) return;
    const Posted& last = ring.posted[ring.told - 1];
    for (const Piece& piece : last.pieces)
      if (const auto read = engine.host.answered(of, piece.address, piece.length); !last.pushed || read != 0)
        EXPECT_EQ(read, piece.length) << "queue " << queue << ": a status entry came before the payload was read";
    // The last beat of the last frame may wait for the shell.
    EXPECT_GE(ring.found.size() + 1, ring.told) << "queue " << queue << ": a status entry is ahead of frames";
    return;
  }
  ADD_FAILURE() << "function " << of << " writes to 0x" << std::hex << address << ", where no status entry is";
}

void H2cBench::compare_queue(unsigned queue) {
  Ring& ring = ring_[queue];
  if (!ring.used) return;
  const std::string name = "queue " + std::to_string(queue);
  const std::size_t count = ring.failed ? ring.compared : expected(ring);
  // The model has no frame that fails behind its first piece; the RTL ends it with an error.
  if (ring.failed && ring.found.size() == count + 1 && ring.posted[count].pieces.size() > 1 && ring.found.back().error)
    ring.found.pop_back();
  ASSERT_EQ(ring.found.size(), count) << name;
  ASSERT_EQ(ring.wanted.size(), count) << name << " of the model";
  ring.compared = count;
  for (std::size_t i = 0; i < ring.found.size(); ++i) {
    EXPECT_FALSE(ring.found[i].error) << name;
    EXPECT_EQ(ring.found[i].metadata, ring.posted[i].metadata) << name << ", frame " << i;
    EXPECT_TRUE(ring.found[i].bytes == ring.posted[i].bytes) << name << ", frame " << i;
    EXPECT_TRUE(ring.wanted[i].bytes == ring.posted[i].bytes) << name << ", frame " << i << " of the model";
  }
  EXPECT_EQ(ring.available[0], ring.available[1]) << name << ": descriptors told by tm_dsc_sts";
  for (const unsigned kind : {sw_h2c, hw_h2c}) read_context(kind, queue);
  // Credits that were there when a ring failed depend on how far it was.
  if (!ring.failed || !ring.setting.credits) read_context(credit_h2c, queue);
  if (!ring.failed && ring.found.size() != ring.rung) return;
  EXPECT_EQ(engine.host.memory.word(function(queue), status_address(queue)),
            memory.word(function(queue), status_address(queue)))
      << name << ": status entry";
}

void H2cBench::compare_all() {
  settle();
  sort_out();
  compare_interrupts();
  for (unsigned queue = 0; queue < queues; ++queue) compare_queue(queue);
  for (const std::uint32_t at : {0x248U, 0x254U, 0x25cU, 0x260U, 0x27cU, 0x264U, 0xb04U}) read(0, at);
  compare();
  engine.host.requests.clear();
}

void H2cBench::compare_failed(unsigned queue, unsigned more) {
  ring_[queue].failed = true;
  ring_[queue].compared += more;
  compare_all();
}

void H2cBench::drop(unsigned queue) {
  settle();
  sort_out();
  ring_[queue].found.clear();
  ring_[queue].wanted.clear();
}

}  // namespace meridian
