/* SPDX-License-Identifier: GPL-2.0-only */
/* A function as devlink knows it: it outlives the driver's state at a reload. */
#ifndef MERIDIAN_DEVLINK_H
#define MERIDIAN_DEVLINK_H

#include <linux/mutex.h>
#include <linux/pci.h>
#include <net/devlink.h>

#include "meridian_fault.h"

struct meridian;
struct meridian_card;
struct meridian_devlink;

/**
 * struct meridian_lifecycle - what a reload does to a function; the devlink's lock is held
 * @attach: from a function on PCIe to an interface; 0 or a negative error, then nothing is kept
 * @detach: undoes it, if it has been done
 */
struct meridian_lifecycle {
	int (*attach)(struct meridian_devlink *devlink);
	void (*detach)(struct meridian_devlink *devlink);
};

/**
 * struct meridian_devlink - what devlink has of a function
 * @pdev: on PCIe
 * @card: shared with its other PFs
 * @port: of a function that is attached
 * @reload: keeps a reload away where devlink's own lock does not
 * @lock: of @m, for who comes by a reporter
 * @m: the function; NULL before a probe has ended, and when a reload has failed
 * @is_due: a reload during a reset has detached it: it is attached when the reset has ended well
 * @reset_at: in jiffies, when the last reset or recovery began
 * @lifecycle: what a reload does to it
 * @faults: that it has
 */
struct meridian_devlink {
	struct pci_dev *pdev;
	struct meridian_card *card;
	struct devlink_port port;
	struct mutex reload; /* before Linux 6.0: m as a whole */
	struct mutex lock; /* m */
	struct meridian *m;
	bool is_due;
	unsigned long reset_at;
	const struct meridian_lifecycle *lifecycle;
	struct meridian_faults faults;
};

/* meridian_devlink.c */
struct meridian_devlink *meridian_devlink_alloc(struct pci_dev *pdev,
						const struct meridian_lifecycle *lifecycle);
void meridian_devlink_free(struct meridian_devlink *devlink);
void meridian_devlink_show(struct meridian_devlink *devlink);
void meridian_devlink_hide(struct meridian_devlink *devlink);
void meridian_devlink_lock(struct meridian_devlink *devlink);
void meridian_devlink_unlock(struct meridian_devlink *devlink);
void meridian_end_reload(struct meridian_devlink *devlink);
int meridian_begin_port(struct meridian *m);
void meridian_end_port(struct meridian *m);
bool meridian_may_sriov(struct meridian_devlink *devlink);
unsigned int meridian_may_vectors(struct meridian_devlink *devlink);
unsigned int meridian_may_messages(struct meridian_devlink *devlink);

/* meridian_box.c */
/* The place of the module at the host, beside the ports. */
#define MERIDIAN_BOX_AT_HOST	(MERIDIAN_BOX_MAX - 1)
bool meridian_has_box(const struct meridian *m, unsigned int place);
const char *meridian_name_box(char *text, size_t size, unsigned int place);
void meridian_look_after_boxes(struct meridian *m);
void meridian_forget_boxes(struct meridian_card *card);
void meridian_say_broken(struct meridian_card *card, unsigned int place, char *text, size_t size);
int meridian_reset_boxes(struct meridian *m, bool is_asked);
void meridian_put_boxes(struct meridian *m, struct devlink_fmsg *fmsg);

/* meridian_box_irq.c */
void meridian_show_box_irqs(struct meridian *m);
void meridian_end_box_irqs(struct meridian *m);
void meridian_take_box_irqs(struct meridian *m);

/* meridian_health.c */
void meridian_health_begin(struct meridian_devlink *devlink);
void meridian_health_end(struct meridian_devlink *devlink);
void meridian_health_show(struct meridian_devlink *devlink);
void meridian_health_hide(struct meridian_devlink *devlink);

#endif
