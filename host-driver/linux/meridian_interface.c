// SPDX-License-Identifier: GPL-2.0-only
/* The network interface of a function. */
#include <linux/rtnetlink.h>

#include "compat_devlink.h"
#include "compat_netdev.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_configure.h"
#include "meridian_counts.h"
#include "meridian_dcb.h"
#include "meridian_devlink.h"
#include "meridian_ethtool.h"
#include "meridian_frames.h"
#include "meridian_function.h"
#include "meridian_hw.h"
#include "meridian_interface.h"
#include "meridian_pause.h"
#include "meridian_pf_filter.h"
#include "meridian_red.h"
#include "meridian_ring.h"
#include "meridian_stats.h"
#include "meridian_vfs.h"

static int meridian_init(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	m->channel = meridian_new_channels(m);
	return m->channel ? 0 : -ENOMEM;
}

static void meridian_uninit(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	meridian_drop_channels(m, m->channel);
	m->channel = NULL;
}

static int meridian_open(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	if (!meridian_present(m))
		return -ENODEV;
	if (!meridian_is_vf(m->pdev))
		meridian_open_port(m);
	return meridian_up(m);
}

static int meridian_stop(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	clear_bit(MERIDIAN_FLAG_WAITING, &m->flags);
	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		meridian_down(m);
	return 0;
}

static int meridian_change_mtu(struct net_device *netdev, int mtu)
{
	struct meridian *m = netdev_priv(netdev);

	if (!meridian_xdp_allows(m, m->xdp, mtu)) {
		netdev_info(netdev,
			    "MTU %d is too large for the XDP program or AF_XDP socket (at most %d)\n",
			    mtu, MERIDIAN_XDP_MTU);
		return -EINVAL;
	}
	/* Buffers are all of one size, and a frame takes as many as it needs. */
	netdev->mtu = mtu;
	return 0;
}

static void meridian_set_rx_mode(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		schedule_work(&m->rx_mode);
}

MERIDIAN_DEFINE_RX_MODE(meridian_set_rx_mode)

static int meridian_set_mac_address(struct net_device *netdev, void *address)
{
	struct meridian *m = netdev_priv(netdev);
	int error = eth_prepare_mac_addr_change(netdev, address);

	if (error)
		return error;
	if (!meridian_is_vf(m->pdev))
		return meridian_set_pf_address(m, address);
	error = meridian_set_own_address(m, ((struct sockaddr *)address)->sa_data);
	if (!error)
		eth_commit_mac_addr_change(netdev, address);
	return error;
}

static int meridian_add_vid(struct net_device *netdev, __be16 protocol, u16 vid)
{
	meridian_set_vlan(netdev_priv(netdev), vid, true);
	return 0;
}

static int meridian_kill_vid(struct net_device *netdev, __be16 protocol, u16 vid)
{
	meridian_set_vlan(netdev_priv(netdev), vid, false);
	return 0;
}

/* Checksums and hashes are looked at frame by frame: the receive path follows netdev->features. */
static int meridian_set_features(struct net_device *netdev, netdev_features_t features)
{
	netdev_features_t changed = netdev->features ^ features;
	struct meridian *m = netdev_priv(netdev);
	int error = 0;

	if (!test_bit(MERIDIAN_FLAG_UP, &m->flags))
		return 0;
	if (changed & NETIF_F_HW_VLAN_CTAG_RX)
		error = m->ops->set_strip(m, features & NETIF_F_HW_VLAN_CTAG_RX);
	if (!error && changed & NETIF_F_HW_VLAN_CTAG_FILTER) {
		netdev->features = features;
		meridian_sync_filter(m);
	}
	return error;
}

/*
 * The card counts the identifications of IPv4 up with the segments, which is what Linux wants by
 * default. Linux offers NETIF_F_TSO_MANGLEID beside NETIF_F_TSO by itself, and leaves it off: it
 * lets the card do so, too, where a forwarded flow has one identification.
 */
#define SEGMENTATION	(NETIF_F_TSO | NETIF_F_TSO_ECN | NETIF_F_TSO6 | NETIF_F_GSO_UDP_L4)
/*
 * Packets of TCP in tunnels. Linux makes the outer headers, once for all segments of a frame (GSO
 * partial), and the card counts the identifications of an outer IPv4 up, too.
 */
#define TUNNELS		(NETIF_F_GSO_GRE | NETIF_F_GSO_GRE_CSUM | NETIF_F_GSO_IPXIP4 | \
			 NETIF_F_GSO_IPXIP6 | NETIF_F_GSO_UDP_TUNNEL | NETIF_F_GSO_UDP_TUNNEL_CSUM)
#define IN_TUNNELS	(NETIF_F_TSO | NETIF_F_TSO_ECN | NETIF_F_TSO6 | NETIF_F_GSO_PARTIAL)
/*
 * meridian_features_check() leaves to Linux the checksums that the card has no place for. With
 * NETIF_F_IPV6_CSUM in the place of this Linux would also cut itself what has an extension header
 * in the outer header of a tunnel over IPv6, as it writes them by default.
 */
#define TX_OFFLOADS	(NETIF_F_SG | NETIF_F_HW_CSUM)

/*
 * What the card can do to frames that are sent. Linux segments large ones (GSO) for devices only
 * that take frames in parts. The card joins these if it can and they are few; else the driver does.
 * A card that joins them may also take large frames as they are.
 */
static netdev_features_t tx_offloads(const struct meridian *m)
{
	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		return 0;
	return TX_OFFLOADS |
	       (meridian_can_segment(m) ? SEGMENTATION | TUNNELS | NETIF_F_GSO_PARTIAL : 0);
}

/* With another driver of its PF, a VF may have less than at its probe. */
static netdev_features_t meridian_fix_features(struct net_device *netdev,
					       netdev_features_t features)
{
	netdev_features_t can = tx_offloads(netdev_priv(netdev));

	if (!can)
		features &= ~NETIF_F_HW_VLAN_CTAG_TX;
	features |= meridian_red_needs(netdev_priv(netdev), features);
	return features & (~(TX_OFFLOADS | SEGMENTATION | TUNNELS | NETIF_F_GSO_PARTIAL) | can);
}

/* What the card can do to received frames. */
static netdev_features_t rx_offloads(const struct meridian *m)
{
	netdev_features_t features = 0;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK))
		return 0;
	features |= NETIF_F_RXCSUM | NETIF_F_RXHASH;
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK))
		features |= NETIF_F_HW_VLAN_CTAG_RX;
	return features;
}

/* Newer kernels do not ask. */
static struct devlink_port __maybe_unused *devlink_port(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	return &m->devlink->port;
}

static const struct net_device_ops meridian_netdev_ops = {
	.ndo_init = meridian_init,
	.ndo_uninit = meridian_uninit,
	.ndo_open = meridian_open,
	.ndo_stop = meridian_stop,
	.ndo_start_xmit = meridian_start_xmit,
	.ndo_features_check = meridian_features_check,
	.ndo_get_stats64 = meridian_get_stats64,
	.ndo_set_mac_address = meridian_set_mac_address,
	MERIDIAN_RX_MODE_OPS(meridian_set_rx_mode),
	.ndo_vlan_rx_add_vid = meridian_add_vid,
	.ndo_vlan_rx_kill_vid = meridian_kill_vid,
	.ndo_fix_features = meridian_fix_features,
	.ndo_set_features = meridian_set_features,
	.ndo_change_mtu = meridian_change_mtu,
	.ndo_setup_tc = meridian_setup_tc,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_tx_timeout = meridian_tx_timeout,
	.ndo_bpf = meridian_bpf,
	.ndo_xdp_xmit = meridian_xdp_xmit,
	.ndo_xsk_wakeup = meridian_xsk_wakeup,
	.ndo_set_vf_mac = meridian_set_vf_mac,
	.ndo_set_vf_trust = meridian_set_vf_trust,
	.ndo_set_vf_spoofchk = meridian_set_vf_spoofchk,
	.ndo_set_vf_rate = meridian_set_vf_rate,
	.ndo_set_vf_link_state = meridian_set_vf_link_state,
	.ndo_set_vf_vlan = meridian_set_vf_vlan,
	.ndo_bridge_setlink = meridian_set_bridge,
	.ndo_bridge_getlink = meridian_get_bridge,
	.ndo_get_vf_config = meridian_get_vf_config,
	.ndo_get_vf_stats = meridian_get_vf_stats,
	MERIDIAN_PORT_OPS(devlink_port)
};

/**
 * meridian_init_netdev() - what an interface has before it is registered
 * @m: an identified function
 *
 * Context: Does not sleep.
 */
void meridian_init_netdev(struct meridian *m)
{
	struct net_device *netdev = m->netdev;

	netdev->min_mtu = ETH_MIN_MTU;
	netdev->max_mtu = m->max_frame - ETH_HLEN - VLAN_HLEN;
	/* The service looks after queues with frames; this is for an empty one that sleeps. */
	netdev->watchdog_timeo = 30 * HZ;
	netdev->dev_port = m->port;
	netdev->netdev_ops = &meridian_netdev_ops;
	netdev->ethtool_ops = meridian_has_pause(m) ? &meridian_pause_ethtool_ops :
						      &meridian_ethtool_ops;
	netdev->hw_features = rx_offloads(m) | tx_offloads(m);
	if (tx_offloads(m))
		netdev->hw_features |= NETIF_F_HW_VLAN_CTAG_TX;
	if (!meridian_is_vf(m->pdev)) {
		netdev->hw_features |= NETIF_F_HW_VLAN_CTAG_FILTER;
		meridian_have_address(m);
	}
	netdev->features = netdev->hw_features | NETIF_F_HIGHDMA;
	netdev->vlan_features = NETIF_F_HIGHDMA | tx_offloads(m);
	if (netdev->hw_features & NETIF_F_TSO) {
		meridian_set_tso_max_size(netdev, MERIDIAN_TX_LONGEST);
		netdev->gso_partial_features = TUNNELS;
		netdev->hw_enc_features = NETIF_F_HIGHDMA | TX_OFFLOADS | IN_TUNNELS | TUNNELS;
	}
	netdev->priv_flags |= IFF_UNICAST_FLT | IFF_LIVE_ADDR_CHANGE;
	meridian_announce_xdp(netdev);
	meridian_offer_dcb(netdev);
	meridian_offer_red(netdev);
	meridian_offer_queue_stats(netdev);
	meridian_offer_queue_ops(netdev);
	if (!meridian_shares_vectors(m))
		meridian_spread_irqs(netdev);
}
