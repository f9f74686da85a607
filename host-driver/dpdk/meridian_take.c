/* SPDX-License-Identifier: BSD-3-Clause */
/* A card is taken, as after its reset, and given up. */
#include <string.h>

#include <rte_malloc.h>

#include "meridian.h"

/* What an attached port has beside its queues. */
void
meridian_give_up(struct meridian *m)
{
	if (m->bus->is_vf)
		meridian_leave_pf(m);
	meridian_stop_vfs(m);
	if (m->card != NULL) {
		meridian_card_leave(m);
		meridian_card_put(m->card);
	}
	rte_free(m->baseline);
	m->card = NULL;
	m->baseline = NULL;
	pthread_mutex_destroy(&m->latch);
}

/* Each bit goes by being written. */
static void
clear_errors(struct meridian *m, uint32_t leaf)
{
	uint32_t word = qdma_read(&m->qdma, leaf);

	if (word)
		qdma_os_write(m->qdma.bar, leaf, word);
}

/**
 * meridian_take_pf() - begin with a card as after its reset
 * @m: a PF that is identified
 *
 * On return it has no queues, its VFs' neither, and the card the settings that the driver needs.
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_take_pf(struct meridian *m)
{
	int error;

	pthread_mutex_lock(&m->card->lock);
	meridian_set_queues(m, m->function, 0, 0);
	error = qdma_take_function(&m->qdma, m->queue_base, m->queue_limit);
	if (error) {
		pthread_mutex_unlock(&m->card->lock);
		MERIDIAN_LOG(ERR, "%s: the queues of a driver before do not end: %s",
			     m->data->name, strerror(-error));
		return error;
	}
	/* They were told, or are nobody's any more. */
	clear_errors(m, QDMA_C2H_FATAL);
	clear_errors(m, QDMA_RAM_DOUBLE_ERROR);
	clear_errors(m, QDMA_RAM_DOUBLE_ERROR_1);
	qdma_write_tables(&m->qdma, &qdma_default_tables);
	error = qdma_check_tables(&m->qdma);
	meridian_enforce_credit(m);
	meridian_draw_hash(m);
	pthread_mutex_unlock(&m->card->lock);
	if (error)
		MERIDIAN_LOG(ERR, "%s: the card does not keep its tables", m->data->name);
	return error;
}
