// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the user's modules for programs: a file for each module, as the files of UIO are.
 * An interrupt is told once, and no other until the file is written.
 */
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/sysfs.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define GROUP	"box"

/**
 * struct box_attribute - the file of a module
 * @attribute: the file
 * @place: its bit: a port, or AT_HOST
 */
struct box_attribute {
	struct device_attribute attribute;
	unsigned int place;
};

/* The place of the module at the host, beside the ports. */
#define AT_HOST		(MERIDIAN_PS_BOXES - 1)

static u32 read_irq(struct meridian_ps *card, u32 offset)
{
	return meridian_ps_read(card, MERIDIAN_PS_BOX_IRQ_PS_BASE + offset);
}

static void write_irq(struct meridian_ps *card, u32 offset, u32 value)
{
	meridian_ps_write(card, MERIDIAN_PS_BOX_IRQ_PS_BASE + offset, value);
}

static void write_enable(struct meridian_ps *card)
{
	write_irq(card, MERIDIAN_PS_BOX_IRQ_ENABLE, card->box.enabled);
	/* The write is posted: until it is there, the level raises one more of nobody. */
	read_irq(card, MERIDIAN_PS_BOX_IRQ_ENABLE);
}

static bool has_irqs(const struct meridian_ps *card)
{
	return card->capabilities & MERIDIAN_IDENT_CAPABILITIES_BOX_IRQ_MASK;
}

static bool has_irq(const struct meridian_ps *card, unsigned int place)
{
	if (!has_irqs(card))
		return false;
	if (place == AT_HOST)
		return card->capabilities & MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK;
	return place < card->ports &&
	       card->capabilities & MERIDIAN_IDENT_CAPABILITIES_USER_BOX_MASK;
}

static unsigned int place_of(const struct device_attribute *attribute)
{
	return container_of(attribute, struct box_attribute, attribute)->place;
}

static ssize_t show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct meridian_ps *card = dev_get_drvdata(dev);

	return sysfs_emit(text, "%u\n", READ_ONCE(card->box.count[place_of(attribute)]));
}

static ssize_t set(struct device *dev, struct device_attribute *attribute, const char *text,
		   size_t length)
{
	struct meridian_ps *card = dev_get_drvdata(dev);
	u32 bit = BIT(place_of(attribute));
	unsigned long flags;
	bool on;
	int error = kstrtobool(text, &on);

	if (error)
		return error;
	spin_lock_irqsave(&card->box.lock, flags);
	if (card->box.is_over) {
		error = -ENODEV;
	} else {
		if (on)
			write_irq(card, MERIDIAN_PS_BOX_IRQ_PENDING, bit);
		card->box.enabled = on ? card->box.enabled | bit : card->box.enabled & ~bit;
		write_enable(card);
	}
	spin_unlock_irqrestore(&card->box.lock, flags);
	return error ?: length;
}

#define INTERRUPT(file, number)	{ __ATTR(file, 0644, show, set), number }

static struct box_attribute files[MERIDIAN_PS_BOXES] = {
	INTERRUPT(port0, 0),
	INTERRUPT(port1, 1),
	INTERRUPT(port2, 2),
	INTERRUPT(port3, 3),
	INTERRUPT(host, AT_HOST),
};

static struct attribute *attributes[] = {
	&files[0].attribute.attr,
	&files[1].attribute.attr,
	&files[2].attribute.attr,
	&files[3].attribute.attr,
	&files[AT_HOST].attribute.attr,
	NULL
};

static umode_t is_visible(struct kobject *kobj, struct attribute *attr, int number)
{
	struct device_attribute *attribute = container_of(attr, struct device_attribute, attr);

	return has_irq(dev_get_drvdata(kobj_to_dev(kobj)), place_of(attribute)) ? attr->mode : 0;
}

static const struct attribute_group group = {
	.name = GROUP,
	.attrs = attributes,
	.is_visible = is_visible,
};

static void wake(struct work_struct *work)
{
	struct meridian_ps *card = container_of(work, struct meridian_ps, box.wake);
	unsigned long told;
	unsigned int place;

	spin_lock_irq(&card->box.lock);
	told = card->box.told;
	card->box.told = 0;
	spin_unlock_irq(&card->box.lock);
	for_each_set_bit(place, &told, MERIDIAN_PS_BOXES)
		sysfs_notify(&card->dev->kobj, GROUP, files[place].attribute.attr.name);
}

static void end_wake(void *data)
{
	struct meridian_ps *card = data;

	write_irq(card, MERIDIAN_PS_BOX_IRQ_ENABLE, 0);
	cancel_work_sync(&card->box.wake);
}

/* A program that waits would not hear that its file goes. */
static void end_files(void *data)
{
	struct meridian_ps *card = data;
	unsigned int place;

	spin_lock_irq(&card->box.lock);
	card->box.is_over = true;
	card->box.enabled = 0;
	write_enable(card);
	spin_unlock_irq(&card->box.lock);
	for (place = 0; place < MERIDIAN_PS_BOXES; place++) {
		if (has_irq(card, place))
			sysfs_notify(&card->dev->kobj, GROUP, files[place].attribute.attr.name);
	}
}

/**
 * meridian_ps_init_box() - no module interrupts yet
 * @card: before its interrupt is requested, and before it is watched
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_init_box(struct meridian_ps *card)
{
	spin_lock_init(&card->box.lock);
	INIT_WORK(&card->box.wake, wake);
	if (!has_irqs(card))
		return 0;
	write_irq(card, MERIDIAN_PS_BOX_IRQ_ENABLE, 0);
	return devm_add_action_or_reset(card->dev, end_wake, card);
}

/**
 * meridian_ps_add_box_files() - a file for each module
 * @card: whose interrupt is requested
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_add_box_files(struct meridian_ps *card)
{
	if (!has_irqs(card))
		return 0;
	return devm_device_add_group(card->dev, &group) ?:
	       devm_add_action_or_reset(card->dev, end_files, card);
}

/**
 * meridian_ps_box_interrupt() - mask the modules that interrupt, and have programs woken
 * @card: whose
 *
 * Context: Does not sleep.
 * Return: whether there was one. What somebody else has enabled is masked as well.
 */
bool meridian_ps_box_interrupt(struct meridian_ps *card)
{
	unsigned long told;
	unsigned int place;
	u32 masked;

	if (!has_irqs(card))
		return false;
	spin_lock(&card->box.lock);
	masked = read_irq(card, MERIDIAN_PS_BOX_IRQ_PENDING) &
		 read_irq(card, MERIDIAN_PS_BOX_IRQ_ENABLE);
	/* All ones are no answer. */
	if (masked == U32_MAX)
		masked = 0;
	told = masked & card->box.enabled;
	if (masked) {
		card->box.enabled &= ~masked;
		write_enable(card);
	}
	for_each_set_bit(place, &told, MERIDIAN_PS_BOXES)
		WRITE_ONCE(card->box.count[place], card->box.count[place] + 1);
	card->box.told |= told;
	spin_unlock(&card->box.lock);
	if (told)
		schedule_work(&card->box.wake);
	return masked;
}

/**
 * meridian_ps_restore_box() - a card that was reset is told again who listens
 * @card: whose
 *
 * Context: Does not sleep.
 */
void meridian_ps_restore_box(struct meridian_ps *card)
{
	unsigned long flags;

	if (!has_irqs(card))
		return;
	spin_lock_irqsave(&card->box.lock, flags);
	write_enable(card);
	spin_unlock_irqrestore(&card->box.lock, flags);
}
