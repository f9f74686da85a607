// SPDX-License-Identifier: GPL-2.0-only
/* The self-test of ethtool, and what devlink's reporter of it has to tell. */
#include "compat_devlink.h"
#include "meridian.h"
#include "meridian_fault.h"
#include "meridian_filter.h"
#include "meridian_hw.h"
#include "meridian_selftest.h"

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
	/* They are the last, because not every card has them. */
	{ "dma_pattern", meridian_test_pattern, true },
	{ "port_loops", meridian_test_port_loops, true },
};

/* So many need the self-test block. */
#define OF_BLOCK	2

static_assert(ARRAY_SIZE(tests) == MERIDIAN_TESTS);

int meridian_test_count(struct meridian *m)
{
	bool has_block = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK);

	return ARRAY_SIZE(tests) - (has_block ? 0 : OF_BLOCK);
}

void meridian_test_strings(struct meridian *m, u8 *data)
{
	int i;

	for (i = 0; i < meridian_test_count(m); i++)
		memcpy(data + i * ETH_GSTRING_LEN, tests[i].name, ETH_GSTRING_LEN);
}

const char *meridian_test_name(unsigned int test)
{
	return tests[test].name;
}

/* Else a cable is missing, the filter is full, or somebody has kept the pattern from its end. */
static bool is_fault(unsigned int test, int error)
{
	if (error == -ENOLINK || error == -ENOSPC)
		return false;
	return tests[test].is_offline ? meridian_pattern_is_fault(error) : error < 0;
}

/* Return: of meridian_test_*. Only tests that are offline disturb the traffic. */
static int run(struct meridian *m, unsigned int test)
{
	struct meridian_selftest *selftest = &m->faults->selftest;
	int error = tests[test].run(m);

	if (error == MERIDIAN_LEFT_OUT)
		return 0;
	if (is_fault(test, error))
		selftest->failed |= BIT(test);
	else if (!error)
		selftest->failed &= ~BIT(test);
	else if (selftest->failed & BIT(test))
		return error; /* the fault is told until the test has passed */
	selftest->error[test] = error;
	return error;
}

void meridian_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data)
{
	struct meridian *m = netdev_priv(netdev);
	int first = -1, i;

	if (test->flags & ETH_TEST_FL_OFFLINE)
		m->faults->selftest.is_external = test->flags & ETH_TEST_FL_EXTERNAL_LB;
	m->faults->selftest.was_external = false;

	for (i = 0; i < meridian_test_count(m); i++) {
		bool is_left_out = tests[i].is_offline && !(test->flags & ETH_TEST_FL_OFFLINE);
		int error = is_left_out ? 0 : run(m, i);

		data[i] = -error;
		if (error)
			test->flags |= ETH_TEST_FL_FAILED;
		if (first < 0 && is_fault(i, error))
			first = i;
	}
	if (m->faults->selftest.was_external)
		test->flags |= ETH_TEST_FL_EXTERNAL_LB_DONE;
	if (first >= 0)
		meridian_report(m, MERIDIAN_FAULT_SELFTEST, first);
	else if (!m->faults->selftest.failed)
		meridian_report_passed(m);
}

/**
 * meridian_test_again() - run what has failed again, and all that disturbs no traffic
 * @m: a PF; under RTNL
 *
 * Context: May sleep.
 * Return: 0 if no test has a fault any more; -EAGAIN if one was left out, or another negative
 * error.
 */
int meridian_test_again(struct meridian *m)
{
	struct meridian_selftest *selftest = &m->faults->selftest;
	int first = 0, error, i;

	for (i = 0; i < meridian_test_count(m); i++) {
		if (tests[i].is_offline && !(selftest->failed & BIT(i)))
			continue;
		error = run(m, i);
		if (!first && selftest->failed & BIT(i))
			first = error ? error : -EAGAIN;
	}
	return first;
}

/**
 * meridian_put_selftest() - tell devlink what the tests have found
 * @m: a PF; under RTNL
 * @fmsg: to be filled
 *
 * Context: Does not sleep.
 */
void meridian_put_selftest(struct meridian *m, struct devlink_fmsg *fmsg)
{
	const struct meridian_selftest *selftest = &m->faults->selftest;
	int i;

	devlink_fmsg_arr_pair_nest_start(fmsg, "tests");
	for (i = 0; i < meridian_test_count(m); i++) {
		devlink_fmsg_obj_nest_start(fmsg);
		devlink_fmsg_string_pair_put(fmsg, "test", tests[i].name);
		devlink_fmsg_bool_pair_put(fmsg, "failed", selftest->failed & BIT(i));
		devlink_fmsg_u32_pair_put(fmsg, "errno", -selftest->error[i]);
		devlink_fmsg_obj_nest_end(fmsg);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
	if (!selftest->has_counters)
		return;
	devlink_fmsg_pair_nest_start(fmsg, "dma_pattern");
	devlink_fmsg_obj_nest_start(fmsg);
	devlink_fmsg_u32_pair_put(fmsg, "frames_of_batch", selftest->batch);
	for (i = 0; i < MERIDIAN_CHECKS; i++)
		devlink_fmsg_u64_pair_put(fmsg, meridian_pattern_counters[i].name,
					  selftest->counter[i]);
	devlink_fmsg_obj_nest_end(fmsg);
	devlink_fmsg_pair_nest_end(fmsg);
}
