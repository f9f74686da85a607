/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PF does by itself. */
#include "qdma/qdma_context.h"
#include "meridian.h"

static int
map_queues(struct meridian *m, uint32_t count)
{
	int error;

	pthread_mutex_lock(&m->card->lock);
	error = qdma_map_function(&m->qdma, m->function, m->queue_base, count);
	/* Before any doorbell: descriptors of a paced queue that is nobody's are forgotten. */
	meridian_set_queues(m, m->function, m->queue_base, count);
	pthread_mutex_unlock(&m->card->lock);
	return error;
}

static int
start_tx(struct meridian *m, struct qdma_h2c_setting *setting, bool cuts)
{
	int error;

	setting->on_credit = !m->is_unpaced &&
			     meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK);
	pthread_mutex_lock(&m->card->lock);
	meridian_set_tx(m, setting->queue, !m->is_unpaced,
			cuts ? MERIDIAN_TX_OFFLOAD_SEGMENTS : MERIDIAN_TX_OFFLOAD_REQUESTS);
	error = qdma_h2c_start(&m->qdma, setting);
	pthread_mutex_unlock(&m->card->lock);
	return error;
}

static int
start_rx(struct meridian *m, struct qdma_c2h_setting *setting, uint32_t buffer)
{
	int error;

	pthread_mutex_lock(&m->card->lock);
	meridian_set_rx(m, setting->queue, buffer, setting->entry_log2);
	error = qdma_c2h_start(&m->qdma, setting);
	pthread_mutex_unlock(&m->card->lock);
	return error;
}

static int
stop(struct meridian *m, uint32_t queue, bool is_rx)
{
	int error;

	pthread_mutex_lock(&m->card->lock);
	if (is_rx) {
		error = qdma_c2h_stop(&m->qdma, queue);
	} else {
		error = qdma_h2c_stop(&m->qdma, queue);
		meridian_set_tx(m, queue, false, MERIDIAN_TX_OFFLOAD_NONE);
	}
	/* The card touches the queue's memory no more when a register was read. */
	if (!meridian_present(m) && !error)
		error = -ENODEV;
	pthread_mutex_unlock(&m->card->lock);
	return error;
}

/* All that may be the function's, for one may have been half started. */
static int
end_queues(struct meridian *m)
{
	int error;
	uint32_t i;

	pthread_mutex_lock(&m->card->lock);
	error = qdma_map_function(&m->qdma, m->function, m->queue_base, m->queue_limit);
	for (i = 0; i < m->queue_limit && !error; i++) {
		error = qdma_h2c_stop(&m->qdma, m->queue_base + i);
		if (!error)
			error = qdma_c2h_stop(&m->qdma, m->queue_base + i);
	}
	if (!error && !meridian_present(m))
		error = -ENODEV;
	pthread_mutex_unlock(&m->card->lock);
	return error;
}

static int
set_strip(struct meridian *m, bool on)
{
	meridian_write_function(m, MERIDIAN_FUNCTION_VLAN,
				on ? MERIDIAN_FUNCTION_VLAN_STRIP_MASK : 0);
	meridian_flush(m);
	return 0;
}

static bool
is_link_up(struct meridian *m)
{
	uint32_t status = meridian_read_function(m, MERIDIAN_FUNCTION_STATUS);

	return status != QDMA_ALL_ONES && status & MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK;
}

static uint64_t
counter(struct meridian *m, uint32_t offset)
{
	return meridian_read_counter(m, MERIDIAN_FUNCTION_BASE(m->function) + offset);
}

const struct meridian_ops meridian_pf_ops = {
	.map_queues = map_queues,
	.start_tx = start_tx,
	.start_rx = start_rx,
	.stop = stop,
	.end_queues = end_queues,
	.write_rss = meridian_write_rss,
	.set_strip = set_strip,
	.sync_filter = meridian_sync_filter,
	.is_link_up = is_link_up,
	.counter = counter,
};
