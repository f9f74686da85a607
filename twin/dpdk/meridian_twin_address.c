/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of DMA in this process's memory. */
#include <rte_eal_memconfig.h>
#include <rte_memory.h>

#include "meridian_twin.h"

/**
 * meridian_twin_find() - where an address of DMA is in this process
 * @address: that the card was given
 * @bytes: from there on
 *
 * Return: NULL if not all of it is memory of EAL's.
 */
void *
meridian_twin_find(uint64_t address, size_t bytes)
{
	void *first = (void *)(uintptr_t)address;
	const struct rte_memseg_list *list;
	void *found = NULL;
	uint64_t end;

	rte_mcfg_mem_read_lock();
	list = rte_mem_virt2memseg_list(first);
	if (list != NULL) {
		end = (uintptr_t)list->base_va + list->len;
		if (bytes <= end - address && rte_mem_virt2memseg(first, list) != NULL &&
		    rte_mem_virt2memseg((char *)first + bytes - 1, list) != NULL)
			found = first;
	}
	rte_mcfg_mem_read_unlock();
	return found;
}
