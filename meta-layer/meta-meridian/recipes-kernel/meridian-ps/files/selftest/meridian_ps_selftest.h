/* SPDX-License-Identifier: GPL-2.0-only */
/* The self-test of ethtool, and the loops of a port, whose frames the card makes and checks. */
#ifndef MERIDIAN_PS_SELFTEST_H
#define MERIDIAN_PS_SELFTEST_H

#include "meridian_ps.h"

struct meridian_port_loop;

/* Registers of a port's test: MERIDIAN_PORT_TEST_*. */
static inline u32 meridian_ps_test_read(struct meridian_ps_port *port, u32 offset)
{
	return meridian_ps_read(port->card, MERIDIAN_PORT_TEST_PS_BASE(port->index) + offset);
}

static inline void meridian_ps_test_write(struct meridian_ps_port *port, u32 offset, u32 value)
{
	meridian_ps_write(port->card, MERIDIAN_PORT_TEST_PS_BASE(port->index) + offset, value);
}

/* meridian_ps_selftest.c */
int meridian_ps_test_count(struct meridian_ps_port *port);
void meridian_ps_test_strings(struct meridian_ps_port *port, u8 *data);
void meridian_ps_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data);

/* meridian_ps_loops.c */
int meridian_ps_test_loops(struct meridian_ps_port *port, bool is_external, bool *was_external);

/* meridian_ps_loopback.c */
bool meridian_ps_port_is_taken(struct meridian_ps_port *port);
int meridian_ps_loops_interrupted(struct meridian_ps_port *port);
void meridian_ps_reserve_port(struct meridian_ps_port *port, u32 *host);
void meridian_ps_keep_host_out(struct meridian_ps_port *port, u32 *host);
int meridian_ps_set_loopback(struct meridian_ps_port *port, const struct meridian_port_loop *loop,
			     u32 *host);
int meridian_ps_wait_for_loop(struct meridian_ps_port *port, const struct meridian_port_loop *loop,
			      u32 *host);
void meridian_ps_end_loops(struct meridian_ps_port *port);
void meridian_ps_release_port(struct meridian_ps_port *port, u32 host);

#endif
