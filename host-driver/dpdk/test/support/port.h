/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs that test the driver from ethdev's side share. */
#ifndef MERIDIAN_TEST_PORT_H
#define MERIDIAN_TEST_PORT_H

#include <stdio.h>
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "test_card.h"

#define DEVICE	"net_meridian_test0"
#define MBUFS	1023

/* A sentence says where and why, and the program ends. */
#define must(what, ...) do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: not %s: ", __FILE__, __LINE__, #what); \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr); \
			exit(1); \
		} \
	} while (0)

#define is(call, expected) do { \
		long is_result = (call), is_expected = (expected); \
		must(is_result == is_expected, "%s is %ld, not %ld", #call, is_result, \
		     is_expected); \
	} while (0)

/**
 * struct layout - how a port is set up
 * @queues: of each direction
 * @slots: of each ring
 * @is_deferred: the last queue of each direction does not start with the port
 * @conf: of the port
 */
struct layout {
	uint16_t queues;
	uint16_t slots;
	bool is_deferred;
	struct rte_eth_conf conf;
};

extern const struct layout plain;
extern const struct layout deferred;
extern struct rte_mempool *pool;
extern uint16_t port;

void begin(const char *program);
void plug(const char *arguments);
void set_up(const struct layout *layout);
void start_port(const struct layout *layout);
unsigned int send_frames(uint16_t queue, unsigned int count);
unsigned int receive_frames(uint16_t queue, unsigned int polls);
uint32_t *shell(uint32_t offset);
unsigned int held(void);
uint64_t extended(const char *name);
void close_port(void);

#endif
