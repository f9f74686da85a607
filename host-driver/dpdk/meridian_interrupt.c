/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interrupts of receive queues: of the function's MSI-X vectors the first is not for queues, and
 * queue n has number n + 1, as EAL counts them, too.
 */
#include <rte_interrupts.h>

#include "meridian.h"

/* Whether the application wants to be woken by receive queues. */
bool
meridian_is_interrupting(const struct rte_eth_dev *dev)
{
	return dev->data->dev_conf.intr_conf.rxq && dev->data->nb_rx_queues;
}

/**
 * meridian_check_interrupts() - look whether there are as many as the application wants
 * @dev: a port that is being configured
 *
 * Return: 0 or a negative errno, then the log says why in a sentence.
 */
int
meridian_check_interrupts(const struct rte_eth_dev *dev)
{
	uint32_t wanted = RTE_INTR_VEC_RXTX_OFFSET + dev->data->nb_rx_queues;
	const struct meridian_bus *bus = dev->process_private;

	if (!meridian_is_interrupting(dev))
		return 0;
	if (bus->interrupt == NULL) {
		MERIDIAN_LOG(ERR, "%s: receive queues of this card cannot interrupt, those of one on PCIe can",
			     dev->data->name);
		return -ENOTSUP;
	}
	if (!rte_intr_cap_multiple(bus->interrupt)) {
		MERIDIAN_LOG(ERR, "%s: receive queues interrupt by MSI-X: bind the function to vfio-pci",
			     dev->data->name);
		return -ENOTSUP;
	}
	if (wanted <= bus->vectors)
		return 0;
	MERIDIAN_LOG(ERR, "%s: %u receive queues that interrupt take %u MSI-X vectors, the function has %u",
		     dev->data->name, dev->data->nb_rx_queues, wanted, bus->vectors);
	return -ENOSPC;
}

static int
start_vectors(struct rte_intr_handle *handle, uint16_t queues)
{
	int error = rte_intr_efd_enable(handle, queues);
	uint16_t i;

	if (!error)
		error = rte_intr_vec_list_alloc(handle, "meridian vectors", queues);
	for (i = 0; i < queues && !error; i++)
		error = rte_intr_vec_list_index_set(handle, i, RTE_INTR_VEC_RXTX_OFFSET + i);
	return error ? error : rte_intr_enable(handle);
}

/**
 * meridian_start_interrupts() - let queues have their vectors, if the application wants it
 * @dev: a port that is being started
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_start_interrupts(struct rte_eth_dev *dev)
{
	struct meridian_bus *bus = dev->process_private;

	if (!meridian_is_interrupting(dev))
		return 0;
	if (start_vectors(bus->interrupt, dev->data->nb_rx_queues) == 0)
		return 0;
	MERIDIAN_LOG(ERR, "%s: cannot allocate MSI-X vectors for %u receive queues",
		     dev->data->name, dev->data->nb_rx_queues);
	meridian_stop_interrupts(dev);
	return -EIO;
}

/* Undoes meridian_start_interrupts(), however far that came. */
void
meridian_stop_interrupts(struct rte_eth_dev *dev)
{
	struct meridian_bus *bus = dev->process_private;

	if (bus->interrupt == NULL || !rte_intr_dp_is_en(bus->interrupt))
		return;
	rte_intr_disable(bus->interrupt);
	rte_intr_vec_list_free(bus->interrupt);
	rte_intr_efd_disable(bus->interrupt);
}

/*
 * The card takes the mode with the doorbell; each one that arms is for one interrupt. If there are
 * completions that nobody has read, the interrupt comes at once.
 */
static int
set_interrupt(struct rte_eth_dev *dev, uint16_t index, bool on)
{
	struct meridian_rx *rx = dev->data->rx_queues[index];

	if (!meridian_is_interrupting(dev)) {
		MERIDIAN_LOG(ERR, "%s: the port is not configured for interrupts of receive queues",
			     dev->data->name);
		return -ENOTSUP;
	}
	if (dev->data->rx_queue_state[index] != RTE_ETH_QUEUE_STATE_STARTED)
		return -EINVAL;
	meridian_set_mode(rx, on ? rx->armed_mode : rx->quiet_mode);
	return 0;
}

int
meridian_enable_interrupt(struct rte_eth_dev *dev, uint16_t index)
{
	return set_interrupt(dev, index, true);
}

int
meridian_disable_interrupt(struct rte_eth_dev *dev, uint16_t index)
{
	return set_interrupt(dev, index, false);
}
