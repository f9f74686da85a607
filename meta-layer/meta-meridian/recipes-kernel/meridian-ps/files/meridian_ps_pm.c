// SPDX-License-Identifier: GPL-2.0-only
/* Suspend and resume: the rings end and are made anew; the clock goes on, if the card does. */
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/rtnetlink.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/* Under RTNL. */
static int sleep_port(struct meridian_ps_port *port)
{
	struct net_device *netdev = port->netdev;

	if (test_bit(MERIDIAN_PS_FLAG_STUCK, &port->flags))
		return meridian_ps_has_ended(port) ? 0 : -EBUSY;
	if (!netif_device_present(netdev) || !netif_running(netdev))
		return 0;
	meridian_ps_stop_service(port);
	netif_carrier_off(netdev);
	if (test_bit(MERIDIAN_PS_FLAG_UP, &port->flags) && meridian_ps_down(port))
		return -EBUSY;
	return 0;
}

/* Under RTNL. */
static void wake_port(struct meridian_ps_port *port)
{
	struct net_device *netdev = port->netdev;
	int error;

	if (test_bit(MERIDIAN_PS_FLAG_STUCK, &port->flags)) {
		meridian_ps_look_again(port);
		return;
	}
	if (netif_running(netdev) && !test_bit(MERIDIAN_PS_FLAG_UP, &port->flags)) {
		error = meridian_ps_up(port);
		if (error) {
			meridian_ps_detach(port, error);
			return;
		}
		meridian_ps_start_service(port);
	}
	netif_device_attach(netdev);
}

static int resume(struct device *dev)
{
	struct meridian_ps *card = dev_get_drvdata(dev);
	unsigned int i;

	meridian_ps_check_clock(card);
	meridian_ps_start_watch(card);
	rtnl_lock();
	card->asleep = false;
	for (i = 0; i < card->ports; i++)
		wake_port(card->port[i]);
	rtnl_unlock();
	return 0;
}

static int suspend(struct device *dev)
{
	struct meridian_ps *card = dev_get_drvdata(dev);
	int error = 0;
	unsigned int i;

	cancel_delayed_work_sync(&card->watch);
	rtnl_lock();
	card->asleep = true;
	for (i = 0; !error && i < card->ports; i++) {
		error = sleep_port(card->port[i]);
		netif_device_detach(card->port[i]->netdev);
	}
	rtnl_unlock();
	/* Memory that the card still writes to is not to sleep. */
	if (error) {
		resume(dev);
		return error;
	}
	/* They take RTNL, and find the port detached and the card asleep. */
	for (i = 0; i < card->ports; i++) {
		cancel_work_sync(&card->port[i]->restart);
		cancel_delayed_work_sync(&card->port[i]->detached);
	}
	return 0;
}

DEFINE_SIMPLE_DEV_PM_OPS(meridian_ps_pm_ops, suspend, resume);
