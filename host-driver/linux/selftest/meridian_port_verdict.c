// SPDX-License-Identifier: GPL-2.0-only
/* What the checkers at the MACs have found, in a sentence. */
#include "meridian.h"
#include "meridian_port_test.h"

/* The longest is "the cable from port 0 to port 1". */
#define WHERE_LENGTH	64

static const struct {
	u32 counter;
	int error;
	const char *is;
} faults[] = {
	{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_FCS, -EBADMSG, "had a wrong FCS" },
	{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_LENGTH, -EBADMSG, "had another length" },
	{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_PATTERN, -EBADMSG, "had wrong bits" },
	{ MERIDIAN_PORT_TEST_COUNTER_LATE, -EILSEQ, "came late or twice" },
	{ MERIDIAN_PORT_TEST_COUNTER_REPEATED, -EILSEQ, "came twice" },
	{ MERIDIAN_PORT_TEST_COUNTER_SKIPPED, -ENODATA, "were lost" },
};

static u32 sender_to(const struct meridian_port_test *t, u32 port)
{
	return port == t->port[0] ? t->port[t->ports - 1] : t->port[0];
}

static void say_where(const struct meridian_port_test *t, u32 port, char *where)
{
	if (t->ports > 1)
		snprintf(where, WHERE_LENGTH, "the cable from port %u to port %u",
			 sender_to(t, port), port);
	else
		snprintf(where, WHERE_LENGTH, "the loop %s of port %u", t->loop->name, port);
}

/* What may be the cause if frames do not come as they were sent; also measure the eye. */
static const char *remedy(const struct meridian_port_test *t)
{
	if (t->ports > 1)
		return "clean or change the cable and its modules";
	if (!t->loop->mode)
		return "clean or change the loop plug, or the cable to another port";
	return "look at clocks and supply of the transceiver";
}

static int judge(const struct meridian_port_test *t, u32 port)
{
	u64 sent = port_test_count(t, sender_to(t, port), MERIDIAN_PORT_TEST_COUNTER_SENT);
	u64 good = port_test_count(t, port, MERIDIAN_PORT_TEST_COUNTER_GOOD);
	u64 frames[ARRAY_SIZE(faults)];
	char where[WHERE_LENGTH];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		frames[i] = port_test_count(t, port, faults[i].counter);
	/* All ones are no counters. */
	if (!meridian_present(t->m))
		return -EINPROGRESS;
	say_where(t, port, where);
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!frames[i])
			continue;
		netdev_err(t->m->netdev, "self-test: port loops: %llu of %llu frames in %s %s: %s, and measure the eye by meridian-eye\n",
			   frames[i], sent, where, faults[i].is, remedy(t));
		return faults[i].error;
	}
	if (sent == t->batch && good == sent)
		return 0;
	netdev_err(t->m->netdev, "self-test: port loops: %llu of %u frames were sent and %llu came back in %s: %s, and measure the eye by meridian-eye\n",
		   sent, t->batch, good, where, remedy(t));
	return -ENODATA;
}

/**
 * meridian_judge_port_test() - what the checkers have found in a run
 * @t: the test, whose run is complete
 *
 * Says in a sentence what was wrong.
 *
 * Return: 0; -EINPROGRESS if the card does not answer; another negative error.
 */
int meridian_judge_port_test(const struct meridian_port_test *t)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < t->ports && !error; i++)
		error = judge(t, t->port[i]);
	return error;
}

/**
 * meridian_port_lost_link() - say that a port has lost its link in the middle
 * @t: the test
 * @port: one of its ports
 *
 * Return: the error that this is.
 */
int meridian_port_lost_link(const struct meridian_port_test *t, u32 port)
{
	char where[WHERE_LENGTH];

	say_where(t, port, where);
	netdev_err(t->m->netdev, "self-test: port loops: port %u has lost its link in %s: %s, and measure the eye by meridian-eye\n",
		   port, where, remedy(t));
	return t->loop->mode ? -EIO : -ENOLINK;
}
