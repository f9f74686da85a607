// SPDX-License-Identifier: Apache-2.0
// Random scripts of H2C rings of all functions. The model stands still between two comparisons, so what a script does
// in between gives the same whatever the order in which queues are served.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "h2c_bench.hpp"

namespace meridian {
namespace {

class H2cScript {
 public:
  explicit H2cScript(std::uint64_t seed) : b_(seed), random_(seed * 3 + 5) {}

  void run(unsigned steps) {
    for (unsigned i = 0; i < used; ++i) begin(queue());
    for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    b_.compare_all();
  }

 private:
  static constexpr unsigned used = 20, queues = 120;

  unsigned below(unsigned bound) { return random_.below(bound); }
  unsigned queue() { return below(used) * (queues / used); }

  void begin(unsigned queue) {
    const bool credits = below(4) == 0;
    // When a grant drains a ring is not known, so in what order two send their interrupts.
    const bool interrupt = !credits && below(4) == 0;
    b_.begin(queue, {.credits = credits,
                     .interval = below(2) == 0,
                     .interrupt = interrupt,
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
        return b_.compare_all();
      case 1:
        b_.compare_all();
        return begin(queue);
      case 2:
        b_.compare_all();
        return b_.invalidate(queue);
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
        return;
      default:
        return post(queue);
    }
  }

  void post(unsigned queue) {
    if (!b_.is_used(queue)) return;
    for (unsigned count = std::min(b_.room(queue), 1 + below(6)); count != 0; --count) b_.post(queue, length());
    b_.doorbell(queue);
    // How often an interrupt is sent depends on how far the ring is when it is armed.
    if (b_.setting(queue).interrupt) b_.compare_all();
  }

  void fail(unsigned queue) {
    b_.compare_all();
    begin(queue);
    if (b_.setting(queue).interrupt || b_.setting(queue).credits) return;
    switch (below(3)) {
      case 0:
        b_.doorbell(queue, b_.entries(queue) + below(3000));
        break;
      case 1:
        b_.post(queue, 100 + below(3000), H2cBench::nowhere + below(100000));
        b_.post(queue, 100);
        b_.doorbell(queue);
        break;
      default:
        b_.begin(queue, {.lost = true});
        b_.post(queue, 100);
        b_.doorbell(queue);
        break;
    }
    b_.compare_failed(queue);
    if (below(2) != 0) b_.write(0, 0x254, ~0U);
    begin(queue);
  }

  H2cBench b_;
  Random random_;
};

class H2cScripts : public testing::TestWithParam<unsigned> {};

TEST_P(H2cScripts, frames_status_entries_and_contexts_are_those_of_the_model) {
  const char* steps = std::getenv("DMA_STEPS");
  H2cScript(GetParam()).run(steps != nullptr ? static_cast<unsigned>(std::stoul(steps)) : 400);
}

INSTANTIATE_TEST_SUITE_P(random, H2cScripts, testing::Range(1U, 5U));

}  // namespace
}  // namespace meridian
