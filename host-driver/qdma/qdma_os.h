/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The seam between this library and what it runs in: integer types, register access, waiting,
 * memory order. A kernel has all of it; anything else defines the four functions below.
 */
#ifndef QDMA_OS_H
#define QDMA_OS_H

#ifdef __KERNEL__

#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

static inline u32 qdma_os_read(const void __iomem *bar, u32 offset)
{
	return readl(bar + offset);
}

/* Ordered behind the writes to memory before it. */
static inline void qdma_os_write(void __iomem *bar, u32 offset, u32 value)
{
	writel(value, bar + offset);
}

/* May sleep. */
static inline void qdma_os_delay_us(u32 us)
{
	usleep_range(us, 2 * us);
}

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __iomem
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(bit) (1u << (bit))
#define BIT_ULL(bit) (1ull << (bit))
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;

u32 qdma_os_read(const void *bar, u32 offset);
/* Ordered behind the writes to memory before it. */
void qdma_os_write(void *bar, u32 offset, u32 value);
void qdma_os_delay_us(u32 us);

#endif

#endif
