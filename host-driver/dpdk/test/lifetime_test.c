/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an application may do with a port, in an order that a seed draws.
 *   lifetime_test STEPS SEED [DEVICE ARGUMENTS]
 * Without a device it is the test card. Whatever was done, mbufs and memory come back.
 */
#include <inttypes.h>

#include "heap.h"
#include "life.h"

static uint64_t steps_done;

static const struct {
	void (*run)(void);
	uint32_t share;	/* of all steps */
} actions[] = {
	{ plug_in, 10 }, { configure, 6 }, { start, 12 }, { stop, 4 }, { receive, 25 },
	{ transmit, 25 }, { switch_queue, 12 }, { change_mtu, 4 }, { change_addresses, 6 },
	{ change_flags, 5 }, { change_rss, 3 }, { ask, 4 }, { reset, 2 }, { close_it, 1 },
	{ remove_it, 1 }, { unplug, 1 }, { let_an_event_act, 1 }, { be_silent_for_a_moment, 1 },
	{ set_up_anew, 4 }, { try_on_a_busy_card, 2 },
};

static void
step(void)
{
	uint32_t sum = 0, at, i;

	for (i = 0; i < RTE_DIM(actions); i++)
		sum += actions[i].share;
	at = draw(sum);
	for (i = 0; at >= actions[i].share; i++)
		at -= actions[i].share;
	actions[i].run();
	steps_done++;
}

static void
tell(void)
{
	fprintf(stderr, "%" PRIu64 " steps were done\n", steps_done);
}

int
main(int count, char **words)
{
	uint64_t steps, all;
	long pieces;

	must(count == 3 || count == 5, "lifetime_test STEPS SEED [DEVICE ARGUMENTS]");
	all = steps = strtoull(words[1], NULL, 0);
	life.random_state = strtoull(words[2], NULL, 0);
	printf("seed %" PRIu64 "\n", life.random_state);
	fflush(stdout);
	must(life.random_state, "a seed is not 0");
	if (count == 5) {
		life.device = words[3];
		life.arguments = words[4];
	}
	begin(words[0]);
	atexit(tell);
	/* What EAL keeps of its own for the first port. */
	plug_in();
	unplug();
	pieces = heap_pieces();
	while (steps--)
		step();
	remove_it();
	if (life.is_closed)
		is(rte_eal_hotplug_remove("vdev", life.device), 0);
	is(heap_pieces(), pieces);
	must(life.has_gathered || life.arguments != NULL || all < 5000, "no frame of several segments");
	must(life.has_cut || life.arguments != NULL || all < 5000, "no frame to be cut");
	puts("all came back");
	return 0;
}
