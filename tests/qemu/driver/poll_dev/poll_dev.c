// SPDX-License-Identifier: GPL-2.0-only
/*
 * As this module is loaded, netpoll polls an interface once or more, with interrupts off, as it does
 * for a message that finds no room.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/netpoll.h>

static char *interface;
module_param(interface, charp, 0444);
MODULE_PARM_DESC(interface, "the interface's name, which is up and has an address");

static unsigned int polls = 1;
module_param(polls, uint, 0444);
MODULE_PARM_DESC(polls, "how often it is polled");

static unsigned int pause;
module_param(pause, uint, 0444);
MODULE_PARM_DESC(pause, "microseconds between two polls");

static unsigned long freed;
module_param(freed, ulong, 0444);
MODULE_PARM_DESC(freed, "sent frames that the polls have freed");

static struct netpoll netpoll = { .name = "poll_dev", .local_port = 6665, .remote_port = 6666 };

static u64 sent(void)
{
	struct rtnl_link_stats64 stats;

	return dev_get_stats(netpoll.dev, &stats)->tx_packets;
}

/* NAPI of this processor waits meanwhile. */
static void poll(void)
{
	unsigned long flags;
	u64 before;

	local_bh_disable();
	before = sent();
	local_irq_save(flags);
	netpoll_poll_dev(netpoll.dev);
	local_irq_restore(flags);
	freed += sent() - before;
	local_bh_enable();
}

static int __init begin(void)
{
	unsigned int i;
	int error;

	if (!interface)
		return -EINVAL;
	strscpy(netpoll.dev_name, interface, sizeof(netpoll.dev_name));
	error = netpoll_setup(&netpoll);
	if (error)
		return error;
	for (i = 0; i < polls; i++) {
		poll();
		if (pause)
			usleep_range(pause, 2 * pause);
	}
	return 0;
}

static void __exit end(void)
{
	netpoll_cleanup(&netpoll);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("An interface is polled as netpoll does");
MODULE_LICENSE("GPL");
