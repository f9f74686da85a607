// SPDX-License-Identifier: Apache-2.0
// The library that our drivers share (host-driver/qdma), as it is, on the RTL and the model at once.
#include <gtest/gtest.h>

#include <array>

#include "lockstep.hpp"

extern "C" {
#include "mailbox/qdma_mailbox.h"
#include "qdma_context.h"
#include "qdma_device.h"
#include "qdma_interrupt.h"
#include "qdma_queue.h"
#include "qdma_regs.h"
#include "qdma_reset.h"
}

namespace {

struct Bar {
  meridian::Lockstep* lockstep;
  unsigned function;
};

}  // namespace

extern "C" {

u32 qdma_os_read(const void* bar, u32 offset) {
  const Bar& b = *static_cast<const Bar*>(bar);
  // The library polls this one; how long a reset lasts is not compared.
  if (offset == meridian::Lockstep::mailbox(b.function) + QDMA_MAILBOX_RESET) {
    b.lockstep->engine.run(1000);
    return b.lockstep->engine.read(b.function, offset, 1).at(0);
  }
  return b.lockstep->read(b.function, offset);
}

void qdma_os_write(void* bar, u32 offset, u32 value) {
  const Bar& b = *static_cast<const Bar*>(bar);
  b.lockstep->write(b.function, offset, value);
}

void qdma_os_delay_us(u32) {}
}

namespace meridian {
namespace {

TEST(Driver, identifies_sets_up_and_stops_queues_of_a_pf) {
  Lockstep b;
  Bar bar{&b, 1};
  qdma_device pf{};
  ASSERT_EQ(qdma_identify(&pf, &bar), 0);
  EXPECT_EQ(pf.function, 1U);
  EXPECT_EQ(pf.queues, Lockstep::queues);
  EXPECT_TRUE(pf.has_mailbox && pf.has_flr);
  pf.user_mhz = 250;
  qdma_write_tables(&pf, &qdma_default_tables);
  ASSERT_EQ(qdma_check_tables(&pf), 0);
  ASSERT_EQ(qdma_map_function(&pf, 1, 16, 4), 0);
  for (u32 queue = 16; queue < 20; ++queue) {
    qdma_h2c_setting h2c{};
    h2c.queue = queue;
    h2c.function = 1;
    h2c.ring = 0x1'2345'0000 + 0x1000 * queue;
    h2c.ring_index = 6;
    ASSERT_EQ(qdma_h2c_start(&pf, &h2c), 0);
    qdma_c2h_setting c2h{};
    c2h.queue = queue;
    c2h.function = 1;
    c2h.ring = 0x2'2345'0000 + 0x1000 * queue;
    c2h.completions = 0x3'2345'0000 + 0x2000 * queue;
    c2h.ring_index = c2h.completion_index = 6;
    c2h.trigger = QDMA_TRIGGER_USER_TIMER_COUNT;
    c2h.interrupt = c2h.prefetch = true;
    c2h.vector = queue - 15;
    ASSERT_EQ(qdma_c2h_start(&pf, &c2h), 0);
    for (unsigned kind = 0; kind < 8; ++kind) b.read_context(kind, queue, 1);
  }
  ASSERT_EQ(qdma_h2c_stop(&pf, 16), 0);
  ASSERT_EQ(qdma_c2h_stop(&pf, 16), 0);
  ASSERT_EQ(qdma_take_function(&pf, 16, 4), 0);
  for (u32 queue = 16; queue < 20; ++queue)
    for (unsigned kind = 0; kind < 8; ++kind) b.read_context(kind, queue, 1);
  b.read_context(QDMA_SELECT_FMAP, 1);
  b.compare();
}

TEST(Driver, a_vf_asks_and_its_pf_answers) {
  Lockstep b;
  Bar pf_bar{&b, 2}, vf_bar{&b, Lockstep::vf(2, 3)};
  qdma_device pf{}, vf{};
  ASSERT_EQ(qdma_identify(&pf, &pf_bar), 0);
  ASSERT_EQ(qdma_identify_vf(&vf, &vf_bar), 0);
  for (qdma_device* each : {&pf, &vf}) {
    qdma_mailbox_clear(each);
    qdma_mailbox_interrupt(each, 0, true);
  }
  for (u32 round = 0; round < 3; ++round) {
    qdma_message asked{}, taken{};
    qdma_message_init(&asked, 3 + round, vf_bar.function, 2);
    asked.byte[40] = static_cast<u8>(round);
    ASSERT_EQ(qdma_mailbox_send(&vf, 2, &asked), 0);
    ASSERT_NE(qdma_mailbox_send(&vf, 2, &asked), 0) << "the first is not received yet";
    u32 source = 0;
    ASSERT_EQ(qdma_mailbox_receive(&pf, &taken, &source), 0);
    EXPECT_EQ(source, vf_bar.function);
    EXPECT_EQ(qdma_message_op(&taken), 3 + round);
    ASSERT_EQ(qdma_mailbox_send(&pf, source, &taken), 0);
    ASSERT_EQ(qdma_mailbox_receive(&vf, &taken, &source), 0);
    EXPECT_EQ(taken.byte[40], round);
  }
  b.compare();
}

}  // namespace
}  // namespace meridian
