// SPDX-License-Identifier: GPL-2.0-only
/*
 * As this module is loaded, netpoll polls an interface once, with interrupts off, as it does for a
 * message that finds no room.
 */
#include <linux/module.h>
#include <linux/netpoll.h>

static char *interface;
module_param(interface, charp, 0444);
MODULE_PARM_DESC(interface, "the interface's name, which is up and has an address");

static struct netpoll netpoll = { .name = "poll_dev", .local_port = 6665, .remote_port = 6666 };

static int __init begin(void)
{
	unsigned long flags;
	int error;

	if (!interface)
		return -EINVAL;
	strscpy(netpoll.dev_name, interface, sizeof(netpoll.dev_name));
	error = netpoll_setup(&netpoll);
	if (error)
		return error;
	local_irq_save(flags);
	netpoll_poll_dev(netpoll.dev);
	local_irq_restore(flags);
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
