// SPDX-License-Identifier: BSD-3-Clause
/* What the code that all drivers share calls: registers of the DMA engine, and time. */
#include <time.h>

#include "card.h"

u32 qdma_os_read(const void *bar, u32 offset)
{
	const struct meridian *card = bar;

	return card->bus->read(card->bus, 0, offset);
}

void qdma_os_write(void *bar, u32 offset, u32 value)
{
	struct meridian *card = bar;

	card->bus->write(card->bus, 0, offset, value);
}

void qdma_os_delay_us(u32 us)
{
	struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}
