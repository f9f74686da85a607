/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports whose card fails, or whose pool is empty. */
#define _GNU_SOURCE	/* CPU_SET() */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <rte_cycles.h>

#include "cases.h"
#include "meridian.h"
#include "port.h"

#define POLLS		5000000
#define RESETS		200000
#define GONE_MS		2500	/* looks that give a card up, and one more */
#define HELD_MS		200

static const struct layout two = { .queues = 2, .slots = 256 };

static int
on_event(uint16_t id __rte_unused, enum rte_eth_event_type type __rte_unused, void *argument,
	 void *more __rte_unused)
{
	++*(int *)argument;
	return 0;
}

/* Of two bits, which the IP cannot correct. */
static void
error_of_the_card_s_memory_asks_for_a_reset(void)
{
	uint32_t *errors;
	int calls = 0;

	plug("");
	start_port(&plain);
	errors = &test_card->null->registers[0x0fc / 4];
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, on_event, &calls), 0);
	test_card->null->registers[0x0f8 / 4] = QDMA_ALL_ONES & ~1u; /* the mask of before */
	rte_delay_us_sleep(500000);
	is(calls, 0);
	*errors = 1u << 3;
	rte_delay_us_sleep(1000000);
	is(calls, 1);
	is(rte_eth_dev_reset(port), 0);
	is(*errors, 0);
	start_port(&plain);
	rte_delay_us_sleep(500000);
	is(calls, 1);
}

static uint64_t
seconds_of_link_get(void)
{
	uint64_t began = rte_get_timer_cycles();
	struct rte_eth_link link;

	is(rte_eth_link_get(port, &link), 0);
	is(link.link_status, RTE_ETH_LINK_DOWN);
	return (rte_get_timer_cycles() - began) / rte_get_timer_hz();
}

/* Whether it is known to be gone before somebody asks, or this shows while one waits. */
static void
link_of_a_card_that_is_gone_is_told_at_once(void)
{
	plug("");
	start_port(&plain);
	test_card->is_silent = true;
	must(seconds_of_link_get() < 4, "it waits for a card that is gone");
	rte_delay_us_sleep(GONE_MS * 1000);
	must(seconds_of_link_get() < 1, "it waits for a card that was gone");
}

static atomic_bool is_over;
static atomic_ulong polled;

/* EAL has bound the first thread to one processor, and the others with it. */
static void
run_anywhere(void)
{
	cpu_set_t all;
	int i;

	CPU_ZERO(&all);
	for (i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	is(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void *
poll_often(void *queue)
{
	unsigned int i;

	run_anywhere();
	for (i = 0; i < POLLS; i++)
		is(receive_frames((uintptr_t)queue, 1), 0);
	return NULL;
}

static void *
poll_on(void *queue)
{
	run_anywhere();
	while (!is_over) {
		is(receive_frames((uintptr_t)queue, 1), 0);
		polled++;
	}
	return NULL;
}

static void
start_without_mbufs(const struct layout *layout)
{
	struct rte_mbuf *mbufs[MBUFS];

	plug("");
	is(rte_pktmbuf_alloc_bulk(pool, mbufs, MBUFS), 0);
	start_port(layout);
}

static uint64_t
missing_mbufs(void)
{
	struct rte_eth_stats stats;

	is(rte_eth_stats_get(port, &stats), 0);
	return stats.rx_nombuf;
}

/* Each poll of a queue that has none asks for a batch. */
static void
mbufs_that_are_missing_are_counted_by_two_threads(void)
{
	pthread_t thread[2];
	uintptr_t i;

	start_without_mbufs(&two);
	is(missing_mbufs(), 2 * MERIDIAN_BATCH);
	is(rte_eth_stats_reset(port), 0);
	is(missing_mbufs(), 0);
	for (i = 0; i < 2; i++)
		is(pthread_create(&thread[i], NULL, poll_often, (void *)i), 0);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	is(missing_mbufs(), 2ul * POLLS * MERIDIAN_BATCH);
	is(extended("rx_no_memory"), 2 * POLLS);
}

static void
count_of_missing_mbufs_is_reset_while_a_thread_polls(void)
{
	pthread_t thread;
	unsigned int i;

	start_without_mbufs(&plain);
	is(pthread_create(&thread, NULL, poll_on, NULL), 0);
	for (i = 0; i < RESETS; i++) {
		unsigned long before = polled;
		uint64_t missing;

		is(rte_eth_stats_reset(port), 0);
		missing = missing_mbufs() / MERIDIAN_BATCH;
		/* A poll may be counted before this thread sees it, or be under way. */
		must(missing <= polled - before + 2, "%" PRIu64 " batches in %lu polls", missing,
		     polled - before);
	}
	is_over = true;
	pthread_join(thread, NULL);
}

static void *
read_messages(void *is_read)
{
	is(extended("vf_messages"), 0);
	*(atomic_bool *)is_read = true;
	return NULL;
}

/* The PF's alarm writes them under the lock of the card. */
static void
counts_of_vfs_are_read_under_the_card_s_lock(void)
{
	atomic_bool is_read = false;
	struct meridian *m;
	pthread_t thread;

	test_card_has_a_vf = true;
	plug("queues=1,vfs=1");
	m = meridian_of(&rte_eth_devices[port]);
	is(extended("vf_messages"), 0);
	pthread_mutex_lock(&m->card->lock);
	is(pthread_create(&thread, NULL, read_messages, &is_read), 0);
	rte_delay_us_sleep(HELD_MS * 1000);
	must(!is_read, "the lock was another thread's");
	pthread_mutex_unlock(&m->card->lock);
	pthread_join(thread, NULL);
	must(is_read, "nothing was read");
}

static void
has_no_queue(uint16_t queue)
{
	const struct meridian_null_queue *null = &test_card->null->queue[queue];

	must(null->h2c == NULL, "the card has a transmit ring");
	must(null->c2h == NULL, "the card has a receive ring");
	must(null->completions == NULL, "the card has completions");
}

/* The card does not do one of the commands of a start, from the first that is given to the last. */
static void
commands_fail(int (*start)(uint16_t port_id, uint16_t queue), unsigned int first, unsigned int last)
{
	unsigned int before = held(), number;

	for (number = first; number <= last; number++) {
		test_card->failing = number;
		is(start(port, 1), -EBUSY);
		is(test_card->failing, 0);
		has_no_queue(1);
		is(held(), before);
		is(receive_frames(1, 10), 0);
		is(send_frames(1, 1), 0);
		must(receive_frames(0, 10), "the other queue has ended");
	}
	test_card->failing = number;
	is(start(port, 1), 0);
	is(test_card->failing, 1);
	test_card->failing = 0;
}

/* Five contexts are cleared and three written for receive, three and one for transmit. */
static void
queue_that_starts_half_way_is_ended(void)
{
	plug("");
	start_port(&deferred);
	commands_fail(rte_eth_dev_rx_queue_start, 5, 8);
	must(receive_frames(1, 10), "none");
	is(rte_eth_dev_rx_queue_stop(port, 1), 0);
	commands_fail(rte_eth_dev_tx_queue_start, 3, 4);
	is(send_frames(1, 40), 40);
	close_port();
	is(held(), 0);
}

const struct test_case trouble_cases[] = {
	CASE(error_of_the_card_s_memory_asks_for_a_reset),
	CASE(link_of_a_card_that_is_gone_is_told_at_once),
	CASE(mbufs_that_are_missing_are_counted_by_two_threads),
	CASE(count_of_missing_mbufs_is_reset_while_a_thread_polls),
	CASE(counts_of_vfs_are_read_under_the_card_s_lock),
	CASE(queue_that_starts_half_way_is_ended),
	{ NULL },
};
