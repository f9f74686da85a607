// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loops of a port: the card's generator at the MAC sends frames, the transceiver or a loop plug
 * brings them back, and the checker at the MAC compares them. The PS only gives the commands.
 */
#include <linux/delay.h>
#include <linux/ktime.h>

#include "meridian_port_verdict.h"
#include "meridian_ps_selftest.h"

/* The longest is "the loop near-pcs of port 0". */
#define WHERE_LENGTH	64

static const struct meridian_port_loop external = { "external", 0 };

/**
 * struct port_test - a test that is under way
 * @port: that is tested
 * @loop: by which frames come back now
 * @host: what the host wants of the port
 * @run: the frames
 * @was_external: frames were sent to a loop plug
 */
struct port_test {
	struct meridian_ps_port *port;
	const struct meridian_port_loop *loop;
	u32 host;
	struct meridian_port_run run;
	bool was_external;
};

static bool is_present(void *card)
{
	return meridian_ps_present(card);
}

static void write_register(void *card, u32 offset, u32 value)
{
	meridian_ps_write(card, offset, value);
}

static u64 read_counter(void *card, u32 offset)
{
	return meridian_ps_read_counter(card, offset);
}

static struct meridian_port_end end_of(const struct port_test *t)
{
	return (struct meridian_port_end) {
		.netdev = t->port->netdev,
		.port = t->port->index,
		.base = MERIDIAN_PORT_TEST_PS_BASE(t->port->index),
		.card = t->port->card,
		.is_present = is_present,
		.write = write_register,
		.count = read_counter,
		.resets = "the card",
	};
}

static void say_where(const struct port_test *t, char *where)
{
	snprintf(where, WHERE_LENGTH, "the loop %s of port %u", t->loop->name, t->port->index);
}

/* What may be the cause if frames do not come back as they were sent; also measure the eye. */
static const char *remedy(const struct port_test *t)
{
	if (!t->loop->mode)
		return "clean or change the loop plug";
	return "look at clocks and supply of the transceiver";
}

/* Return: 0 if the batch was good; -EINPROGRESS if it goes on; another negative error. */
static int inspect(struct port_test *t)
{
	u32 status = meridian_ps_test_read(t->port, MERIDIAN_PORT_TEST_STATUS);
	u32 named = meridian_ps_test_read(t->port, MERIDIAN_PORT_TEST_RUN);
	u32 link = meridian_ps_port_read(t->port, MERIDIAN_PORT_LINK_STATUS);
	struct meridian_port_end end = end_of(t);
	char where[WHERE_LENGTH];
	int error;

	meridian_ps_keep_host_out(t->port, &t->host);
	/* What was read counts if the card answers behind it. */
	error = meridian_ps_loops_interrupted(t->port);
	if (error)
		return error;
	error = meridian_port_inspect(&t->run, &end, status, named,
				      link & MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK);
	say_where(t, where);
	if (error == -ENOLINK)
		return meridian_port_lost_link(&end, t->loop, where, remedy(t));
	return error ?: meridian_port_judge(&t->run, &end, &end, where, remedy(t));
}

static int wait_for_batch(struct port_test *t)
{
	struct meridian_port_end end = end_of(t);
	ktime_t start = ktime_get();
	int error;

	for (;;) {
		error = inspect(t);
		if (error != -EINPROGRESS)
			return error;
		if (ktime_ms_delta(ktime_get(), start) > MERIDIAN_PORT_BATCH_MSECS)
			return meridian_port_timed_out(&t->run, &end);
		usleep_range(50, 100);
	}
}

static int run_batch(void *test)
{
	struct port_test *t = test;
	struct meridian_port_end end = end_of(t);
	int error;

	meridian_port_next_label(&t->run);
	meridian_port_start(&t->run, &end, MERIDIAN_PORT_TEST_MODE_GENERATE_MASK |
					   MERIDIAN_PORT_TEST_MODE_CHECK_MASK,
			    MERIDIAN_PORT_PATIENCE_USECS);
	error = wait_for_batch(t);
	if (!error)
		meridian_port_add(&t->run, &end);
	return error;
}

static int test_loop(struct port_test *t, const struct meridian_port_loop *loop)
{
	int error;

	t->loop = loop;
	if (loop->mode)
		error = meridian_ps_set_loopback(t->port, loop, &t->host);
	else
		error = meridian_ps_loops_interrupted(t->port);
	if (!error)
		error = meridian_ps_wait_for_loop(t->port, loop, &t->host);
	if (!error) {
		t->was_external |= !loop->mode;
		error = meridian_port_run(&t->run, run_batch, t);
	}
	/* Whatever has happened. */
	meridian_ps_end_loops(t->port);
	return error;
}

static int test_all(struct port_test *t, bool is_external)
{
	const struct meridian_port_loop *loop;
	ktime_t start = ktime_get();
	unsigned int i;
	int error = 0;

	for (i = 0; !error && (loop = meridian_port_loop(i)); i++)
		error = test_loop(t, loop);
	if (!error && is_external)
		error = test_loop(t, &external);
	if (!error)
		netdev_info(t->port->netdev, "self-test: port loops: %llu bytes in %llu frames of %u to %u bytes went round port %u (near-pcs, near-pma%s) in %lld ms, all good\n",
			    t->run.bytes, t->run.frames, ETH_ZLEN, t->run.largest,
			    t->port->index, is_external ? ", external" : "",
			    ktime_ms_delta(ktime_get(), start));
	return error;
}

/* Return: a negative error, then the port is detached. */
static int take_from_stack(struct meridian_ps_port *port)
{
	if (!netif_running(port->netdev))
		return 0;
	meridian_ps_stop_service(port);
	netif_carrier_off(port->netdev);
	return test_bit(MERIDIAN_PS_FLAG_UP, &port->flags) ? meridian_ps_down(port) : 0;
}

static void give_to_stack(struct meridian_ps_port *port)
{
	int error;

	if (!netif_running(port->netdev))
		return;
	error = meridian_ps_up(port);
	if (error)
		meridian_ps_detach(port, error);
	else
		meridian_ps_start_service(port);
}

/**
 * meridian_ps_test_loops() - frames go round each loop of the port; takes its traffic away
 * @port: of a card that has the block, up or not; under RTNL
 * @is_external: a loop plug is in the port
 * @was_external: becomes whether frames were sent to it
 *
 * Says in a sentence what it has found. Its frames count in the port's counters, and in none of an
 * interface. The host's are dropped meanwhile.
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_test_loops(struct meridian_ps_port *port, bool is_external, bool *was_external)
{
	struct port_test t = {
		.port = port,
		.run.largest = min(port->card->longest, MERIDIAN_PORT_LARGEST),
	};
	int error = meridian_ps_loops_interrupted(port);

	t.run.label = (u16)ktime_to_ms(ktime_get());
	if (!error && meridian_ps_port_is_taken(port))
		error = -EBUSY;
	if (!error)
		error = take_from_stack(port);
	if (error)
		return error;
	meridian_ps_reserve_port(port, &t.host);
	/* The host's driver may have begun before it saw that. */
	error = meridian_ps_port_is_taken(port) ? -EBUSY : test_all(&t, is_external);
	*was_external = t.was_external;
	meridian_ps_release_port(port, t.host);
	give_to_stack(port);
	return error;
}
