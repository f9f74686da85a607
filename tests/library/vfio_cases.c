// SPDX-License-Identifier: Apache-2.0
/* How libmeridian takes a function of VFIO, and memory for it, with a kernel that is these functions alone. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <linux/vfio.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../host-driver/library/card.h"
#include "cases.h"

#define NAME		"0000:03:00.0"
#define CONTAINER	1000
#define GROUP		1001
#define DEVICE		1002
#define CONFIG		0x70000000
#define PAGE		4096u

int __real_access(const char *path, int mode);
int __real_close(int file);
int __real_fcntl(int file, int what, long value);
int __real_ioctl(int file, unsigned long what, void *value);
int __real_open(const char *path, int flags, int mode);
ssize_t __real_readlink(const char *path, char *to, size_t bytes);
void *__real_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t bytes);
ssize_t __real_pread(int file, void *to, size_t bytes, off_t offset);
ssize_t __real_pwrite(int file, const void *from, size_t bytes, off_t offset);

/**
 * struct kernel - what it has given, and what it refuses
 * @on: it is asked at all
 * @left: calls until one fails with EIO; 0: none does
 * @files: open, by number less CONTAINER
 * @command: of the function's configuration space
 * @mapped: bytes of the program's mappings
 * @reached: bytes that the card reaches
 * @huge: there are huge pages
 * @flags: of the last mapping of huge pages
 */
static struct kernel {
	bool on;
	unsigned int left;
	bool files[3];
	uint16_t command;
	size_t mapped;
	size_t reached;
	bool huge;
	int flags;
} kernel;

static bool fails(void)
{
	if (!kernel.left || --kernel.left)
		return false;
	errno = EIO;
	return true;
}

int __wrap_access(const char *path, int mode)
{
	return kernel.on ? (fails() ? -1 : 0) : __real_access(path, mode);
}

ssize_t __wrap_readlink(const char *path, char *to, size_t bytes)
{
	const char *last = strrchr(path, '/') + 1;

	if (!kernel.on)
		return __real_readlink(path, to, bytes);
	if (!strcmp(last, "physfn") || fails())
		return -1;
	return snprintf(to, bytes, "../%s", strcmp(last, "driver") ? "7" : "vfio-pci");
}

int __wrap_open(const char *path, int flags, ...)
{
	int file = strcmp(path, "/dev/vfio/vfio") ? GROUP : CONTAINER;
	va_list rest;
	int mode;

	va_start(rest, flags);
	mode = va_arg(rest, int);
	va_end(rest);
	if (!kernel.on)
		return __real_open(path, flags, mode);
	if (fails())
		return -1;
	CHECK(file == CONTAINER || !strcmp(path, "/dev/vfio/7"));
	kernel.files[file - CONTAINER] = true;
	return file;
}

int __wrap_close(int file)
{
	if (file < CONTAINER)
		return __real_close(file);
	CHECK(kernel.files[file - CONTAINER]);
	kernel.files[file - CONTAINER] = false;
	return 0;
}

int __wrap_fcntl(int file, int what, long value)
{
	return file < CONTAINER ? __real_fcntl(file, what, value) : 0;
}

static int region(struct vfio_region_info *info)
{
	info->offset = info->index == VFIO_PCI_CONFIG_REGION_INDEX ? CONFIG : 0;
	info->size = 4u << 20;
	info->flags = VFIO_REGION_INFO_FLAG_MMAP;
	return 0;
}

int __wrap_ioctl(int file, unsigned long what, void *value)
{
	struct vfio_iommu_type1_dma_unmap *unmap = value;
	struct vfio_iommu_type1_dma_map *map = value;

	if (file < CONTAINER)
		return __real_ioctl(file, what, value);
	CHECK(kernel.files[file - CONTAINER]);
	if (what == VFIO_IOMMU_UNMAP_DMA) {
		kernel.reached -= unmap->size;
		return 0;
	}
	if (fails())
		return -1;
	switch (what) {
	case VFIO_CHECK_EXTENSION:
		return 1;
	case VFIO_GROUP_GET_STATUS:
		((struct vfio_group_status *)value)->flags = VFIO_GROUP_FLAGS_VIABLE;
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		kernel.files[DEVICE - CONTAINER] = true;
		return DEVICE;
	case VFIO_DEVICE_GET_REGION_INFO:
		return region(value);
	case VFIO_IOMMU_MAP_DMA:
		CHECK(map->vaddr % PAGE == 0 && map->iova % PAGE == 0 && map->size % PAGE == 0 && map->size);
		kernel.reached += map->size;
		return 0;
	default:
		return 0;
	}
}

void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset)
{
	void *made;

	if (!kernel.on)
		return __real_mmap(at, bytes, rights, flags, file, offset);
	if (fails())
		return MAP_FAILED;
	if (flags & MAP_HUGETLB) {
		if (!kernel.huge)
			return MAP_FAILED;
		kernel.flags = flags;
	}
	made = __real_mmap(at, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made != MAP_FAILED)
		kernel.mapped += bytes;
	return made;
}

int __wrap_munmap(void *at, size_t bytes)
{
	if (kernel.on)
		kernel.mapped -= bytes;
	return __real_munmap(at, bytes);
}

ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t offset)
{
	if (file < CONTAINER)
		return __real_pread(file, to, bytes, offset);
	CHECK(file == DEVICE && offset == CONFIG + 4 && bytes == sizeof(kernel.command));
	if (fails())
		return -1;
	memcpy(to, &kernel.command, bytes);
	return (ssize_t)bytes;
}

ssize_t __wrap_pwrite(int file, const void *from, size_t bytes, off_t offset)
{
	if (file < CONTAINER)
		return __real_pwrite(file, from, bytes, offset);
	CHECK(file == DEVICE && offset == CONFIG + 4 && bytes == sizeof(kernel.command));
	if (fails())
		return -1;
	memcpy(&kernel.command, from, bytes);
	return (ssize_t)bytes;
}

/* What waits for a card looks again at once. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)time;
	(void)rest;
	return 0;
}

static void nothing_is_left(void)
{
	CHECK(!kernel.files[0] && !kernel.files[1] && !kernel.files[2] && !kernel.mapped && !kernel.reached);
	CHECK(!(kernel.command & 4));
}

/* Each call of a way fails once. */
void a_function_of_vfio_is_taken_and_given_back(void)
{
	struct meridian_bus *bus = NULL;
	unsigned int calls = 0;
	int error;

	do {
		memset(&kernel, 0, sizeof(kernel));
		kernel.on = true;
		kernel.left = ++calls;
		meridian_say_open(0, "%s", "");
		error = meridian_vfio_open(NAME, &bus);
		if (error) {
			CHECK(error < 0 && meridian_error(NULL)[0]);
			nothing_is_left();
		}
	} while (error);
	CHECK(calls > 15 && kernel.command == 6);
	kernel.left = 0;
	bus->close(bus);
	nothing_is_left();
	kernel.on = false;
}

void memory_is_in_pages_of_either_size(void)
{
	const size_t sizes[] = { 1, PAGE, PAGE + 1, 1u << 20, (1u << 20) + 1, (2u << 20) + 1, SIZE_MAX, SIZE_MAX / 2 };
	struct meridian_memory memory, other;
	struct meridian_bus *bus;
	unsigned int i, calls;

	memset(&kernel, 0, sizeof(kernel));
	kernel.on = true;
	CHECK(!meridian_vfio_open(NAME, &bus) && !bus->allocate(bus, 1, &other));
	for (i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		size_t size = sizes[i / 2], mapped = kernel.mapped, reached = kernel.reached;

		kernel.huge = i % 2;
		for (calls = 0; calls < 4; calls++) {
			kernel.left = calls;
			if (bus->allocate(bus, size, &memory)) {
				CHECK(kernel.mapped == mapped && kernel.reached == reached && bus->text[0]);
				CHECK(calls || size > 1u << 30);
				continue;
			}
			CHECK(size < 1u << 30 && memory.size >= size && memory.size < size + (2u << 20));
			CHECK(memory.address >= other.address + other.size && memory.huge <= kernel.huge);
			/* The kernel's own size of huge pages may be another. */
			CHECK(!memory.huge || (kernel.flags & MAP_HUGE_2MB) == MAP_HUGE_2MB);
			CHECK(memory.size % (memory.huge ? 2u << 20 : PAGE) == 0);
			CHECK(kernel.mapped == mapped + memory.size && kernel.reached == reached + memory.size);
			memset(memory.bytes, 1, memory.size);
			bus->release(bus, &memory);
			CHECK(kernel.mapped == mapped && kernel.reached == reached);
		}
	}
	kernel.left = 0;
	bus->release(bus, &other);
	bus->close(bus);
	nothing_is_left();
	kernel.on = false;
}
