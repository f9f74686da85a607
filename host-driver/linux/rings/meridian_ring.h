/* SPDX-License-Identifier: GPL-2.0-only */
/* Queues: how they start and stop, and their memory. */
#ifndef MERIDIAN_RING_H
#define MERIDIAN_RING_H

#include "meridian_queue.h"

/* meridian_ring.c */
int meridian_begin_channels(struct meridian *m, unsigned int count);
void meridian_end_channels(struct meridian *m, unsigned int count);
int meridian_check_tables(struct meridian *m, const struct meridian_config *config);
int meridian_start_queues(struct meridian *m);
int meridian_start_rx(struct meridian_rx *rx);
void meridian_drain_tx(struct meridian *m);
int meridian_end_fence(struct meridian *m);
void meridian_pause_queues(struct meridian *m);
void meridian_stop_queues(struct meridian *m);
void meridian_release_queues(struct meridian *m);

/* meridian_memory.c */
struct meridian_channel *meridian_new_channels(struct meridian *m);
void meridian_drop_channels(struct meridian *m, struct meridian_channel *channels);
int meridian_alloc_memory(struct meridian *m, struct meridian_channel *channels,
			  const struct meridian_config *config);
void meridian_free_memory(struct meridian *m, struct meridian_channel *channels);
void meridian_exchange_memory(struct meridian *m, struct meridian_channel *others);
void meridian_exchange_rx(struct meridian_rx *rx, struct meridian_rx *other);
void meridian_retire_rx(struct meridian_rx *rx);
int meridian_alloc_rx(struct meridian_rx *rx, u32 slots);
int meridian_stock_rx(struct meridian_rx *rx);
int meridian_settle_rx(struct meridian_rx *rx);
void meridian_free_rx(struct meridian_rx *rx);

#endif
