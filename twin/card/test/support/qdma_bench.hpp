// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "fake_shell.hpp"
#include "qdma/qdma_ip.hpp"
#include "qdma/state/context_fields.hpp"
#include "qdma/state/registers.hpp"
#include "test_memory.hpp"

namespace meridian {

/// A queue as a driver sets it up; the defaults are those of the public OpenNIC driver.
struct QueueSetting {
  unsigned function = 0;
  unsigned queue = 0;       // of all queues
  unsigned ring_index = 8;  // 1024
  std::uint64_t ring = 0;   // address; 0: a place of its own
  bool h2c_interrupt = false;
  unsigned h2c_vector = 0;
  unsigned h2c_stride = 0;    // from one descriptor to the next: 16 bytes << h2c_stride
  unsigned buffer_index = 8;  // 4096
  bool prefetch = true;
  unsigned mode = 5;
  unsigned counter = 0;     // 64
  unsigned timer = 0;       // 10 ticks
  unsigned entry_size = 0;  // 8 bytes << entry_size
  unsigned vector = 0;
  bool interrupt = true;
  bool aggregate = false;
  bool full_update = false;
  bool c2h_status = true;  // WBK_EN of the C2H ring, on which nothing hangs
  bool no_marker = false;  // MRKR_DIS of the H2C ring
  bool status = true;
  bool h2c_credits = false;  // fetches on credit

  /// The Xilinx Linux driver: every completion, interrupts of both directions through an aggregation ring.
  static QueueSetting of_linux(unsigned queue, unsigned interrupt_ring) {
    return {.queue = queue,
            .ring_index = 1,
            .h2c_interrupt = true,
            .h2c_vector = interrupt_ring,
            .buffer_index = 0,
            .mode = 1,
            .vector = interrupt_ring,
            .aggregate = true,
            .c2h_status = false,
            .no_marker = true};
  }

  /// The Xilinx DPDK driver: no interrupts, status entries by timer.
  static QueueSetting of_dpdk(unsigned queue) {
    return {.queue = queue,
            .ring_index = 1,
            .buffer_index = 4,
            .prefetch = false,
            .mode = 4,
            .timer = 8,
            .interrupt = false};
  }
};

/// The IP between a machine's memory and a fake shell, with the register sequences of a driver.
class QdmaBench {
 public:
  static constexpr unsigned ring_sizes[16] = {4096, 64,   128,  192,  256,  384,  512,   768,
                                              1024, 1536, 3072, 4096, 6144, 8192, 12288, 16384};
  static constexpr unsigned timers[16] = {10, 2, 4, 5, 8, 10, 15, 20, 25, 30, 50, 75, 100, 125, 150, 200};
  static constexpr unsigned counters[16] = {64, 2, 4, 8, 16, 24, 32, 48, 80, 96, 112, 128, 144, 160, 176, 192};
  static constexpr unsigned buffers[16] = {4096, 256,  512,  1024, 2048, 3968, 4096, 4096,
                                           4096, 4096, 4096, 4096, 4096, 8192, 9018, 16384};

  explicit QdmaBench(const QdmaSetting& setting = {})
      : streams(shell.make_streams(1)), owner(std::make_unique<QdmaIp>(setting, streams, memory)), ip(*owner) {
    for (unsigned pf = 0; pf < setting.pfs; ++pf) ip.enable_function(pf, true, pf);
  }

  TestMemory memory;
  FakeShell shell;
  Qdma streams;
  std::unique_ptr<QdmaIp> owner;
  QdmaIp& ip;
  std::uint64_t now_ps = 0;

  void tick() {
    now_ps += 4000;
    streams.c2h.sample(now_ps);
    streams.h2c.sample();
    streams.flr.sample(now_ps);
    streams.credit.sample(now_ps);
    shell.sample();
    ip.tick(now_ps);
    streams.c2h.drive();
    streams.h2c.drive(now_ps);
    streams.flr.drive();
    streams.credit.drive();
    shell.drive();
  }

  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) tick();
  }

  /// Ticks until done holds; the number of ticks, or an exception when there are too many.
  unsigned run_until(const std::function<bool()>& done, unsigned limit = 100'000) {
    for (unsigned i = 0; i < limit; ++i) {
      if (done()) return i;
      tick();
    }
    throw std::runtime_error("does not happen; the IP waits for: " + (ip.idle() ? "nothing" : ip.waits_for()));
  }

  void drain() {
    run_until([this] { return ip.idle() && streams.c2h.idle() && streams.h2c.idle() && shell.to_send() == 0; });
    run(4);
  }

  std::uint32_t csr(std::uint32_t offset) { return ip.read(0, offset); }
  void set_csr(std::uint32_t offset, std::uint32_t value) { ip.write(0, offset, value); }

  void command(unsigned kind, unsigned operation, unsigned index) {
    set_csr(reg::context_command, (kind << 1) | (operation << 5) | (index << 7));
  }
  void write_context(unsigned kind, unsigned index, const std::array<std::uint32_t, 8>& words) {
    for (unsigned i = 0; i < 8; ++i) {
      set_csr(reg::context_data + 4 * i, words[i]);
      set_csr(reg::context_mask + 4 * i, ~0U);
    }
    command(kind, 1, index);
  }
  std::array<std::uint32_t, 8> read_context(unsigned kind, unsigned index) {
    command(kind, 2, index);
    std::array<std::uint32_t, 8> words;
    for (unsigned i = 0; i < 8; ++i) words[i] = csr(reg::context_data + 4 * i);
    return words;
  }

  void set_tables() {
    for (unsigned i = 0; i < 16; ++i) {
      set_csr(reg::ring_size + 4 * i, ring_sizes[i]);
      set_csr(reg::timer_count + 4 * i, timers[i]);
      set_csr(reg::count_threshold + 4 * i, counters[i]);
      set_csr(reg::buffer_size + 4 * i, buffers[i]);
    }
    set_csr(reg::timer_tick, 25);
  }

  void set_fmap(unsigned function, unsigned base, unsigned count) { write_context(0xc, function, {base, count}); }

  static std::uint64_t h2c_ring(const QueueSetting& q) {
    return q.ring != 0 ? q.ring : 0x10000000ULL + q.queue * 0x80000ULL;
  }
  static std::uint64_t c2h_ring(const QueueSetting& q) { return h2c_ring(q) + 0x40000; }
  static std::uint64_t completions(const QueueSetting& q) { return 0x1'00000000ULL + q.queue * 0x200000ULL; }
  static unsigned entries(const QueueSetting& q) { return ring_sizes[q.ring_index] - 1; }

  void start_h2c(const QueueSetting& q) {
    command(1, 0, q.queue);
    SwContext c;
    c.set(sw::function, q.function);
    c.set(sw::enable, 1);
    c.set(sw::credit_enable, q.h2c_credits);
    c.set(sw::status_check, 1);
    c.set(sw::status_interval, 1);
    c.set(sw::ring_index, q.ring_index);
    c.set(sw::descriptor_size, 1 + q.h2c_stride);
    c.set(sw::status_enable, 1);
    c.set(sw::irq_enable, q.h2c_interrupt);
    c.set(sw::irq_arm, q.h2c_interrupt);
    c.set(sw::vector, q.h2c_vector);
    c.set(sw::aggregate, q.aggregate);
    c.set({1, 30, 1}, q.no_marker);
    c.words[2] = static_cast<std::uint32_t>(h2c_ring(q));
    c.words[3] = static_cast<std::uint32_t>(h2c_ring(q) >> 32);
    write_context(1, q.queue, c.words);
    command(3, 0, q.queue);
    command(5, 0, q.queue);
  }

  void start_c2h(const QueueSetting& q) {
    SwContext c;
    c.set(sw::function, q.function);
    c.set(sw::enable, 1);
    c.set(sw::credit_enable, 1);
    c.set(sw::ring_index, q.ring_index);
    c.set(sw::status_enable, q.c2h_status);
    c.words[2] = static_cast<std::uint32_t>(c2h_ring(q));
    c.words[3] = static_cast<std::uint32_t>(c2h_ring(q) >> 32);
    command(0, 0, q.queue);
    write_context(0, q.queue, c.words);
    command(2, 0, q.queue);
    command(4, 0, q.queue);
    PrefetchContext p;
    p.set(prefetch::buffer_index, q.buffer_index);
    p.set(prefetch::enable, q.prefetch);
    p.set(prefetch::valid, 1);
    write_context(7, q.queue, {p.words[0], p.words[1]});
    write_completion_context(q);
  }

  void write_completion_context(const QueueSetting& q) {
    CompletionContext c;
    c.set(cmpt::status_enable, q.status);
    c.set(cmpt::irq_enable, q.interrupt);
    c.set(cmpt::mode, q.mode);
    c.set(cmpt::function, q.function);
    c.set(cmpt::counter, q.counter);
    c.set(cmpt::timer, q.timer);
    c.set(cmpt::color, 1);
    c.set(cmpt::size_index, q.ring_index);
    c.set(cmpt::entry_size, q.entry_size);
    c.set(cmpt::valid, 1);
    c.set(cmpt::full_update, q.full_update);
    c.set(cmpt::vector, q.vector);
    c.set(cmpt::aggregate, q.aggregate);
    const std::uint64_t base = completions(q);
    c.words[1] = static_cast<std::uint32_t>(base >> 6);
    c.words[2] |= static_cast<std::uint32_t>(base >> 38) & 0x3ffffff;
    c.words[5] |= static_cast<std::uint32_t>((base >> 2) & 0xf) << 14;
    command(6, 0, q.queue);
    write_context(6, q.queue, {c.words[0], c.words[1], c.words[2], c.words[3], c.words[4], c.words[5], c.words[6]});
  }

  /// A doorbell of a function's queue, counted from its first.
  void ring(unsigned function, unsigned queue, std::uint32_t which, std::uint32_t value) {
    ip.write(function, (function < 4 ? reg::pf_doorbells : reg::vf_doorbells) + 16 * queue + which, value);
  }

  /// Puts a frame into host memory and its descriptor into the ring.
  static std::uint64_t h2c_descriptor(const QueueSetting& q, unsigned index) {
    return h2c_ring(q) + (std::uint64_t{16} << q.h2c_stride) * index;
  }
  /// One entry of 16 bytes of a descriptor.
  void put_h2c(const QueueSetting& q, unsigned index, const Bytes& bytes, std::uint32_t metadata, unsigned flags = 0,
               unsigned entry = 0) {
    const std::uint64_t address = 0x2'00000000ULL + q.queue * 0x1000000ULL + index * 0x4000ULL + entry * 0x1000ULL;
    const std::uint64_t at = h2c_descriptor(q, index) + std::uint64_t{16} * entry;
    memory.set(q.function, address, bytes);
    memory.set_word(q.function, at, metadata | (std::uint64_t{bytes.size()} << 32) | (std::uint64_t{flags} << 48));
    memory.set_word(q.function, at + 8, address);
  }
  unsigned h2c_done(const QueueSetting& q) {
    return static_cast<unsigned>(memory.word(q.function, h2c_descriptor(q, entries(q)) + 2, 2));
  }

  static std::uint64_t buffer(const QueueSetting& q, unsigned index) {
    return 0x4'00000000ULL + q.queue * 0x4000000ULL + index * 0x4000ULL;
  }
  void put_buffers(const QueueSetting& q, unsigned from, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned index = (from + i) % entries(q);
      memory.set_word(q.function, c2h_ring(q) + 8 * index, buffer(q, index));
    }
  }
  std::uint64_t entry(const QueueSetting& q, unsigned index) {
    return memory.word(q.function, completions(q) + (8ULL << q.entry_size) * index);
  }
  std::uint64_t completion_status(const QueueSetting& q) {
    return memory.word(q.function, completions(q) + (8ULL << q.entry_size) * entries(q));
  }
};

inline Bytes test_frame(std::size_t bytes, unsigned seed) {
  Bytes frame(bytes);
  for (std::size_t i = 0; i < bytes; ++i) frame[i] = static_cast<std::uint8_t>(seed * 37 + i * 7 + (i >> 8));
  return frame;
}

}  // namespace meridian
