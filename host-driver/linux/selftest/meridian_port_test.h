/* SPDX-License-Identifier: GPL-2.0-only */
/* The generators and checkers at the MACs, as the tests of loops and of cables use them. */
#ifndef MERIDIAN_PORT_TEST_H
#define MERIDIAN_PORT_TEST_H

#include "include/meridian_port_run.h"
#include "meridian.h"
#include "meridian_hw.h"
#include "meridian_selftest.h"

/**
 * struct meridian_port_test - frames that go round a loop, or both ways through a cable
 * @m: a PF of the card
 * @loop: what brings the frames back
 * @port: the ports that send: one whose frames come back, or both ends of a cable
 * @ports: how many these are
 * @run: the frames
 */
struct meridian_port_test {
	struct meridian *m;
	const struct meridian_port_loop *loop;
	u32 port[2];
	unsigned int ports;
	struct meridian_port_run run;
};

static inline u32 read_port_test(const struct meridian_port_test *t, u32 port, u32 offset)
{
	return meridian_read(t->m, MERIDIAN_PORT_TEST_BASE(port) + offset);
}

/* A counter of the last batch; MERIDIAN_PORT_TEST_COUNTER_*. */
static inline u64 port_test_count(const struct meridian_port_test *t, u32 port, u32 counter)
{
	return meridian_read_counter(t->m, MERIDIAN_PORT_TEST_BASE(port) + counter);
}

/* meridian_port_end.c */
struct meridian_port_end meridian_end_of(const struct meridian_port_test *t, u32 port);

/* meridian_port_test.c */
void meridian_start_port_test(const struct meridian_port_test *t, u32 port, u32 mode);
int meridian_wait_for_port_test(const struct meridian_port_test *t);
int meridian_run_port_test(struct meridian_port_test *t);

/* meridian_port_verdict.c */
int meridian_judge_port_test(const struct meridian_port_test *t);
int meridian_port_test_lost_link(const struct meridian_port_test *t, u32 port);

/* meridian_cable.c */
int meridian_look_for_cable(struct meridian_port_test *t, u32 *end);
int meridian_test_cable(struct meridian_port_test *t, u32 end);

#endif
