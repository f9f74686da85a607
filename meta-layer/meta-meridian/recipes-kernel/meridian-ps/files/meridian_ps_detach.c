// SPDX-License-Identifier: GPL-2.0-only
/*
 * A port whose rings the card does not end, as memory does not answer it. The port is detached from
 * the stack, and what the card may still write to is kept, until the card has ended them. A port
 * that finds no memory for its rings when the system wakes is detached until there is some.
 */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/* Until the first look; each of the others comes later than the one before. */
#define FIRST_LOOK	(HZ / 4)

/**
 * meridian_ps_look_again() - look soon, and then less and less often, whether the rings have ended
 * @port: whose did not
 *
 * Context: Does not sleep.
 */
void meridian_ps_look_again(struct meridian_ps_port *port)
{
	port->patience = FIRST_LOOK;
	schedule_delayed_work(&port->detached, port->patience);
}

/**
 * meridian_ps_detach() - take a port from the stack until its rings have ended and can start anew
 * @port: that is not up, its rings told to reset; under RTNL
 * @error: why: -ETIMEDOUT if the rings do not end, else what meridian_ps_up() returned
 *
 * Context: Does not sleep.
 */
void meridian_ps_detach(struct meridian_ps_port *port, int error)
{
	port->restarts.failed++;
	set_bit(MERIDIAN_PS_FLAG_STUCK, &port->flags);
	netif_device_detach(port->netdev);
	netif_carrier_off(port->netdev);
	if (net_ratelimit())
		netdev_err(port->netdev, "%s\n", error == -ETIMEDOUT ?
			   "the card does not end the rings: the port is detached until it does" :
			   "no memory for the rings: the port is detached until there is some");
	meridian_ps_look_again(port);
}
