// SPDX-License-Identifier: GPL-2.0-only
/* Looking inside: the register dump of ethtool. */
#include "meridian.h"
#include "meridian_ethtool.h"
#include "meridian_hw.h"

/* Of the order of the parts; host-driver/tools reads it. */
#define DUMP_VERSION	2

/* Parts of the dump, in this order. */
struct register_range {
	bool is_qdma;
	u32 offset;	/* of the function or port where @step is not 0 */
	u32 words;
	u32 step;
	bool is_port;
};

static const struct register_range ranges[] = {
	{ .offset = MERIDIAN_IDENT_BASE, .words = 16 },
	{ .offset = MERIDIAN_PORT_BASE(0), .words = 2, .step = 0x1000, .is_port = true },
	{ .offset = MERIDIAN_FILTER_BASE, .words = 14 },
	{ .offset = MERIDIAN_HOST_PORT_BASE, .words = 16 },
	{ .offset = MERIDIAN_FUNCTION_BASE(0), .words = 4, .step = 0x1000 },
	{ .is_qdma = true, .offset = QDMA_IDENTIFIER, .words = 1 },
	{ .is_qdma = true, .offset = 0x100, .words = 16 },
	{ .is_qdma = true, .offset = QDMA_RING_SIZE(0), .words = 32 },
	{ .is_qdma = true, .offset = QDMA_TIMER(0), .words = 32 },
	{ .is_qdma = true, .offset = QDMA_BUFFER_SIZE(0), .words = 24 },
	{ .offset = MERIDIAN_PORT_BASE(0) + MERIDIAN_PORT_RECEIVER, .words = 1, .step = 0x1000,
	  .is_port = true },
	{ .offset = MERIDIAN_PS_RING_BASE(0), .words = 16, .step = 0x1000, .is_port = true },
};

int meridian_regs_len(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);
	int words = 0, i;

	if (meridian_is_vf(m->pdev))
		return -EOPNOTSUPP;
	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		words += ranges[i].words;
	return 4 * words;
}

void meridian_get_regs(struct net_device *netdev, struct ethtool_regs *regs, void *data)
{
	struct meridian *m = netdev_priv(netdev);
	u32 *word = data;
	unsigned int i, k;

	regs->version = DUMP_VERSION;
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const struct register_range *range = &ranges[i];
		u32 offset = range->offset + range->step * (range->is_port ? m->port : m->function);

		for (k = 0; k < range->words; k++, offset += 4)
			*word++ = range->is_qdma ? qdma_read(&m->qdma, offset) :
						   meridian_read(m, offset);
	}
}
