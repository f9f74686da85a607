/* SPDX-License-Identifier: BSD-3-Clause */
/* Which addresses of an IOMMU are free. */
#ifndef MERIDIAN_VFIO_SPACE_H
#define MERIDIAN_VFIO_SPACE_H

#include <stddef.h>
#include <stdint.h>

#define VFIO_NO_SPACE	UINT64_MAX

/**
 * struct vfio_space - ranges that are free, upwards, none next to another
 * @free: begins and ends, the end not of it
 * @count: of ranges
 * @room: for ranges
 */
struct vfio_space {
	struct vfio_range {
		uint64_t begin;
		uint64_t end;
	} *free;
	size_t count;
	size_t room;
};

int vfio_space_begin(struct vfio_space *space, int container);
int vfio_space_add(struct vfio_space *space, uint64_t begin, uint64_t end);
void vfio_space_end(struct vfio_space *space);
uint64_t vfio_space_take(struct vfio_space *space, uint64_t bytes);
void vfio_space_give(struct vfio_space *space, uint64_t address, uint64_t bytes);

#endif
