// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

/// A transmit queue that fetches on credit, with frames in its ring.
class QdmaCreditTest : public ::testing::Test {
 protected:
  QdmaCreditTest() {
    bench.set_tables();
    bench.set_fmap(0, 0, 8);
    bench.start_h2c(q);
    bench.streams.credit.set_ready_percent(50);
  }

  void post(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      bench.put_h2c(q, index, test_frame(60 + index, index), index);
      index = (index + 1) % QdmaBench::entries(q);
    }
    bench.ring(0, q.queue, reg::h2c_pidx, index);
  }
  void grant(unsigned count) {
    bench.shell.grant(q.queue, count);
    bench.run_until([this] { return bench.shell.to_grant() == 0; });
    bench.run(3000);
  }
  unsigned credits() { return bench.read_context(5, q.queue)[0]; }

  QdmaBench bench;
  QueueSetting q{.queue = 3, .ring_index = 1, .h2c_credits = true};
  unsigned index = 0;
};

TEST_F(QdmaCreditTest, FetchesWhatIsGrantedAndNoMore) {
  post(40);
  bench.run(3000);
  EXPECT_EQ(bench.shell.taken.size(), 0U);
  ASSERT_EQ(bench.shell.messages.size(), 1U);
  EXPECT_EQ(bench.shell.messages[0].avl, 40U);
  EXPECT_TRUE(!bench.shell.messages[0].c2h && bench.shell.messages[0].qen);
  grant(1);
  EXPECT_EQ(bench.shell.taken.size(), 1U);
  grant(20);
  grant(18);
  EXPECT_EQ(bench.shell.taken.size(), 39U);
  grant(5);  // more than there are: kept for those to come
  EXPECT_EQ(bench.shell.taken.size(), 40U);
  EXPECT_EQ(credits(), 4U);
  EXPECT_EQ(bench.h2c_done(q), 40U);
  post(60);  // over the end of the ring
  bench.run(3000);
  EXPECT_EQ(bench.shell.taken.size(), 44U);
  grant(56);
  ASSERT_EQ(bench.shell.taken.size(), 100U);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(bench.shell.taken[i].metadata, i % QdmaBench::entries(q));
  EXPECT_TRUE(bench.ip.idle());
}

TEST_F(QdmaCreditTest, AStoppedQueueLosesItsCredits) {
  post(2);
  grant(7);
  EXPECT_EQ(credits(), 5U);
  bench.shell.messages.clear();
  bench.command(1, 3, q.queue);
  bench.run(10);
  ASSERT_EQ(bench.shell.messages.size(), 1U);
  EXPECT_TRUE(bench.shell.messages[0].qinv && !bench.shell.messages[0].qen && !bench.shell.messages[0].c2h);
  EXPECT_EQ(credits(), 0U);
  grant(7);  // too late
  EXPECT_EQ(credits(), 0U);
  bench.start_h2c(q);
  index = 0;
  post(3);
  bench.run(3000);
  EXPECT_EQ(bench.shell.taken.size(), 2U);
  grant(3);
  EXPECT_EQ(bench.shell.taken.size(), 5U);
}

TEST_F(QdmaCreditTest, AQueueWithoutCreditsFetchesAtOnceAndTakesNone) {
  q.h2c_credits = false;
  bench.start_h2c(q);
  grant(4);
  post(10);
  bench.run(3000);
  EXPECT_EQ(bench.shell.taken.size(), 10U);
  EXPECT_EQ(credits(), 0U);
}

TEST_F(QdmaCreditTest, AGrantOfNothingIsTheShellsFault) {
  bench.shell.grant(q.queue, 0);
  EXPECT_THROW(bench.run(100), CheckError);
}

}  // namespace
}  // namespace meridian
