// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processors that a user gives an interrupt. Older kernels forget them when the interrupt is given
 * back, as it is whenever the interface goes down.
 */
#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_interrupt.h"

static void affinity_changed(struct irq_affinity_notify *notify, const cpumask_t *mask)
{
	struct meridian_affinity *affinity = container_of(notify, struct meridian_affinity,
							  notify);

	if (!affinity->wanted)
		affinity->wanted = kmalloc(cpumask_size(), GFP_KERNEL);
	if (affinity->wanted)
		cpumask_copy(affinity->wanted, mask);
}

/* What tells of it outlives the interrupt. */
static void forget_notify(struct kref *kref)
{
}

/**
 * meridian_wanted_cpus() - which processors an interrupt is to have
 * @affinity: of an interrupt that is not watched
 * @own: the driver's choice
 *
 * Context: Does not sleep.
 * Return: the user's, or @own.
 */
const struct cpumask *meridian_wanted_cpus(const struct meridian_affinity *affinity,
					   const struct cpumask *own)
{
	return affinity->wanted ? affinity->wanted : own;
}

/**
 * meridian_watch_irq() - remember from now on what users say of an interrupt
 * @affinity: of the interrupt
 * @irq: the interrupt, until meridian_watch_affinity() with NULL
 *
 * Context: May sleep.
 */
void meridian_watch_irq(struct meridian_affinity *affinity, int irq)
{
	affinity->notify.notify = affinity_changed;
	affinity->notify.release = forget_notify;
	meridian_watch_affinity(irq, &affinity->notify);
}

/**
 * meridian_watch_shared_irq() - the same of one that several NAPIs share
 * @affinity: of the interrupt
 * @irq: the interrupt, until irq_set_affinity_notifier() with NULL
 *
 * No kernel keeps it by itself.
 *
 * Context: May sleep.
 */
void meridian_watch_shared_irq(struct meridian_affinity *affinity, int irq)
{
	affinity->notify.notify = affinity_changed;
	affinity->notify.release = forget_notify;
	irq_set_affinity_notifier(irq, &affinity->notify);
}
