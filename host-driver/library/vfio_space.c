// SPDX-License-Identifier: BSD-3-Clause
/* Addresses of an IOMMU: those that the kernel does not keep for itself, given out first fit. */
#include "vfio_space.h"

#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define LOWEST		(1ull << 20)	/* below are places that old devices use */
#define ALIGNMENT	(2ull << 20)	/* so that the IOMMU can have huge pages, too */

static uint64_t aligned(uint64_t address)
{
	return (address + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/* Adds a free range. Return: 0 or -ENOMEM. */
int vfio_space_add(struct vfio_space *space, uint64_t begin, uint64_t end)
{
	size_t place = 0;

	while (place < space->count && space->free[place].begin < begin)
		place++;
	if (place && space->free[place - 1].end == begin) {
		space->free[--place].end = end;
	} else if (place < space->count && space->free[place].begin == end) {
		space->free[place].begin = begin;
	} else {
		if (space->count == space->room) {
			size_t room = space->room ? 2 * space->room : 16;
			void *more = realloc(space->free, room * sizeof(*space->free));

			if (!more)
				return -ENOMEM;
			space->free = more;
			space->room = room;
		}
		memmove(space->free + place + 1, space->free + place,
			(space->count - place) * sizeof(*space->free));
		space->free[place] = (struct vfio_range){ begin, end };
		space->count++;
	}
	if (place + 1 < space->count && space->free[place].end == space->free[place + 1].begin) {
		space->free[place].end = space->free[place + 1].end;
		space->count--;
		memmove(space->free + place + 1, space->free + place + 2,
			(space->count - place - 1) * sizeof(*space->free));
	}
	return 0;
}

static int add_ranges(struct vfio_space *space, const struct vfio_iommu_type1_info_cap_iova_range *cap)
{
	int error = 0;
	uint32_t i;

	for (i = 0; !error && i < cap->nr_iovas; i++) {
		uint64_t begin = aligned(cap->iova_ranges[i].start < LOWEST ? LOWEST : cap->iova_ranges[i].start);
		uint64_t end = (cap->iova_ranges[i].end + 1) & ~(ALIGNMENT - 1);

		if (!end) /* up to the last address */
			end = ~(ALIGNMENT - 1);
		if (begin < end)
			error = vfio_space_add(space, begin, end);
	}
	return error;
}

/* Return: 0 or -ENOMEM. A kernel that does not tell its ranges has those of 39 bits, as every IOMMU. */
int vfio_space_begin(struct vfio_space *space, int container)
{
	struct vfio_iommu_type1_info head = { .argsz = sizeof(head) }, *info;
	const struct vfio_info_cap_header *cap;
	int error = 0;
	uint32_t at;

	ioctl(container, VFIO_IOMMU_GET_INFO, &head);
	info = calloc(1, head.argsz);
	if (!info)
		return -ENOMEM;
	info->argsz = head.argsz;
	if (!ioctl(container, VFIO_IOMMU_GET_INFO, info) && info->flags & VFIO_IOMMU_INFO_CAPS)
		for (at = info->cap_offset; !error && at && at + sizeof(*cap) <= info->argsz; at = cap->next) {
			cap = (const void *)((const char *)info + at);
			if (cap->id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE)
				error = add_ranges(space, (const void *)cap);
		}
	free(info);
	if (!error && !space->count)
		error = vfio_space_add(space, aligned(LOWEST), 1ull << 39);
	return error;
}

void vfio_space_end(struct vfio_space *space)
{
	free(space->free);
	memset(space, 0, sizeof(*space));
}

/* Return: the first of so many addresses in a row, or VFIO_NO_SPACE. */
uint64_t vfio_space_take(struct vfio_space *space, uint64_t bytes)
{
	size_t i;

	bytes = aligned(bytes);
	for (i = 0; i < space->count; i++) {
		struct vfio_range *range = &space->free[i];
		uint64_t address = range->begin;

		if (range->end - range->begin < bytes)
			continue;
		range->begin += bytes;
		if (range->begin == range->end) {
			space->count--;
			memmove(range, range + 1, (space->count - i) * sizeof(*range));
		}
		return address;
	}
	return VFIO_NO_SPACE;
}

/* What was taken is free again; a range that finds no room in the books is lost. */
void vfio_space_give(struct vfio_space *space, uint64_t address, uint64_t bytes)
{
	vfio_space_add(space, address, address + aligned(bytes));
}
