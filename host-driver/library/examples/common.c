// SPDX-License-Identifier: BSD-3-Clause
#include "common.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REGION		(16u << 20)	/* bytes of host memory */
#define CARD_BYTES	(256u << 10)	/* of the card's memory */
#define CLOCKS		0x100028u	/* register of the card: MHz of the module's clock at bits 15:0 */
#define RUN_S		120

/* Registers of the module; its first lines tell them. */
enum {
	CONTROL = 0x00, QUEUE = 0x04, BYTES = 0x08, COUNT = 0x0c, BASE = 0x10, MASK = 0x18, GAP = 0x1c,
	CYCLES = 0x24, OF_READS = 0x40, OF_WRITES = 0x60, DONE = 0x00, FAILED = 0x04, LEAST = 0x08,
	MOST = 0x0c, SUM = 0x10,
};

#define STARTS_READS	0x00000001u
#define STARTS_WRITES	0x00000002u
#define AT_RANDOM	0x00000004u
#define RUNNING		0x80000000u

const char *const direction_names[2] = { "h2c", "c2h" };

static void end_with(struct bench *bench, const char *text)
{
	fprintf(stderr, "%s\n", text);
	meridian_close(bench->card);
	exit(1);
}

/* Ends the program if a call of the library failed. */
static void check(struct bench *bench, int error)
{
	if (error)
		end_with(bench, meridian_error(bench->card));
}

static void usage(const char *program, const char *what, int status)
{
	fprintf(status ? stderr : stdout,
		"usage: %s --card NAME [--by module|memory] [--count N]\n%s\n"
		"  --card NAME   a PF on PCIe that vfio-pci has, as 0000:03:00.0\n"
		"  --by module   the module examples/boxes/host_memory.sv reads and writes memory of this program (the default)\n"
		"  --by memory   memory-mapped queues move bytes to (h2c) and from (c2h) the card's memory\n"
		"  --count N     transfers of a run, 1 to 1000000 (2000)\n",
		program, what);
	exit(status);
}

/* Options, and a card that is ready. It ends the program with a sentence if there is none. */
void bench_begin(struct bench *bench, int count, char **words, const char *what)
{
	static const struct option options[] = {
		{ "card", required_argument, NULL, 'c' }, { "by", required_argument, NULL, 'b' },
		{ "count", required_argument, NULL, 'n' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	const char *name = NULL;
	char *rest;
	int option;

	memset(bench, 0, sizeof(*bench));
	bench->count = 2000;
	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		unsigned long number;

		switch (option) {
		case 'c':
			name = optarg;
			break;
		case 'b':
			bench->way = strcmp(optarg, "memory") ? BY_MODULE : BY_MEMORY;
			if (bench->way == BY_MODULE && strcmp(optarg, "module")) {
				fprintf(stderr, "--by %s: choose module or memory\n", optarg);
				exit(2);
			}
			break;
		case 'n':
			number = strtoul(optarg, &rest, 10);
			if (*rest || !*optarg || number < 1 || number > 1000000) {
				fprintf(stderr, "--count %s: choose 1 to 1000000\n", optarg);
				exit(2);
			}
			bench->count = (unsigned int)number;
			break;
		case 'h':
			usage(words[0], what, 0);
			break;
		default:
			usage(words[0], what, 2);
		}
	}
	if (!name || optind != count)
		usage(words[0], what, 2);
	if (meridian_open(name, &bench->card))
		end_with(bench, meridian_error(NULL));
	check(bench, meridian_allocate(bench->card, REGION, &bench->memory));
	if (bench->way == BY_MODULE)
		check(bench, meridian_lend(bench->card, &bench->queue));
	if (!bench->memory.huge)
		fprintf(stderr, "%s: there are no huge pages free, so memory is in pages of 4 KiB\n", name);
}

void bench_end(struct bench *bench)
{
	meridian_close(bench->card);
}

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static uint32_t read_module(struct bench *bench, uint32_t offset)
{
	uint32_t value = 0;

	check(bench, meridian_box_read(bench->card, MERIDIAN_BOX_AT_HOST, offset, &value));
	return value;
}

static void write_module(struct bench *bench, uint32_t offset, uint32_t value)
{
	check(bench, meridian_box_write(bench->card, MERIDIAN_BOX_AT_HOST, offset, value));
}

/* Times are those that the module counts in cycles of its own clock. */
static void run_module(struct bench *bench, const struct run *run, struct found found[2])
{
	double limit = now_us() + RUN_S * 1e6, cycle_us;
	struct timespec pause = { .tv_nsec = 1000000 };
	enum direction direction;
	uint32_t mhz = 0, what;

	check(bench, meridian_read32(bench->card, CLOCKS, &mhz));
	cycle_us = 1.0 / ((mhz & 0xffff) ? (mhz & 0xffff) : 250);
	write_module(bench, QUEUE, bench->queue);
	write_module(bench, BYTES, (uint32_t)run->bytes);
	write_module(bench, COUNT, bench->count);
	write_module(bench, BASE, (uint32_t)bench->memory.address);
	write_module(bench, BASE + 4, (uint32_t)(bench->memory.address >> 32));
	/* The last transfer may go beyond the mask by its own bytes. */
	write_module(bench, MASK, REGION / 2 - 1);
	write_module(bench, GAP, run->gap);
	what = (run->direction[H2C] ? STARTS_READS : 0) | (run->direction[C2H] ? STARTS_WRITES : 0);
	write_module(bench, CONTROL, what | (run->at_random ? AT_RANDOM : 0));
	while (read_module(bench, CONTROL) & RUNNING) {
		if (now_us() > limit)
			end_with(bench, "the module does not end its run");
		nanosleep(&pause, NULL);
	}
	for (direction = H2C; direction <= C2H; direction++) {
		uint32_t at = direction == H2C ? OF_READS : OF_WRITES;
		uint64_t sum;

		if (!run->direction[direction])
			continue;
		if (read_module(bench, at + DONE) != bench->count || read_module(bench, at + FAILED))
			end_with(bench, "commands of the module have failed: look for errors of the IOMMU in the kernel's log");
		sum = read_module(bench, at + SUM) | (uint64_t)read_module(bench, at + SUM + 4) << 32;
		found[direction].mops = bench->count / (read_module(bench, CYCLES) * cycle_us);
		found[direction].least = read_module(bench, at + LEAST) * cycle_us;
		found[direction].most = read_module(bench, at + MOST) * cycle_us;
		found[direction].mean = (double)sum / bench->count * cycle_us;
	}
}

/* A transfer waits for the one before, and its time is the program's. */
static void run_memory(struct bench *bench, const struct run *run, struct found found[2])
{
	enum direction direction;
	unsigned int i;

	for (direction = H2C; direction <= C2H; direction++) {
		struct found *it = &found[direction];
		double begin = now_us();
		size_t place = 0;

		if (!run->direction[direction])
			continue;
		it->least = 1e9;
		it->most = 0;
		for (i = 0; i < bench->count; i++) {
			size_t room = CARD_BYTES - run->bytes;
			double from = now_us(), took;

			place = run->at_random ? (size_t)rand() % (room + 1) & ~63ul :
			       place + run->bytes <= room ? place + run->bytes : 0;
			check(bench, direction == H2C ?
			      meridian_to_card(bench->card, place, &bench->memory, place, run->bytes) :
			      meridian_from_card(bench->card, place, &bench->memory, place, run->bytes));
			took = now_us() - from;
			it->least = took < it->least ? took : it->least;
			it->most = took > it->most ? took : it->most;
		}
		it->mean = (now_us() - begin) / bench->count;
		it->mops = 1 / it->mean;
	}
}

void bench_run(struct bench *bench, const struct run *run, struct found found[2])
{
	(bench->way == BY_MODULE ? run_module : run_memory)(bench, run, found);
}
