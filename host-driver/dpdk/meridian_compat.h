/* SPDX-License-Identifier: BSD-3-Clause */
/* Every difference between DPDK's versions, from 22.11 on. */
#ifndef MERIDIAN_COMPAT_H
#define MERIDIAN_COMPAT_H

#include <pthread.h>

#include <rte_kvargs.h>
#include <rte_lcore.h>
#include <rte_thread.h>
#include <rte_version.h>

#include <ethdev_driver.h>

/* What a driver exports stands in its sources since 25.07, before in a file beside them. */
#if RTE_VERSION >= RTE_VERSION_NUM(25, 7, 0, 0)
#include <eal_export.h>
#else
#define RTE_EXPORT_INTERNAL_SYMBOL(symbol)
#endif

/* Counters of single queues moved out of rte_eth_stats in 25.11; a count got a sign. */
#if RTE_VERSION >= RTE_VERSION_NUM(25, 11, 0, 0)
#define MERIDIAN_STATS_ARGS	struct rte_eth_dev *dev, struct rte_eth_stats *stats, \
				struct eth_queue_stats *queues
#define MERIDIAN_QUEUE_STATS(stats, queues)	(queues)
#define MERIDIAN_COUNT		int
#else
#define MERIDIAN_STATS_ARGS	struct rte_eth_dev *dev, struct rte_eth_stats *stats
#define MERIDIAN_QUEUE_STATS(stats, queues)	(stats)
#define MERIDIAN_COUNT		uint32_t
#endif

/* Packet types that a driver knows: a list that ended with RTE_PTYPE_UNKNOWN until 24.03. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
#define MERIDIAN_PTYPES_ARGS	struct rte_eth_dev *dev, size_t *count
#define MERIDIAN_PTYPES_COUNT(list) (*count = RTE_DIM(list))
#define MERIDIAN_PTYPES_END
#else
#define MERIDIAN_PTYPES_ARGS	struct rte_eth_dev *dev
#define MERIDIAN_PTYPES_COUNT(list) RTE_SET_USED(list)
#define MERIDIAN_PTYPES_END	RTE_PTYPE_UNKNOWN
#endif

/* What a node or a shaper of rte_tm is added with is not the driver's to change since 24.11. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#define MERIDIAN_TM_PARAMS	const struct rte_tm_node_params *
#define MERIDIAN_TM_SHAPER	const struct rte_tm_shaper_params *
#else
#define MERIDIAN_TM_PARAMS	struct rte_tm_node_params *
#define MERIDIAN_TM_SHAPER	struct rte_tm_shaper_params *
#endif

/* Keys without a value are not for rte_kvargs_process() since 24.11. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#define MERIDIAN_KVARGS_PROCESS	rte_kvargs_process_opt
#else
#define MERIDIAN_KVARGS_PROCESS	rte_kvargs_process
#endif

/* Calls take for each value of a key, NULL without one. EAL has one error for all of take's. */
static inline int
meridian_take_key(const struct rte_kvargs *keys, const char *key, arg_handler_t take,
		  void *argument)
{
	return MERIDIAN_KVARGS_PROCESS(keys, key, take, argument) ? -EINVAL : 0;
}

/* Control threads are of DPDK's own kind since 23.11, with shorter names. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define MERIDIAN_THREAD_RESULT	uint32_t

static inline int
meridian_start_thread(pthread_t *thread, const char *name, rte_thread_func run, void *argument)
{
	rte_thread_t id;
	int error = rte_thread_create_internal_control(&id, name, run, argument);

	*thread = (pthread_t)id.opaque_id;
	return error;
}
#else
#define MERIDIAN_THREAD_RESULT	void *

static inline int
meridian_start_thread(pthread_t *thread, const char *name, void *(*run)(void *), void *argument)
{
	return rte_ctrl_thread_create(thread, name, NULL, run, argument);
}
#endif

#endif
