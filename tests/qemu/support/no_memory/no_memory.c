// SPDX-License-Identifier: GPL-2.0-only
/* While this module is loaded, the kernel has no memory for DMA of one device. */
#include <linux/device.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "the device's name");

/* Others keep what they get. */
static int called(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct device *dev = (void *)regs_get_kernel_argument(regs, 0);

	return strcmp(dev_name(dev), device);
}

static int returns(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	regs_set_return_value(regs, 0);
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name = "dma_alloc_attrs",
	.entry_handler = called,
	.handler = returns,
};

static int __init begin(void)
{
	return device ? register_kretprobe(&probe) : -EINVAL;
}

static void __exit end(void)
{
	unregister_kretprobe(&probe);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("No memory for DMA of one device");
MODULE_LICENSE("GPL");
