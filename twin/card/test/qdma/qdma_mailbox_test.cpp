// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/qdma_bench.hpp"

namespace meridian {
namespace {

constexpr std::uint32_t pf = reg::pf_mailbox, vf = reg::vf_mailbox;

struct MailboxBench : QdmaBench {
  MailboxBench() {
    ip.enable_function(5, true, 0);
    ip.enable_function(6, true, 0);
    ip.enable_function(7, true, 1);
  }

  void vf_sends(unsigned function, std::uint32_t first) {
    for (unsigned i = 0; i < 32; ++i) ip.write(function, vf + reg::mailbox_out + 4 * i, first + i);
    ip.write(function, vf + reg::mailbox_command, 1);
  }
  std::uint32_t pf_status(unsigned function = 0) { return ip.read(function, pf + reg::mailbox_status); }
  std::uint32_t vf_status(unsigned function) { return ip.read(function, vf + reg::mailbox_status); }
  void target(unsigned function, unsigned pf_number = 0) { ip.write(pf_number, pf + reg::mailbox_target, function); }
};

TEST(QdmaMailbox, CarriesMessagesFromVfs) {
  MailboxBench b;
  b.ip.write(0, pf + reg::mailbox_vector, 3);
  b.ip.write(0, pf + reg::mailbox_interrupt_enable, 1);
  b.vf_sends(6, 0x600);
  b.vf_sends(5, 0x500);
  EXPECT_EQ((b.memory.interrupts[{0, 3}]), 2U);
  EXPECT_EQ(b.pf_status(), 1U | (6U << 4));
  EXPECT_EQ(b.vf_status(6), 2U);
  b.ip.write(6, vf + reg::mailbox_out, 0xbad);  // stays as it was sent
  b.vf_sends(6, 0xbad);
  b.target(6);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(b.ip.read(0, pf + reg::mailbox_in + 4 * i), 0x600 + i);
  b.ip.write(0, pf + reg::mailbox_command, 2);
  EXPECT_EQ((b.memory.interrupts[{0, 3}]), 3U);  // there is more
  EXPECT_EQ(b.vf_status(6), 0U);
  EXPECT_EQ(b.pf_status(), 1U | (5U << 4));
  b.target(5);
  EXPECT_EQ(b.ip.read(0, pf + reg::mailbox_in), 0x500U);
  b.ip.write(0, pf + reg::mailbox_command, 2);
  EXPECT_EQ(b.pf_status(), 0U);
  EXPECT_EQ((b.memory.interrupts[{0, 3}]), 3U);
}

TEST(QdmaMailbox, CarriesMessagesToVfsAndAcknowledges) {
  MailboxBench b;
  b.target(5);
  for (unsigned i = 0; i < 32; ++i) b.ip.write(0, pf + reg::mailbox_out + 4 * i, 0x700 + i);
  EXPECT_EQ(b.ip.read(5, vf + reg::mailbox_in), 0U);  // nothing of a message before it is sent
  b.ip.write(0, pf + reg::mailbox_command, 1);
  EXPECT_EQ(b.pf_status(), 2U);
  EXPECT_EQ(b.vf_status(5), 1U);
  b.target(6);
  EXPECT_EQ(b.pf_status(), 0U);  // another target is free
  EXPECT_TRUE(b.memory.interrupts.empty());
  b.ip.write(5, vf + reg::mailbox_vector, 7);
  b.ip.write(5, vf + reg::mailbox_interrupt_enable, 1);  // with a message pending: at once
  EXPECT_EQ((b.memory.interrupts[{5, 7}]), 1U);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(b.ip.read(5, vf + reg::mailbox_in + 4 * i), 0x700 + i);
  b.ip.write(5, vf + reg::mailbox_command, 2);
  EXPECT_EQ(b.vf_status(5), 0U);
  EXPECT_EQ(b.pf_status(), 4U);
  EXPECT_EQ(b.ip.read(0, pf + reg::mailbox_ack), 1U << 5);
  b.ip.write(0, pf + reg::mailbox_ack, 1U << 5);
  EXPECT_EQ(b.pf_status(), 0U);
}

TEST(QdmaMailbox, AcknowledgesForEveryFunction) {
  for (const unsigned function : {4U, 31U, 32U, 70U, 255U}) {
    MailboxBench b;
    b.ip.enable_function(function, true, 0);
    b.target(function);
    b.ip.write(0, pf + reg::mailbox_command, 1);
    b.ip.write(function, vf + reg::mailbox_command, 2);
    EXPECT_EQ(b.pf_status(), 4U) << function;
    for (unsigned word = 0; word < 8; ++word)
      EXPECT_EQ(b.ip.read(0, pf + reg::mailbox_ack + 4 * word), word == function / 32 ? 1U << function % 32 : 0U);
  }
}

TEST(QdmaMailbox, KeepsFunctionsApart) {
  MailboxBench b;
  b.vf_sends(7, 0x900);  // of PF 1
  EXPECT_EQ(b.pf_status(0), 0U);
  b.target(7);
  EXPECT_EQ(b.ip.read(0, pf + reg::mailbox_in), 0U);
  b.ip.write(0, pf + reg::mailbox_out, 0xbad);
  b.ip.write(0, pf + reg::mailbox_command, 3);
  EXPECT_EQ(b.vf_status(7), 2U);
  EXPECT_EQ(b.pf_status(1), 1U | (7U << 4));
  b.target(7, 1);
  EXPECT_EQ(b.ip.read(1, pf + reg::mailbox_in), 0x900U);
  EXPECT_EQ(b.ip.read(1, pf + reg::mailbox_out), 0U);
  b.ip.write(5, vf + reg::mailbox_target, 7);  // a VF has no target
  EXPECT_EQ(b.ip.read(5, vf + reg::mailbox_target), 0U);
  EXPECT_EQ(b.ip.read(5, vf + reg::mailbox_in), 0U);
  b.vf_sends(200, 1);  // nobody's VF
  EXPECT_EQ(b.vf_status(200), 0U);
}

TEST(QdmaMailbox, ForgetsAFunctionThatIsReset) {
  MailboxBench b;
  b.vf_sends(5, 0x500);
  b.vf_sends(6, 0x600);
  b.target(5);
  b.ip.write(0, pf + reg::mailbox_command, 1);
  bool done = false;
  b.ip.reset_function(5, [&] { done = true; });
  EXPECT_EQ(b.pf_status(), 1U | (6U << 4));
  EXPECT_EQ(b.vf_status(5), 0U);
  b.run_until([&] { return done; }, 100);
}

}  // namespace
}  // namespace meridian
