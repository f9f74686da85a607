/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL's memory for the card. It maps files that cannot shrink alone, and EAL's memfds cannot be
 * sealed. So without huge pages, where all memory is one range, that range is mapped anew from a
 * sealed file, in its place and with its contents; that is done before anybody but EAL has used
 * it. Other memory is reached by messages, which are slower and otherwise the same.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* memfd_create, SEEK_DATA */
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_eal_memconfig.h>
#include <rte_lcore.h>
#include <rte_memory.h>
#include <rte_mempool.h>

#include "meridian_twin.h"

/* EAL's memory as the card may map it: one for a process. */
static struct {
	void *base;
	size_t bytes;
	int file;
} shared = { .file = -1 };

/* Return: a memory file that cannot shrink, or a negative errno. */
int
meridian_twin_file(const char *name, size_t bytes)
{
	int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	if (file < 0)
		return -errno;
	if (ftruncate(file, bytes) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK)) {
		error = -errno;
		close(file);
		return error;
	}
	return file;
}

static int
find_range(const struct rte_memseg_list *list, void *argument)
{
	const struct rte_memseg_list **found = argument;

	if (list->external)
		return 0;
	*found = list;
	return 1;
}

/* Only pages that were written are in the file. */
static int
copy(int from, const char *base, int to)
{
	off_t data, hole = 0;

	for (;;) {
		data = lseek(from, hole, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		while (data < hole) {
			ssize_t done = pwrite(to, base + data, hole - data, data);

			if (done <= 0)
				return done < 0 ? -errno : -EIO;
			data += done;
		}
	}
}

static void
count_pool(struct rte_mempool *pool __rte_unused, void *pools)
{
	++*(unsigned int *)pools;
}

/* An application that has begun has pools; one that has none has put nothing into memory yet. */
static bool
somebody_runs(void)
{
	unsigned int lcore, pools = 0;

	rte_mempool_walk(count_pool, &pools);
	if (pools)
		return true;

	RTE_LCORE_FOREACH_WORKER(lcore)
		if (rte_eal_get_lcore_state(lcore) != WAIT)
			return true;
	return false;
}

static int
replace_memory(void)
{
	const struct rte_memseg_list *list = NULL;
	int file, old, error;

	if (rte_eal_has_hugepages() || somebody_runs())
		return -ENOTSUP;
	rte_memseg_list_walk(find_range, &list);
	if (list == NULL)
		return -ENOTSUP;
	old = rte_memseg_get_fd(rte_mem_virt2memseg(list->base_va, list));
	if (old < 0)
		return -ENOTSUP;
	file = meridian_twin_file("meridian-memory", list->len);
	if (file < 0)
		return file;
	error = copy(old, list->base_va, file);
	if (!error && mmap(list->base_va, list->len, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
		error = -errno;
	if (error) {
		close(file);
		return error;
	}
	shared.base = list->base_va;
	shared.bytes = list->len;
	shared.file = file;
	return 0;
}

/**
 * meridian_twin_share_memory() - let the card reach EAL's memory by itself, if that can be
 * @twin: connected
 *
 * Return: 0, or a negative errno if DMA goes by messages; the log says why.
 */
int
meridian_twin_share_memory(struct meridian_twin *twin)
{
	struct meridian_link_header header = { .type = MERIDIAN_LINK_MEMORY };
	struct meridian_link_region region = { .function = twin->function, .writable = 1 };
	int error = shared.file < 0 ? replace_memory() : 0;

	if (error == -ENOTSUP)
		TWIN_LOG(NOTICE, "%s: DMA goes by messages; memory is shared with --no-huge, for cards that are there from the start",
			     twin->bus.card);
	else if (error)
		TWIN_LOG(WARNING, "%s: DMA goes by messages, memory cannot be shared: %s",
			 twin->bus.card, strerror(-error));
	if (error)
		return error;
	region.address = (uintptr_t)shared.base;
	region.bytes = shared.bytes;
	return meridian_twin_ask(twin, &header, &region, sizeof(region), shared.file);
}
