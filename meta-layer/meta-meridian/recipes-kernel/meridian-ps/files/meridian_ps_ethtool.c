// SPDX-License-Identifier: GPL-2.0-only
/* What ethtool asks of a port, but for statistics. */
#include <linux/log2.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"
#include "meridian_ps_selftest.h"

static void get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	struct meridian_ps *card = port->card;
	u32 version = meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_VERSION);
	u32 hash = meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_BUILD_HASH);

	strscpy(info->driver, MERIDIAN_PS_NAME, sizeof(info->driver));
	strscpy(info->bus_info, dev_name(card->dev), sizeof(info->bus_info));
	snprintf(info->fw_version, sizeof(info->fw_version), "map %u.%u, build %08x",
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version),
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version), hash);
}

static int get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	u32 gigabits = 0;

	if (port->card->capabilities & MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK)
		gigabits = FIELD_GET(MERIDIAN_PORT_LINK_STATUS_GIGABITS_MASK,
				     meridian_ps_port_read(port, MERIDIAN_PORT_LINK_STATUS));
	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_zero_link_mode(settings, advertising);
	ethtool_link_ksettings_add_link_mode(settings, supported, FIBRE);
	settings->base.port = PORT_FIBRE;
	settings->base.autoneg = AUTONEG_DISABLE;
	settings->base.speed = gigabits ? 1000 * gigabits : SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static void get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			  struct kernel_ethtool_ringparam *kernel, struct netlink_ext_ack *extack)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	ring->rx_max_pending = MERIDIAN_PS_RING_LARGE;
	ring->tx_max_pending = MERIDIAN_PS_RING_LARGE;
	ring->rx_pending = port->config.rx_size;
	ring->tx_pending = port->config.tx_size;
}

/* The card has rings of powers of two; the next larger is taken. */
static int set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			 struct kernel_ethtool_ringparam *kernel, struct netlink_ext_ack *extack)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	struct meridian_ps_config config = port->config;

	if (ring->rx_mini_pending || ring->rx_jumbo_pending)
		return -EINVAL;
	if (min(ring->rx_pending, ring->tx_pending) < MERIDIAN_PS_RING_SMALL) {
		NL_SET_ERR_MSG(extack, "the smallest ring is of 64");
		return -EINVAL;
	}
	config.rx_size = roundup_pow_of_two(ring->rx_pending);
	config.tx_size = roundup_pow_of_two(ring->tx_pending);
	return meridian_ps_configure(port, &config);
}

static int get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	coalesce->rx_coalesce_usecs = port->rx_coalesce.usecs;
	coalesce->rx_max_coalesced_frames = port->rx_coalesce.frames;
	coalesce->tx_coalesce_usecs = port->tx_coalesce.usecs;
	coalesce->tx_max_coalesced_frames = port->tx_coalesce.frames;
	return 0;
}

static bool is_coalesce(u32 usecs, u32 frames)
{
	return usecs <= FIELD_MAX(MERIDIAN_PS_RING_RX_COALESCE_MICROSECONDS_MASK) &&
	       frames <= FIELD_MAX(MERIDIAN_PS_RING_RX_COALESCE_FRAMES_MASK);
}

static int set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	if (!is_coalesce(coalesce->rx_coalesce_usecs, coalesce->rx_max_coalesced_frames) ||
	    !is_coalesce(coalesce->tx_coalesce_usecs, coalesce->tx_max_coalesced_frames)) {
		NL_SET_ERR_MSG(extack, "the card counts to 65535 microseconds and 255 frames");
		return -ERANGE;
	}
	port->rx_coalesce.usecs = coalesce->rx_coalesce_usecs;
	port->rx_coalesce.frames = coalesce->rx_max_coalesced_frames;
	port->tx_coalesce.usecs = coalesce->tx_coalesce_usecs;
	port->tx_coalesce.frames = coalesce->tx_max_coalesced_frames;
	meridian_ps_write_coalesce(port);
	return 0;
}

static int get_ts_info(struct net_device *netdev, struct kernel_ethtool_ts_info *info)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = ptp_clock_index(port->card->ptp.clock);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

static int get_sset_count(struct net_device *netdev, int set)
{
	if (set == ETH_SS_TEST)
		return meridian_ps_test_count(netdev_priv(netdev));
	return set == ETH_SS_STATS ? meridian_ps_stats_count(netdev_priv(netdev)) : -EOPNOTSUPP;
}

static void get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	if (set == ETH_SS_STATS)
		meridian_ps_stats_strings(netdev_priv(netdev), data);
	else if (set == ETH_SS_TEST)
		meridian_ps_test_strings(netdev_priv(netdev), data);
}

static void get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data)
{
	meridian_ps_stats_values(netdev_priv(netdev), data);
}

const struct ethtool_ops meridian_ps_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES,
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link_ksettings,
	.get_ts_info = get_ts_info,
	MERIDIAN_PS_TS_STATS(meridian_ps_ts_stats)
	.get_ringparam = get_ringparam,
	.set_ringparam = set_ringparam,
	.get_coalesce = get_coalesce,
	.set_coalesce = set_coalesce,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.self_test = meridian_ps_self_test,
	.get_ethtool_stats = get_ethtool_stats,
	.get_eth_mac_stats = meridian_ps_mac_stats,
	.get_rmon_stats = meridian_ps_rmon_stats,
};
