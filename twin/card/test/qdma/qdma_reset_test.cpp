// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

/// A VF with a queue in each direction, and PF 0 with one.
struct ResetBench : QdmaBench {
  QueueSetting of_vf{.function = 9, .queue = 100, .ring_index = 1, .mode = 1};
  QueueSetting of_pf{.function = 0, .queue = 2, .ring_index = 1, .mode = 1};

  explicit ResetBench(const QdmaSetting& setting = {}) : QdmaBench(setting) {
    ip.enable_function(9, true, 0);
    set_tables();
    set_fmap(0, 0, 8);
    set_fmap(9, 100, 4);
    start(of_vf);
    start(of_pf);
  }

  void start(const QueueSetting& q) {
    start_h2c(q);
    start_c2h(q);
    put_buffers(q, 0, 62);
    ring(q.function, relative(q), reg::c2h_pidx, 62);
  }
  static unsigned relative(const QueueSetting& q) { return q.function == 9 ? q.queue - 100 : q.queue; }

  void post_h2c(const QueueSetting& q, unsigned count) {
    for (unsigned i = 0; i < count; ++i) put_h2c(q, i, test_frame(500, i), 0);
    ring(q.function, relative(q), reg::h2c_pidx, count);
  }
};

TEST(QdmaReset, TakesTheQueuesOfAFunctionAndNoOther) {
  ResetBench b;
  b.memory.hold = true;
  b.post_h2c(b.of_vf, 10);
  b.post_h2c(b.of_pf, 10);
  b.run(10);
  bool done = false;
  b.ip.reset_function(9, [&] { done = true; });
  EXPECT_FALSE(done);
  b.memory.hold = false;
  b.memory.answer_all();
  b.run_until([&] { return done; }, 1000);
  EXPECT_EQ(b.shell.resets, std::vector<unsigned>{9});
  b.drain();
  for (const auto& frame : b.shell.taken) EXPECT_EQ(frame.queue, 2U);
  EXPECT_EQ(b.shell.taken.size(), 10U);
  const auto& last = b.shell.messages.back();
  EXPECT_TRUE(last.qid == 100 && last.qinv && !last.qen && last.c2h);
  b.shell.send(100, test_frame(60, 1));  // was on its way: dropped
  b.shell.send(2, test_frame(60, 2));
  b.drain();
  ASSERT_EQ(b.shell.status.size(), 2U);
  EXPECT_TRUE(b.shell.status[0].drop);
  EXPECT_FALSE(b.shell.status[1].drop);
  EXPECT_EQ(b.completion_status(b.of_pf) & 0xffff, 1U);
  EXPECT_EQ(b.completion_status(b.of_vf), 0U);
  b.post_h2c(b.of_vf, 20);  // has no queues any more
  b.drain();
  EXPECT_EQ(b.shell.taken.size(), 10U);
  EXPECT_EQ(b.csr(reg::error_status), 0U);
}

TEST(QdmaReset, OfAPfTakesItsVfs) {
  ResetBench b;
  b.ip.enable_function(20, true, 1);
  bool done = false;
  b.ip.reset_function(0, [&] { done = true; });
  b.run_until([&] { return done; }, 1000);
  EXPECT_EQ(b.shell.resets, (std::vector<unsigned>{0, 9}));
  b.post_h2c(b.of_vf, 5);
  b.run(100);
  EXPECT_TRUE(b.shell.taken.empty());
}

TEST(QdmaReset, ByTheRegisterReadsOneUntilTheShellLetsGo) {
  ResetBench b;
  b.shell.answers_resets = false;
  b.ip.write(9, reg::vf_mailbox + reg::mailbox_reset, 1);
  b.ip.write(9, reg::vf_mailbox + reg::mailbox_reset, 1);
  b.run(50);
  EXPECT_EQ(b.ip.read(9, reg::vf_mailbox + reg::mailbox_reset), 1U);
  EXPECT_FALSE(b.ip.idle());
  EXPECT_NE(b.ip.waits_for().find("function 9"), std::string::npos);
  bool done = false;
  b.ip.reset_function(9, [&] { done = true; });
  b.shell.answers_resets = true;
  b.run(10);
  EXPECT_TRUE(done);
  EXPECT_EQ(b.ip.read(9, reg::vf_mailbox + reg::mailbox_reset), 0U);
  EXPECT_EQ(b.shell.resets.size(), 1U);
  EXPECT_TRUE(b.ip.idle());
}

struct LinkResetBench : ResetBench {
  LinkResetBench() : ResetBench(setting()) {}

  static QdmaSetting setting() {
    QdmaSetting setting;
    setting.reset = PcieReset::link;
    return setting;
  }

  static constexpr std::uint32_t map_of_vf = reg::pf_mailbox + reg::mailbox_map + 4 * 9;

  /// As software that has read the product guide: bit 0 reads 0 when all is done.
  void reset_by_register() {
    ip.write(9, reg::vf_mailbox + reg::mailbox_reset, 1);
    run_until([&] { return ip.read(9, reg::vf_mailbox + reg::mailbox_reset) == 0; }, 1000);
  }
};

TEST(QdmaReset, OfThePcieLinkLeavesQueuesThatPointWhereTheirOwnerSaid) {
  LinkResetBench b;
  bool done = false;
  b.ip.enable_function(9, false, 0);
  b.ip.reset_function(9, [&] { done = true; });
  EXPECT_TRUE(done);
  b.run(100);
  EXPECT_TRUE(b.shell.resets.empty());
  EXPECT_EQ(b.read_context(0, 100)[1] & 1, 1U);
  b.ip.enable_function(9, true, 0);  // the next owner lets the function write
  b.shell.send(100, test_frame(60, 1));
  b.drain();
  ASSERT_EQ(b.shell.status.size(), 1U);
  EXPECT_FALSE(b.shell.status[0].drop);
  EXPECT_EQ(b.memory.get(9, QdmaBench::buffer(b.of_vf, 0), 60), test_frame(60, 1)) << "the owner before is written to";
}

TEST(QdmaReset, ByTheRegisterTakesTheQueuesOfTheMailboxsMap) {
  LinkResetBench b;
  b.reset_by_register();
  EXPECT_EQ(b.shell.resets, std::vector<unsigned>{9});
  EXPECT_EQ(b.read_context(0, 100)[1] & 1, 1U) << "the mailbox does not know that the queue is the function's";
  b.ip.write(9, reg::vf_mailbox + reg::mailbox_map + 4 * 9, 100 | 4 << 12);
  EXPECT_EQ(b.ip.read(9, reg::vf_mailbox + reg::mailbox_map + 4 * 9), 0U) << "no VF has the map";
  b.ip.write(1, LinkResetBench::map_of_vf, 100 | 4 << 12);
  EXPECT_EQ(b.ip.read(0, LinkResetBench::map_of_vf), 100U | 4U << 12) << "PFs have one map";
  b.reset_by_register();
  EXPECT_EQ(b.read_context(0, 100)[1] & 1, 0U);
  EXPECT_EQ(b.read_context(1, 100)[1] & 1, 0U);
  EXPECT_EQ(b.read_context(0, 2)[1] & 1, 1U) << "PF 0's";
  EXPECT_EQ(b.ip.read(0, LinkResetBench::map_of_vf), 100U | 4U << 12);
}

TEST(QdmaReset, OfTheSlotForgetsEverything) {
  ResetBench b;
  b.memory.hold = true;
  b.post_h2c(b.of_vf, 10);
  b.run(10);
  ASSERT_GT(b.memory.held(), 0U);
  bool done = false;
  b.shell.answers_resets = false;
  b.ip.reset_function(9, [&] { done = true; });
  b.run(3);
  b.ip.reset();
  EXPECT_TRUE(done);
  b.memory.answer_all();
  b.run(100);
  EXPECT_TRUE(b.ip.idle()) << b.ip.waits_for();
  EXPECT_TRUE(b.shell.taken.empty());
  EXPECT_EQ(b.csr(reg::ring_size), 0U);
  EXPECT_EQ(b.csr(reg::misc_cap), 0x02200003U);
  EXPECT_EQ(b.read_context(0, 2)[1], 0U);
}

TEST(QdmaReset, AnswersThatComeAfterTheEndAreIgnored) {
  TestMemory memory;
  memory.hold = true;
  {
    FakeShell shell;
    Qdma streams = shell.make_streams(1);
    QdmaIp ip({}, streams, memory);
    ip.enable_function(0, true, 0);
    ip.write(0, reg::ring_size, 64);
    ip.write(0, reg::context_data, 0);
    ip.write(0, reg::context_data + 4, 1U | (1U << 16));
    ip.write(0, reg::context_mask, ~0U);
    ip.write(0, reg::context_mask + 4, ~0U);
    ip.write(0, reg::context_command, (1U << 1) | (1U << 5));
    ip.write(0, reg::context_data + 4, 8);
    ip.write(0, reg::context_command, (0xcU << 1) | (1U << 5));
    ip.write(0, reg::pf_doorbells + reg::h2c_pidx, 5);
    ip.tick(4000);
    ip.tick(8000);
    ASSERT_EQ(memory.held(), 1U);
  }
  memory.answer_all();
}

TEST(QdmaReset, AQueueStartsAgain) {
  ResetBench b;
  for (unsigned round = 0; round < 3; ++round) {
    b.memory.hold = round == 1;  // stopped while reads are under way
    b.post_h2c(b.of_vf, 30);
    b.run(round == 1 ? 10 : 2000);
    b.command(1, 3, 100);
    b.command(0, 3, 100);
    b.memory.hold = false;
    b.memory.answer_all();
    b.drain();
    b.start(b.of_vf);
  }
  EXPECT_EQ(b.shell.taken.size(), 60U);
  b.shell.send(100, test_frame(100, 5));
  b.drain();
  EXPECT_EQ(b.memory.get(9, QdmaBench::buffer(b.of_vf, 0), 100), test_frame(100, 5));
}

}  // namespace
}  // namespace meridian
