// SPDX-License-Identifier: GPL-2.0-only
/* ethtool's tunables of all functions. */
#include "meridian_ethtool.h"
#include "meridian_frames.h"
#include "meridian_hw.h"

/* ethtool calls it the bytes up to which a frame is copied; here it is copied into the card. */
int meridian_get_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			 void *data)
{
	struct meridian *m = netdev_priv(netdev);

	if (tunable->id != ETHTOOL_TX_COPYBREAK)
		return -EOPNOTSUPP;
	*(u32 *)data = m->push;
	return 0;
}

int meridian_set_tunable(struct net_device *netdev, const struct ethtool_tunable *tunable,
			 const void *data)
{
	struct meridian *m = netdev_priv(netdev);
	u32 bytes;

	if (tunable->id != ETHTOOL_TX_COPYBREAK)
		return -EOPNOTSUPP;
	bytes = *(const u32 *)data;
	if (bytes > QDMA_PUSH_BYTES)
		return -ERANGE;
	if (!m->window || !meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PUSH_MASK))
		return -EOPNOTSUPP;
	m->push_wish = bytes;
	meridian_settle_push(m);
	return 0;
}
