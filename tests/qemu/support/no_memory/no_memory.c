// SPDX-License-Identifier: GPL-2.0-only
/* While this module is loaded, the kernel has no memory for DMA of one device. */
#include <linux/device.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "the device's name");

static void *nothing(void)
{
	return NULL;
}

/* Others get what they ask for. Nothing is allocated that its owner would not know of. */
static int __kprobes asked(struct kprobe *probe, struct pt_regs *regs)
{
	const struct device *dev = (void *)regs_get_kernel_argument(regs, 0);

	if (strcmp(dev_name(dev), device))
		return 0;
	instruction_pointer_set(regs, (unsigned long)nothing);
	return 1;
}

/* Without one, an optimised probe may not change where the kernel goes on. */
static void __kprobes after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name = "dma_alloc_attrs",
	.pre_handler = asked,
	.post_handler = after,
};

static int __init begin(void)
{
	return device ? register_kprobe(&probe) : -EINVAL;
}

static void __exit end(void)
{
	unregister_kprobe(&probe);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("No memory for DMA of one device");
MODULE_LICENSE("GPL");
