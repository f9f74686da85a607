// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loops of a port: the card's generator at the MAC sends frames, the transceiver, a loop plug
 * or another port of the card brings them back, and a checker at a MAC compares them.
 */
#include <linux/bitops.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_port_test.h"
#include "meridian_selftest.h"

/* The longest is ", cable to port 1". */
#define EXTERNAL_LENGTH	32

static const struct meridian_port_loop external = { "external", 0 };

/* One at a time: PFs may share a port, and a cable joins two. */
static DEFINE_MUTEX(one_at_a_time);

static int test_loop(struct meridian_port_test *t, const struct meridian_port_loop *loop)
{
	int error;

	t->loop = loop;
	error = meridian_set_loopback(t->m, t->m->port, loop);
	/* The card's ARM side has the port, and may test it. */
	if (error == MERIDIAN_LEFT_OUT)
		return error;
	if (!error)
		error = meridian_wait_for_loop(t->m, t->m->port, loop);
	if (!error)
		error = meridian_run_port_test(t);
	/* Whatever has happened. */
	meridian_put_port_back(t->m, t->m->port);
	return error;
}

/* said: by what frames have come back. */
static int test_external(struct meridian_port_test *t, char *said)
{
	u32 port = t->m->port, end = port;
	int error;

	t->loop = &external;
	error = meridian_loops_interrupted(t->m, port);
	if (!error)
		error = meridian_wait_for_loop(t->m, port, t->loop);
	if (error)
		return error;
	t->m->faults->selftest.was_external = true;
	error = meridian_look_for_cable(t, &end);
	snprintf(said, EXTERNAL_LENGTH, ", external");
	if (end != port)
		snprintf(said, EXTERNAL_LENGTH, ", cable to port %u", end);
	if (!error)
		error = end == port ? meridian_run_port_test(t) : meridian_test_cable(t, end);
	/* Whatever has happened. */
	meridian_put_port_back(t->m, port);
	return error;
}

static int test_loops(struct meridian_port_test *t)
{
	char external_loop[EXTERNAL_LENGTH] = "";
	const struct meridian_port_loop *loop;
	ktime_t start = ktime_get();
	unsigned int i;
	int error = 0;

	for (i = 0; !error && (loop = meridian_port_loop(i)); i++)
		error = test_loop(t, loop);
	if (!error && t->m->faults->selftest.is_external)
		error = test_external(t, external_loop);
	if (!error)
		netdev_info(t->m->netdev, "self-test: port loops: %llu bytes in %llu frames of %u to %u bytes went round port %u (near-pcs, near-pma%s) in %lld ms, all good\n",
			    t->run.bytes, t->run.frames, ETH_ZLEN, t->run.largest,
			    t->m->port, external_loop, ktime_ms_delta(ktime_get(), start));
	return error;
}

/* Both ends of a cable, as the other one may have no PF here. */
static void recover(struct meridian *m)
{
	unsigned int port;

	for (port = 0; port < m->ports; port++)
		if (test_bit(port, &m->card->looped))
			meridian_put_port_back(m, port);
}

/**
 * meridian_recover_port() - put back what a test could not, as the card did not answer
 * @m: a PF whose card answers
 *
 * Context: May sleep.
 */
void meridian_recover_port(struct meridian *m)
{
	/* A test that runs does it itself. */
	if (!mutex_trylock(&one_at_a_time))
		return;
	recover(m);
	mutex_unlock(&one_at_a_time);
}

/**
 * meridian_test_port_loops() - frames go round each loop of the port; takes its traffic away
 * @m: a PF whose card has the block; under RTNL
 *
 * Says in a sentence what it has found. Its frames count in the port's counters, and in none of an
 * interface. The card's ARM side keeps a port that it has enabled.
 *
 * Context: May sleep.
 * Return: 0; MERIDIAN_LEFT_OUT because of the ARM side; a negative error.
 */
int meridian_test_port_loops(struct meridian *m)
{
	struct meridian_port_test t = {
		.m = m, .port = { m->port }, .ports = 1,
		.run.largest = min(m->max_frame, MERIDIAN_PORT_LARGEST),
	};
	bool is_up = test_bit(MERIDIAN_FLAG_UP, &m->flags);
	int error;

	t.run.label = (u16)ktime_to_ms(ktime_get());
	mutex_lock(&one_at_a_time);
	error = meridian_loops_interrupted(m, m->port);
	if (!error)
		recover(m);
	if (!error && meridian_port_is_taken(m, m->port)) {
		netdev_err(m->netdev, "self-test: port loops: somebody else tests port %u, or scans its eye: end that, then try again\n",
			   m->port);
		error = -EBUSY;
	}
	if (!error) {
		if (is_up)
			meridian_take_traffic(m);
		meridian_reserve_port(m, m->port, true);
		error = test_loops(&t);
		meridian_reserve_port(m, m->port, false);
		if (is_up)
			meridian_give_traffic_back(m);
	}
	mutex_unlock(&one_at_a_time);
	return error;
}
