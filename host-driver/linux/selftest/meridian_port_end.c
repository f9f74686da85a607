// SPDX-License-Identifier: GPL-2.0-only
/* A port under test, as both of Linux's drivers have it. */
#include "meridian.h"
#include "meridian_hw.h"
#include "meridian_port_test.h"

static bool is_present(void *card)
{
	return meridian_present(card);
}

static void write_register(void *card, u32 offset, u32 value)
{
	meridian_write(card, offset, value);
}

static u64 read_counter(void *card, u32 offset)
{
	return meridian_read_counter(card, offset);
}

/**
 * meridian_end_of() - a port of the test, for what both of Linux's drivers share
 * @t: the test
 * @port: the port
 *
 * Context: Does not sleep.
 * Return: the port.
 */
struct meridian_port_end meridian_end_of(const struct meridian_port_test *t, u32 port)
{
	return (struct meridian_port_end) {
		.netdev = t->m->netdev,
		.port = port,
		.base = MERIDIAN_PORT_TEST_BASE(port),
		.card = t->m,
		.is_present = is_present,
		.write = write_register,
		.count = read_counter,
		.resets = "the card's ARM side",
	};
}
