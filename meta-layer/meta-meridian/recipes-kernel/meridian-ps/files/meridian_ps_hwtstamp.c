// SPDX-License-Identifier: GPL-2.0-only
/* Which frames get timestamps. The card stamps every frame of the wire. */
#include <linux/ptp_classify.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define EVENT_MESSAGES	4	/* types below it: Sync, Delay_Req, Pdelay_Req, Pdelay_Resp */

static bool is_ptp_event(struct sk_buff *skb)
{
	unsigned int class = ptp_classify_raw(skb);
	struct ptp_header *header;

	if ((class & PTP_CLASS_VMASK) != PTP_CLASS_V2)
		return false;
	header = ptp_parse_header(skb, class);
	return header && ptp_get_msgtype(header, class) < EVENT_MESSAGES;
}

/**
 * meridian_ps_stamp_rx() - give a received frame its timestamp, if it is to have one
 * @port: it came by
 * @skb: at its MAC header
 * @seconds: when it came
 * @nanoseconds: and the rest
 */
void meridian_ps_stamp_rx(struct meridian_ps_port *port, struct sk_buff *skb, u64 seconds,
			  u32 nanoseconds)
{
	int filter = READ_ONCE(port->tstamp_rx);

	if (filter == HWTSTAMP_FILTER_ALL ||
	    (filter == HWTSTAMP_FILTER_PTP_V2_EVENT && is_ptp_event(skb)))
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

/* What is asked for, or what has it all. */
static int filter_for(int filter)
{
	switch (filter) {
	case HWTSTAMP_FILTER_NONE:
		return HWTSTAMP_FILTER_NONE;
	case HWTSTAMP_FILTER_PTP_V2_L4_EVENT:
	case HWTSTAMP_FILTER_PTP_V2_L4_SYNC:
	case HWTSTAMP_FILTER_PTP_V2_L4_DELAY_REQ:
	case HWTSTAMP_FILTER_PTP_V2_L2_EVENT:
	case HWTSTAMP_FILTER_PTP_V2_L2_SYNC:
	case HWTSTAMP_FILTER_PTP_V2_L2_DELAY_REQ:
	case HWTSTAMP_FILTER_PTP_V2_EVENT:
	case HWTSTAMP_FILTER_PTP_V2_SYNC:
	case HWTSTAMP_FILTER_PTP_V2_DELAY_REQ:
		return HWTSTAMP_FILTER_PTP_V2_EVENT;
	case HWTSTAMP_FILTER_ALL:
	case HWTSTAMP_FILTER_SOME:
	case HWTSTAMP_FILTER_PTP_V1_L4_EVENT:
	case HWTSTAMP_FILTER_PTP_V1_L4_SYNC:
	case HWTSTAMP_FILTER_PTP_V1_L4_DELAY_REQ:
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
