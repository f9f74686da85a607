/* SPDX-License-Identifier: BSD-3-Clause */
/* What the QDMA library wants of its surroundings: its "BAR" is a bus. */
#include <rte_cycles.h>

#include "qdma/qdma_os.h"
#include "meridian_bus.h"

u32
qdma_os_read(const void *bar, u32 offset)
{
	struct meridian_bus *bus = (struct meridian_bus *)(uintptr_t)bar;

	return bus->ops->read(bus, MERIDIAN_BAR_QDMA, offset);
}

void
qdma_os_write(void *bar, u32 offset, u32 value)
{
	struct meridian_bus *bus = bar;

	bus->ops->write(bus, MERIDIAN_BAR_QDMA, offset, value);
}

void
qdma_os_delay_us(u32 us)
{
	rte_delay_us_block(us);
}
