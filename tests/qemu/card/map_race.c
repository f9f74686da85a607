// SPDX-License-Identifier: Apache-2.0
/*
 * One processor changes the memory map by the card's configuration space while the other one lives by its timers and
 * reads a register of a neighbour, which lies behind the card in the map.
 *
 * usage: map_race toggle|move SECONDS NEIGHBOUR: the memory bit of the card's command register goes off and on, or its
 * BAR0 goes to the end of the bridge's window and back. NEIGHBOUR: PCI address of a virtio device without a driver.
 * Prints the changes made, the timers that ran off, the reads of the neighbour, how many of these were answered by
 * another device, and by how many milliseconds the latest timer came late.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices/"
#define CARD DEVICES "0000:01:00.0"
#define BRIDGE DEVICES "0000:00:01.0"
#define COMMAND 0x04
#define BAR0 0x10
#define MEMORY 2
#define TIMERS 4
#define NEIGHBOUR_BAR "resource4"
#define QUEUES 0x10 /* of the common configuration of virtio 1: vector of the configuration, number of queues */

static atomic_int over;

struct reading {
	const volatile uint32_t *at;
	unsigned long reads, wrong;
};

struct timing {
	unsigned long runs;
	int64_t latest_ns;
};

static void fail(const char *what)
{
	fprintf(stderr, "map_race: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void stay_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("no second processor");
}

/* Sleeps for 0.3 to 1 ms again and again. */
static void *live_by_timers(void *argument)
{
	struct timing *timing = argument;
	unsigned int turn = 0;

	stay_on(1);
	while (!over) {
		long ns = 300000 + turn++ % 8 * 100000;
		struct timespec nap = { .tv_nsec = ns };
		int64_t late, start = now_ns();

		nanosleep(&nap, NULL);
		late = now_ns() - start - ns;
		if (late > timing->latest_ns)
			timing->latest_ns = late;
		timing->runs++;
	}
	return NULL;
}

static void *read_neighbour(void *argument)
{
	struct reading *reading = argument;
	uint32_t expected = *reading->at;

	stay_on(1);
	while (!over) {
		for (int i = 0; i < 100; i++)
			reading->wrong += *reading->at != expected;
		reading->reads += 100;
		sched_yield();
	}
	return NULL;
}

static const volatile uint32_t *neighbour_register(const char *address)
{
	char path[128];
	char *bar;
	int file;

	snprintf(path, sizeof(path), DEVICES "%s/" NEIGHBOUR_BAR, address);
	file = open(path, O_RDWR | O_SYNC);
	if (file < 0)
		fail(path);
	bar = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	if (bar == MAP_FAILED)
		fail(path);
	return (const volatile uint32_t *)(bar + QUEUES);
}

/* The highest place for bytes in the bridge's window that begin has a place in, aligned to their number. */
static uint64_t other_place(uint64_t begin, uint64_t bytes)
{
	FILE *file = fopen(BRIDGE "/resource", "r");
	unsigned long long first, last, flags;
	uint64_t place = 0;

	if (!file)
		fail(BRIDGE);
	while (fscanf(file, "%llx %llx %llx", &first, &last, &flags) == 3)
		if (first && first <= begin && begin <= last)
			place = (last + 1 - bytes) & ~(bytes - 1);
	fclose(file);
	if (!place || place == begin) {
		fprintf(stderr, "map_race: no other place for BAR0 at %#llx\n", (unsigned long long)begin);
		exit(1);
	}
	return place;
}

static void set(int config, off_t at, uint32_t value, size_t bytes)
{
	if (pwrite(config, &value, bytes, at) != (ssize_t)bytes)
		fail("configuration space");
}

static uint32_t get(int config, off_t at, size_t bytes)
{
	uint32_t value = 0;

	if (pread(config, &value, bytes, at) != (ssize_t)bytes)
		fail("configuration space");
	return value;
}

int main(int argc, char **argv)
{
	int toggles = argc == 4 && !strcmp(argv[1], "toggle");
	int64_t end = argc == 4 ? now_ns() + atoi(argv[2]) * INT64_C(1000000000) : 0;
	struct timing timing[TIMERS] = {};
	pthread_t threads[TIMERS], reader;
	struct reading reading = {};
	unsigned long changes = 0;
	uint32_t places[2] = {};
	int config;

	if (argc != 4 || (!toggles && strcmp(argv[1], "move"))) {
		fprintf(stderr, "usage: map_race toggle|move SECONDS NEIGHBOUR\n");
		return 2;
	}
	config = open(CARD "/config", O_RDWR);
	if (config < 0)
		fail(CARD);
	reading.at = neighbour_register(argv[3]);
	if (!*reading.at || *reading.at == ~UINT32_C(0)) {
		fprintf(stderr, "map_race: the neighbour is not there\n");
		return 1;
	}
	stay_on(0);
	set(config, COMMAND, get(config, COMMAND, 2) | MEMORY, 2);
	if (!toggles) {
		places[0] = get(config, BAR0, 4) & ~0xfu;
		places[1] = other_place((uint64_t)get(config, BAR0 + 4, 4) << 32 | places[0], 256 << 10);
	}
	if (pthread_create(&reader, NULL, read_neighbour, &reading))
		fail("thread");
	for (int i = 0; i < TIMERS; i++)
		if (pthread_create(&threads[i], NULL, live_by_timers, &timing[i]))
			fail("thread");
	while (now_ns() < end) {
		changes++;
		if (toggles)
			set(config, COMMAND, get(config, COMMAND, 2) ^ MEMORY, 2);
		else
			set(config, BAR0, places[changes % 2], 4);
	}
	over = 1;
	pthread_join(reader, NULL);
	for (int i = 0; i < TIMERS; i++) {
		pthread_join(threads[i], NULL);
		timing[0].runs += i ? timing[i].runs : 0;
		if (timing[i].latest_ns > timing[0].latest_ns)
			timing[0].latest_ns = timing[i].latest_ns;
	}
	if (!toggles)
		set(config, BAR0, places[0], 4);
	set(config, COMMAND, get(config, COMMAND, 2) | MEMORY, 2);
	printf("%lu changes, %lu timers, %lu reads, %lu wrong, latest %lld ms\n", changes, timing[0].runs, reading.reads,
	       reading.wrong, (long long)(timing[0].latest_ns / 1000000));
	return 0;
}
