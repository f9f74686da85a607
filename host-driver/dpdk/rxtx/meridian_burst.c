/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the receive and transmit functions a port uses. */
#include <rte_cpuflags.h>
#include <rte_string_fns.h>
#include <rte_vect.h>

#include "meridian.h"

/* What asks for more than a descriptor a frame and nothing else. */
#define FULL_OFFLOADS	(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT | \
			 RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | \
			 RTE_ETH_TX_OFFLOAD_TCP_CKSUM)

struct named_rx {
	eth_rx_burst_t burst;
	eth_rx_burst_t locked;
	const char *name;
};

static const struct named_rx rx_bursts[] = {
	{ meridian_recv_simple, meridian_locked_simple, "Scalar" },
	{ meridian_recv_scattered, meridian_locked_scattered, "Scalar Scattered" },
#if defined(RTE_ARCH_X86)
	{ meridian_recv_sse, meridian_locked_sse, "Vector SSE" },
	{ meridian_recv_avx2, meridian_locked_avx2, "Vector AVX2" },
#elif defined(RTE_ARCH_ARM64)
	{ meridian_recv_neon, meridian_locked_neon, "Vector Neon" },
#endif
};

/* Whether a frame may take several buffers of some queue. */
bool
meridian_is_scattered(const struct rte_eth_dev *dev)
{
	uint32_t frame = dev->data->mtu + MERIDIAN_FRAME_OVERHEAD;
	uint16_t i;

	if (dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER)
		return true;
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		const struct meridian_rx *rx = dev->data->rx_queues[i];

		if (rx != NULL && rx->buffer_bytes < frame)
			return true;
	}
	return false;
}

/* The widest of this machine that EAL allows; NULL if there is none. */
static eth_rx_burst_t
vector_of_machine(void)
{
#if defined(RTE_ARCH_X86)
	uint16_t bits = rte_vect_get_max_simd_bitwidth();

	if (bits >= RTE_VECT_SIMD_256 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		return meridian_recv_avx2;
	if (bits >= RTE_VECT_SIMD_128)
		return meridian_recv_sse;
#elif defined(RTE_ARCH_ARM64)
	if (rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_128)
		return meridian_recv_neon;
#endif
	return NULL;
}

/* A vector wants the long completions. */
static eth_rx_burst_t
unscattered(const struct rte_eth_dev *dev)
{
	eth_rx_burst_t vector = vector_of_machine();

	if (vector && meridian_can(meridian_of(dev), MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK))
		return vector;
	return meridian_recv_simple;
}

static eth_rx_burst_t
with_lock(eth_rx_burst_t burst)
{
	unsigned int i = 0;

	while (rx_bursts[i].burst != burst)
		i++;
	return rx_bursts[i].locked;
}

/**
 * meridian_choose_bursts() - the fastest that can do what was asked for
 * @dev: a port whose queues are set up; in a secondary process, one that is attached
 */
void
meridian_choose_bursts(struct rte_eth_dev *dev)
{
	uint64_t offloads = dev->data->dev_conf.txmode.offloads;
	uint16_t i;

	/* What the primary configures later a secondary is not told, so it is ready for all. */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		dev->rx_pkt_burst = with_lock(unscattered(dev));
		dev->tx_pkt_burst = meridian_xmit_cutting;
		dev->tx_pkt_prepare = meridian_xmit_prepare;
		return;
	}
	dev->rx_pkt_burst = meridian_is_scattered(dev) ? meridian_recv_scattered : unscattered(dev);
	if (meridian_is_interrupting(dev))
		dev->rx_pkt_burst = with_lock(dev->rx_pkt_burst);
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		const struct meridian_tx *tx = dev->data->tx_queues[i];

		if (tx != NULL)
			offloads |= tx->offloads & MERIDIAN_TX_SEVERAL;
	}
	if (offloads & MERIDIAN_TX_TSO)
		dev->tx_pkt_burst = meridian_xmit_cutting;
	else
		dev->tx_pkt_burst = offloads & FULL_OFFLOADS ? meridian_xmit_full :
							       meridian_xmit_simple;
	dev->tx_pkt_prepare = meridian_xmit_prepare;
}

int
meridian_rx_mode(struct rte_eth_dev *dev, uint16_t index __rte_unused,
		 struct rte_eth_burst_mode *mode)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(rx_bursts); i++) {
		bool is_locked = dev->rx_pkt_burst == rx_bursts[i].locked;

		if (!is_locked && dev->rx_pkt_burst != rx_bursts[i].burst)
			continue;
		snprintf(mode->info, sizeof(mode->info), "%s%s", rx_bursts[i].name,
			 is_locked ? " Locked" : "");
		return 0;
	}
	return -EINVAL;
}

int
meridian_tx_mode(struct rte_eth_dev *dev, uint16_t index __rte_unused,
		 struct rte_eth_burst_mode *mode)
{
	const char *name = "Scalar Simple";

	if (dev->tx_pkt_burst == meridian_xmit_full)
		name = "Scalar";
	else if (dev->tx_pkt_burst == meridian_xmit_cutting)
		name = "Scalar Segmenting";
	rte_strscpy(mode->info, name, sizeof(mode->info));
	return 0;
}

static MERIDIAN_COUNT
rx_available(void *queue)
{
	const struct meridian_rx *rx = queue;

	return meridian_completions_ready(rx, rx->mask + 1);
}

static int
rx_status(void *queue, uint16_t offset)
{
	const struct meridian_rx *rx = queue;

	if (offset > rx->mask)
		return -EINVAL;
	if (meridian_completions_ready(rx, offset + 1) > offset)
		return RTE_ETH_RX_DESC_DONE;
	return offset < rx->posted - rx->taken ? RTE_ETH_RX_DESC_AVAIL : RTE_ETH_RX_DESC_UNAVAIL;
}

static int
tx_status(void *queue, uint16_t offset)
{
	const struct meridian_tx *tx = queue;

	if (offset > tx->mask)
		return -EINVAL;
	/* Counted from the next to be filled, which was taken longest ago. */
	return offset + meridian_tx_pending(tx) > tx->mask ? RTE_ETH_TX_DESC_FULL :
							     RTE_ETH_TX_DESC_DONE;
}

/* Where ethdev asks for the state of single descriptors. */
void
meridian_set_status_calls(struct rte_eth_dev *dev)
{
	dev->rx_queue_count = rx_available;
	dev->rx_descriptor_status = rx_status;
	dev->tx_descriptor_status = tx_status;
}
