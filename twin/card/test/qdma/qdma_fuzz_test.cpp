// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

/// What a hostile or broken driver may do, at random.
class Fuzz {
 public:
  Fuzz(QdmaBench& bench, std::uint64_t seed) : b_(bench), random_(seed) {}

  unsigned below(unsigned bound) { return random_.below(bound); }

  /// Mostly values near what makes sense: those get furthest.
  std::uint32_t value() {
    switch (below(5)) {
      case 0:
        return below(70);
      case 1:
        return below(70) | (below(32) << 16);
      case 2:
        return below(70) | (1U << 28) | (below(8) << 24);
      case 3:
        return 1U << below(32);
      default:
        return static_cast<std::uint32_t>(random_.next());
    }
  }

  void doorbell(unsigned function, unsigned queues) { b_.ring(function, below(queues), 4 * below(4), value()); }

  void mailbox(unsigned function) {
    const std::uint32_t base = function < 4 ? reg::pf_mailbox : reg::vf_mailbox;
    const std::uint32_t offsets[] = {
        0x00, 0x04, 0x04, 0x04, 0x08, 0x0c, 0x0c, 0x10, 0x20, 0x100, 0x800 + 4 * below(32), 0xc00 + 4 * below(32),
        0xc00};
    b_.ip.write(function, base + offsets[below(std::size(offsets))], below(2) != 0 ? below(16) : value());
    b_.ip.read(function, base + offsets[below(std::size(offsets))]);
  }

  void anywhere(unsigned function) {
    const std::uint32_t offset = below(function < 4 ? 0x40000 : 0x8000);
    b_.ip.write(function, offset, value());
    b_.ip.read(function, offset);
  }

  /// A context command with words that are almost right.
  void context(unsigned queues) {
    for (unsigned i = 0; i < 8; ++i) {
      b_.set_csr(reg::context_data + 4 * i, value());
      if (below(4) == 0) b_.set_csr(reg::context_mask + 4 * i, below(2) != 0 ? ~0U : value());
    }
    if (below(2) != 0) b_.set_csr(reg::context_data + 4, 1U | (below(2) << 16) | (1U << 20) | (below(16) << 12));
    b_.command(below(13), below(4), below(8) == 0 ? below(8192) : below(queues));
  }

  void memory(unsigned function, std::uint64_t address, unsigned bytes) {
    const std::uint64_t offset = below(bytes) & ~7U;
    b_.memory.set_word(function, address + offset, below(2) != 0 ? random_.next() : random_.next() & 0xff00ffffffULL);
  }

 private:
  QdmaBench& b_;
  Random random_;
};

constexpr auto enough = std::chrono::seconds(2);

/// VFs do what they like with what is theirs; a PF's queue next to theirs must deliver as if it were alone, and nothing
/// may touch memory that is not the VF's own.
TEST(QdmaFuzz, VfsCannotHarmAPf) {
  const auto start = std::chrono::steady_clock::now();
  unsigned rounds = 0;
  for (std::uint64_t seed = 1; std::chrono::steady_clock::now() - start < enough; ++seed, ++rounds) {
    QdmaSetting setting;
    setting.c2h_drop = true;
    QdmaBench b(setting);
    Fuzz fuzz(b, seed);
    b.set_tables();
    b.set_fmap(0, 0, 4);
    const QueueSetting victim{.queue = 2, .ring_index = 1, .mode = 1, .vector = 3};
    b.start_h2c(victim);
    b.start_c2h(victim);
    b.put_buffers(victim, 0, 62);
    b.ring(0, 2, reg::c2h_pidx, 62);
    b.ring(0, 2, reg::completion_cidx, 1U << 28);
    for (unsigned vf = 4; vf < 8; ++vf) {
      b.ip.enable_function(vf, true, 0);
      b.set_fmap(vf, 100 + 4 * (vf - 4), 4);
      for (unsigned i = 0; i < 4; ++i) {
        const QueueSetting q{.function = vf,
                             .queue = 100 + 4 * (vf - 4) + i,
                             .ring_index = 1,
                             .h2c_interrupt = fuzz.below(2) != 0,
                             .buffer_index = fuzz.below(16),
                             .prefetch = fuzz.below(2) != 0,
                             .mode = fuzz.below(6),
                             .timer = fuzz.below(16),
                             .entry_size = fuzz.below(4),
                             .full_update = fuzz.below(2) != 0};
        b.start_h2c(q);
        b.start_c2h(q);
        b.put_buffers(q, 0, 62);
      }
    }
    unsigned sent = 0, delivered = 0;
    for (unsigned step = 0; step < 3000; ++step) {
      const unsigned vf = 4 + fuzz.below(4);
      switch (fuzz.below(6)) {
        case 0:
        case 1:
          fuzz.doorbell(vf, 6);
          break;
        case 2:
          fuzz.mailbox(vf);
          break;
        case 3:
          fuzz.anywhere(vf);
          break;
        case 4:
          fuzz.memory(vf, QdmaBench::h2c_ring({.queue = 100 + fuzz.below(16)}), 1024);
          break;
        default:
          b.shell.send(100 + fuzz.below(16), test_frame(1 + fuzz.below(3000), step));
      }
      if (fuzz.below(200) == 0) b.ip.enable_function(vf, fuzz.below(2) != 0, 0);
      if (fuzz.below(4) == 0) b.tick();
      if (step % 50 != 49) continue;
      b.put_h2c(victim, sent % 63, test_frame(300, sent), sent);
      b.shell.send(2, test_frame(200, sent));
      ++sent;
      b.ring(0, 2, reg::h2c_pidx, sent % 63);
      b.run_until(
          [&] { return b.h2c_done(victim) == sent % 63 && (b.completion_status(victim) & 0xffff) == sent % 63; });
      EXPECT_EQ(b.memory.get(0, QdmaBench::buffer(victim, delivered % 63), 200), test_frame(200, delivered));
      ++delivered;
      b.ring(0, 2, reg::c2h_pidx, (sent + 62) % 63);
      b.ring(0, 2, reg::completion_cidx, (sent % 63) | (1U << 28));
    }
    EXPECT_EQ((b.memory.interrupts[{0, 3}]), sent);
    unsigned taken = 0;
    for (const auto& frame : b.shell.taken) {
      if (frame.queue != 2) {
        EXPECT_TRUE(frame.queue >= 100 && frame.queue < 116);
        continue;
      }
      EXPECT_EQ(frame.bytes, test_frame(300, taken++));
    }
    EXPECT_EQ(taken, sent);
    for (const auto& event : b.memory.events) {
      ASSERT_TRUE(event.function == 0 || (event.function >= 4 && event.function < 8));
      if (event.function != 0 || event.kind != TestMemory::Event::Kind::write) continue;
      const auto within = [&](std::uint64_t base, std::uint64_t bytes) {
        return event.address >= base && event.address - base < bytes;
      };
      const bool ring = within(QdmaBench::h2c_ring(victim), 0x80000);
      const bool completion = within(QdmaBench::completions(victim), 0x1000);
      const bool buffer = within(QdmaBench::buffer(victim, 0), 63 * 0x4000);
      ASSERT_TRUE(ring || completion || buffer) << std::hex << event.address;
    }
    b.run_until([&] { return b.ip.idle(); });
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(rounds, 2U);
}

/// PFs may break the IP's set-up, but not the model: it ends idle or waits for a buffer, and after a reset it works.
TEST(QdmaFuzz, NothingCrashesOrHangs) {
  const auto start = std::chrono::steady_clock::now();
  unsigned rounds = 0;
  for (std::uint64_t seed = 1; std::chrono::steady_clock::now() - start < enough; ++seed, ++rounds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QdmaSetting setting;
    setting.c2h_drop = seed % 2 != 0;
    setting.h2c_gather = seed % 3 == 0;
    setting.pcie.unlimited = seed % 4 != 0;
    setting.queues = seed % 5 == 0 ? 512 : 2048;
    QdmaBench b(setting);
    Fuzz fuzz(b, seed);
    b.memory.end = std::uint64_t{1} << 34;
    b.memory.record = false;
    b.set_tables();
    for (unsigned f = 0; f < 10; ++f) b.set_fmap(f, 8 * f, 8);
    for (unsigned f = 4; f < 10; ++f) b.ip.enable_function(f, true, f % 4);
    for (unsigned i = 0; i < 80; ++i) {
      const QueueSetting q{.function = i / 8,
                           .queue = i,
                           .ring_index = fuzz.below(2),
                           .h2c_interrupt = true,
                           .prefetch = fuzz.below(2) != 0,
                           .mode = fuzz.below(6),
                           .aggregate = fuzz.below(2) != 0};
      b.start_h2c(q);
      b.start_c2h(q);
      b.put_buffers(q, 0, 62);
    }
    unsigned resets = 0, done = 0;
    for (unsigned step = 0; step < 6000; ++step) {
      const unsigned function = fuzz.below(12);
      switch (fuzz.below(12)) {
        case 0:
        case 1:
        case 2:
          fuzz.doorbell(function, 10);
          break;
        case 3:
          fuzz.mailbox(function);
          break;
        case 4:
          fuzz.anywhere(function);
          break;
        case 5:
          fuzz.context(100);
          break;
        case 6:
          fuzz.memory(fuzz.below(10), QdmaBench::h2c_ring({.queue = fuzz.below(80)}), 2048);
          break;
        case 7:
          if (b.shell.to_send() < 50) b.shell.send(fuzz.below(100), test_frame(1 + fuzz.below(5000), step));
          break;
        case 8:
          if (fuzz.below(20) == 0) {
            ++resets;
            b.ip.reset_function(fuzz.below(300), [&] { ++done; });
          }
          break;
        case 9:
          if (fuzz.below(10) == 0) b.ip.enable_function(fuzz.below(300), fuzz.below(4) != 0, fuzz.below(5));
          b.memory.hold = fuzz.below(2) != 0;
          break;
        default:
          b.run(fuzz.below(8));
          while (b.memory.held() != 0 && fuzz.below(8) != 0)
            b.memory.answer(fuzz.below(static_cast<unsigned>(b.memory.held())));
      }
      b.shell.h2c_ready = fuzz.below(3) != 0;
      b.shell.status_ready = fuzz.below(3) != 0;
    }
    b.memory.hold = false;
    b.shell.h2c_ready = b.shell.status_ready = true;
    b.memory.answer_all();
    b.run_until([&] { return b.ip.idle() || b.ip.waits_for().find("a buffer of queue") != std::string::npos; });
    b.run(100);
    EXPECT_EQ(done, resets);

    b.ip.reset();
    b.run_until([&] { return b.ip.idle() && b.streams.c2h.idle() && b.shell.to_send() == 0; });
    b.ip.enable_function(0, true, 0);
    b.set_tables();
    b.set_fmap(0, 0, 8);
    const QueueSetting q{.queue = 5, .ring_index = 1, .mode = 1};
    b.start_h2c(q);
    b.start_c2h(q);
    b.put_buffers(q, 0, 62);
    b.ring(0, 5, reg::c2h_pidx, 62);
    b.shell.taken.clear();
    b.memory.set_word(0, QdmaBench::h2c_ring(q) + 16 * QdmaBench::entries(q), 0);
    b.put_h2c(q, 0, test_frame(64, 1), 0);
    b.ring(0, 5, reg::h2c_pidx, 1);
    b.shell.send(5, test_frame(64, 2));
    b.run_until(
        [&] { return b.h2c_done(q) == 1 && b.memory.get(0, QdmaBench::buffer(q, 0), 64) == test_frame(64, 2); });
    EXPECT_EQ(b.shell.taken.size(), 1U);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(rounds, 2U);
}

}  // namespace
}  // namespace meridian
