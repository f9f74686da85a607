/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_meridian_twin: what its files share. The twin is the card as a program; this is a plug-in that
 * gives the DPDK driver a function of it, by the driver's meridian_bus.h.
 */
#ifndef MERIDIAN_TWIN_H
#define MERIDIAN_TWIN_H

#include <pthread.h>

#include <rte_log.h>

#include "../../host-driver/dpdk/meridian_bus.h"
#include "../card/include/meridian_link.h"

extern int meridian_twin_logtype;

#define TWIN_LOG(level, format, ...) \
	rte_log(RTE_LOG_ ## level, meridian_twin_logtype, "meridian: " format "\n", ## __VA_ARGS__)

/**
 * struct meridian_twin - one function of a card process
 * @bus: as the driver sees it
 * @function: which
 * @pf: its parent; its own number of a PF
 * @welcome: what the card said of itself
 * @socket: the link to it
 * @server: reads what comes, and answers what the card asks for
 * @send_lock: of the socket; messages are sent whole
 * @ask_lock: one request at a time
 * @reply_lock: of what follows, which is the request's under way
 * @replied: its reply has come, or the card is gone
 * @tag: of the last request
 * @is_waiting: for its reply
 * @is_gone: the card is, and nothing answers any more
 * @reply: to the last request
 * @payload: of the reply
 * @bells: doorbells in shared memory, NULL: they go by messages
 * @bells_bytes: how large their mapping is
 * @queues: that have their doorbells there
 * @dma_messages: that were served; all if no memory is shared
 * @refused: bitmap of its VFs of which the card does not say whether they may access memory
 */
struct meridian_twin {
	struct meridian_bus bus;
	uint16_t function;
	uint16_t pf;
	struct meridian_link_welcome welcome;
	int socket;
	pthread_t server;
	pthread_mutex_t send_lock;
	pthread_mutex_t ask_lock;
	pthread_mutex_t reply_lock;
	pthread_cond_t replied;
	uint32_t tag;
	bool is_waiting;
	bool is_gone;
	struct meridian_link_header reply;
	char payload[256];
	struct meridian_link_doorbells *bells;
	size_t bells_bytes;
	uint32_t queues;
	uint64_t dma_messages;
	uint32_t refused;
};

/* meridian_twin_link.c */
int meridian_twin_connect(struct meridian_twin *twin, const char *path);
void meridian_twin_disconnect(struct meridian_twin *twin);
int meridian_twin_send(struct meridian_twin *twin, struct meridian_link_header *header,
		       const void *payload, size_t bytes, int file);
int meridian_twin_ask(struct meridian_twin *twin, struct meridian_link_header *header,
		      const void *payload, size_t bytes, int file);

/* meridian_twin_address.c */
void *meridian_twin_find(uint64_t address, size_t bytes);

/* meridian_twin_memory.c */
int meridian_twin_share_memory(struct meridian_twin *twin);
int meridian_twin_file(const char *name, size_t bytes);

/* meridian_twin_doorbells.c */
int meridian_twin_share_doorbells(struct meridian_twin *twin);
void meridian_twin_forget_doorbells(struct meridian_twin *twin);
void meridian_twin_doorbell(struct meridian_bus *bus, uint32_t offset, uint32_t value);

/* meridian_twin_window.c */
void meridian_twin_find_window(struct meridian_twin *twin);
void meridian_twin_push(struct meridian_bus *bus, uint32_t queue, const uint64_t *frame,
			uint32_t words, uint64_t header);

#endif
