/* SPDX-License-Identifier: BSD-3-Clause */
/* The card on PCIe, bound to vfio-pci or another driver that hands its BARs out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_io.h>

#include <bus_pci_driver.h>
#include <ethdev_pci.h>

#include "qdma/qdma_os.h"
#include "qdma/qdma_regs.h"
#include "qdma/qdma_ring.h"
#include "meridian_bus.h"
#include "meridian_compat.h"
#include "meridian_log.h"

#define VENDOR		0x10ee
#define VF_DEVICE	0xa000	/* PFs are 0x9.3f, VFs of each 0xa.3f */

/* What is looked at of each BAR, at least. */
#define QDMA_BYTES	0x8000
#define SHELL_BYTES	0x1000

/* Of PCI's configuration space. */
#define COMMAND			0x04
#define COMMAND_MASTER		0x0004
#define REVISION_CLASS		0x08
#define CAPABILITIES		0x34
#define CAPABILITIES_MOST	48
#define CAPABILITY_MSIX		0x11
#define MSIX_LAST		0x7ff

struct pci_bus {
	struct meridian_bus bus;
	uint8_t *bar[MERIDIAN_BAR_SHELL + 1];
	uint64_t bytes[MERIDIAN_BAR_SHELL + 1];
	const struct rte_pci_device *device;
};

static uint32_t
read_bar(struct meridian_bus *bus, unsigned int bar, uint32_t offset)
{
	const struct pci_bus *pci = (const struct pci_bus *)bus;

	if (offset + 4 > pci->bytes[bar])
		return QDMA_ALL_ONES;
	return rte_read32(pci->bar[bar] + offset);
}

static void
write_bar(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value)
{
	const struct pci_bus *pci = (const struct pci_bus *)bus;

	if (offset + 4 <= pci->bytes[bar])
		rte_write32(value, pci->bar[bar] + offset);
}

static void
close_bus(struct meridian_bus *bus)
{
	free(bus);
}

/* Of the VF's folder in sysfs, which whoever drives the VF does not take away. */
static bool
vf_is_master(struct meridian_bus *bus, uint32_t vf)
{
	const struct rte_pci_addr *at = &((struct pci_bus *)bus)->device->addr;
	uint8_t command[2];
	char path[PATH_MAX];
	bool is_master;
	int file;

	snprintf(path, sizeof(path), "%s/" PCI_PRI_FMT "/virtfn%u/config",
		 rte_pci_get_sysfs_path(), at->domain, at->bus, at->devid, at->function, vf);
	file = open(path, O_RDONLY);
	if (file < 0)
		return true;
	is_master = pread(file, command, sizeof(command), COMMAND) != sizeof(command) ||
		    (command[0] & COMMAND_MASTER && (command[0] & command[1]) != UINT8_MAX);
	close(file);
	return is_master;
}

/*
 * Of the device's folder in sysfs, which goes with the device. The identifiers of a VF read as ones
 * by the standard, and VFIO answers for some registers itself: the class is the function's own.
 */
static enum meridian_presence
presence(struct meridian_bus *bus)
{
	const struct rte_pci_addr *at = &((struct pci_bus *)bus)->device->addr;
	uint32_t word = UINT32_MAX;
	char path[PATH_MAX];
	ssize_t bytes;
	int file;

	snprintf(path, sizeof(path), "%s/" PCI_PRI_FMT "/config", rte_pci_get_sysfs_path(),
		 at->domain, at->bus, at->devid, at->function);
	file = open(path, O_RDONLY);
	if (file < 0)
		return errno == ENOENT ? MERIDIAN_UNPLUGGED : MERIDIAN_SILENT;
	bytes = pread(file, &word, sizeof(word), REVISION_CLASS);
	close(file);
	return bytes == sizeof(word) && word != UINT32_MAX ? MERIDIAN_PRESENT : MERIDIAN_SILENT;
}

/*
 * What the function has sent before, the answer to a read of its configuration pushes ahead. One
 * that is gone reads as ones, and sends nothing.
 */
static int
set_master(struct meridian_bus *bus, bool is_master)
{
	const struct rte_pci_device *device = ((struct pci_bus *)bus)->device;
	uint16_t command, bit = rte_cpu_to_le_16(COMMAND_MASTER);

	if (rte_pci_read_config(device, &command, sizeof(command), COMMAND) != sizeof(command))
		return -EIO;
	if (command == UINT16_MAX)
		return is_master ? -EIO : 0;
	command = is_master ? command | bit : command & ~bit;
	if (rte_pci_write_config(device, &command, sizeof(command), COMMAND) != sizeof(command) ||
	    rte_pci_read_config(device, &command, sizeof(command), COMMAND) != sizeof(command))
		return -EIO;
	if (command == UINT16_MAX)
		return is_master ? -EIO : 0;
	return !(command & bit) == is_master ? -EIO : 0;
}

static const struct meridian_bus_ops ops = {
	.version = MERIDIAN_BUS_VERSION,
	.close = close_bus,
	.read = read_bar,
	.write = write_bar,
	.set_master = set_master,
	.vf_is_master = vf_is_master,
	.presence = presence,
};

static int
take_bar(const struct rte_pci_device *device, struct pci_bus *pci, unsigned int bar,
	 uint64_t least)
{
	pci->bar[bar] = device->mem_resource[bar].addr;
	pci->bytes[bar] = device->mem_resource[bar].len;
	if (pci->bar[bar] != NULL && pci->bytes[bar] >= least)
		return 0;
	MERIDIAN_LOG(ERR, "%s: BAR %u is not mapped: is the function bound to vfio-pci?",
		     device->device.name, bar);
	return -ENODEV;
}

/* Cards without pushed frames do not have it. */
static void
take_window(const struct rte_pci_device *device, struct meridian_bus *bus)
{
	bus->window = device->mem_resource[MERIDIAN_BAR_WINDOW].addr;
	if (bus->window != NULL)
		bus->window_queues = device->mem_resource[MERIDIAN_BAR_WINDOW].len /
				     QDMA_WINDOW_BYTES;
}

/* Of the device's folder in sysfs; 0: it is not there. */
static uint32_t
sysfs_number(const struct rte_pci_device *device, const char *name)
{
	const struct rte_pci_addr *at = &device->addr;
	unsigned int number;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" PCI_PRI_FMT "/%s", rte_pci_get_sysfs_path(), at->domain,
		 at->bus, at->devid, at->function, name);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%u", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

static uint32_t
read_config(const struct rte_pci_device *device, uint32_t offset, size_t bytes)
{
	uint32_t value = 0;

	return rte_pci_read_config(device, &value, bytes, offset) == (int)bytes ?
	       rte_le_to_cpu_32(value) : 0;
}

/* Entries of the function's MSI-X table. */
static uint32_t
msix_vectors(const struct rte_pci_device *device)
{
	uint32_t at = read_config(device, CAPABILITIES, 1);
	unsigned int steps;

	for (steps = 0; at && steps < CAPABILITIES_MOST; steps++) {
		uint32_t head = read_config(device, at, 4);

		if ((head & 0xff) == CAPABILITY_MSIX)
			return (head >> 16 & MSIX_LAST) + 1;
		at = head >> 8 & 0xff;
	}
	return 0;
}

/* Functions of a card are numbered as PCIe routes to them, from its first PF on. */
static void
find_vfs(const struct rte_pci_device *device, struct meridian_bus *bus)
{
	uint32_t offset = sysfs_number(device, "sriov_offset");

	if (bus->is_vf || !offset)
		return;
	bus->first_vf = device->addr.function + offset;
	bus->vf_stride = sysfs_number(device, "sriov_stride");
}

static int
attach(struct rte_pci_device *device, struct pci_bus *pci)
{
	/* EAL has set it; what a driver before has left may not write by it. */
	int error = set_master(&pci->bus, false);

	if (error) {
		free(pci);
		return error;
	}
	error = meridian_attach(&device->device, &pci->bus);
	if (error)
		return error;
	error = set_master(&pci->bus, true);
	/* EAL takes away what the port would stand on. */
	if (error)
		meridian_detach(&device->device);
	return error;
}

static int
check_keys(const struct rte_devargs *devargs)
{
	/* EAL leaves those of a device's layers among the driver's. */
	static const char * const known[] = {
		MERIDIAN_DEVARGS, RTE_DEVARGS_KEY_BUS, RTE_DEVARGS_KEY_CLASS,
		RTE_DEVARGS_KEY_DRIVER, NULL
	};
	struct rte_kvargs *keys;

	if (devargs == NULL || devargs->args == NULL || *devargs->args == '\0')
		return 0;
	keys = rte_kvargs_parse(devargs->args, known);
	if (keys == NULL) {
		MERIDIAN_LOG(ERR, "\"%s\": a function on PCIe knows queues, mac, vfs, trusted, vf_mac, vf_messages and push, as KEY=VALUE",
			     devargs->args);
		return -EINVAL;
	}
	rte_kvargs_free(keys);
	return 0;
}

static int
probe(struct rte_pci_driver *driver __rte_unused, struct rte_pci_device *device)
{
	int error = check_keys(device->device.devargs);
	struct pci_bus *pci;

	if (error)
		return error;
	pci = calloc(1, sizeof(*pci));
	if (pci == NULL)
		return -ENOMEM;
	pci->bus.ops = &ops;
	pci->device = device;
	pci->bus.is_vf = (device->id.device_id & 0xf000) == VF_DEVICE;
	pci->bus.interrupt = device->intr_handle;
	pci->bus.vectors = msix_vectors(device);
	snprintf(pci->bus.card, sizeof(pci->bus.card), "%04x:%02x:%02x", device->addr.domain,
		 device->addr.bus, device->addr.devid);
	find_vfs(device, &pci->bus);
	error = take_bar(device, pci, MERIDIAN_BAR_QDMA, QDMA_BYTES);
	if (!error)
		error = take_bar(device, pci, MERIDIAN_BAR_SHELL, SHELL_BYTES);
	if (error) {
		free(pci);
		return error;
	}
	take_window(device, &pci->bus);
	pci->bus.doorbells = pci->bar[MERIDIAN_BAR_QDMA] +
			     (pci->bus.is_vf ? QDMA_VF_DOORBELLS : QDMA_PF_DOORBELLS);
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return meridian_attach(&device->device, &pci->bus);
	return attach(device, pci);
}

static int
remove_port(struct rte_pci_device *device)
{
	return meridian_detach(&device->device);
}

static const struct rte_pci_id ids[] = {
	{ RTE_PCI_DEVICE(VENDOR, 0x903f) },
	{ RTE_PCI_DEVICE(VENDOR, 0x913f) },
	{ RTE_PCI_DEVICE(VENDOR, 0x923f) },
	{ RTE_PCI_DEVICE(VENDOR, 0x933f) },
	{ RTE_PCI_DEVICE(VENDOR, 0xa03f) },
	{ RTE_PCI_DEVICE(VENDOR, 0xa13f) },
	{ RTE_PCI_DEVICE(VENDOR, 0xa23f) },
	{ RTE_PCI_DEVICE(VENDOR, 0xa33f) },
	{ .vendor_id = 0 },
};

static struct rte_pci_driver meridian_pci_driver = {
	.id_table = ids,
	.drv_flags = RTE_PCI_DRV_NEED_MAPPING,
	.probe = probe,
	.remove = remove_port,
};

RTE_PMD_REGISTER_PCI(net_meridian, meridian_pci_driver);
RTE_PMD_REGISTER_PCI_TABLE(net_meridian, ids);
RTE_PMD_REGISTER_KMOD_DEP(net_meridian, "* vfio-pci | uio_pci_generic");
RTE_PMD_REGISTER_PARAM_STRING(net_meridian,
			      "queues=<1-256> mac=<address> "
			      "vfs=<0-32> trusted=<bitmap> vf_mac=<address> vf_messages=<1-100000> "
			      "push=<0-256>");
