/* SPDX-License-Identifier: GPL-2.0-only */
/* When queue pairs interrupt, and what Linux knows of it. */
#ifndef MERIDIAN_INTERRUPT_H
#define MERIDIAN_INTERRUPT_H

#include "meridian_queue.h"

/* meridian_coalesce.c */
void meridian_default_coalesce(struct meridian *m);
void meridian_moderate_rx(struct meridian_rx *rx);
void meridian_moderate_tx(struct meridian_tx *tx);
void meridian_init_moderation(struct meridian_channel *channel);
void meridian_end_moderation(struct meridian_channel *channel);
void meridian_sample_dim(struct meridian_channel *channel);
void meridian_rest_tx(struct meridian_tx *tx);
bool meridian_may_rest_tx(const struct meridian_tx *tx);
int meridian_get_queue_coalesce(struct net_device *netdev, u32 queue,
				struct ethtool_coalesce *coalesce);
int meridian_set_queue_coalesce(struct net_device *netdev, u32 queue,
				struct ethtool_coalesce *coalesce);

/* meridian_vectors.c */
int meridian_alloc_vectors(struct meridian *m, unsigned int most);
void meridian_free_vectors(struct meridian *m);
int meridian_start_rings(struct meridian *m);
u32 meridian_vector_of(struct meridian *m, unsigned int index);
int meridian_request_irq(struct meridian_channel *channel);
void meridian_free_irq(struct meridian_channel *channel);
void meridian_spread_tx(struct meridian *m);

/* meridian_affinity.c */
const struct cpumask *meridian_wanted_cpus(const struct meridian_affinity *affinity,
					   const struct cpumask *own);
void meridian_watch_irq(struct meridian_affinity *affinity, int irq);
void meridian_watch_shared_irq(struct meridian_affinity *affinity, int irq);

/* meridian_napi.c */
void meridian_enable_napi(struct meridian_channel *channel);
void meridian_disable_napi(struct meridian_channel *channel);

#endif
