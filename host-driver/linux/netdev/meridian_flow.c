// SPDX-License-Identifier: GPL-2.0-only
/* Flow control of a port that can obey PAUSE, as ethtool sees it. The card sends no PAUSE. */
#include "compat_ethtool.h"
#include "meridian.h"
#include "meridian_ethtool.h"
#include "meridian_hw.h"
#include "meridian_pause.h"

void meridian_get_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *param)
{
	struct meridian *m = netdev_priv(netdev);
	bool rx, tx;

	param->autoneg = AUTONEG_DISABLE;
	meridian_get_pause(m, &rx, &tx);
	param->tx_pause = tx;
	param->rx_pause = rx;
}

int meridian_set_pauseparam(struct net_device *netdev, struct ethtool_pauseparam *param)
{
	struct meridian *m = netdev_priv(netdev);

	if (param->autoneg != AUTONEG_DISABLE || (param->tx_pause && !meridian_sends_pause(m)))
		return -EINVAL;
	return meridian_choose_pause(m, param->rx_pause, param->tx_pause);
}

void meridian_get_pause_stats(struct net_device *netdev, struct ethtool_pause_stats *stats)
{
	struct meridian *m = netdev_priv(netdev);
	u32 flow = MERIDIAN_FLOW_CONTROL_BASE(m->port);

	stats->rx_pause_frames =
		meridian_read_counter(m, flow + MERIDIAN_FLOW_CONTROL_COUNTER_RX_PAUSE);
	if (!meridian_sends_pause(m))
		return;
	stats->tx_pause_frames =
		meridian_read_counter(m, flow + MERIDIAN_FLOW_CONTROL_COUNTER_TX_PAUSE_XOFF) +
		meridian_read_counter(m, flow + MERIDIAN_FLOW_CONTROL_COUNTER_TX_PAUSE_XON);
}

/* ethtool has one name for the time after which a stop is a storm. It is that of PFC. */
int meridian_get_pause_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			       void *data)
{
	struct meridian *m = netdev_priv(netdev);

	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return meridian_get_tunable(netdev, tunable, data);
	*(u16 *)data = meridian_stop_msecs(m);
	return 0;
}

int meridian_set_pause_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			       const void *data)
{
	struct meridian *m = netdev_priv(netdev);
	u16 msecs;

	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return meridian_set_tunable(netdev, tunable, data);
	msecs = *(const u16 *)data;
	if (msecs == PFC_STORM_PREVENTION_AUTO)
		msecs = MERIDIAN_PAUSE_MSECS;
	if (msecs > meridian_most_stop(m))
		return -ERANGE;
	meridian_limit_stop(m, msecs);
	return 0;
}
