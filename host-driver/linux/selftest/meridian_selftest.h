/* SPDX-License-Identifier: GPL-2.0-only */
/* The self-test of ethtool, and of its tests those whose frames the card makes and checks. */
#ifndef MERIDIAN_SELFTEST_H
#define MERIDIAN_SELFTEST_H

#include "meridian.h"
#include "meridian_fault.h"
#include "meridian_hw.h"

struct devlink_fmsg;
struct meridian_port_loop;

/* meridian_selftest.c */
int meridian_test_count(struct meridian *m);
void meridian_test_strings(struct meridian *m, u8 *data);
void meridian_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data);
const char *meridian_test_name(unsigned int test);
int meridian_test_again(struct meridian *m);
void meridian_put_selftest(struct meridian *m, struct devlink_fmsg *fmsg);

/**
 * struct meridian_pattern - a test that is under way
 * @m: the function
 * @batch: frames of a batch, which the rings have room for
 * @largest: bytes of the largest frame
 * @batches: that were good
 * @frames: of these
 * @bytes: of these, in each direction
 * @run: number of the run before
 */
struct meridian_pattern {
	struct meridian *m;
	u32 batch;
	u32 largest;
	u32 batches;
	u64 frames;
	u64 bytes;
	u32 run;
};

/* The test was not run, which is no failure. */
#define MERIDIAN_LEFT_OUT	1

/* A counter of the block; MERIDIAN_SELF_TEST_COUNTER_*. */
static inline u64 pattern_count(const struct meridian_pattern *p, u32 counter)
{
	return meridian_read_counter(p->m, MERIDIAN_SELF_TEST_BASE + counter);
}

/* meridian_pattern.c */
int meridian_test_pattern(struct meridian *m);
void meridian_take_traffic(struct meridian *m);
void meridian_give_traffic_back(struct meridian *m);

/* meridian_port_loops.c */
int meridian_test_port_loops(struct meridian *m);
void meridian_recover_port(struct meridian *m);

/* meridian_loopback.c */
bool meridian_port_is_taken(struct meridian *m, u32 port);
int meridian_loops_interrupted(struct meridian *m, u32 port);
int meridian_set_loopback(struct meridian *m, u32 port, const struct meridian_port_loop *loop);
int meridian_wait_for_loop(struct meridian *m, u32 port, const struct meridian_port_loop *loop);
void meridian_end_port_test(struct meridian *m, u32 port);
void meridian_put_port_back(struct meridian *m, u32 port);

/* meridian_pattern_verdict.c */
struct meridian_pattern_counter {
	const char *name;
	u32 offset;
};

extern const struct meridian_pattern_counter meridian_pattern_counters[MERIDIAN_CHECKS];

void meridian_pattern_note(const struct meridian_pattern *p);
int meridian_pattern_refused(const struct meridian_pattern *p, u32 refusal);
bool meridian_pattern_is_fault(int error);
int meridian_pattern_judge(const struct meridian_pattern *p);
int meridian_pattern_timed_out(const struct meridian_pattern *p);
int meridian_pattern_ended(const struct meridian_pattern *p, u32 end);

#endif
