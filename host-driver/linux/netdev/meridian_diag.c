// SPDX-License-Identifier: GPL-2.0-only
/* Looking inside: the register dump and the self-test of ethtool. */
#include "meridian.h"
#include "meridian_ethtool.h"
#include "meridian_filter.h"
#include "meridian_hw.h"
#include "meridian_pattern.h"

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

static int test_registers(struct meridian *m)
{
	static const u32 patterns[] = { 0x00000000, 0xffffffff, 0xa5a5a5a5, 0x5a5a5a5a };
	u32 offset = MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_SCRATCH;
	u32 before = meridian_read(m, offset);
	int error = 0, i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		meridian_write(m, offset, patterns[i]);
		if (meridian_read(m, offset) != patterns[i])
			error = -EIO;
	}
	meridian_write(m, offset, before);
	return error;
}

static int test_tables(struct meridian *m)
{
	return qdma_check_tables(&m->qdma);
}

static int test_link(struct meridian *m)
{
	return meridian_link_up(m) ? 0 : -ENOLINK;
}

static const struct {
	char name[ETH_GSTRING_LEN];
	int (*run)(struct meridian *m);
	bool is_offline;
} tests[] = {
	{ "registers", test_registers },
	{ "tables", test_tables },
	{ "filter", meridian_test_filter },
	{ "link", test_link },
	/* It is the last, because not every card has it. */
	{ "dma_pattern", meridian_test_pattern, true },
};

int meridian_test_count(struct meridian *m)
{
	bool has_pattern = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK);

	return ARRAY_SIZE(tests) - !has_pattern;
}

void meridian_test_strings(struct meridian *m, u8 *data)
{
	int i;

	for (i = 0; i < meridian_test_count(m); i++)
		memcpy(data + i * ETH_GSTRING_LEN, tests[i].name, ETH_GSTRING_LEN);
}

/* Only those that are offline disturb the traffic. */
void meridian_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data)
{
	struct meridian *m = netdev_priv(netdev);
	int i;

	for (i = 0; i < meridian_test_count(m); i++) {
		bool is_left_out = tests[i].is_offline && !(test->flags & ETH_TEST_FL_OFFLINE);
		int error = is_left_out ? 0 : tests[i].run(m);

		data[i] = -error;
		if (error)
			test->flags |= ETH_TEST_FL_FAILED;
	}
}
