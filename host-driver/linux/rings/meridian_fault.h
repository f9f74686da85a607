/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults: the queues see them, devlink's health reporters tell them. */
#ifndef MERIDIAN_FAULT_H
#define MERIDIAN_FAULT_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct devlink_health_reporter;
struct meridian;

/* What is reported, and repaired: that of a box by its reset, all others by one of the queues. */
enum meridian_fault {
	MERIDIAN_FAULT_TX,	/* a transmit queue stands still */
	MERIDIAN_FAULT_RX,	/* completions that cannot be */
	MERIDIAN_FAULT_QDMA,	/* a fatal error of the IP */
	MERIDIAN_FAULT_BOX,	/* the user's module of a port hangs */
	MERIDIAN_FAULTS,
};

#define MERIDIAN_HEALTHY	MERIDIAN_FAULTS	/* a bit of what is pending */
#define MERIDIAN_TEST	UINT_MAX	/* no queue: a user has asked for the report */

/**
 * struct meridian_faults - what a function has to tell of faults
 * @reporter: by fault; NULL: devlink did not take it
 * @report: tells devlink of faults, as that may sleep
 * @is_shown: whether there is a devlink to tell
 * @show_lock: of @is_shown, with the start of @report
 * @pending: a bit for each fault that it is to tell, and one for queues that have started
 * @queue: where the fault was seen last, of a box the port; or MERIDIAN_TEST
 */
struct meridian_faults {
	struct devlink_health_reporter *reporter[MERIDIAN_FAULTS];
	struct work_struct report;
	bool is_shown;
	spinlock_t show_lock; /* is_shown */
	unsigned long pending;
	unsigned int queue[MERIDIAN_FAULTS];
};

/* meridian_fault.c */
void meridian_schedule_reset(struct meridian *m);
void meridian_report(struct meridian *m, enum meridian_fault fault, unsigned int queue);
void meridian_report_healthy(struct meridian *m);

#endif
