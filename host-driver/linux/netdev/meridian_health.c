// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults as devlink's health reporters tell them. A reporter looks at the queues, then has them
 * reset; an administrator may want that left.
 */
#include <linux/rtnetlink.h>

#include "compat_devlink.h"
#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_configure.h"
#include "meridian_devlink.h"
#include "meridian_fault.h"
#include "meridian_hw.h"
#include "meridian_queue.h"
#include "meridian_selftest.h"

static const char * const sentences[MERIDIAN_FAULT_BOX] = {
	[MERIDIAN_FAULT_TX] = "transmit queue %u stands still",
	[MERIDIAN_FAULT_RX] = "receive queue %u has completions that cannot be",
	[MERIDIAN_FAULT_QDMA] = "the QDMA IP has a fatal error",
};

/*
 * Takes the function, if there is one and its card answers. Queues stay while RTNL and the device's
 * lock are held.
 */
static struct meridian *begin(struct devlink_health_reporter *reporter)
{
	struct meridian_devlink *devlink = devlink_health_reporter_priv(reporter);

	mutex_lock(&devlink->lock);
	if (devlink->m && meridian_present(devlink->m))
		return devlink->m;
	mutex_unlock(&devlink->lock);
	return NULL;
}

static void end(struct meridian *m)
{
	mutex_unlock(&m->devlink->lock);
}

static int recover(struct devlink_health_reporter *reporter, void *context,
		   struct netlink_ext_ack *extack)
{
	struct meridian *m = begin(reporter);
	int error;

	if (!m)
		return -ENODEV;
	error = meridian_reset(m);
	end(m);
	return error;
}

/* Reports have a context, and users have none: only they have a module reset that breaks frames. */
static int recover_boxes(struct devlink_health_reporter *reporter, void *context,
			 struct netlink_ext_ack *extack)
{
	struct meridian_devlink *devlink = devlink_health_reporter_priv(reporter);
	struct meridian *m = begin(reporter);
	int error;

	if (!m) {
		meridian_forget_boxes(devlink->card);
		return -ENODEV;
	}
	error = meridian_reset_boxes(m, !context);
	end(m);
	return error;
}

/*
 * A test takes the traffic away, and one that passes now may hide what has failed: it is run again
 * if somebody asks for it. Reports have a context, and users have none.
 */
static int recover_selftest(struct devlink_health_reporter *reporter, void *context,
			    struct netlink_ext_ack *extack)
{
	struct meridian *m;
	int error;

	if (context)
		return -EOPNOTSUPP;
	m = begin(reporter);
	if (!m)
		return -ENODEV;
	rtnl_lock();
	meridian_lock(m->netdev);
	error = meridian_test_again(m);
	meridian_unlock(m->netdev);
	rtnl_unlock();
	end(m);
	if (error == -EAGAIN)
		NL_SET_ERR_MSG_MOD(extack,
				   "a test that had failed was left out: see the kernel's log");
	else if (error)
		NL_SET_ERR_MSG_MOD(extack, "the self-test still fails: try ethtool -t");
	return error;
}

/* All that a fault brings about, without one. */
static int test(struct devlink_health_reporter *reporter, struct netlink_ext_ack *extack)
{
	struct meridian *m = begin(reporter);
	int fault;

	if (!m)
		return -ENODEV;
	for (fault = 0; fault < MERIDIAN_FAULTS; fault++) {
		if (m->devlink->faults.reporter[fault] == reporter)
			meridian_report(m, fault, MERIDIAN_TEST);
	}
	end(m);
	return 0;
}

static void put_tx(struct devlink_fmsg *fmsg, const struct meridian_tx *tx)
{
	const __le64 *status = meridian_tx_entry(tx, tx->ring.slots);
	struct netdev_queue *queue = netdev_get_tx_queue(tx->m->netdev, tx->index);

	devlink_fmsg_obj_nest_start(fmsg);
	devlink_fmsg_u32_pair_put(fmsg, "queue", tx->index);
	devlink_fmsg_u32_pair_put(fmsg, "slots", tx->ring.slots);
	devlink_fmsg_u32_pair_put(fmsg, "pidx", READ_ONCE(tx->pidx));
	devlink_fmsg_u32_pair_put(fmsg, "cidx", READ_ONCE(tx->cidx));
	devlink_fmsg_u64_pair_put(fmsg, "status", le64_to_cpu(READ_ONCE(*status)));
	devlink_fmsg_bool_pair_put(fmsg, "stopped", netif_tx_queue_stopped(queue));
	devlink_fmsg_obj_nest_end(fmsg);
}

static void put_rx(struct devlink_fmsg *fmsg, const struct meridian_rx *rx)
{
	const __le64 *status = &rx->completions.entries[rx->completions.slots << rx->entry_log2];

	devlink_fmsg_obj_nest_start(fmsg);
	devlink_fmsg_u32_pair_put(fmsg, "queue", rx->index);
	devlink_fmsg_u32_pair_put(fmsg, "slots", rx->ring.slots);
	devlink_fmsg_u32_pair_put(fmsg, "pidx", READ_ONCE(rx->pidx));
	devlink_fmsg_u32_pair_put(fmsg, "cidx", READ_ONCE(rx->cidx));
	devlink_fmsg_u32_pair_put(fmsg, "posted", READ_ONCE(rx->posted));
	devlink_fmsg_u32_pair_put(fmsg, "completion", READ_ONCE(rx->completion));
	devlink_fmsg_u64_pair_put(fmsg, "status", le64_to_cpu(READ_ONCE(*status)));
	devlink_fmsg_bool_pair_put(fmsg, "failed", READ_ONCE(rx->is_failed));
	devlink_fmsg_u64_pair_put(fmsg, "bad_entry", READ_ONCE(rx->bad_entry));
	devlink_fmsg_obj_nest_end(fmsg);
}

static int put_queues(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg,
		      bool is_rx)
{
	struct meridian *m = begin(reporter);
	unsigned int i;

	if (!m)
		return -ENODEV;
	rtnl_lock();
	meridian_lock(m->netdev);
	devlink_fmsg_arr_pair_nest_start(fmsg, "queues");
	for (i = 0; i < m->channels; i++) {
		if (is_rx)
			put_rx(fmsg, &m->channel[i].rx);
		else
			put_tx(fmsg, &m->channel[i].tx);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
	meridian_unlock(m->netdev);
	rtnl_unlock();
	end(m);
	return 0;
}

static int put_errors(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg)
{
	struct meridian *m = begin(reporter);
	struct qdma_errors errors;

	if (!m)
		return -ENODEV;
	mutex_lock(&m->card->lock);
	errors = m->card->errors;
	mutex_unlock(&m->card->lock);
	end(m);
	devlink_fmsg_u32_pair_put(fmsg, "summary", errors.summary);
	devlink_fmsg_u32_pair_put(fmsg, "descriptor", errors.descriptor);
	devlink_fmsg_u32_pair_put(fmsg, "doorbell", errors.doorbell);
	devlink_fmsg_u32_pair_put(fmsg, "c2h", errors.c2h);
	devlink_fmsg_u32_pair_put(fmsg, "c2h_fatal", errors.c2h_fatal);
	devlink_fmsg_u32_pair_put(fmsg, "h2c", errors.h2c);
	return 0;
}

static int put_boxes(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg)
{
	struct meridian *m = begin(reporter);

	if (!m)
		return -ENODEV;
	meridian_put_boxes(m, fmsg);
	end(m);
	return 0;
}

static int put_selftest(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg)
{
	struct meridian *m = begin(reporter);

	if (!m)
		return -ENODEV;
	rtnl_lock();
	meridian_put_selftest(m, fmsg);
	rtnl_unlock();
	end(m);
	return 0;
}

static int put_tx_queues(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg)
{
	return put_queues(reporter, fmsg, false);
}

static int put_rx_queues(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg)
{
	return put_queues(reporter, fmsg, true);
}

/* A dump is kept from when the fault was, a diagnosis is of now. */
#define DEFINE_LOOKS(name) \
static int name##_dump(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg, \
		       void *context, struct netlink_ext_ack *extack) \
{ \
	return put_##name(reporter, fmsg); \
} \
\
static int name##_diagnose(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg, \
			   struct netlink_ext_ack *extack) \
{ \
	return put_##name(reporter, fmsg); \
}

DEFINE_LOOKS(tx_queues)
DEFINE_LOOKS(rx_queues)
DEFINE_LOOKS(errors)
DEFINE_LOOKS(boxes)
DEFINE_LOOKS(selftest)

static const struct devlink_health_reporter_ops reporters[MERIDIAN_FAULTS] = {
	[MERIDIAN_FAULT_TX] = {
		.name = "tx",
		.recover = recover,
		.test = test,
		.dump = tx_queues_dump,
		.diagnose = tx_queues_diagnose,
	},
	[MERIDIAN_FAULT_RX] = {
		.name = "rx",
		.recover = recover,
		.test = test,
		.dump = rx_queues_dump,
		.diagnose = rx_queues_diagnose,
	},
	[MERIDIAN_FAULT_QDMA] = {
		.name = "qdma",
		.recover = recover,
		.test = test,
		.dump = errors_dump,
		.diagnose = errors_diagnose,
	},
	[MERIDIAN_FAULT_BOX] = {
		.name = "box",
		.recover = recover_boxes,
		.test = test,
		.dump = boxes_dump,
		.diagnose = boxes_diagnose,
	},
	[MERIDIAN_FAULT_SELFTEST] = {
		.name = "selftest",
		.recover = recover_selftest,
		.test = test,
		.dump = selftest_dump,
		.diagnose = selftest_diagnose,
	},
};

static void tell_well(struct devlink_health_reporter *reporter)
{
	if (reporter)
		devlink_health_reporter_state_update(reporter,
						     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
}

/* Queues that have started have no fault, whoever has started them. */
static void tell_healthy(struct meridian_faults *faults)
{
	int fault;

	for (fault = 0; fault < MERIDIAN_FAULT_BOX; fault++)
		tell_well(faults->reporter[fault]);
}

static void reset_anyway(struct meridian_devlink *devlink)
{
	mutex_lock(&devlink->lock);
	if (devlink->m)
		meridian_schedule_reset(devlink->m);
	mutex_unlock(&devlink->lock);
}

/* The reporter still has an error: a recovery has failed, or the administrator left it. */
static void reset_boxes_anyway(struct meridian_devlink *devlink)
{
	struct devlink_health_reporter *reporter = devlink->faults.reporter[MERIDIAN_FAULT_BOX];

	if (!recover_boxes(reporter, &devlink->faults, NULL))
		tell_well(reporter);
}

/* Several may have begun to hang since the last report. */
static void say_boxes(unsigned long boxes, char *text, size_t bytes)
{
	bool are_many = hweight_long(boxes) > 1;
	unsigned int place;
	size_t used;
	char where[16];

	used = scnprintf(text, bytes, "the user's module%s", are_many ? "s" : "");
	for_each_set_bit(place, &boxes, MERIDIAN_BOX_MAX)
		used += scnprintf(text + used, bytes - used, "%s %s",
				  place == __ffs(boxes) ? "" : ",",
				  meridian_name_box(where, sizeof(where), place));
	scnprintf(text + used, bytes - used, are_many ? " hang" : " hangs");
}

static void say(struct meridian_faults *faults, int fault, char *text, size_t bytes)
{
	unsigned int queue = READ_ONCE(faults->queue[fault]);
	unsigned int boxes = 0;

	if (fault == MERIDIAN_FAULT_BOX)
		boxes = atomic_xchg(&faults->boxes, 0);
	/* A report may have told of a box before its own turn has come. */
	if (!boxes && fault == MERIDIAN_FAULT_BOX && queue != MERIDIAN_TEST)
		boxes = queue;
	if (boxes)
		say_boxes(boxes, text, bytes);
	else if (queue == MERIDIAN_TEST)
		strscpy(text, "a test", bytes);
	else if (fault == MERIDIAN_FAULT_SELFTEST)
		snprintf(text, bytes, "the self-test fails: %s", meridian_test_name(queue));
	else
		snprintf(text, bytes, sentences[fault], queue);
}

static void report_broken(struct meridian_devlink *devlink)
{
	struct meridian_faults *faults = &devlink->faults;
	unsigned long boxes = atomic_xchg(&faults->breaking, 0);
	unsigned int place;
	char text[128];

	for_each_set_bit(place, &boxes, MERIDIAN_BOX_MAX) {
		meridian_say_broken(devlink->card, place, text, sizeof(text));
		devlink_health_report(faults->reporter[MERIDIAN_FAULT_BOX], text, faults);
	}
}

static void do_report(struct work_struct *work)
{
	struct meridian_devlink *devlink = container_of(work, struct meridian_devlink,
							faults.report);
	struct meridian_faults *faults = &devlink->faults;
	char text[96];
	int fault;

	if (test_and_clear_bit(MERIDIAN_HEALTHY, &faults->pending))
		tell_healthy(faults);
	for (fault = 0; fault < MERIDIAN_FAULTS; fault++) {
		if (!test_and_clear_bit(fault, &faults->pending))
			continue;
		say(faults, fault, text, sizeof(text));
		/* It leaves a fault alone while another is not repaired. */
		if (devlink_health_report(faults->reporter[fault], text, faults) != -ECANCELED)
			continue;
		if (fault == MERIDIAN_FAULT_BOX)
			reset_boxes_anyway(devlink);
		else if (fault < MERIDIAN_FAULT_BOX)
			reset_anyway(devlink);
	}
	if (test_and_clear_bit(MERIDIAN_BROKEN, &faults->pending) &&
	    faults->reporter[MERIDIAN_FAULT_BOX])
		report_broken(devlink);
	if (test_and_clear_bit(MERIDIAN_BOXES_WELL, &faults->pending))
		tell_well(faults->reporter[MERIDIAN_FAULT_BOX]);
	if (test_and_clear_bit(MERIDIAN_PASSED, &faults->pending))
		tell_well(faults->reporter[MERIDIAN_FAULT_SELFTEST]);
}

/**
 * meridian_health_show() - tell devlink of faults from now on, and of those before
 * @devlink: devlink has just registered it
 *
 * Context: Does not sleep.
 */
void meridian_health_show(struct meridian_devlink *devlink)
{
	struct meridian_faults *faults = &devlink->faults;

	spin_lock_irq(&faults->show_lock);
	faults->is_shown = true;
	if (faults->pending)
		schedule_work(&faults->report);
	spin_unlock_irq(&faults->show_lock);
}

/**
 * meridian_health_hide() - devlink is not told of faults any more when this returns
 * @devlink: that devlink is about to forget
 *
 * Context: May sleep.
 */
void meridian_health_hide(struct meridian_devlink *devlink)
{
	struct meridian_faults *faults = &devlink->faults;

	spin_lock_irq(&faults->show_lock);
	faults->is_shown = false;
	spin_unlock_irq(&faults->show_lock);
	cancel_work_sync(&faults->report);
}

/**
 * meridian_health_begin() - make the reporters
 * @devlink: of a function that is not attached
 *
 * Context: Does not sleep.
 */
void meridian_health_begin(struct meridian_devlink *devlink)
{
	struct meridian_faults *faults = &devlink->faults;
	/* Errors of the IP and of boxes are the PFs' to see. */
	int count = meridian_is_vf(devlink->pdev) ? MERIDIAN_FAULT_QDMA : MERIDIAN_FAULTS;
	int fault;

	INIT_WORK(&faults->report, do_report);
	spin_lock_init(&faults->show_lock);
	for (fault = 0; fault < count; fault++) {
		struct devlink_health_reporter *reporter =
			meridian_reporter(priv_to_devlink(devlink), &reporters[fault], devlink);

		faults->reporter[fault] = IS_ERR(reporter) ? NULL : reporter;
	}
}

/**
 * meridian_health_end() - undo meridian_health_begin()
 * @devlink: of a function that is detached
 *
 * Context: May sleep.
 */
void meridian_health_end(struct meridian_devlink *devlink)
{
	struct meridian_faults *faults = &devlink->faults;
	int fault;

	for (fault = 0; fault < MERIDIAN_FAULTS; fault++) {
		if (faults->reporter[fault])
			devlink_health_reporter_destroy(faults->reporter[fault]);
		faults->reporter[fault] = NULL;
	}
}
