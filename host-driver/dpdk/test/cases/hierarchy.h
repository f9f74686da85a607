/* SPDX-License-Identifier: BSD-3-Clause */
/* What cases of traffic classes share: nodes of rte_tm, and what the card has of them. */
#ifndef MERIDIAN_TEST_HIERARCHY_H
#define MERIDIAN_TEST_HIERARCHY_H

#include <string.h>

#include <rte_tm.h>

#include "port.h"

#define ROOT		9999
#define CLASS(n)	(1000 + (n))	/* a multiple of 8, and the class */
#define EGRESS(name)	(MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_ ## name(test_card_port))
#define OWN_CLASSES	0x76543210
#define ONE_EACH	0x01010101
#define STATS		(RTE_TM_STATS_N_PKTS | RTE_TM_STATS_N_BYTES | \
			 RTE_TM_STATS_N_PKTS_GREEN_DROPPED)

/* A call of rte_tm fails for this reason, and says it in a sentence. */
#define refused(call, code, expected) do { \
		memset(&tm_error, 0, sizeof(tm_error)); \
		is(call, -(code)); \
		is(tm_error.type, RTE_TM_ERROR_TYPE_ ## expected); \
		must(tm_error.message != NULL && strchr(tm_error.message, ' '), "no sentence"); \
	} while (0)

extern struct rte_tm_error tm_error;

struct rte_tm_node_params node_params(uint32_t priorities);
void add_root(uint32_t priorities);
void add_class(uint32_t number, uint32_t priority, uint32_t weight);
void delete_node(uint32_t id);
void commit_nodes(void);
void card_has(uint32_t classes, uint32_t strict, uint32_t low, uint32_t high);
void card_is_as_after_reset(void);
void plug_classes(void);

#endif
