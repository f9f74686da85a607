/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL's heap by the C library's, so that a sanitizer sees what is used after rte_free(). A program's
 * own functions come before those of shared libraries, for the libraries, too.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#include "heap.h"

static atomic_long pieces;

long
heap_pieces(void)
{
	return atomic_load(&pieces);
}

void *
rte_malloc_socket(const char *type __rte_unused, size_t size, unsigned int align,
		  int socket __rte_unused)
{
	size_t unit = RTE_MAX(align, (unsigned int)RTE_CACHE_LINE_SIZE);
	void *memory = size ? aligned_alloc(unit, RTE_ALIGN_CEIL(size, unit)) : NULL;

	if (memory != NULL)
		atomic_fetch_add(&pieces, 1);
	return memory;
}

void *
rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *memory = rte_malloc_socket(type, size, align, socket);

	return memory != NULL ? memset(memory, 0, size) : NULL;
}

void *
rte_calloc_socket(const char *type, size_t count, size_t size, unsigned int align, int socket)
{
	return rte_zmalloc_socket(type, count * size, align, socket);
}

void *
rte_malloc(const char *type, size_t size, unsigned int align)
{
	return rte_malloc_socket(type, size, align, SOCKET_ID_ANY);
}

void *
rte_zmalloc(const char *type, size_t size, unsigned int align)
{
	return rte_zmalloc_socket(type, size, align, SOCKET_ID_ANY);
}

void *
rte_calloc(const char *type, size_t count, size_t size, unsigned int align)
{
	return rte_calloc_socket(type, count, size, align, SOCKET_ID_ANY);
}

/* Zones are of EAL's own memory, and end here, too. */
void
rte_free(void *memory)
{
	static void (*eal_free)(void *memory);

	if (memory == NULL)
		return;
	if (rte_mem_virt2memseg_list(memory) == NULL) {
		atomic_fetch_sub(&pieces, 1);
		free(memory);
		return;
	}
	if (eal_free == NULL)
		eal_free = dlsym(RTLD_NEXT, "rte_free");
	eal_free(memory);
}
