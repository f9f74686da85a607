// SPDX-License-Identifier: GPL-2.0-only
/* A port that was detached comes back to the stack when the card has ended its rings. */
#include <linux/rtnetlink.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define LAST_LOOK	(30 * HZ)	/* between two looks, which are less and less often */

static void free_rings(struct meridian_ps_port *port)
{
	meridian_ps_free_rx(port);
	meridian_ps_free_tx(port);
}

/* Under RTNL; whether the port is as it was. */
static bool attach(struct meridian_ps_port *port)
{
	free_rings(port);
	if (netif_running(port->netdev) && meridian_ps_up(port))
		return false;
	if (netif_running(port->netdev))
		meridian_ps_start_service(port);
	clear_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags);
	clear_bit(MERIDIAN_PS_FLAG_STUCK, &port->flags);
	netif_device_attach(port->netdev);
	netdev_info(port->netdev, "the port is back\n");
	return true;
}

static void do_detached(struct work_struct *work)
{
	struct meridian_ps_port *port = container_of(work, struct meridian_ps_port, detached.work);
	bool is_back = false;

	if (meridian_ps_has_ended(port)) {
		rtnl_lock();
		is_back = !port->card->asleep && attach(port);
		rtnl_unlock();
	}
	if (is_back)
		return;
	schedule_delayed_work(&port->detached, port->patience);
	port->patience = min_t(unsigned long, 2 * port->patience, LAST_LOOK);
}

/* The port's netdev is nobody's any more. */
static void end(void *data)
{
	struct meridian_ps_port *port = data;

	cancel_delayed_work_sync(&port->detached);
	if (!test_bit(MERIDIAN_PS_FLAG_STUCK, &port->flags))
		return;
	if (meridian_ps_has_ended(port)) {
		free_rings(port);
		return;
	}
	dev_err(port->card->dev, "port %u: memory that the card may still write to is kept for it\n",
		port->index);
	meridian_ps_leave_rx(port);
	meridian_ps_leave_tx(port);
}

/**
 * meridian_ps_init_detach() - make ready for a card that does not end the port's rings
 * @port: that is not up
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_init_detach(struct meridian_ps_port *port)
{
	INIT_DELAYED_WORK(&port->detached, do_detached);
	return devm_add_action_or_reset(port->card->dev, end, port);
}
