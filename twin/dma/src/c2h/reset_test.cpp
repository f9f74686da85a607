// SPDX-License-Identifier: Apache-2.0
// Function level resets while frames are on their way to the host: nothing of
// the function is at the host when the reset is done, nothing comes after, and
// frames of others arrive.
#include <gtest/gtest.h>

#include <algorithm>

#include "c2h/bench.hpp"

namespace meridian {
namespace {

constexpr unsigned queue = 5 * C2hBench::queues_of_a_function + 1;  // of VF 5
constexpr unsigned other = 1, spoilt = 2;                           // of PF 0
constexpr std::uint32_t reset_register = 0x5100;
constexpr unsigned reset_limit = 30'000;  // cycles

class C2hResets : public testing::TestWithParam<unsigned> {
 protected:
  C2hResets() : b(GetParam()), random(GetParam() * 7) {
    for (const unsigned each : {queue, other})
      b.begin(each, {.mode = GetParam() % 6, .size_index = 3, .interrupt = each == queue});
  }

  void post(unsigned to, unsigned count) {
    b.post(to, count);
    b.wait_for_credit(to, std::min(count, 32U));
  }
  void send(unsigned to, unsigned count, unsigned bytes) {
    for (unsigned i = 0; i < count; ++i) b.send(to, bytes);
  }

  /// Of the function, since the last call.
  unsigned requests() {
    const auto& all = b.engine.host.requests;
    const auto count =
        std::count_if(all.begin(), all.end(), [](const auto& request) { return request.function == function; });
    b.engine.host.requests.clear();
    return static_cast<unsigned>(count);
  }

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

  /// What follows a reset: the function asks for nothing, and its queue can be
  /// set up anew.
  void finish() {
    EXPECT_EQ(b.engine.host.open_of(function), 0U) << "a read is still at the host";
    requests();
    b.forget_interrupts();  // from before the reset
    if (!by_mailbox) b.finish_reset_by_pcie(function);
    b.engine.host.holds = false;
    b.invalidate(queue);
    b.drop(queue);
    EXPECT_EQ(requests(), 0U) << "the function accesses memory after its reset";
    // Whether a ring has failed that lost its access to memory depends on how
    // far it was: the log begins anew.
    for (const std::uint32_t at : {0x254U, 0xaf0U, 0x248U}) b.write(0, at, ~0U);
    b.begin(spoilt);
    b.doorbell(spoilt, 9999);
    b.compare_failed(spoilt);
    b.write_context(0xc, function, {function * C2hBench::queues_of_a_function, C2hBench::queues_of_a_function});
    b.begin(queue, {.size_index = 1});
    post(queue, 5);
    send(queue, 5, 300);
    b.compare_all();
    EXPECT_EQ(b.unread(queue), 5U);
  }

  static constexpr unsigned function = queue / C2hBench::queues_of_a_function;
  C2hBench b;
  Random random;
  const bool by_mailbox = GetParam() % 2 == 0;
};

TEST_P(C2hResets, a_reset_while_frames_pass_ends_in_time_and_others_go_on) {
  post(queue, 100);
  post(other, 40);
  for (unsigned i = 0; i < 20; ++i) {
    send(queue, 2, 64 + random.below(1900));
    if (i % 4 == 0) send(other, 1, 800);
  }
  b.engine.run(random.below(1500));
  begin_reset();
  ASSERT_TRUE(ends(reset_limit));
  finish();
}

TEST_P(C2hResets, a_reset_is_not_done_before_the_host_has_answered) {
  b.engine.host.holds = true;
  b.post(queue, 20);
  for (unsigned i = 0; i < 3; ++i) b.send_anyway(queue, 100);
  b.engine.run(400 + random.below(300));
  ASSERT_NE(b.engine.host.open_of(function), 0U);
  begin_reset();
  EXPECT_FALSE(ends(reset_limit));
  EXPECT_TRUE(b.engine.resets.empty()) << "the shell is told before the host has answered";
  b.engine.host.holds = false;
  ASSERT_TRUE(ends(reset_limit));
  finish();
}

INSTANTIATE_TEST_SUITE_P(seeds, C2hResets, testing::Range(1U, 7U));

}  // namespace
}  // namespace meridian
