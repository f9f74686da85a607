// SPDX-License-Identifier: Apache-2.0
// Random scripts of H2C rings of all functions. The model stands still between two comparisons, so what a script does
// in between gives the same whatever the order in which queues are served. Rings fail, begin and end while frames of
// others pass, RQ takes nothing now and then, and software masks vectors and reads interrupt rings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "h2c/bench.hpp"

namespace meridian {
namespace {

class H2cScript {
 public:
  explicit H2cScript(std::uint64_t seed) : b_(seed), random_(seed * 3 + 5) {}

  void run(unsigned steps) {
    for (unsigned f = 0; f < H2cBench::functions; ++f)
      b_.begin_interrupts(f, 1 + f % 3, 512 * (1 + f % 3) - 1 - below(20));
    for (unsigned i = 0; i < used; ++i) begin(queue());
    for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    compare();
  }

 private:
  static constexpr unsigned used = 20, queues = 120;
  static constexpr unsigned longest_hold = 3000;  // cycles

  /// One ring may have failed since the last comparison, as the log of errors keeps the first.
  void compare() {
    busy_.clear();
    if (!failing_) return b_.compare_all();
    const unsigned queue = *failing_;
    failing_.reset();
    b_.compare_failed(queue);
    if (below(2) != 0) b_.write(0, 0x254, ~0U);
    begin(queue);
  }

  /// Nothing of the queue is under way.
  bool is_quiet(unsigned queue) const { return !busy_.contains(queue) && failing_ != queue; }

  /// How far a ring is when it ends under way shows in nothing that is compared.
  bool may_end_under_way(unsigned queue) const {
    return b_.is_used(queue) && failing_ != queue && !b_.setting(queue).credits && !b_.setting(queue).interrupt;
  }

  unsigned below(unsigned bound) { return random_.below(bound); }
  unsigned queue() { return below(used) * (queues / used); }

  void begin(unsigned queue) {
    const bool credits = below(4) == 0;
    // When a grant drains a ring is not known, so in what order two send their interrupts.
    const bool interrupt = !credits && below(4) == 0;
    b_.begin(queue, {.credits = credits,
                     .interval = below(2) == 0,
                     .interrupt = interrupt,
                     .aggregate = interrupt && below(2) == 0,
                     .size_index = below(4),
                     .stride = below(3)});
  }

  unsigned length() {
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
        return 1 + below(70);
      case 2:
        return 1500 + below(8000);
      default:
        return 32 + below(500);
    }
  }

  void step() {
    const unsigned queue = this->queue();
    switch (below(32)) {
      case 0:
        return compare();
      case 1:
        return end(queue, [&] { begin(queue); });
      case 2:
        return end(queue, [&] { b_.invalidate(queue); });
      case 3:
        return fail(queue);
      case 4:
      case 5:
        // Contexts are looked at while frames pass.
        b_.write(0, 0x844, ((1 + 2 * below(3)) << 1) | (2U << 5) | (queue << 7));
        return;
      case 6:
      case 7:
        if (b_.is_used(queue) && b_.setting(queue).credits) b_.grant(queue, 1 + below(20));
        busy_.insert(queue);
        return;
      case 8:
        b_.engine.hold_requests = below(longest_hold);
        return;
      case 9:
        return read_interrupts(H2cBench::function(queue));
      case 10:
        return mask(H2cBench::function(queue));
      default:
        return post(queue);
    }
  }

  /// Software tells how far it has read, mostly all, or what is not true.
  void read_interrupts(unsigned function) {
    compare();
    const unsigned pidx = b_.read_context(8, function)[2] >> 6 & 0xfff;
    b_.bell(function, below(4) != 0 ? pidx : below(2) != 0 ? below(pidx + 1) : below(0x10000));
    compare();
  }

  void mask(unsigned function) {
    compare();
    const unsigned vector = below(3) == 0 ? H2cBench::ring_vector : below(8);
    if (below(4) == 0)
      b_.set_msix(function, below(4) != 0, below(4) == 0);
    else
      b_.write(function, MsixTables::table(function) + 16 * vector + 12, below(2));
    compare();
  }

  template <typename Action>
  void end(unsigned queue, Action action) {
    const bool under_way = !is_quiet(queue) && may_end_under_way(queue) && below(2) != 0;
    if (!is_quiet(queue) && !under_way) compare();
    action();
    if (under_way) b_.drop(queue);
    busy_.erase(queue);
  }

  void post(unsigned queue) {
    if (!b_.is_used(queue) || failing_ == queue) return;
    busy_.insert(queue);
    bool pushes = below(2) != 0;
    for (unsigned count = std::min(b_.room(queue), 1 + below(pushes ? 2 : 6)); count != 0; --count) {
      post_frame(queue);
      if (pushes) push(queue);
      pushes = false;
    }
    b_.doorbell(queue);
    // How often an interrupt is sent depends on how far the ring is when it is armed.
    if (b_.setting(queue).interrupt) compare();
  }

  void post_frame(unsigned queue) {
    const unsigned most = b_.entries_of_descriptor(queue);
    const unsigned pieces = most > 1 && below(2) != 0 ? 2 + below(most - 1) : 1;
    if (pieces == 1) return b_.post(queue, length());
    std::vector<unsigned> lengths(pieces);
    for (unsigned& length : lengths) length = 1 + this->length();
    b_.post_pieces(queue, lengths);
  }

  /// Mostly as a driver does it; else a part of it, or parts of it in any order.
  void push(unsigned queue) {
    std::vector<H2cBench::Chunk> parts;
    for (const H2cBench::Chunk& chunk : b_.chunks(queue))
      for (std::size_t from = 0, count = 0; from < std::min<std::size_t>(chunk.words.size(), 128); from += count) {
        count = std::min<std::size_t>(chunk.words.size() - from, 2 * (1 + below(16)));
        parts.push_back({chunk.offset + 4 * static_cast<unsigned>(from),
                         {chunk.words.begin() + static_cast<std::ptrdiff_t>(from),
                          chunk.words.begin() + static_cast<std::ptrdiff_t>(from + count)}});
      }
    if (below(4) == 0) std::swap(parts.front(), parts[below(static_cast<unsigned>(parts.size()))]);
    if (below(8) == 0) parts.pop_back();
    b_.push(queue, parts);
  }

  void fail(unsigned queue) {
    if (failing_ || !is_quiet(queue)) compare();
    begin(queue);
    if (b_.setting(queue).interrupt || b_.setting(queue).credits) return;
    switch (below(6)) {
      case 0:
        b_.doorbell(queue, b_.entries(queue) + below(3000));
        break;
      case 4:
      case 5:
        fail_pieces(queue);
        break;
      case 1:
        b_.post(queue, 100 + below(3000), H2cBench::nowhere + below(100000));
        b_.post(queue, 100);
        b_.doorbell(queue);
        break;
      case 2:
        // Its last parts alone fail.
        b_.post(queue, 1200, H2cBench::nowhere - 1 - below(1000));
        b_.doorbell(queue);
        break;
      default:
        b_.begin(queue, {.lost = true});
        b_.post(queue, 100);
        b_.doorbell(queue);
        break;
    }
    failing_ = queue;
  }

  /// One or two of several pieces are in no memory, or empty, or all are too much.
  void fail_pieces(unsigned queue) {
    b_.begin(queue, {.stride = 1 + below(2)});
    std::vector<H2cBench::Piece> pieces;
    for (unsigned i = 2 + below(b_.entries_of_descriptor(queue) - 1); i != 0; --i) {
      const unsigned bytes = 1 + length();
      pieces.push_back({b_.place(bytes), bytes});
    }
    for (unsigned faults = 1 + below(2); faults != 0; --faults) {
      H2cBench::Piece& bad = pieces[below(static_cast<unsigned>(pieces.size()))];
      switch (below(3)) {
        case 0:
          bad.address = H2cBench::nowhere + below(100000);
          break;
        case 1:
          bad.length = 0;
          break;
        default:
          bad = {b_.place(65535), 65535};
      }
    }
    b_.post(queue, pieces);
    b_.doorbell(queue);
  }

  H2cBench b_;
  std::set<unsigned> busy_;  // since the last comparison
  std::optional<unsigned> failing_;
  Random random_;
};

class H2cScripts : public testing::TestWithParam<unsigned> {};

TEST_P(H2cScripts, frames_status_entries_and_contexts_are_those_of_the_model) {
  const char* steps = std::getenv("DMA_STEPS");
  H2cScript(GetParam()).run(steps != nullptr ? static_cast<unsigned>(std::stoul(steps)) : 400);
}

INSTANTIATE_TEST_SUITE_P(random, H2cScripts, testing::Range(1U, 9U));

}  // namespace
}  // namespace meridian
