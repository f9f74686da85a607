// SPDX-License-Identifier: Apache-2.0
// Random scripts of what PFs and VFs can do at the registers. There are no rings in memory (h2c/random_test.cpp has
// them), so no doorbell reaches a queue whose context may be enabled, and no context begins with work to do.
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

#include "lockstep.hpp"

namespace meridian {
namespace {

constexpr unsigned quiet_queue = 64;  // from here on queues get no contexts, and doorbells

class Script {
 public:
  explicit Script(std::uint64_t seed) : b_(seed), random_(seed) {}

  void run(unsigned steps) {
    for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
      if (i % 64 == 63) compare();
    }
    compare();
  }

 private:
  void compare() {
    b_.engine.run(300);
    b_.compare_writes();  // no ring is set up, so what this shows is that neither writes to memory
    b_.compare();
  }

  struct Range {
    unsigned base = 0, count = 0;
  };

  unsigned below(unsigned bound) { return random_.below(bound); }
  std::uint32_t word() { return static_cast<std::uint32_t>(random_.next()); }
  unsigned any() { return below(Lockstep::functions); }
  unsigned pf() { return below(Lockstep::pfs); }

  void step() {
    switch (below(19)) {
      case 0:
      case 1:
        return read_csr();
      case 2:
        return write_csr();
      case 3:
        return write_row();
      case 4:
        return read_row();
      case 5:
      case 6:
      case 7:
      case 8:
        return context();
      case 9:
      case 10:
      case 11:
        return doorbell();
      case 12:
      case 13:
      case 14:
        for (unsigned i = below(12); i > 0; --i) mailbox();
        return;
      case 15:
      case 16:
      case 17:
        return msix();
      default:
        if (below(8) == 0) reset();
    }
  }

  /// Mostly where something is.
  std::uint32_t csr() {
    constexpr std::uint32_t known[] = {0x000, 0x100, 0x104, 0x12c, 0x134, 0x204, 0x248, 0x24c, 0x250, 0x254,  0x258,
                                       0x25c, 0x264, 0x268, 0x26c, 0x804, 0x824, 0x844, 0xa00, 0xaf0, 0xaf4,  0xaf8,
                                       0xafc, 0xb04, 0xb0c, 0xbc4, 0xbe0, 0xe00, 0xe04, 0x0e4, 0x318, 0x1014, 0x1040};
    return below(2) != 0 ? known[below(std::size(known))] : 4 * below(0x2000 / 4);
  }

  void read_csr() { b_.read(any(), csr()); }

  void write_csr() {
    const std::uint32_t at = csr();
    if (at == 0x844) return;
    b_.write(any(), at, at == 0xb04 ? word() & 0xff807fff : word());  // to a vector that is there
  }

  void write_row() {
    struct Place {
      std::uint32_t at;
      unsigned words;
    };
    const unsigned function = any();
    const Place places[] = {
        {0x204, 16}, {0xa00, 32}, {0xab0, 16}, {0x804, 16}, {Lockstep::mailbox(function) + 0xc00, 32}};
    const Place& place = places[below(std::size(places))];
    std::vector<std::uint32_t> words(1 + below(place.words));
    for (std::uint32_t& each : words) each = word();
    const unsigned first = below(place.words - static_cast<unsigned>(words.size()) + 1);
    b_.write_row(function, place.at + 4 * first, words);
    b_.read_row(function, place.at, place.words);
  }

  void read_row() {
    const unsigned words = 1 + below(40);
    const unsigned function = any();
    const std::uint32_t end = function < Lockstep::first_vf ? 0x24000 : 0x8000;
    b_.read_row(function, 4 * below(end / 4 - words), words);
  }

  void context() {
    constexpr unsigned rings = 8, map = 0xc;
    const unsigned kind = below(14), operation = below(4), by = pf();
    unsigned index = kind == map ? below(Lockstep::functions) : below(quiet_queue);
    if (below(10) == 0) index = 256 + below(7900);  // which is nowhere
    if (operation == 1) {
      for (unsigned i = 0; i < 8; ++i) {
        b_.write(by, 0x804 + 4 * i, context_word(kind, i));
        b_.write(by, 0x824 + 4 * i, kind == map || below(2) != 0 ? ~0U : word());
      }
      if (kind == map) {
        range_now_ = {below(3) == 0 ? below(quiet_queue) : quiet_queue + below(70), below(40)};
        b_.write(by, 0x804, range_now_.base);
        b_.write(by, 0x808, range_now_.count);
      }
    }
    b_.command(kind, operation, index, by);
    if (kind == map && index < Lockstep::functions) {
      if (operation == 0) range_[index] = {};
      if (operation == 1) range_[index] = range_now_;
      if (operation == 3) range_[index].count = 0;
    }
    b_.read_context(kind, index, by);
    if (kind == rings) b_.read(by, 0x804);
  }

  std::uint32_t context_word(unsigned kind, unsigned place) {
    std::uint32_t value = word();
    const unsigned function = any();
    if (kind <= 1 && place == 0) value = (value & 0xe0010000) | function << 17;
    if ((kind == 2 || kind == 3) && place == 0) value &= 0xffff0000;  // nothing to fetch
    if (kind == 6 && place == 0) value = (value & ~(0xfffU << 5)) | function << 5;
    if (kind == 8 && place == 0) value &= ~0xff0U;  // a vector that is there
    if (kind == 8 && place == 3) value = (value & 0x3ffff) | function << 18;
    return value;
  }

  void doorbell() {
    const unsigned function = any(), queue = below(48), which = below(4);
    const Range& range = range_[function];
    if (queue < range.count && range.base + queue < quiet_queue) return;
    const std::uint32_t at = (function < Lockstep::first_vf ? 0x18000 : 0x3000) + 16 * queue + 4 * which;
    const std::uint32_t of_a_ring = (word() & 0xff000fff) | below(2 * quiet_queue) << 16;
    b_.write(function, at, which == 0 ? of_a_ring : word());
    b_.read(function, at);
    if (below(4) == 0) b_.read(pf(), 0x264);
  }

  /// Masks, enables, and reads of the tables.
  void msix() {
    const unsigned function = any(), vector = below(4) != 0 ? below(4) : below(MsixTables::vectors);
    const std::uint32_t entry = MsixTables::table(function) + 16 * vector;
    switch (below(6)) {
      case 0:
        return b_.set_msix(function, below(8) != 0, below(4) == 0);
      case 1:
        return b_.read_row(function, MsixTables::table(function), 4 * MsixTables::vectors);
      case 2:
        // Also where nothing is written: software may write pending bits.
        return b_.write(function, below(2) != 0 ? MsixTables::pending_bits(function) : entry + 8, word());
      default:
        b_.write(function, entry + 12, word());
        b_.read_row(function, MsixTables::pending_bits(function), 2);
    }
  }

  void mailbox() {
    const unsigned function = any();
    const std::uint32_t base = Lockstep::mailbox(function);
    const std::uint32_t offsets[] = {0x00,
                                     0x04,
                                     0x04,
                                     0x04,
                                     0x04,
                                     0x08,
                                     0x0c,
                                     0x0c,
                                     0x10,
                                     0x14,
                                     0x18,
                                     0x20,
                                     0x24,
                                     0x800 + 4 * below(32),
                                     0xc00 + 4 * below(32),
                                     0xd00 + 4 * below(256)};
    const std::uint32_t at = offsets[below(std::size(offsets))];
    if (below(3) == 0) {
      b_.read(function, base + at);
    } else {
      std::uint32_t value = word();
      if (at == 0x04) value = below(4);
      if (at == 0x08) value = below(4);
      if (at == 0x0c && below(8) != 0) value = Lockstep::vf(function % 4, below(4));
      b_.write(function, base + at, value);
    }
    b_.read(function, base);
  }

  void reset() {
    const unsigned function = any();
    compare();
    if (below(2) != 0)
      b_.reset_by_mailbox(function);
    else
      b_.reset_by_pcie(function);
    for (unsigned f = 0; f < Lockstep::functions; ++f)
      if (f == function || (f >= Lockstep::first_vf && Lockstep::parent(f) == function)) range_[f] = {};
    for (unsigned i = 0; i < 24; ++i) b_.read_context(below(9), below(quiet_queue), pf());
    b_.read_context(0xc, function);
    b_.read_row(function, Lockstep::mailbox(function), 16);
    b_.read_row(function, Lockstep::mailbox(function) + 0xc00, 32);
  }

  Lockstep b_;
  Random random_;
  std::array<Range, Lockstep::functions> range_{};
  Range range_now_;
};

class Scripts : public testing::TestWithParam<unsigned> {};

TEST_P(Scripts, answers_are_those_of_the_model) {
  const char* steps = std::getenv("DMA_STEPS");
  Script(GetParam()).run(steps != nullptr ? static_cast<unsigned>(std::stoul(steps)) : 3000);
}

INSTANTIATE_TEST_SUITE_P(random, Scripts, testing::Range(1U, 9U));

}  // namespace
}  // namespace meridian
