/* SPDX-License-Identifier: BSD-3-Clause */
/* The port as ethdev sees it: configured, started, stopped. */
#include "meridian.h"

#define RX_OFFLOADS	(RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_VLAN_FILTER)
#define RX_OFFLOADS_16	(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM | \
			 RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH)
#define TX_OFFLOADS	(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE)
#define TX_ASKS		(RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | \
			 RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM)

static uint32_t
speeds_of(uint32_t gigabits)
{
	switch (gigabits) {
	case 10: return RTE_ETH_LINK_SPEED_10G;
	case 25: return RTE_ETH_LINK_SPEED_25G;
	case 40: return RTE_ETH_LINK_SPEED_40G;
	case 50: return RTE_ETH_LINK_SPEED_50G;
	case 100: return RTE_ETH_LINK_SPEED_100G;
	default: return 0;
	}
}

static uint64_t
rx_offloads(const struct meridian *m)
{
	uint64_t offloads = RX_OFFLOADS;

	/* A VF's VLANs are its PF's to choose. */
	if (m->qdma.is_vf)
		offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK))
		return offloads;
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK))
		offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	return offloads | RX_OFFLOADS_16;
}

static uint64_t
tx_offloads(const struct meridian *m)
{
	uint64_t offloads = TX_OFFLOADS;

	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		offloads |= TX_ASKS;
	if (meridian_can_cut(m))
		offloads |= MERIDIAN_TX_TSO;
	return offloads;
}

static int
infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct rte_eth_desc_lim limits = {
		.nb_max = MERIDIAN_RING_MAX, .nb_min = MERIDIAN_RING_MIN,
		.nb_align = MERIDIAN_RING_MIN,
	};
	const struct meridian *m = meridian_of(dev);

	info->min_mtu = RTE_ETHER_MIN_MTU;
	info->max_mtu = m->max_frame - MERIDIAN_FRAME_OVERHEAD;
	info->max_rx_pktlen = m->max_frame;
	info->min_rx_bufsize = meridian_least_buffer(m);
	info->max_rx_queues = m->queue_limit;
	info->max_tx_queues = m->queue_limit;
	info->max_mac_addrs = m->qdma.is_vf ? 1 + QDMA_VF_ADDRESSES : MERIDIAN_ADDRESSES;
	info->rx_offload_capa = rx_offloads(m);
	info->tx_offload_capa = tx_offloads(m);
	info->tx_queue_offload_capa = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	info->dev_capa |= RTE_ETH_DEV_CAPA_RUNTIME_RX_QUEUE_SETUP |
			  RTE_ETH_DEV_CAPA_RUNTIME_TX_QUEUE_SETUP;
	info->flow_type_rss_offloads = meridian_rss_types(m);
	if (meridian_can_spread(m)) {
		info->reta_size = QDMA_RSS_ENTRIES;
		info->hash_key_size = MERIDIAN_KEY_BYTES;
	}
	info->rx_desc_lim = limits;
	info->tx_desc_lim = limits;
	/* The first is for frames that the card cuts, which nobody copies. */
	info->tx_desc_lim.nb_seg_max = meridian_can_cut(m) ? QDMA_H2C_PIECES : UINT8_MAX;
	info->tx_desc_lim.nb_mtu_seg_max = UINT8_MAX;
	info->speed_capa = speeds_of(m->gigabits);
	info->default_rxportconf.ring_size = MERIDIAN_RING_DEFAULT;
	info->default_txportconf.ring_size = MERIDIAN_RING_DEFAULT;
	info->default_rxportconf.burst_size = MERIDIAN_BATCH;
	info->default_txportconf.burst_size = MERIDIAN_BATCH;
	info->default_rxportconf.nb_queues = 1;
	info->default_txportconf.nb_queues = 1;
	info->err_handle_mode = RTE_ETH_ERROR_HANDLE_MODE_PASSIVE;
	info->default_rxconf.rx_free_thresh = MERIDIAN_BATCH;
	info->default_rxconf.rx_drop_en = 1;
	return 0;
}

static const uint32_t *
ptypes_get(MERIDIAN_PTYPES_ARGS)
{
	static const uint32_t ptypes[] = {
		RTE_PTYPE_L2_ETHER, RTE_PTYPE_L3_IPV4_EXT_UNKNOWN, RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
		RTE_PTYPE_L4_TCP, RTE_PTYPE_L4_UDP, MERIDIAN_PTYPES_END
	};

	MERIDIAN_PTYPES_COUNT(ptypes);
	if (!meridian_can(meridian_of(dev), MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK))
		return NULL;
	return ptypes;
}

static int
configure(struct rte_eth_dev *dev)
{
	bool is_rss = dev->data->dev_conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG;
	struct meridian_bus *bus = dev->process_private;
	struct meridian *m = meridian_of(dev);
	int error = meridian_check_interrupts(dev);

	if (error)
		return error;
	if (dev->data->dev_conf.lpbk_mode && !bus->is_loop) {
		MERIDIAN_LOG(ERR, "%s: the card has no loopback mode", m->data->name);
		return -ENOTSUP;
	}
	if (is_rss)
		dev->data->dev_conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_RSS_HASH &
						       rx_offloads(m);
	error = meridian_configure_map(dev);
	if (error)
		return error;
	return meridian_configure_rss(dev);
}

static int
check_queues(const struct rte_eth_dev *dev)
{
	const struct rte_eth_dev_data *data = dev->data;
	uint16_t i;

	for (i = 0; i < RTE_MAX(data->nb_rx_queues, data->nb_tx_queues); i++) {
		if ((i >= data->nb_rx_queues || data->rx_queues[i] != NULL) &&
		    (i >= data->nb_tx_queues || data->tx_queues[i] != NULL))
			continue;
		MERIDIAN_LOG(ERR, "%s: queue %u is configured, but not set up", data->name, i);
		return -EINVAL;
	}
	return 0;
}

static int
start_queues(struct rte_eth_dev *dev)
{
	int error = 0;
	uint16_t i;

	for (i = 0; i < dev->data->nb_tx_queues && !error; i++) {
		const struct meridian_tx *tx = dev->data->tx_queues[i];

		if (!tx->is_deferred)
			error = meridian_tx_start(dev, i);
	}
	for (i = 0; i < dev->data->nb_rx_queues && !error; i++) {
		const struct meridian_rx *rx = dev->data->rx_queues[i];

		if (!rx->is_deferred)
			error = meridian_rx_start(dev, i);
	}
	return error;
}

/* All of them, whichever were started; error: of what was tried before. */
static int
end_queues(struct rte_eth_dev *dev, int error)
{
	struct meridian *m = meridian_of(dev);

	if (!m->qdma.is_vf)
		meridian_set_queues(m, m->function, 0, 0);
	if (!error)
		error = meridian_end_rx(dev);
	if (!error)
		error = m->ops->map_queues(m, 0);
	if (error)
		error = meridian_fence(dev, error);
	meridian_stop_interrupts(dev);
	return error;
}

static int
start_function(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	int error;

	m->mapped = RTE_MAX(dev->data->nb_rx_queues, dev->data->nb_tx_queues);
	error = meridian_end_fence(dev);
	if (!error)
		error = m->ops->map_queues(m, m->mapped);
	if (!error)
		error = start_queues(dev);
	if (!error)
		error = m->ops->write_rss(m);
	if (!error)
		error = meridian_vlan_offload(dev, RTE_ETH_VLAN_STRIP_MASK);
	if (!error)
		error = m->ops->sync_filter(m);
	return error;
}

static int
start_port(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	int error = check_queues(dev);

	if (error)
		return error;
	dev->data->scattered_rx = meridian_is_scattered(dev);
	m->is_unpaced = m->hierarchy.is_committed;
	meridian_choose_bursts(dev);
	error = meridian_start_interrupts(dev);
	if (error)
		return error;
	error = start_function(dev);
	if (error) {
		MERIDIAN_LOG(ERR, "%s: the card does not start: %s", m->data->name,
			     strerror(-error));
		if (!m->qdma.is_vf)
			meridian_clear_filter(m);
		end_queues(dev, meridian_end_tx(dev));
		return error;
	}
	if (!m->qdma.is_vf)
		meridian_enable_port(m, true);
	m->is_started = true;
	m->is_reset = false;
	m->was_away = false;
	meridian_link_update(dev, 0);
	meridian_watch(dev, true);
	return 0;
}

static int
stop(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	int error;

	if (!m->is_started)
		return 0;
	meridian_watch(dev, false);
	m->is_started = false;
	meridian_link_update(dev, 0);
	/* What was accepted leaves; then no frames come any more while queues go. */
	if (!m->qdma.is_vf)
		meridian_clear_filter(m);
	error = meridian_end_tx(dev);
	if (!m->qdma.is_vf)
		meridian_enable_port(m, false);
	error = end_queues(dev, error);
	/* ethdev would neither close nor start a port that says it is started still. */
	dev->data->dev_started = 0;
	return error;
}

/* However far the port is; of a secondary process, its part of it. */
int
meridian_close(struct rte_eth_dev *dev)
{
	struct meridian_bus *bus = dev->process_private;
	uint16_t i;

	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		stop(dev);
		/* A port that a callback has stopped may be looked at still. */
		meridian_watch(dev, false);
		for (i = 0; i < dev->data->nb_rx_queues; i++)
			meridian_rx_release(dev, i);
		for (i = 0; i < dev->data->nb_tx_queues; i++)
			meridian_tx_release(dev, i);
		meridian_give_up(meridian_of(dev));
	}
	dev->process_private = NULL;
	bus->ops->close(bus);
	return 0;
}

/* The port goes down and up by itself; queues are set up again by who asks. */
static int
reset(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	int error;

	qdma_watch_anew(&m->qdma);
	m->is_away = false;
	m->is_removed = false;
	m->is_reset = false;
	if (!meridian_present(m))
		return -EIO;
	error = m->qdma.is_vf ? meridian_join_pf_again(m) : meridian_take_pf(m);
	/* It had been taken by who reset the function, and not brought back by all of these. */
	if (!error && !m->is_fenced && m->bus->ops->set_master != NULL)
		error = m->bus->ops->set_master(m->bus, true);
	if (error)
		return error;
	if (!m->qdma.is_vf)
		meridian_restart_vfs(m);
	/* The card may have begun to count anew. */
	meridian_take_baseline(m);
	meridian_tm_begin_counts(m);
	return 0;
}

static int
set_mtu(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct meridian *m = meridian_of(dev);
	uint32_t frame = mtu + MERIDIAN_FRAME_OVERHEAD;
	uint16_t i;

	if (!m->is_started)
		return 0;
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		const struct meridian_rx *rx = dev->data->rx_queues[i];

		if (rx == NULL || frame <= rx->buffer_bytes || dev->data->scattered_rx)
			continue;
		MERIDIAN_LOG(ERR, "%s: frames of MTU %u take several buffers: stop the port first",
			     m->data->name, mtu);
		return -EBUSY;
	}
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			meridian_limit_length(dev->data->rx_queues[i], frame);
	}
	return 0;
}

static int
firmware_version(struct rte_eth_dev *dev, char *text, size_t bytes)
{
	struct meridian *m = meridian_of(dev);
	uint32_t hash, version;
	int length;

	if (m->qdma.is_vf)
		return -ENOTSUP;
	hash = meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_BUILD_HASH);
	version = meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_VERSION);
	length = snprintf(text, bytes, "git %08x, registers %u.%u", hash, version >> 16,
			  version & 0xffff);
	if (length < 0)
		return -EINVAL;
	return (size_t)length + 1 > bytes ? length + 1 : 0;
}

static int
clean(void *queue, uint32_t limit)
{
	struct meridian_tx *tx = queue;

	return meridian_clean_tx(tx, limit ? limit : tx->mask);
}

const struct eth_dev_ops meridian_primary_ops = {
	.dev_configure = configure,
	.dev_start = start_port,
	.dev_stop = stop,
	.dev_close = meridian_close,
	.dev_reset = reset,
	.dev_infos_get = infos_get,
	.dev_supported_ptypes_get = ptypes_get,
	.link_update = meridian_link_update,
	.mtu_set = set_mtu,
	.fw_version_get = firmware_version,
	.promiscuous_enable = meridian_promiscuous_on,
	.promiscuous_disable = meridian_promiscuous_off,
	.allmulticast_enable = meridian_all_multicast_on,
	.allmulticast_disable = meridian_all_multicast_off,
	.mac_addr_set = meridian_mac_set,
	.mac_addr_add = meridian_mac_new,
	.mac_addr_remove = meridian_mac_gone,
	.set_mc_addr_list = meridian_multicast_set,
	.vlan_filter_set = meridian_vlan_filter,
	.vlan_offload_set = meridian_vlan_offload,
	.reta_update = meridian_reta_set,
	.reta_query = meridian_reta_get,
	.rss_hash_update = meridian_rss_set,
	.rss_hash_conf_get = meridian_rss_get,
	.rx_queue_setup = meridian_rx_setup,
	.tx_queue_setup = meridian_tx_setup,
	.rx_queue_release = meridian_rx_release,
	.tx_queue_release = meridian_tx_release,
	.rx_queue_start = meridian_rx_start,
	.rx_queue_stop = meridian_rx_stop,
	.rx_queue_intr_enable = meridian_enable_interrupt,
	.rx_queue_intr_disable = meridian_disable_interrupt,
	.tx_queue_start = meridian_tx_start,
	.tx_queue_stop = meridian_tx_stop,
	.rxq_info_get = meridian_rx_info,
	.txq_info_get = meridian_tx_info,
	.rx_burst_mode_get = meridian_rx_mode,
	.tx_burst_mode_get = meridian_tx_mode,
	.tx_done_cleanup = clean,
	.stats_get = meridian_stats_get,
	.stats_reset = meridian_stats_reset,
	.xstats_get = meridian_xstats_get,
	.xstats_get_names = meridian_xstats_names,
	.xstats_reset = meridian_stats_reset,
	.get_dcb_info = meridian_dcb_info,
	.tm_ops_get = meridian_tm_ops,
};

/* The primary looks four times a second. */
static int
link_as_known(struct rte_eth_dev *dev __rte_unused, int wait __rte_unused)
{
	return 0;
}

/* A secondary process has queues, and no registers. */
const struct eth_dev_ops meridian_secondary_ops = {
	.dev_close = meridian_close,
	.dev_infos_get = infos_get,
	.dev_supported_ptypes_get = ptypes_get,
	.link_update = link_as_known,
	.rxq_info_get = meridian_rx_info,
	.txq_info_get = meridian_tx_info,
	.rx_burst_mode_get = meridian_rx_mode,
	.tx_burst_mode_get = meridian_tx_mode,
	.stats_get = meridian_stats_get,
};
