// SPDX-License-Identifier: Apache-2.0
/* Addresses that libmeridian gives out behind an IOMMU. */
#include "../../host-driver/library/vfio_space.h"
#include "cases.h"

/* Against a map of which 2 MiB are free. */
void addresses_of_an_iommu(void)
{
	enum { PLACES = 64 };
	struct vfio_space space = { 0 };
	unsigned char taken[PLACES] = { 0 };
	struct { uint64_t address; unsigned int count; } have[PLACES];
	const uint64_t unit = 2u << 20;
	unsigned int held = 0, i, step;

	CHECK(!vfio_space_add(&space, 32 * unit, 64 * unit) && !vfio_space_add(&space, unit, 20 * unit));
	memset(taken, 1, sizeof(taken));
	memset(taken + 1, 0, 19);
	memset(taken + 32, 0, 32);
	for (step = 0; step < 20000; step++) {
		if (rand() % 2 && held) {
			unsigned int which = (unsigned int)rand() % held;

			vfio_space_give(&space, have[which].address, have[which].count * unit - (unsigned int)rand() % unit);
			memset(taken + have[which].address / unit, 0, have[which].count);
			have[which] = have[--held];
		} else {
			unsigned int count = 1 + (unsigned int)rand() % 8, run = 0, first = PLACES;
			uint64_t address = vfio_space_take(&space, count * unit - (unsigned int)rand() % unit);

			for (i = 0; i < PLACES && first == PLACES; i++) {
				run = taken[i] ? 0 : run + 1;
				if (run == count)
					first = i + 1 - count;
			}
			CHECK(address == (first == PLACES ? VFIO_NO_SPACE : first * unit));
			if (first == PLACES)
				continue;
			memset(taken + first, 1, count);
			have[held].address = address;
			have[held++].count = count;
		}
	}
	vfio_space_end(&space);
}
