/* SPDX-License-Identifier: BSD-3-Clause */
/* A port as lifetime_test has it, and what it does to the port. */
#ifndef MERIDIAN_TEST_LIFE_H
#define MERIDIAN_TEST_LIFE_H

#include <stdatomic.h>

#include "port.h"

/*
 * What the next event makes the callback do. ethdev wants calls that control a port from one thread at a
 * time; the callback is in EAL's, and meanwhile ours leaves the port alone.
 */
enum reaction { NOTHING, STOP, RESET, CLOSE, REMOVE };

/**
 * struct life - the port, and what was done to it
 * @device: its name
 * @arguments: NULL for the test card
 * @random_state: of the seed
 * @queues: of each direction, as configured
 * @has_segments: frames may have up to five
 * @is_cutting: some may be for the card to cut
 * @has_gathered: the card was given some as they were
 * @has_cut: the card was given some to be cut
 * @reaction: to the next event
 * @reset_error: what a reset in the callback returned
 * @events: that have come
 */
struct life {
	const char *device;
	const char *arguments;
	uint64_t random_state;
	bool is_plugged, is_configured, is_started, is_closed;
	uint16_t queues;
	bool has_segments, has_gathered;
	bool is_cutting, has_cut;
	atomic_int reaction;
	atomic_int reset_error;
	atomic_uint events;
};

extern struct life life;

uint32_t draw(uint32_t below);
bool one_in(uint32_t turns);
void forget(void);
void set_up_queue(uint16_t queue, struct rte_eth_dev_info *info);

/* Steps: each does nothing where the port is not ready for it. */
void plug_in(void);
void configure(void);
void start(void);
void stop(void);
void reset(void);
void close_it(void);
void remove_it(void);
void unplug(void);
void receive(void);
void transmit(void);
void set_up_anew(void);
void switch_queue(void);
void change_mtu(void);
void change_addresses(void);
void change_flags(void);
void change_rss(void);
void ask(void);
void let_an_event_act(void);
void be_silent_for_a_moment(void);
void try_on_a_busy_card(void);

#endif
