/* SPDX-License-Identifier: BSD-3-Clause */
/* What the three programs share: options, and runs of transfers, by the card's memory or by the module host_memory. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meridian.h"

enum way {
	BY_MODULE,	/* examples/boxes/host_memory.sv reads and writes host memory */
	BY_MEMORY,	/* memory-mapped queues move bytes to and from the card's memory */
};

enum direction {
	H2C,
	C2H,
};

/**
 * struct bench - a card, and what is asked for
 * @card: open
 * @way: who moves bytes
 * @memory: that they are moved from and to
 * @queue: that the module names
 * @count: transfers of a run
 */
struct bench {
	struct meridian *card;
	enum way way;
	struct meridian_memory memory;
	unsigned int queue;
	unsigned int count;
};

/**
 * struct found - what a run has measured, of a direction
 * @mops: million transfers a second
 * @least: us of a transfer, from its command to its end
 * @mean: likewise
 * @most: likewise
 */
struct found {
	double mops;
	double least;
	double mean;
	double most;
};

/**
 * struct run - transfers of one size
 * @direction: whether there are some, by enum direction
 * @bytes: of each
 * @at_random: or one behind the other
 * @gap: cycles of the card from one to the next, of the module's
 */
struct run {
	bool direction[2];
	size_t bytes;
	bool at_random;
	unsigned int gap;
};

void bench_begin(struct bench *bench, int count, char **words, const char *what);
void bench_run(struct bench *bench, const struct run *run, struct found found[2]);
void bench_end(struct bench *bench);

extern const char *const direction_names[2];

#endif
