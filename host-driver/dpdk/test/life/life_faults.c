/* SPDX-License-Identifier: BSD-3-Clause */
/* Events, and a card that is silent or busy. */
#include <rte_cycles.h>

#include "qdma/qdma_regs.h"
#include "life.h"

#define SILENCE_MS	1600	/* a card that does not answer is given up in it */

static bool
comes(unsigned int before, unsigned int milliseconds)
{
	while (life.events == before && milliseconds > 0) {
		rte_delay_us_sleep(10000);
		milliseconds -= 10;
	}
	return life.events != before;
}

/* The event comes when the card answers again. On a busy computer, a look or two fall behind the silence. */
static void
be_silent_as_in_a_reset(unsigned int before)
{
	unsigned int turns = 0;

	do {
		test_card->is_silent = true;
		rte_delay_us_sleep(SILENCE_MS * 1000);
		/* The port may be closed at its link's event. */
		if (test_card != NULL)
			test_card->is_silent = false;
	} while (!comes(before, SILENCE_MS) && ++turns < 20);
}

/* An event comes while this thread leaves the port alone, and the callback does something to it. */
void
let_an_event_act(void)
{
	unsigned int before = life.events;
	int what = 1 + draw(REMOVE);
	bool is_there = true;
	struct rte_eth_conf conf;

	if (!life.is_started || life.arguments != NULL || rte_eth_dev_conf_get(port, &conf))
		return;
	life.reaction = what;
	if (conf.intr_conf.lsc && one_in(4)) {
		test_card->null->shell[(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_STATUS) /
				       4] ^= MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK;
	} else if (one_in(2)) {
		test_card->null->registers[QDMA_C2H_FATAL / 4] = 1;
	} else if (one_in(2)) {
		be_silent_as_in_a_reset(before);
		/* The link's event comes in the silence. */
		is_there = !conf.intr_conf.lsc;
	} else {
		test_card->presence = MERIDIAN_UNPLUGGED;
		test_card->is_silent = true;
		is_there = false;
	}
	/* Each of these brings an event, on a busy computer later. One that came unseen would act on the steps behind. */
	must(comes(before, 100 * SILENCE_MS), "no event has come");
	/* The port may be closed at its event. */
	if (test_card != NULL) {
		test_card->is_silent = false;
		test_card->presence = MERIDIAN_PRESENT;
	}
	is(life.reaction, NOTHING);
	life.is_started = false;
	life.is_closed = what == CLOSE;
	if (what == RESET && is_there)
		is(life.reset_error, 0);
	if (what == CLOSE || what == REMOVE)
		forget();
	else
		/* A card that was given up is looked at again. */
		reset();
}

/* As long as a reset of the function lasts, or shorter than a look. */
void
be_silent_for_a_moment(void)
{
	if (!life.is_started || life.arguments != NULL || !one_in(10))
		return;
	test_card->is_silent = true;
	ask();
	receive();
	rte_delay_us_sleep(1000 * draw(100));
	test_card->is_silent = false;
}

static void
try_something(void)
{
	struct rte_eth_dev_info info;
	uint16_t queue = draw(life.queues);

	switch (draw(8)) {
	case 0:
		rte_eth_dev_rx_queue_stop(port, queue);
		break;
	case 1:
		rte_eth_dev_tx_queue_stop(port, queue);
		break;
	case 2:
		rte_eth_dev_rx_queue_start(port, queue);
		break;
	case 3:
		rte_eth_dev_tx_queue_start(port, queue);
		break;
	case 4:
		rte_eth_dev_stop(port);
		life.is_started = false;
		break;
	case 5:
		life.is_started = rte_eth_dev_start(port) == 0 || life.is_started;
		break;
	case 6:
		if (life.is_started || rte_eth_dev_info_get(port, &info))
			break;
		set_up_queue(queue, &info);
		break;
	default:
		receive();
		transmit();
		break;
	}
}

/* Whatever is tried meanwhile, all goes on when the card does. */
void
try_on_a_busy_card(void)
{
	uint32_t turns = 1 + draw(5);
	bool *fault;

	if (!life.is_started || life.arguments != NULL)
		return;
	fault = one_in(3) ? &test_card->is_deaf :
		one_in(2) ? &test_card->is_stuck : &test_card->is_frozen;
	*fault = true;
	while (turns--)
		try_something();
	if (one_in(4)) {
		rte_eth_dev_stop(port);
		life.is_started = false;
	}
	*fault = false;
	if (one_in(4)) {
		remove_it();
		return;
	}
	rte_eth_dev_stop(port);
	start();
	must(test_card->is_master, "the function may not access memory");
	receive();
	stop();
}
