// SPDX-License-Identifier: GPL-2.0-only
/*
 * As this module is loaded, a receive queue gets other memory by its driver's queue management, as
 * Linux does it for a queue whose memory somebody provides. Of kernels before 7.0.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <net/netdev_queues.h>

static char *interface;
module_param(interface, charp, 0444);
MODULE_PARM_DESC(interface, "name, in the network namespace of who loads the module");
static int queue;
module_param(queue, int, 0444);
MODULE_PARM_DESC(queue, "index of the receive queue");

static int give(struct net_device *dev, void *other, void *old)
{
	const struct netdev_queue_mgmt_ops *ops = dev->queue_mgmt_ops;
	int error = ops->ndo_queue_mem_alloc(dev, other, queue);

	if (error)
		return error;
	error = ops->ndo_queue_stop(dev, old, queue);
	if (error) {
		ops->ndo_queue_mem_free(dev, other);
		return error;
	}
	error = ops->ndo_queue_start(dev, other, queue);
	if (!error) {
		ops->ndo_queue_mem_free(dev, old);
		return 0;
	}
	if (ops->ndo_queue_start(dev, old, queue)) {
		netdev_err(dev, "queue %d is lost\n", queue);
		ops->ndo_queue_mem_free(dev, old);
	}
	ops->ndo_queue_mem_free(dev, other);
	return error;
}

static int restart(struct net_device *dev)
{
	void *other, *old;
	int error = -ENOMEM;

	if (!dev->queue_mgmt_ops || queue >= dev->real_num_rx_queues)
		return -EOPNOTSUPP;
	other = kvzalloc(dev->queue_mgmt_ops->ndo_queue_mem_size, GFP_KERNEL);
	old = kvzalloc(dev->queue_mgmt_ops->ndo_queue_mem_size, GFP_KERNEL);
	if (other && old)
		error = give(dev, other, old);
	kvfree(other);
	kvfree(old);
	return error;
}

static int __init begin(void)
{
	struct net_device *dev;
	int error = -ENODEV;

	if (!interface)
		return -EINVAL;
	rtnl_lock();
	dev = __dev_get_by_name(current->nsproxy->net_ns, interface);
	if (dev)
		error = restart(dev);
	rtnl_unlock();
	return error;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A receive queue gets other memory");
MODULE_LICENSE("GPL");
