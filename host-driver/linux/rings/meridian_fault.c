// SPDX-License-Identifier: GPL-2.0-only
/* Faults of a function, noted in any context, for a work of devlink's health reporters to tell. */
#include "meridian.h"
#include "meridian_fault.h"

/**
 * meridian_schedule_reset() - let the function's queues start anew, soon
 * @m: the function
 *
 * Context: Any. Does not sleep.
 */
void meridian_schedule_reset(struct meridian *m)
{
	schedule_work(&m->reset);
}

static void tell(struct meridian_faults *faults, int what)
{
	unsigned long flags;

	set_bit(what, &faults->pending);
	spin_lock_irqsave(&faults->show_lock, flags);
	if (faults->is_shown)
		schedule_work(&faults->report);
	spin_unlock_irqrestore(&faults->show_lock, flags);
}

/**
 * meridian_report() - tell of a fault, and have it repaired
 * @m: the function
 * @fault: which
 * @queue: where; of boxes a bitmap of their places, of the self-test which test
 *
 * In any context. Without a reporter the queues are reset at once, and a box is left as it is.
 *
 * Context: Any. Does not sleep.
 */
void meridian_report(struct meridian *m, enum meridian_fault fault, unsigned int queue)
{
	struct meridian_faults *faults = m->faults;

	if (!faults->reporter[fault]) {
		if (fault < MERIDIAN_FAULT_BOX)
			meridian_schedule_reset(m);
		return;
	}
	/* The failure is the newer. */
	if (fault == MERIDIAN_FAULT_SELFTEST)
		clear_bit(MERIDIAN_PASSED, &faults->pending);
	if (fault == MERIDIAN_FAULT_BOX && queue != MERIDIAN_TEST) {
		clear_bit(MERIDIAN_BOXES_WELL, &faults->pending);
		atomic_or(queue, &faults->boxes);
	}
	WRITE_ONCE(faults->queue[fault], queue);
	tell(faults, fault);
}

/**
 * meridian_report_healthy() - tell that the queues have started, and have no fault
 * @m: the function
 *
 * Context: Any. Does not sleep.
 */
void meridian_report_healthy(struct meridian *m)
{
	tell(m->faults, MERIDIAN_HEALTHY);
}

/**
 * meridian_report_passed() - tell that no test of ethtool fails any more
 * @m: the function
 *
 * Context: Any. Does not sleep.
 */
void meridian_report_passed(struct meridian *m)
{
	tell(m->faults, MERIDIAN_PASSED);
}

/**
 * meridian_report_broken() - tell of user's modules whose frames break a rule
 * @m: a PF
 * @boxes: bitmap of their places
 *
 * Context: Any. Does not sleep.
 */
void meridian_report_broken(struct meridian *m, unsigned int boxes)
{
	struct meridian_faults *faults = m->faults;

	clear_bit(MERIDIAN_BOXES_WELL, &faults->pending);
	atomic_or(boxes, &faults->breaking);
	tell(faults, MERIDIAN_BROKEN);
}

/**
 * meridian_report_boxes_well() - tell that no user's module hangs or breaks frames any more
 * @m: a PF
 *
 * Context: Any. Does not sleep.
 */
void meridian_report_boxes_well(struct meridian *m)
{
	tell(m->faults, MERIDIAN_BOXES_WELL);
}
