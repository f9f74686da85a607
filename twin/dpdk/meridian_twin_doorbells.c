/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells in memory that the card looks at; meridian_link.h has the rules and their reasons. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_branch_prediction.h>

#include "../../host-driver/qdma/qdma_regs.h"
#include "meridian_twin.h"

#define QUEUES	256	/* of a function at most; further ones go by messages */
#define STRIDE	16	/* of a queue's doorbells in BAR0 */

int
meridian_twin_share_doorbells(struct meridian_twin *twin)
{
	struct meridian_link_header header = {
		.type = MERIDIAN_LINK_DOORBELLS,
		.function = twin->function,
		.value = QUEUES,
	};
	int file, error;
	void *page;

	twin->bells_bytes = sizeof(*twin->bells) +
			    QUEUES * sizeof(struct meridian_link_queue_doorbells);
	file = meridian_twin_file("meridian-doorbells", twin->bells_bytes);
	if (file < 0)
		return file;
	page = mmap(NULL, twin->bells_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED) {
		error = -errno;
		close(file);
		return error;
	}
	error = meridian_twin_ask(twin, &header, NULL, 0, file);
	close(file);
	if (error) {
		munmap(page, twin->bells_bytes);
		return error;
	}
	twin->bells = page;
	twin->queues = QUEUES;
	return 0;
}

void
meridian_twin_forget_doorbells(struct meridian_twin *twin)
{
	if (twin->bells != NULL)
		munmap(twin->bells, twin->bells_bytes);
	twin->bells = NULL;
}

static void
wake(struct meridian_twin *twin)
{
	struct meridian_link_header header = { .type = MERIDIAN_LINK_WAKE };

	/* Of several threads one. */
	if (__atomic_exchange_n(&twin->bells->asleep, 0, __ATOMIC_RELAXED) == 1)
		meridian_twin_send(twin, &header, NULL, 0, -1);
}

void
meridian_twin_doorbell(struct meridian_bus *bus, uint32_t offset, uint32_t value)
{
	struct meridian_twin *twin = (struct meridian_twin *)bus;
	uint32_t queue = offset / STRIDE;
	struct meridian_link_queue_doorbells *bells;
	uint64_t *word, count;

	if (unlikely(queue >= twin->queues)) {
		offset += bus->is_vf ? QDMA_VF_DOORBELLS : QDMA_PF_DOORBELLS;
		bus->ops->write(bus, MERIDIAN_BAR_QDMA, offset, value);
		return;
	}
	bells = (struct meridian_link_queue_doorbells *)(twin->bells + 1);
	word = &bells[queue].word[offset % STRIDE / 4];
	count = (__atomic_load_n(word, __ATOMIC_RELAXED) >> 32) + 1;
	__atomic_store_n(word, count << 32 | value, __ATOMIC_RELEASE);
	__atomic_fetch_or(&twin->bells->rung[queue / 64], UINT64_C(1) << queue % 64,
			  __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&twin->bells->asleep, __ATOMIC_RELAXED)))
		wake(twin);
}
