// SPDX-License-Identifier: GPL-2.0-only
/* Whether frames get timestamps. The card stamps every frame that it receives from the wire. */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/**
 * meridian_ps_stamp_rx() - give a received frame its timestamp, if it is to have one
 * @port: it came by
 * @skb: it
 * @seconds: when it came
 * @nanoseconds: and the rest
 *
 * Context: Does not sleep.
 */
void meridian_ps_stamp_rx(struct meridian_ps_port *port, struct sk_buff *skb, u64 seconds,
			  u32 nanoseconds)
{
	if (READ_ONCE(port->tstamp_rx) == HWTSTAMP_FILTER_ALL)
		skb_hwtstamps(skb)->hwtstamp = ktime_set(seconds, nanoseconds);
}

int meridian_ps_hwtstamp_get(struct net_device *netdev, struct kernel_hwtstamp_config *config)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	config->flags = 0;
	config->tx_type = port->tstamp_tx;
	config->rx_filter = port->tstamp_rx;
	return 0;
}

/* Whoever wants some frames gets all of them, behind whatever tags they are. */
static int filter_for(int filter)
{
	switch (filter) {
	case HWTSTAMP_FILTER_NONE:
		return HWTSTAMP_FILTER_NONE;
	case HWTSTAMP_FILTER_ALL:
	case HWTSTAMP_FILTER_SOME:
	case HWTSTAMP_FILTER_PTP_V1_L4_EVENT:
	case HWTSTAMP_FILTER_PTP_V1_L4_SYNC:
	case HWTSTAMP_FILTER_PTP_V1_L4_DELAY_REQ:
	case HWTSTAMP_FILTER_PTP_V2_L4_EVENT:
	case HWTSTAMP_FILTER_PTP_V2_L4_SYNC:
	case HWTSTAMP_FILTER_PTP_V2_L4_DELAY_REQ:
	case HWTSTAMP_FILTER_PTP_V2_L2_EVENT:
	case HWTSTAMP_FILTER_PTP_V2_L2_SYNC:
	case HWTSTAMP_FILTER_PTP_V2_L2_DELAY_REQ:
	case HWTSTAMP_FILTER_PTP_V2_EVENT:
	case HWTSTAMP_FILTER_PTP_V2_SYNC:
	case HWTSTAMP_FILTER_PTP_V2_DELAY_REQ:
	case HWTSTAMP_FILTER_NTP_ALL:
		return HWTSTAMP_FILTER_ALL;
	default:
		return -ERANGE;
	}
}

int meridian_ps_hwtstamp_set(struct net_device *netdev, struct kernel_hwtstamp_config *config,
			     struct netlink_ext_ack *extack)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	int filter = filter_for(config->rx_filter);

	if (filter < 0)
		return filter;
	if (config->tx_type != HWTSTAMP_TX_OFF && config->tx_type != HWTSTAMP_TX_ON) {
		NL_SET_ERR_MSG(extack, "the card writes no timestamps into frames");
		return -ERANGE;
	}
	config->rx_filter = filter;
	WRITE_ONCE(port->tstamp_tx, config->tx_type);
	WRITE_ONCE(port->tstamp_rx, filter);
	return 0;
}
