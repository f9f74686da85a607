// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the user's modules for programs: a file for each module, as the files of UIO are.
 * The card sends one message, and no other until the file is written.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_devlink.h"
#include "meridian_hw.h"

#define GROUP	"box"

/**
 * struct box_attribute - the file of a module
 * @attr: the file
 * @place: a port, or MERIDIAN_BOX_AT_HOST
 */
struct box_attribute {
	struct device_attribute attr;
	unsigned int place;
};

static unsigned int place_of(const struct device_attribute *attr)
{
	return container_of(attr, struct box_attribute, attr)->place;
}

static struct meridian *function_of(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

/* Older bitstreams with modules have no interrupts of theirs. */
static bool has_irq(const struct meridian *m, unsigned int place)
{
	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_BOX_IRQ_MASK) &&
	       meridian_has_box(m, place);
}

static void enable(struct meridian *m, unsigned int place, bool on)
{
	/* Vector 0 is not for queues. */
	meridian_write(m, MERIDIAN_BOX_BASE(place) + MERIDIAN_BOX_HOST_IRQ,
		       on ? MERIDIAN_BOX_HOST_IRQ_ENABLE_MASK : 0);
}

/* Under the card's lock. */
static int listen(struct meridian *m, unsigned int place, bool on)
{
	struct meridian_box *box = &m->card->box[place];

	if (m->is_box_over || test_bit(MERIDIAN_FLAG_GONE, &m->flags))
		return -ENODEV;
	if (test_bit(MERIDIAN_FLAG_RESET, &m->flags))
		return -EAGAIN;
	if (box->listener && box->listener != m)
		return -EBUSY;
	if (on)
		meridian_write(m, MERIDIAN_BOX_BASE(place) + MERIDIAN_BOX_HOST_PENDING,
			       MERIDIAN_BOX_HOST_PENDING_IRQ_MASK);
	enable(m, place, on);
	box->listener = on ? m : NULL;
	WRITE_ONCE(m->box_irq[place].is_armed, on);
	return 0;
}

static ssize_t interrupt_show(struct device *dev, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%u\n", READ_ONCE(function_of(dev)->box_irq[place_of(attr)].count));
}

static ssize_t interrupt_store(struct device *dev, struct device_attribute *attr,
			       const char *text, size_t count)
{
	struct meridian *m = function_of(dev);
	bool on;
	int error = kstrtobool(text, &on);

	if (error)
		return error;
	mutex_lock(&m->card->lock);
	error = listen(m, place_of(attr), on);
	mutex_unlock(&m->card->lock);
	return error ?: count;
}

#define INTERRUPT(file, number) \
	{ __ATTR(file, 0644, interrupt_show, interrupt_store), number }

static struct box_attribute box_attributes[MERIDIAN_BOX_MAX] = {
	INTERRUPT(port0, 0),
	INTERRUPT(port1, 1),
	INTERRUPT(port2, 2),
	INTERRUPT(port3, 3),
	INTERRUPT(host, MERIDIAN_BOX_AT_HOST),
};

static struct attribute *attributes[] = {
	&box_attributes[0].attr.attr,
	&box_attributes[1].attr.attr,
	&box_attributes[2].attr.attr,
	&box_attributes[3].attr.attr,
	&box_attributes[MERIDIAN_BOX_AT_HOST].attr.attr,
	NULL
};

static umode_t is_visible(struct kobject *kobj, struct attribute *attr, int number)
{
	struct meridian *m = function_of(kobj_to_dev(kobj));
	unsigned int place = place_of(container_of(attr, struct device_attribute, attr));

	return has_irq(m, place) ? attr->mode : 0;
}

static const struct attribute_group group = {
	.name = GROUP,
	.attrs = attributes,
	.is_visible = is_visible,
};

/**
 * meridian_show_box_irqs() - the interface gets a file for each module that the card has
 * @m: a PF, before its interface is registered
 *
 * Context: Does not sleep.
 */
void meridian_show_box_irqs(struct meridian *m)
{
	unsigned int place;

	for (place = 0; place < MERIDIAN_BOX_MAX; place++) {
		if (has_irq(m, place))
			m->netdev->sysfs_groups[0] = &group;
	}
}

/**
 * meridian_end_box_irqs() - no module interrupts the function any more
 * @m: a PF, before its interface goes: whoever has a file open is refused from now on
 *
 * Context: May sleep.
 */
void meridian_end_box_irqs(struct meridian *m)
{
	unsigned int place;

	mutex_lock(&m->card->lock);
	for (place = 0; place < MERIDIAN_BOX_MAX; place++) {
		if (m->card->box[place].listener != m)
			continue;
		/* One that is gone or being reset is not told. */
		listen(m, place, false);
		m->card->box[place].listener = NULL;
		WRITE_ONCE(m->box_irq[place].is_armed, false);
	}
	m->is_box_over = true;
	mutex_unlock(&m->card->lock);
}

/*
 * The card sends a message again that it could not send, but a function level reset ends them all:
 * so who is armed is looked after, too. Under the card's lock.
 */
static void tell(struct meridian *m, unsigned int place)
{
	u32 base = MERIDIAN_BOX_BASE(place);
	u32 settings = meridian_read(m, base + MERIDIAN_BOX_HOST_IRQ);
	u32 pending;

	/* A card that does not answer reads as ones. */
	if (settings == U32_MAX)
		return;
	if (!(settings & MERIDIAN_BOX_HOST_IRQ_ENABLE_MASK))
		enable(m, place, true);
	pending = meridian_read(m, base + MERIDIAN_BOX_HOST_PENDING);
	if (pending == U32_MAX || !(pending & MERIDIAN_BOX_HOST_PENDING_IRQ_MASK))
		return;
	WRITE_ONCE(m->box_irq[place].is_armed, false);
	WRITE_ONCE(m->box_irq[place].count, m->box_irq[place].count + 1);
	sysfs_notify(&m->netdev->dev.kobj, GROUP, box_attributes[place].attr.attr.name);
}

/**
 * meridian_take_box_irqs() - wake who waits for a module that has interrupted
 * @m: a PF
 *
 * May sleep.
 *
 * Context: May sleep.
 */
void meridian_take_box_irqs(struct meridian *m)
{
	unsigned int place;

	for (place = 0; place < MERIDIAN_BOX_MAX; place++) {
		if (!READ_ONCE(m->box_irq[place].is_armed))
			continue;
		mutex_lock(&m->card->lock);
		if (m->box_irq[place].is_armed)
			tell(m, place);
		mutex_unlock(&m->card->lock);
	}
}
