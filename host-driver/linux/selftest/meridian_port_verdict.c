// SPDX-License-Identifier: GPL-2.0-only
/* What the checkers at the MACs have found, in a sentence. */
#include "include/meridian_port_verdict.h"
#include "meridian.h"
#include "meridian_port_test.h"

/* The longest is "the cable from port 0 to port 1". */
#define WHERE_LENGTH	64

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
	struct meridian_port_end sender = meridian_end_of(t, sender_to(t, port));
	struct meridian_port_end end = meridian_end_of(t, port);
	char where[WHERE_LENGTH];

	say_where(t, port, where);
	return meridian_port_judge(&t->run, &sender, &end, where, remedy(t));
}

/**
 * meridian_judge_port_test() - what the checkers have found in a batch
 * @t: the test, whose batch is complete
 *
 * Says in a sentence what was wrong.
 *
 * Context: Does not sleep.
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
 * meridian_port_test_lost_link() - say that a port has lost its link in the middle
 * @t: the test
 * @port: one of its ports
 *
 * Context: Does not sleep.
 * Return: the error that this is.
 */
int meridian_port_test_lost_link(const struct meridian_port_test *t, u32 port)
{
	struct meridian_port_end end = meridian_end_of(t, port);
	char where[WHERE_LENGTH];

	say_where(t, port, where);
	return meridian_port_lost_link(&end, t->loop, where, remedy(t));
}
