// SPDX-License-Identifier: Apache-2.0
// Random scripts of C2H queues of all functions. The model stands still between
// two comparisons, so a script does with a queue whose frames are under way
// only what gives the same whenever it comes: more buffers and more frames.
// Rings fail, begin and end while frames of others pass, and RQ takes nothing
// now and then.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "c2h/bench.hpp"

namespace meridian {
namespace {

class C2hScript {
 public:
  explicit C2hScript(std::uint64_t seed) : b_(seed), random_(seed * 5 + 3) {}

  void run(unsigned steps) {
    for (unsigned f = 0; f < C2hBench::functions; ++f)
      b_.begin_interrupts(f, 1 + f % 3, 512 * (1 + f % 3) - 1 - below(20));
    for (unsigned i = 0; i < used; ++i) begin(queue());
    for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    compare();
  }

 private:
  static constexpr unsigned used = 20, queues = 120;
  static constexpr unsigned longest_hold = 3000;  // cycles
  static constexpr std::uint32_t sw_c2h = 0, hw_c2h = 2, completion = 6, prefetch = 7;

  /// One ring may have failed since the last comparison, as the log of errors
  /// keeps the first.
  void compare() {
    busy_.clear();
    if (!failing_) return b_.compare_all();
    const unsigned queue = *failing_;
    failing_.reset();
    b_.compare_failed(queue);
    for (const std::uint32_t at : {0x254U, 0xaf0U})
      if (below(2) != 0) b_.write(0, at, ~0U);
    begin(queue);
  }

  bool is_quiet(unsigned queue) const { return !busy_.contains(queue) && failing_ != queue; }

  unsigned below(unsigned bound) { return random_.below(bound); }
  unsigned queue() { return below(used) * (queues / used); }

  void begin(unsigned queue) {
    // When a timer ends is not known, so what an entry tells of the ring then.
    const unsigned mode = below(6);
    b_.begin(queue, {.mode = mode,
                     .size_index = below(4),
                     .buffer_index = below(4),
                     .counter = below(4),
                     .timer = below(4),
                     .entry = below(4),
                     .interrupt = below(2) == 0,
                     .full_update = below(2) == 0,
                     .prefetch = below(2) == 0,
                     .no_overflow_check = below(4) == 0,
                     .buffer_interrupt = below(2) == 0,
                     .aggregate = !C2hBench::is_timed(mode) && below(2) == 0});
  }

  unsigned length() {
    switch (below(8)) {
      case 0:
        return 1;
      case 1:
        return 1 + below(70);
      case 2:
        return 1500 + below(8000);
      default:
        return 32 + below(1500);
    }
  }

  void step() {
    const unsigned queue = this->queue();
    switch (below(32)) {
      case 0:
        return compare();
      case 1:
        return end(queue, true);
      case 2:
        return end(queue, false);
      case 3:
        return fail(queue);
      case 4:
      case 5: {
        // Contexts are looked at while frames pass.
        const std::uint32_t kinds[] = {sw_c2h, hw_c2h, completion, prefetch};
        return b_.write(0, 0x844, kinds[below(4)] << 1 | (2U << 5) | (queue << 7));
      }
      case 6:
      case 7:
        b_.engine.hold_requests = below(longest_hold);
        return;
      case 8:
      case 9:
      case 10:
      case 11:
        return read_completions(queue);
      case 12:
        return read_interrupts(C2hBench::function(queue));
      default:
        return send(queue);
    }
  }

  void end(unsigned queue, bool again) {
    if (!b_.is_used(queue)) return begin(queue);
    // Whether it has sent its interrupt by now is not known.
    if (failing_ == queue || (!is_quiet(queue) && b_.setting(queue).interrupt)) compare();
    b_.invalidate(queue);
    b_.drop(queue);
    if (again) begin(queue);
    compare();
  }

  void send(unsigned queue) {
    if (!b_.is_used(queue) || failing_ == queue) return;
    busy_.insert(queue);
    b_.post(queue, std::min(b_.room(queue), below(8)));
    if (below(2) == 0) b_.engine.run(below(400));
    for (unsigned count = 1 + below(6); count != 0; --count) b_.send(queue, length());
  }

  void read_completions(unsigned queue) {
    if (!b_.is_used(queue)) return;
    if (!is_quiet(queue)) compare();
    if (!b_.is_used(queue)) return;
    b_.read_completions(queue, below(b_.unread(queue) + 1), below(4) != 0);
    busy_.insert(queue);  // a timer may run
    // What an entry tells of the ring depends on whether frames come before it may leave.
    if (b_.setting(queue).aggregate) compare();
  }

  /// Software tells how far it has read an interrupt ring, mostly all, or what is not true.
  void read_interrupts(unsigned function) {
    compare();
    const unsigned pidx = b_.interrupt_pidx(function);
    b_.bell(function, below(4) != 0 ? pidx : below(2) != 0 ? below(pidx + 1) : below(0x10000));
    compare();
  }

  void fail(unsigned queue) {
    if (failing_ || !is_quiet(queue)) compare();
    begin(queue);
    switch (below(4)) {
      case 0:
        b_.doorbell(queue, b_.entries(queue) + below(3000));
        break;
      case 1:
        b_.completion_doorbell(queue, below(2) == 0 ? 1 : b_.entries(queue) + below(3000));
        break;
      case 2: {
        if (b_.setting(queue).no_overflow_check) return;
        b_.post(queue, b_.entries(queue) - 1);
        for (unsigned sent = 0; sent + 1 < b_.entries(queue); ++sent) {
          b_.wait_for_credit(queue, 1);
          b_.send_anyway(queue, 1 + below(200));
        }
        b_.compare_all();
        busy_.clear();
        b_.post(queue, 1);
        b_.wait_for_credit(queue, 1);
        b_.send_anyway(queue, 1 + below(200));
        break;
      }
      default: {
        C2hBench::Setting setting = b_.setting(queue);
        setting.lost = true;
        b_.begin(queue, setting);
        b_.post(queue, 1 + below(5));
        b_.send_anyway(queue, 1 + below(200));
        break;
      }
    }
    failing_ = queue;
  }

  C2hBench b_;
  std::set<unsigned> busy_;  // since the last comparison
  std::optional<unsigned> failing_;
  Random random_;
};

class C2hScripts : public testing::TestWithParam<unsigned> {};

TEST_P(C2hScripts, buffers_completions_contexts_and_interrupts_are_those_of_the_model) {
  const char* steps = std::getenv("DMA_STEPS");
  C2hScript(GetParam()).run(steps != nullptr ? static_cast<unsigned>(std::stoul(steps)) : 300);
}

INSTANTIATE_TEST_SUITE_P(random, C2hScripts, testing::Range(1U, 9U));

}  // namespace
}  // namespace meridian
