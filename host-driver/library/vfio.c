// SPDX-License-Identifier: BSD-3-Clause
/* A function by VFIO: its BARs, its bus master bit, and memory at addresses of the IOMMU. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mman.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "card.h"
#include "vfio_space.h"

#define SYSFS		"/sys/bus/pci/devices"
#define COMMAND		4	/* in the configuration space */
#define MEMORY_SPACE	0x0002
#define BUS_MASTER	0x0004
#define HUGE_PAGE	(2ul << 20)

struct bar {
	uint8_t *bytes;
	size_t size;
};

/**
 * struct vfio - a function
 * @bus: what the library sees
 * @container: the IOMMU's addresses
 * @group: of devices that the IOMMU cannot tell apart
 * @device: the function
 * @config: where its configuration space is in the device's file
 * @bars: BAR 0 and BAR 2
 * @space: which addresses are free
 */
struct vfio {
	struct meridian_bus bus;
	int container;
	int group;
	int device;
	uint64_t config;
	struct bar bars[3];
	struct vfio_space space;
};

static uint32_t read_bar(struct meridian_bus *bus, unsigned int bar, uint32_t offset)
{
	const struct bar *it = &((struct vfio *)bus)->bars[bar];

	return offset + 4 <= it->size ? *(volatile uint32_t *)(it->bytes + offset) : UINT32_MAX;
}

static void write_bar(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value)
{
	const struct bar *it = &((struct vfio *)bus)->bars[bar];

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (offset + 4 <= it->size)
		*(volatile uint32_t *)(it->bytes + offset) = value;
}

static int allocate(struct meridian_bus *bus, size_t bytes, struct meridian_memory *memory)
{
	struct vfio *it = (struct vfio *)bus;
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	const int huge = MAP_HUGETLB | MAP_HUGE_2MB; /* the system's own size may be another */
	int error;

	if (bytes > SIZE_MAX / 2)
		return snprintf(bus->text, sizeof(bus->text), "%zu bytes are too many", bytes), -ENOMEM;
	memory->huge = true;
	memory->size = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	memory->bytes = MAP_FAILED;
	if (bytes > HUGE_PAGE / 2)
		memory->bytes = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, flags | huge, -1, 0);
	if (memory->bytes == MAP_FAILED) {
		memory->huge = false;
		memory->size = (bytes + page - 1) / page * page;
		memory->bytes = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, flags, -1, 0);
	}
	if (memory->bytes == MAP_FAILED) {
		error = -errno;
		snprintf(bus->text, sizeof(bus->text), "the system has no %zu bytes: %s", bytes, strerror(-error));
		return error;
	}
	/* A child would get a copy of all that is locked, at once. */
	madvise(memory->bytes, memory->size, MADV_DONTFORK);
	memory->address = vfio_space_take(&it->space, memory->size);
	map.vaddr = (uintptr_t)memory->bytes;
	map.iova = memory->address;
	map.size = memory->size;
	if (memory->address == VFIO_NO_SPACE) {
		error = -ENOSPC;
		snprintf(bus->text, sizeof(bus->text), "the IOMMU has no %zu addresses left in a row", memory->size);
	} else if (ioctl(it->container, VFIO_IOMMU_MAP_DMA, &map)) {
		error = -errno;
		vfio_space_give(&it->space, memory->address, memory->size);
		snprintf(bus->text, sizeof(bus->text), "the card cannot get %zu bytes: %s%s", memory->size, strerror(-error),
			 error == -ENOMEM ? "; raise the limit of locked memory (ulimit -l)" : "");
	} else {
		return 0;
	}
	munmap(memory->bytes, memory->size);
	return error;
}

static void release(struct meridian_bus *bus, struct meridian_memory *memory)
{
	struct vfio *it = (struct vfio *)bus;
	struct vfio_iommu_type1_dma_unmap unmap = {
		.argsz = sizeof(unmap),
		.iova = memory->address,
		.size = memory->size,
	};

	/* Addresses that the card may still reach are no other memory's. */
	if (!ioctl(it->container, VFIO_IOMMU_UNMAP_DMA, &unmap))
		vfio_space_give(&it->space, memory->address, memory->size);
	munmap(memory->bytes, memory->size);
}

static bool set_command(struct vfio *it, uint16_t bits, bool on)
{
	uint16_t command;

	if (pread(it->device, &command, sizeof(command), (off_t)(it->config + COMMAND)) != sizeof(command))
		return false;
	command = (uint16_t)(on ? command | bits : command & ~bits);
	return pwrite(it->device, &command, sizeof(command), (off_t)(it->config + COMMAND)) == sizeof(command);
}

static void stop(struct meridian_bus *bus)
{
	set_command((struct vfio *)bus, BUS_MASTER, false);
}

/* Whatever there is of it. */
static void close_vfio(struct meridian_bus *bus)
{
	struct vfio *it = (struct vfio *)bus;
	unsigned int bar;

	if (it->device >= 0 && it->config)
		set_command(it, BUS_MASTER, false);
	for (bar = 0; bar < 3; bar++)
		if (it->bars[bar].bytes)
			munmap(it->bars[bar].bytes, it->bars[bar].size);
	if (it->device >= 0)
		close(it->device);
	if (it->group >= 0)
		close(it->group);
	if (it->container >= 0)
		close(it->container);
	vfio_space_end(&it->space);
	free(it);
}

static int map_bar(struct vfio *it, unsigned int bar, const char *name)
{
	struct vfio_region_info info = { .argsz = sizeof(info), .index = VFIO_PCI_BAR0_REGION_INDEX + bar };
	void *bytes;

	if (ioctl(it->device, VFIO_DEVICE_GET_REGION_INFO, &info) || !info.size ||
	    !(info.flags & VFIO_REGION_INFO_FLAG_MMAP))
		return meridian_say_open(-ENXIO, "%s: this function has no BAR%u that a program can map: it is no Meridian card",
					 name, bar);
	bytes = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, it->device, (off_t)info.offset);
	if (bytes == MAP_FAILED)
		return meridian_say_open(-errno, "%s: BAR%u cannot be mapped: %s", name, bar, strerror(errno));
	it->bars[bar].bytes = bytes;
	it->bars[bar].size = info.size;
	return 0;
}

/* The last name of a link in sysfs. Return: 0 or -ENOENT. */
static int link_of(const char *name, const char *what, char last[64])
{
	char path[128], to[PATH_MAX];
	const char *slash;
	ssize_t length;

	snprintf(path, sizeof(path), SYSFS "/%s/%s", name, what);
	length = readlink(path, to, sizeof(to) - 1);
	if (length < 0)
		return -ENOENT;
	to[length] = '\0';
	slash = strrchr(to, '/');
	snprintf(last, 64, "%.63s", slash ? slash + 1 : to);
	return 0;
}

static bool is_name(const char *name)
{
	static const char form[] = "0000:00:00.0";
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == '0' ? !strchr("0123456789abcdef", name[i]) || !name[i] : name[i] != form[i])
			return false;
	return !name[i];
}

static int join_group(struct vfio *it, const char *name)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	char group[64], driver[64], path[80];
	int error;

	if (!is_name(name))
		return meridian_say_open(-EINVAL, "%s is no name of a function on PCIe: give one as 0000:03:00.0", name);
	snprintf(path, sizeof(path), SYSFS "/%s", name);
	if (access(path, F_OK))
		return meridian_say_open(-ENODEV, "%s: there is no such function: lspci -d 10ee: lists those of cards", name);
	if (link_of(name, "driver", driver) || strcmp(driver, "vfio-pci"))
		return meridian_say_open(-EBUSY, "%s: vfio-pci does not have it: driverctl set-override %s vfio-pci gives it", name, name);
	if (link_of(name, "iommu_group", group))
		return meridian_say_open(-ENODEV, "%s: the machine has no IOMMU, or has it off: turn it on in its firmware", name);
	it->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (it->container < 0)
		return meridian_say_open(-errno, "/dev/vfio/vfio: %s", strerror(errno));
	if (ioctl(it->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
	    ioctl(it->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1)
		return meridian_say_open(-ENOTSUP, "this kernel's VFIO has another interface than this library knows");
	snprintf(path, sizeof(path), "/dev/vfio/%s", group);
	it->group = open(path, O_RDWR | O_CLOEXEC);
	if (it->group < 0) {
		error = -errno;
		return meridian_say_open(error, "%s: %s: %s%s", name, path, strerror(-error),
					 error == -EACCES ? "; make the file the user's" :
					 error == -EBUSY ? "; another program has it" : "");
	}
	if (ioctl(it->group, VFIO_GROUP_GET_STATUS, &status) || !(status.flags & VFIO_GROUP_FLAGS_VIABLE))
		return meridian_say_open(-EBUSY, "%s: other functions of its IOMMU group %s have drivers: give all of them to vfio-pci",
					 name, group);
	if (ioctl(it->group, VFIO_GROUP_SET_CONTAINER, &it->container) ||
	    ioctl(it->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		return meridian_say_open(-errno, "%s: the IOMMU refuses its group %s: %s", name, group, strerror(errno));
	return 0;
}

static int open_device(struct vfio *it, const char *name)
{
	struct vfio_region_info config = { .argsz = sizeof(config), .index = VFIO_PCI_CONFIG_REGION_INDEX };
	int error;

	it->device = ioctl(it->group, VFIO_GROUP_GET_DEVICE_FD, name);
	if (it->device < 0)
		return meridian_say_open(-errno, "%s: VFIO does not give it: %s", name, strerror(errno));
	fcntl(it->device, F_SETFD, FD_CLOEXEC);
	if (ioctl(it->device, VFIO_DEVICE_GET_REGION_INFO, &config))
		return meridian_say_open(-errno, "%s: it has no configuration space: %s", name, strerror(errno));
	it->config = config.offset;
	error = map_bar(it, 0, name);
	if (!error)
		error = map_bar(it, 2, name);
	if (!error)
		error = vfio_space_begin(&it->space, it->container);
	if (error == -ENOMEM)
		return meridian_say_open(error, "%s: there is no memory to keep books", name);
	if (error)
		return error;
	if (!set_command(it, MEMORY_SPACE | BUS_MASTER, true))
		return meridian_say_open(-EIO, "%s: its configuration space cannot be written", name);
	it->bus.bar2_bytes = it->bars[2].size;
	return 0;
}

int meridian_vfio_open(const char *name, struct meridian_bus **bus)
{
	struct vfio *it = calloc(1, sizeof(*it));
	int error;

	if (!it)
		return meridian_say_open(-ENOMEM, "%s: there is no memory for the card", name);
	it->container = -1;
	it->group = -1;
	it->device = -1;
	it->bus = (struct meridian_bus){
		.read = read_bar,
		.write = write_bar,
		.allocate = allocate,
		.release = release,
		.stop = stop,
		.close = close_vfio,
	};
	error = join_group(it, name);
	if (!error)
		error = open_device(it, name);
	if (error)
		close_vfio(&it->bus);
	else
		*bus = &it->bus;
	return error;
}
