// SPDX-License-Identifier: GPL-2.0-only
/* Holds the lock of the network for some seconds from when this module is loaded. */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

static unsigned int seconds = 1;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long");

static void hold(struct work_struct *work)
{
	rtnl_lock();
	ssleep(seconds);
	rtnl_unlock();
}

/* The system's suspend does not stop it. */
static DECLARE_WORK(holder, hold);

static int __init begin(void)
{
	schedule_work(&holder);
	return 0;
}

static void __exit end(void)
{
	flush_work(&holder);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("The network's lock is held");
MODULE_LICENSE("GPL");
