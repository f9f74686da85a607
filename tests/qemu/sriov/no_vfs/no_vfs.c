// SPDX-License-Identifier: GPL-2.0-only
/* While this module is loaded, a half word in the configuration space of one PCI device reads as 0. */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/pci.h>

static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "the device's name");
static int where;
module_param(where, int, 0444);
MODULE_PARM_DESC(where, "offset of the half word");

/* Others keep what they get. */
static int called(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct pci_dev *pdev = (void *)regs_get_kernel_argument(regs, 0);

	*(u16 **)instance->data = (void *)regs_get_kernel_argument(regs, 2);
	return (int)regs_get_kernel_argument(regs, 1) != where || strcmp(pci_name(pdev), device);
}

static int returns(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	**(u16 **)instance->data = 0;
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name = "pci_read_config_word",
	.entry_handler = called,
	.handler = returns,
	.data_size = sizeof(u16 *),
};

static int __init begin(void)
{
	return device && where ? register_kretprobe(&probe) : -EINVAL;
}

static void __exit end(void)
{
	unregister_kretprobe(&probe);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A half word of configuration space that reads as 0");
MODULE_LICENSE("GPL");
