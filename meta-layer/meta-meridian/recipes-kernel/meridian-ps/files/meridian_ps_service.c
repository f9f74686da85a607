// SPDX-License-Identifier: GPL-2.0-only
/* What is looked after beside the frames: link, lost timestamps, memory, stopped rings. */
#include <linux/rtnetlink.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define SERVICE_PERIOD	(HZ / 4)
#define TRY_AGAIN	(HZ / 50)	/* when somebody has RTNL */

static void update_link(struct meridian_ps_port *port)
{
	u32 status = meridian_ps_port_read(port, MERIDIAN_PORT_LINK_STATUS);
	bool is_up = status & MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK;

	if (is_up == netif_carrier_ok(port->netdev))
		return;
	if (is_up)
		netif_carrier_on(port->netdev);
	else
		netif_carrier_off(port->netdev);
	netdev_info(port->netdev, "link %s\n", is_up ? "up" : "down");
}

/* A ring without any buffer hears of no frame, so nothing would ask for buffers again. */
static void feed(struct meridian_ps_port *port)
{
	if (!test_and_clear_bit(MERIDIAN_PS_FLAG_STARVED, &port->flags))
		return;
	local_bh_disable();
	napi_schedule(&port->napi);
	local_bh_enable();
}

/* A card that was reset, or loaded anew, knows nothing of its rings. */
static bool was_reset(struct meridian_ps_port *port)
{
	u32 control = meridian_ps_ring_read(port, MERIDIAN_PS_RING_RX_CONTROL);

	return !(control & MERIDIAN_PS_RING_RX_CONTROL_ENABLE_MASK);
}

static bool is_absent(struct meridian_ps_port *port)
{
	if (meridian_ps_present(port->card)) {
		clear_bit(MERIDIAN_PS_FLAG_ABSENT, &port->flags);
		return false;
	}
	if (!test_and_set_bit(MERIDIAN_PS_FLAG_ABSENT, &port->flags))
		netdev_err(port->netdev, "the card does not answer any more\n");
	netif_carrier_off(port->netdev);
	return true;
}

/* Under RTNL. */
static void look(struct meridian_ps_port *port)
{
	if (is_absent(port))
		return;
	if (test_bit(MERIDIAN_PS_FLAG_UP, &port->flags)) {
		if (was_reset(port)) {
			port->restarts.card_reset++;
			netdev_warn(port->netdev, "the card was reset\n");
			set_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags);
		}
		update_link(port);
		feed(port);
	}
	if (test_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags))
		schedule_work(&port->restart);
}

static void do_service(struct work_struct *work)
{
	struct meridian_ps_port *port = container_of(work, struct meridian_ps_port, service.work);
	unsigned long delay = TRY_AGAIN;

	meridian_ps_expire_stamps(port, false);
	/* Who holds RTNL may wait for this work to end. */
	if (rtnl_trylock()) {
		look(port);
		rtnl_unlock();
		delay = SERVICE_PERIOD;
	}
	schedule_delayed_work(&port->service, delay);
}

/* Whether a ring has stopped by itself; counts and says so. Under RTNL, while the port is up. */
static bool has_stopped(struct meridian_ps_port *port)
{
	u32 rx = meridian_ps_ring_error(port, &port->rx.ring);
	u32 tx = meridian_ps_ring_error(port, &port->tx.ring);

	port->restarts.rx_error += !!rx;
	port->restarts.tx_error += !!tx;
	if ((rx || tx) && net_ratelimit())
		netdev_err(port->netdev, "a ring has stopped by itself: receive %u, transmit %u\n",
			   rx, tx);
	return rx || tx;
}

static void make_anew(struct meridian_ps_port *port)
{
	int error;

	if (test_bit(MERIDIAN_PS_FLAG_UP, &port->flags) && meridian_ps_down(port))
		return;
	error = meridian_ps_up(port);
	if (!error)
		return;
	if (error == -ETIMEDOUT) {
		meridian_ps_detach(port, error);
	} else {
		/* The service tries again. */
		port->restarts.failed++;
		set_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags);
	}
}

static void do_restart(struct work_struct *work)
{
	struct meridian_ps_port *port = container_of(work, struct meridian_ps_port, restart);

	rtnl_lock();
	if (test_bit(MERIDIAN_PS_FLAG_UP, &port->flags) && has_stopped(port))
		set_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags);
	if (test_and_clear_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags) &&
	    netif_running(port->netdev) && netif_device_present(port->netdev))
		make_anew(port);
	rtnl_unlock();
}

static void cancel_restart(void *restart)
{
	cancel_work_sync(restart);
}

/**
 * meridian_ps_init_service() - make the works of a port
 * @port: that is not up
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_init_service(struct meridian_ps_port *port)
{
	INIT_DELAYED_WORK(&port->service, do_service);
	INIT_WORK(&port->restart, do_restart);
	return devm_add_action_or_reset(port->card->dev, cancel_restart, &port->restart);
}

/**
 * meridian_ps_start_service() - look after a port from now on
 * @port: that is up
 *
 * Context: Does not sleep.
 */
void meridian_ps_start_service(struct meridian_ps_port *port)
{
	schedule_delayed_work(&port->service, 0);
}

/**
 * meridian_ps_stop_service() - look after it no longer
 * @port: that is about to go down; under RTNL
 *
 * Context: May sleep.
 */
void meridian_ps_stop_service(struct meridian_ps_port *port)
{
	cancel_delayed_work_sync(&port->service);
	clear_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags);
}
