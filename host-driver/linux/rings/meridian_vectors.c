// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vectors of MSI-X, and whose they are. Each queue pair has one to itself if there are so many. A
 * PF with fewer lets its pairs share them: then each vector has a ring in memory, in which the card
 * writes which queue it interrupts for.
 */
#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_interrupt.h"

#include "qdma/qdma_interrupt.h"

/* Numbers of rings that a PF has to itself, of the card's QDMA_INTERRUPT_RINGS. */
#define RINGS_A_PF	8

/**
 * struct meridian_vector - a vector that queue pairs share
 * @m: their function
 * @irq: Linux's number while a pair has it
 * @users: pairs that have it
 * @cpus: of these
 * @affinity: what a user wants instead
 * @entries: what the card writes
 * @dma: its address for the card
 * @next: entry to read
 * @color: of those that are new
 * @ring: its number within the card
 * @name: of the interrupt
 */
struct meridian_vector {
	struct meridian *m;
	int irq;
	unsigned int users;
	struct cpumask cpus;
	struct meridian_affinity affinity;
	__le64 *entries;
	dma_addr_t dma;
	u32 next;
	u32 color;
	u32 ring;
	char name[IFNAMSIZ + 24];
};

static unsigned int shared_vectors(const struct meridian *m)
{
	return m->vectors - meridian_first_vector(m);
}

static struct meridian_vector *vector_of(struct meridian *m, unsigned int index)
{
	return &m->vector[index % shared_vectors(m)];
}

/**
 * meridian_vector_of() - what a queue pair's queues name for their interrupts
 * @m: the function
 * @index: of the pair
 *
 * Context: Does not sleep.
 * Return: the number of a vector, or of a ring if meridian_shares_vectors().
 */
u32 meridian_vector_of(struct meridian *m, unsigned int index)
{
	if (meridian_shares_vectors(m))
		return vector_of(m, index)->ring;
	return meridian_first_vector(m) + index;
}

static const struct cpumask *own_cpu(const struct meridian *m, unsigned int index)
{
	return cpumask_of(cpumask_local_spread(index, dev_to_node(&m->pdev->dev)));
}

static irqreturn_t pair_interrupt(int irq, void *data)
{
	struct meridian_channel *channel = data;

	channel->events++;
	napi_schedule_irqoff(&channel->napi);
	return IRQ_HANDLED;
}

static void tell_pair(struct meridian *m, u32 queue)
{
	struct meridian_channel *channel;

	/* Less than the base is more than any limit. */
	queue -= m->queue_base;
	if (queue >= m->queue_limit)
		return;
	channel = &m->channel[queue];
	/* It may be the last word of a pair that has ended. */
	if (!smp_load_acquire(&channel->irq))
		return;
	channel->events++;
	napi_schedule_irqoff(&channel->napi);
}

static irqreturn_t ring_interrupt(int irq, void *data)
{
	struct meridian_vector *vector = data;
	u32 left = QDMA_INTERRUPT_ENTRIES;
	u64 entry;

	/* One turn at most: the card interrupts again for what it writes meanwhile. */
	while (left--) {
		entry = le64_to_cpu(READ_ONCE(vector->entries[vector->next]));
		if (qdma_interrupt_color(entry) != vector->color)
			break;
		/* What the queue tells was written before. */
		dma_rmb();
		vector->next = meridian_next(vector->next, QDMA_INTERRUPT_ENTRIES);
		if (!vector->next)
			vector->color ^= 1;
		tell_pair(vector->m, qdma_interrupt_queue(entry));
	}
	qdma_interrupt_doorbell(&vector->m->qdma, vector->ring, vector->next);
	return IRQ_HANDLED;
}

static int request_own(struct meridian_channel *channel)
{
	struct meridian *m = channel->m;
	unsigned int index = channel->rx.index;
	int irq = pci_irq_vector(m->pdev, meridian_first_vector(m) + index);
	int error;

	snprintf(channel->name, sizeof(channel->name), "%s-%u", m->netdev->name, index);
	error = request_irq(irq, pair_interrupt, 0, channel->name, channel);
	if (error)
		return error;
	channel->irq = irq;
	meridian_hint_irq(irq, meridian_wanted_cpus(&channel->affinity, own_cpu(m, index)));
	meridian_watch_irq(&channel->affinity, irq);
	return 0;
}

static int request_shared(struct meridian_channel *channel)
{
	struct meridian *m = channel->m;
	struct meridian_vector *vector = vector_of(m, channel->rx.index);
	unsigned int number = vector - m->vector;
	int irq = pci_irq_vector(m->pdev, meridian_first_vector(m) + number);
	unsigned int i;
	int error;

	if (!vector->users) {
		snprintf(vector->name, sizeof(vector->name), "%s-shared-%u", m->netdev->name,
			 number);
		cpumask_clear(&vector->cpus);
		for (i = number; i < m->queue_limit; i += shared_vectors(m))
			cpumask_or(&vector->cpus, &vector->cpus, own_cpu(m, i));
		error = request_irq(irq, ring_interrupt, 0, vector->name, vector);
		if (error)
			return error;
		vector->irq = irq;
		meridian_hint_shared_irq(irq, meridian_wanted_cpus(&vector->affinity,
								   &vector->cpus));
		meridian_watch_shared_irq(&vector->affinity, irq);
	}
	vector->users++;
	/* From now on the vector's handler may schedule the pair's NAPI. */
	smp_store_release(&channel->irq, irq);
	return 0;
}

static void free_shared(struct meridian_channel *channel)
{
	struct meridian_vector *vector = vector_of(channel->m, channel->rx.index);

	WRITE_ONCE(channel->irq, 0);
	synchronize_irq(vector->irq);
	if (--vector->users)
		return;
	irq_set_affinity_notifier(vector->irq, NULL);
	meridian_hint_shared_irq(vector->irq, NULL);
	free_irq(vector->irq, vector);
	vector->irq = 0;
}

/**
 * meridian_request_irq() - have the interrupt of a queue pair
 * @channel: whose NAPI is added
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then it has none.
 */
int meridian_request_irq(struct meridian_channel *channel)
{
	bool is_shared = meridian_shares_vectors(channel->m);
	int error = is_shared ? request_shared(channel) : request_own(channel);

	if (!error)
		meridian_napi_set_irq(&channel->napi, channel->irq);
	return error;
}

/**
 * meridian_free_irq() - undo meridian_request_irq()
 * @channel: that may have none
 *
 * Context: May sleep.
 */
void meridian_free_irq(struct meridian_channel *channel)
{
	if (!channel->irq)
		return;
	meridian_napi_set_irq(&channel->napi, -1);
	if (meridian_shares_vectors(channel->m)) {
		free_shared(channel);
		return;
	}
	meridian_watch_affinity(channel->irq, NULL);
	meridian_hint_irq(channel->irq, NULL);
	free_irq(channel->irq, channel);
	channel->irq = 0;
}

/**
 * meridian_spread_tx() - let a processor send by the queue whose interrupt it has
 * @m: a function with queues; under RTNL
 *
 * Done once for a number of queues: what the administrator says then stays.
 *
 * Context: May sleep.
 */
void meridian_spread_tx(struct meridian *m)
{
	unsigned int i;

	if (m->spread == m->channels)
		return;
	m->spread = m->channels;
	for (i = 0; i < m->channels; i++)
		netif_set_xps_queue(m->netdev, own_cpu(m, i), i);
}

/* A ring begins anew, which no queue names. */
static int start_ring(struct meridian_vector *vector)
{
	struct meridian *m = vector->m;
	struct qdma_interrupt_setting setting = {
		.ring = vector->ring,
		.function = m->function,
		.vector = meridian_first_vector(m) + (vector - m->vector),
		.entries = vector->dma,
	};
	int error;

	if (vector->irq)
		disable_irq(vector->irq);
	memset(vector->entries, 0, QDMA_INTERRUPT_BYTES);
	vector->next = 0;
	vector->color = 1;
	error = qdma_interrupt_start(&m->qdma, &setting);
	/* Not before: the handler would tell the card's old ring that it has read nothing of it. */
	if (vector->irq)
		enable_irq(vector->irq);
	return error;
}

/**
 * meridian_start_rings() - let the card have the rings of shared vectors
 * @m: a function without queues
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_start_rings(struct meridian *m)
{
	unsigned int i;
	int error = 0;

	if (!meridian_shares_vectors(m))
		return 0;
	mutex_lock(&m->card->lock);
	for (i = 0; i < shared_vectors(m) && !error; i++)
		error = start_ring(&m->vector[i]);
	mutex_unlock(&m->card->lock);
	return error;
}

static void free_rings(struct meridian *m)
{
	unsigned int i;

	for (i = 0; i < shared_vectors(m); i++) {
		struct meridian_vector *vector = &m->vector[i];

		if (vector->entries)
			dma_free_coherent(&m->pdev->dev, QDMA_INTERRUPT_BYTES, vector->entries,
					  vector->dma);
		kfree(vector->affinity.wanted);
	}
	kfree(m->vector);
	m->vector = NULL;
}

static int alloc_rings(struct meridian *m)
{
	unsigned int count = shared_vectors(m), i;

	BUILD_BUG_ON(RINGS_A_PF * MERIDIAN_PFS > QDMA_INTERRUPT_RINGS);
	m->vector = kcalloc(count, sizeof(*m->vector), GFP_KERNEL);
	if (!m->vector)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct meridian_vector *vector = &m->vector[i];

		vector->m = m;
		vector->ring = RINGS_A_PF * m->function + i;
		vector->entries = dma_alloc_coherent(&m->pdev->dev, QDMA_INTERRUPT_BYTES,
						     &vector->dma, GFP_KERNEL);
		if (!vector->entries) {
			free_rings(m);
			return -ENOMEM;
		}
	}
	return 0;
}

/* A VF's PF takes no requests for rings. */
static bool may_share(const struct meridian *m)
{
	return !meridian_is_vf(m->pdev) && shared_vectors(m) <= RINGS_A_PF;
}

/**
 * meridian_alloc_vectors() - have vectors of MSI-X, and so many queue pairs as they allow
 * @m: an identified function
 * @most: vectors at most, if the card has them
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then it has none.
 */
int meridian_alloc_vectors(struct meridian *m, unsigned int most)
{
	unsigned int others = meridian_first_vector(m), least = others + 1;
	unsigned int pairs = min(num_online_cpus(), m->queue_limit);
	unsigned int wanted = min(pairs + others, most);
	int vectors;

	vectors = pci_alloc_irq_vectors(m->pdev, least, max(wanted, least), PCI_IRQ_MSIX);
	if (vectors < 0) {
		dev_err(&m->pdev->dev, "cannot allocate %u MSI-X vectors: %d\n", least, vectors);
		return vectors;
	}
	m->vectors = vectors;
	if (shared_vectors(m) < pairs && (!may_share(m) || alloc_rings(m)))
		pairs = shared_vectors(m);
	m->queue_limit = pairs;
	m->config.queues = pairs;
	return 0;
}

/* Return: whether the card cannot write to the rings any more. */
static bool stop_rings(struct meridian *m)
{
	unsigned int i;
	u16 command;
	int error = 0;

	mutex_lock(&m->card->lock);
	for (i = 0; i < shared_vectors(m) && !error; i++)
		error = qdma_interrupt_stop(&m->qdma, m->vector[i].ring);
	mutex_unlock(&m->card->lock);
	if (!error && meridian_present(m))
		return true;
	pci_clear_master(m->pdev);
	pci_read_config_word(m->pdev, PCI_COMMAND, &command);
	return command == (u16)~0 || !(command & PCI_COMMAND_MASTER);
}

/**
 * meridian_free_vectors() - undo meridian_alloc_vectors()
 * @m: a function without interrupts
 *
 * What the card may still write to stays where it is.
 *
 * Context: May sleep.
 */
void meridian_free_vectors(struct meridian *m)
{
	if (meridian_shares_vectors(m)) {
		if (stop_rings(m) && !test_bit(MERIDIAN_FLAG_RUNAWAY, &m->flags))
			free_rings(m);
		else
			dev_err(&m->pdev->dev,
				"the card may still write to the interrupt rings: they are not freed\n");
	}
	pci_free_irq_vectors(m->pdev);
}
