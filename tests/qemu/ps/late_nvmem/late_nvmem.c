// SPDX-License-Identifier: GPL-2.0-only
/* A memory with the board's number, which the card's driver has to wait for until the parameter is written. */
#include <linux/module.h>
#include <linux/nvmem-consumer.h>
#include <linux/nvmem-provider.h>
#include <linux/platform_device.h>

static struct platform_device *device;
static struct nvmem_device *memory;

static struct nvmem_cell_lookup lookup = {
	.nvmem_name = "late",
	.cell_name = "number",
	.dev_id = "a0000000.ethernet",
	.con_id = "unique-id",
};

static const struct nvmem_cell_info number = { .name = "number", .bytes = 8 };

static int read(void *priv, unsigned int offset, void *bytes, size_t count)
{
	memset(bytes, 0x5a, count);
	return 0;
}

static int appear(const char *text, const struct kernel_param *param)
{
	struct nvmem_config config = {
		.dev = &device->dev, .name = "late", .id = NVMEM_DEVID_NONE, .owner = THIS_MODULE,
		.cells = &number, .ncells = 1, .size = 8, .word_size = 1, .stride = 1,
		.read_only = true, .reg_read = read,
	};

	if (!memory)
		memory = nvmem_register(&config);
	return PTR_ERR_OR_ZERO(memory);
}

static const struct kernel_param_ops is_there_ops = { .set = appear };
module_param_cb(is_there, &is_there_ops, NULL, 0200);
MODULE_PARM_DESC(is_there, "whatever is written, the memory is there from then on");

static int __init begin(void)
{
	device = platform_device_register_simple("late_nvmem", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	nvmem_add_cell_lookups(&lookup, 1);
	return 0;
}

static void __exit end(void)
{
	nvmem_del_cell_lookups(&lookup, 1);
	if (!IS_ERR_OR_NULL(memory))
		nvmem_unregister(memory);
	platform_device_unregister(device);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A memory that is there late");
MODULE_LICENSE("GPL");
