// SPDX-License-Identifier: Apache-2.0
// Function level resets while descriptors and payload are being read: nothing of the function is at the host when the
// block is told that the reset is done, and nothing comes after.
#include <gtest/gtest.h>

#include <algorithm>

#include "h2c/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned queue = 5 * H2cBench::queues_of_a_function + 1;  // of VF 5
constexpr unsigned other = 1, spoilt = 2;                           // of PF 0
constexpr std::uint32_t reset_register = 0x5100;
constexpr unsigned reset_limit = 30'000;  // cycles

class H2cResets : public testing::TestWithParam<unsigned> {
 protected:
  H2cResets() : b(GetParam()), random(GetParam() * 7) {
    for (const unsigned each : {queue, other}) b.begin(each, {.size_index = 3});
  }

  void post(unsigned to, unsigned count, unsigned bytes) {
    for (unsigned i = 0; i < count; ++i) b.post(to, bytes);
    b.doorbell(to);
  }

  /// Of the function, since the last call.
  unsigned requests() {
    const auto& all = b.engine.host.requests;
    const auto count =
        std::count_if(all.begin(), all.end(), [](const auto& request) { return request.function == function; });
    b.engine.host.requests.clear();
    return static_cast<unsigned>(count);
  }

  /// Of PCIe, or of the mailbox's register, with which the function may access memory all the time.
  void begin_reset() {
    if (by_mailbox)
      b.write(function, reset_register, 1);
    else
      b.begin_reset_by_pcie(function);
  }
  bool ends(unsigned limit) {
    if (!by_mailbox) return b.engine.waits_for_done(function, limit);
    constexpr unsigned between = 50;
    for (unsigned i = 0; i < limit; i += between) {
      if (b.engine.read(function, reset_register, 1).at(0) == 0) return true;
      b.engine.run(between);
    }
    return false;
  }

  /// What follows a reset: the function asks for nothing, and its ring can be set up anew.
  void finish() {
    EXPECT_EQ(b.engine.host.open_of(function), 0U) << "a read is still at the host";
    requests();
    if (!by_mailbox) b.finish_reset_by_pcie(function);
    b.engine.takes_frames = true;
    b.engine.host.holds = false;
    b.drop(queue);
    EXPECT_EQ(requests(), 0U) << "the function accesses memory after its reset";
    // Whether a ring has failed that lost its access to memory depends on how far it was: the log begins anew.
    b.invalidate(queue);
    b.write(0, 0x254, ~0U);
    b.write(0, 0x248, ~0U);
    b.begin(spoilt);
    b.doorbell(spoilt, 9999);
    b.compare_failed(spoilt);
    b.write_context(0xc, function, {function * H2cBench::queues_of_a_function, H2cBench::queues_of_a_function});
    b.begin(queue, {.size_index = 1});
    post(queue, 5, 300);
    b.compare_all();
  }

  static constexpr unsigned function = queue / H2cBench::queues_of_a_function;
  H2cBench b;
  Random random;
  const bool by_mailbox = GetParam() % 2 == 0;
};

TEST_P(H2cResets, a_reset_is_not_done_before_the_host_has_answered) {
  b.engine.host.holds = true;
  post(queue, 1 + random.below(40), 64 + random.below(1500));
  post(other, 3, 800);
  b.engine.run(400 + random.below(300));
  ASSERT_NE(b.engine.host.open_of(function), 0U);
  begin_reset();
  EXPECT_FALSE(ends(reset_limit));
  EXPECT_TRUE(b.engine.resets.empty()) << "the shell is told before the host has answered";
  b.engine.host.holds = false;
  ASSERT_TRUE(ends(reset_limit));
  finish();
}

TEST_P(H2cResets, a_reset_while_payload_comes_ends_in_time_and_others_go_on) {
  post(queue, 60, 64 + random.below(9000));
  post(other, 30, 800);
  b.engine.run(random.below(1500));
  begin_reset();
  ASSERT_TRUE(ends(reset_limit));
  finish();
}

TEST_P(H2cResets, frames_that_the_shell_does_not_take_hold_up_no_reset) {
  b.engine.takes_frames = false;
  post(other, 20, 64);
  post(queue, 120, 64 + random.below(3000));
  b.engine.run(6000);
  begin_reset();
  ASSERT_TRUE(ends(reset_limit));
  finish();
}

INSTANTIATE_TEST_SUITE_P(seeds, H2cResets, testing::Range(1U, 7U));

}  // namespace
}  // namespace meridian
