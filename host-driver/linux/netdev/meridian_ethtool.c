// SPDX-License-Identifier: GPL-2.0-only
/* What ethtool asks of the function, but for statistics and tests. */
#include <linux/bitfield.h>

#include "compat_ethtool.h"
#include "meridian.h"
#include "meridian_configure.h"
#include "meridian_ethtool.h"
#include "meridian_hw.h"
#include "meridian_interrupt.h"
#include "meridian_rss.h"
#include "meridian_selftest.h"
#include "meridian_stats.h"

static void get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct meridian *m = netdev_priv(netdev);
	u32 version, hash;

	strscpy(info->driver, MERIDIAN_NAME, sizeof(info->driver));
	strscpy(info->version, MERIDIAN_VERSION, sizeof(info->version));
	strscpy(info->bus_info, pci_name(m->pdev), sizeof(info->bus_info));
	/* A VF is not told. */
	if (meridian_is_vf(m->pdev))
		return;
	version = meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_VERSION);
	hash = meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_BUILD_HASH);
	snprintf(info->fw_version, sizeof(info->fw_version), "map %u.%u, build %08x",
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version),
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version), hash);
}

static int get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	struct meridian *m = netdev_priv(netdev);

	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_zero_link_mode(settings, advertising);
	ethtool_link_ksettings_add_link_mode(settings, supported, FIBRE);
	settings->base.port = PORT_FIBRE;
	settings->base.autoneg = AUTONEG_DISABLE;
	settings->base.speed = m->gigabits ? 1000 * m->gigabits : SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static void get_ringparam(struct net_device *netdev,
			  struct ethtool_ringparam *ring MERIDIAN_RING_MORE)
{
	struct meridian *m = netdev_priv(netdev);

	ring->rx_max_pending = MERIDIAN_RING_MAX;
	ring->tx_max_pending = MERIDIAN_RING_MAX;
	ring->rx_pending = m->config.rx_slots;
	ring->tx_pending = m->config.tx_slots;
}

/* The card has rings of powers of two; the next larger is taken. */
static int set_ringparam(struct net_device *netdev,
			 struct ethtool_ringparam *ring MERIDIAN_RING_MORE)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_config config = m->config;

	if (ring->rx_mini_pending || ring->rx_jumbo_pending ||
	    ring->rx_pending < MERIDIAN_RING_MIN || ring->tx_pending < MERIDIAN_RING_MIN)
		return -EINVAL;
	config.rx_slots = roundup_pow_of_two(ring->rx_pending);
	config.tx_slots = roundup_pow_of_two(ring->tx_pending);
	return meridian_configure(m, &config);
}

static void get_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct meridian *m = netdev_priv(netdev);

	channels->max_combined = m->queue_limit;
	channels->combined_count = m->config.queues;
	channels->max_other = meridian_first_vector(m);
	channels->other_count = meridian_first_vector(m);
}

static int set_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_config config = m->config;

	if (!channels->combined_count || channels->rx_count || channels->tx_count ||
	    channels->other_count != meridian_first_vector(m))
		return -EINVAL;
	config.queues = channels->combined_count;
	return meridian_configure(m, &config);
}

MERIDIAN_DEFINE_RXFH(meridian_get_rxfh, meridian_set_rxfh)
MERIDIAN_DEFINE_FIELDS(meridian_hash_fields, meridian_set_hash_fields)
MERIDIAN_DEFINE_RXNFC(meridian_hash_fields, meridian_ring_count)

static int get_sset_count(struct net_device *netdev, int set)
{
	struct meridian *m = netdev_priv(netdev);

	switch (set) {
	case ETH_SS_STATS:
		return meridian_stats_count(m);
	case ETH_SS_TEST:
		/* A VF sees nothing that could be tested. */
		return meridian_is_vf(m->pdev) ? -EOPNOTSUPP : meridian_test_count(m);
	case ETH_SS_PRIV_FLAGS:
		return meridian_priv_flag_count(m);
	default:
		return -EOPNOTSUPP;
	}
}

static void get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	struct meridian *m = netdev_priv(netdev);

	if (set == ETH_SS_STATS)
		meridian_stats_strings(m, data);
	else if (set == ETH_SS_TEST)
		meridian_test_strings(m, data);
	else if (set == ETH_SS_PRIV_FLAGS)
		meridian_priv_flag_strings(data);
}

static void get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data)
{
	meridian_stats_values(netdev_priv(netdev), data);
}

#ifdef MERIDIAN_HAS_STANDARD_STATS
#define STANDARD_STATS \
	.get_eth_mac_stats = meridian_mac_stats, .get_rmon_stats = meridian_rmon_stats,
#else
#define STANDARD_STATS
#endif

/* What every function has. */
#define COMMON_OPS \
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS | \
				     ETHTOOL_COALESCE_RX_MAX_FRAMES | \
				     ETHTOOL_COALESCE_TX_USECS | \
				     ETHTOOL_COALESCE_TX_MAX_FRAMES | \
				     ETHTOOL_COALESCE_USE_ADAPTIVE, \
	.get_drvinfo = get_drvinfo, \
	.get_link = ethtool_op_get_link, \
	.get_link_ksettings = get_link_ksettings, \
	.get_ts_info = ethtool_op_get_ts_info, \
	.get_ringparam = get_ringparam, \
	.set_ringparam = set_ringparam, \
	.get_channels = get_channels, \
	.set_channels = set_channels, \
	.get_coalesce = meridian_get_coalesce, \
	.set_coalesce = meridian_set_coalesce, \
	.get_per_queue_coalesce = meridian_get_queue_coalesce, \
	.set_per_queue_coalesce = meridian_set_queue_coalesce, \
	.get_rxfh_key_size = meridian_rxfh_key_size, \
	.get_rxfh_indir_size = meridian_rxfh_indir_size, \
	MERIDIAN_RXFH_OPS(meridian_get_rxfh, meridian_set_rxfh), \
	MERIDIAN_RXFH_TRANSFORMS \
	MERIDIAN_RXNFC_OPS(meridian_hash_fields, meridian_set_hash_fields, meridian_ring_count), \
	.get_priv_flags = meridian_priv_flags, \
	.set_priv_flags = meridian_set_priv_flags, \
	.get_sset_count = get_sset_count, \
	.get_strings = get_strings, \
	.get_ethtool_stats = get_ethtool_stats, \
	.self_test = meridian_self_test, \
	.get_regs_len = meridian_regs_len, \
	.get_regs = meridian_get_regs, \
	MERIDIAN_NEEDS_RTNL \
	STANDARD_STATS

const struct ethtool_ops meridian_ethtool_ops = {
	COMMON_OPS
	.get_tunable = meridian_get_tunable,
	.set_tunable = meridian_set_tunable,
};

const struct ethtool_ops meridian_pause_ethtool_ops = {
	COMMON_OPS
	.get_pauseparam = meridian_get_pauseparam,
	.set_pauseparam = meridian_set_pauseparam,
	.get_pause_stats = meridian_get_pause_stats,
	.get_tunable = meridian_get_pause_tunable,
	.set_tunable = meridian_set_pause_tunable,
};
