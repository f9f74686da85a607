/* SPDX-License-Identifier: BSD-3-Clause */
/* net_meridian_test: the null card with faults, for programs that test the driver from ethdev's side. */
#ifndef MERIDIAN_TEST_CARD_H
#define MERIDIAN_TEST_CARD_H

#include "meridian_bus.h"
#include "meridian_null.h"
#include "qdma/qdma_ring.h"

#define TEST_CARD_PLACES	2	/* in the window for pushed frames */
#define TEST_CARD_WORDS		(QDMA_WINDOW_BYTES / sizeof(uint64_t))

/**
 * struct test_card - a card, and what is wrong with it
 * @bus: as the driver sees it
 * @null: what does the work
 * @is_silent: every read gives all ones, no write arrives, and no doorbell
 * @presence: what the bus says meanwhile
 * @is_stuck: no context is ended
 * @is_frozen: no context command is ended, or done
 * @failing: the context command of this number, from now on, is not ended, or done; 0: none is so
 * @is_slow: transmit queues are served 32 frames at each read of a register, not at doorbells
 * @is_deaf: no doorbell of a transmit queue arrives
 * @is_master: the function may access memory
 * @latched: high half of the counter of the function whose low one was read last
 * @told: the last doorbell of a transmit queue
 * @window: for pushed frames
 * @header: in the window, of the transmit queue that was told last, at that time
 * @sent: frames that were taken while the port was open for them
 * @lost: frames that were taken while it was not
 */
struct test_card {
	struct meridian_bus bus;
	struct meridian_null_card *null;
	bool is_silent;
	enum meridian_presence presence;
	bool is_stuck;
	bool is_frozen;
	uint32_t failing;
	bool is_slow;
	bool is_deaf;
	bool is_master;
	uint32_t latched;
	uint32_t told[MERIDIAN_NULL_QUEUES];
	uint64_t window[TEST_CARD_PLACES][TEST_CARD_WORDS];
	uint64_t header;
	uint64_t sent;
	uint64_t lost;
};

/* The one that is plugged in; NULL: none is. */
extern struct test_card *test_card;

/* The next one's function cannot be kept from memory. */
extern bool test_card_has_no_fence;

/* The next one's function may have a VF. */
extern bool test_card_has_a_vf;

/* Ethernet port that its PF is bound to; it is the card's last. */
extern uint32_t test_card_port;

/*
 * Addresses of the next one's PF, as both registers have them: the first, and the other, which is
 * written when half of the first has been read.
 */
extern uint32_t test_card_address[2][2];

/* MERIDIAN_IDENT_CAPABILITIES that the next one has beside the null card's. */
extern uint32_t test_card_capabilities;

/* The classes of the next one have no rates. */
extern bool test_card_has_no_rates;

/* Places in the next one's window for pushed frames, which the driver stores to, or asks the bus to. */
extern uint32_t test_card_places;
extern bool test_card_window_is_memory;

/* The next one is a plug-in's that was built for another version of meridian_bus.h. */
extern bool test_card_is_of_another_version;

void test_card_reset(struct test_card *card);
void test_card_receive(struct test_card *card, uint32_t queue);

#endif
