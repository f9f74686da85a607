/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults: the queues see them, devlink's health reporters tell them. */
#ifndef MERIDIAN_FAULT_H
#define MERIDIAN_FAULT_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct devlink_health_reporter;
struct meridian;

/*
 * What is reported, and repaired: that of a box by its reset, that of a queue or the IP by one of
 * the queues. What the self-test has found, and a box that breaks frames, are left to the
 * administrator.
 */
enum meridian_fault {
	MERIDIAN_FAULT_TX,	/* a transmit queue stands still */
	MERIDIAN_FAULT_RX,	/* completions that cannot be */
	MERIDIAN_FAULT_QDMA,	/* a fatal error of the IP */
	MERIDIAN_FAULT_BOX,	/* a user's module hangs, or breaks frames */
	MERIDIAN_FAULT_SELFTEST, /* a test of ethtool has failed */
	MERIDIAN_FAULTS,
};

/* Bits of what is pending beside the faults. */
#define MERIDIAN_HEALTHY	MERIDIAN_FAULTS	/* queues have started */
#define MERIDIAN_PASSED	(MERIDIAN_FAULTS + 1)	/* no test of ethtool fails any more */
#define MERIDIAN_BROKEN	(MERIDIAN_FAULTS + 2)	/* a user's module breaks frames */
#define MERIDIAN_BOXES_WELL	(MERIDIAN_FAULTS + 3)	/* none hangs or breaks frames any more */
#define MERIDIAN_TEST	UINT_MAX	/* no queue: a user has asked for the report */

#define MERIDIAN_TESTS		6	/* of ethtool */
#define MERIDIAN_CHECKS		10	/* counters of the pattern that a failure is told by */

/**
 * struct meridian_selftest - what ethtool's tests have found
 * @error: of each test as it was last run, as -errno; 0: good, or not run yet
 * @is_external: a loop plug is at the port, which the loops of the port include
 * @was_external: the last test has sent frames round it
 * @failed: bitmap of the tests that have shown a fault of the card since they were last good
 * @has_counters: the pattern has failed once
 * @batch: frames of the batch in which the pattern has failed last
 * @counter: of the block then, as meridian_pattern_counters names them
 */
struct meridian_selftest {
	int error[MERIDIAN_TESTS];
	bool is_external;
	bool was_external;
	unsigned long failed;
	bool has_counters;
	u32 batch;
	u64 counter[MERIDIAN_CHECKS];
};

/**
 * struct meridian_faults - what a function has to tell of faults
 * @reporter: by fault; NULL: devlink did not take it
 * @report: tells devlink of faults, as that may sleep
 * @is_shown: whether there is a devlink to tell
 * @show_lock: of @is_shown, with the start of @report
 * @pending: a bit for each fault that it is to tell, and MERIDIAN_HEALTHY to _BOXES_WELL
 * @queue: where the fault was seen last, as meridian_report() has it; or MERIDIAN_TEST
 * @boxes: bitmap of the places of boxes that hang and are to be told of
 * @breaking: bitmap of the places of boxes that break frames and are to be told of
 * @selftest: the last results of ethtool's tests; under RTNL
 */
struct meridian_faults {
	struct devlink_health_reporter *reporter[MERIDIAN_FAULTS];
	struct work_struct report;
	bool is_shown;
	spinlock_t show_lock; /* is_shown */
	unsigned long pending;
	unsigned int queue[MERIDIAN_FAULTS];
	atomic_t boxes;
	atomic_t breaking;
	struct meridian_selftest selftest;
};

/* meridian_fault.c */
void meridian_schedule_reset(struct meridian *m);
void meridian_report(struct meridian *m, enum meridian_fault fault, unsigned int queue);
void meridian_report_healthy(struct meridian *m);
void meridian_report_passed(struct meridian *m);
void meridian_report_broken(struct meridian *m, unsigned int boxes);
void meridian_report_boxes_well(struct meridian *m);

#endif
