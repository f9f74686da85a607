/* SPDX-License-Identifier: GPL-2.0-only */
/* A function as devlink knows it: it outlives the driver's state at a reload. */
#ifndef MERIDIAN_DEVLINK_H
#define MERIDIAN_DEVLINK_H

#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/devlink.h>

struct meridian;

/* What is reported, and repaired by a reset of the queues. */
enum meridian_fault {
	MERIDIAN_FAULT_TX,	/* a transmit queue stands still */
	MERIDIAN_FAULT_RX,	/* completions that cannot be */
	MERIDIAN_FAULT_QDMA,	/* a fatal error of the IP */
	MERIDIAN_FAULTS,
};

#define MERIDIAN_TEST	UINT_MAX	/* no queue: a user has asked for the report */

/**
 * struct meridian_devlink - what devlink has of a function
 * @pdev: on PCIe
 * @card: shared with its other PFs
 * @port: of a function that is attached
 * @lock: of @m, for who comes by a reporter
 * @m: the function; NULL before a probe has ended, and when a reload has failed
 * @reporter: by fault; NULL: devlink did not take it
 * @report: tells devlink of faults, as that may sleep
 * @is_shown: whether there is a devlink to tell
 * @show_lock: of @is_shown, with the start of @report
 * @pending: a bit for each fault that it is to tell, and one for queues that have started
 * @queue: where the fault was seen last, or MERIDIAN_TEST
 */
struct meridian_devlink {
	struct pci_dev *pdev;
	struct meridian_card *card;
	struct devlink_port port;
	struct mutex lock; /* m */
	struct meridian *m;
	struct devlink_health_reporter *reporter[MERIDIAN_FAULTS];
	struct work_struct report;
	bool is_shown;
	spinlock_t show_lock; /* is_shown */
	unsigned long pending;
	unsigned int queue[MERIDIAN_FAULTS];
};

/* meridian_devlink.c */
struct meridian_devlink *meridian_devlink_alloc(struct pci_dev *pdev);
void meridian_devlink_free(struct meridian_devlink *devlink);
void meridian_devlink_show(struct meridian_devlink *devlink);
void meridian_devlink_hide(struct meridian_devlink *devlink);
void meridian_devlink_lock(struct meridian_devlink *devlink);
void meridian_devlink_unlock(struct meridian_devlink *devlink);
int meridian_begin_port(struct meridian *m);
void meridian_end_port(struct meridian *m);
bool meridian_may_sriov(struct meridian_devlink *devlink);
unsigned int meridian_may_vectors(struct meridian_devlink *devlink);
unsigned int meridian_may_messages(struct meridian_devlink *devlink);

/* meridian_health.c */
void meridian_health_begin(struct meridian_devlink *devlink);
void meridian_health_end(struct meridian_devlink *devlink);
void meridian_health_show(struct meridian_devlink *devlink);
void meridian_health_hide(struct meridian_devlink *devlink);
void meridian_report(struct meridian *m, enum meridian_fault fault, unsigned int queue);
void meridian_report_healthy(struct meridian *m);

/* meridian_main.c */
int meridian_attach(struct meridian_devlink *devlink);
void meridian_detach(struct meridian_devlink *devlink);

#endif
