// SPDX-License-Identifier: GPL-2.0-only
/* What XDP programs may ask of the card about a received frame. */
#include <linux/bitfield.h>

#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_xdp.h"

#ifdef MERIDIAN_HAS_METADATA
/* AF_XDP keeps as much for a driver behind each of its own. */
static_assert(sizeof(struct meridian_xdp_buff) <= offsetofend(struct xdp_buff_xsk, cb));

static const enum xdp_rss_hash_type hash_types[] = {
	[MERIDIAN_HASH_TYPE_IPV4] = XDP_RSS_TYPE_L3_IPV4,
	[MERIDIAN_HASH_TYPE_IPV6] = XDP_RSS_TYPE_L3_IPV6,
	[MERIDIAN_HASH_TYPE_IPV4_TCP] = XDP_RSS_TYPE_L4_IPV4_TCP,
	[MERIDIAN_HASH_TYPE_IPV4_UDP] = XDP_RSS_TYPE_L4_IPV4_UDP,
	[MERIDIAN_HASH_TYPE_IPV6_TCP] = XDP_RSS_TYPE_L4_IPV6_TCP,
	[MERIDIAN_HASH_TYPE_IPV6_UDP] = XDP_RSS_TYPE_L4_IPV6_UDP,
};

static int rx_hash(const struct xdp_md *context, u32 *hash, enum xdp_rss_hash_type *type)
{
	const struct meridian_xdp_buff *buff = (const void *)context;
	u32 index = FIELD_GET(MERIDIAN_COMPLETION_HASH_TYPE_MASK, buff->verdicts);

	if (!(buff->xdp.rxq->dev->features & NETIF_F_RXHASH) ||
	    index >= ARRAY_SIZE(hash_types) || hash_types[index] == XDP_RSS_TYPE_NONE)
		return -ENODATA;
	*hash = buff->hash;
	*type = hash_types[index];
	return 0;
}

static int rx_vlan_tag(const struct xdp_md *context, __be16 *protocol, u16 *tci)
{
	const struct meridian_xdp_buff *buff = (const void *)context;

	if (!(buff->verdicts & MERIDIAN_COMPLETION_VLAN_STRIPPED_MASK))
		return -ENODATA;
	*protocol = htons(ETH_P_8021Q);
	*tci = FIELD_GET(MERIDIAN_COMPLETION_VLAN_TCI_MASK, buff->verdicts);
	return 0;
}

const struct xdp_metadata_ops meridian_metadata_ops = {
	.xmo_rx_hash = rx_hash,
	.xmo_rx_vlan_tag = rx_vlan_tag,
};
#endif
