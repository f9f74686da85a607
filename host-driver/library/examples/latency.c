// SPDX-License-Identifier: BSD-3-Clause
/* How long a transfer takes, from its command to its end, at several rates. */
#include <stdio.h>

#include "common.h"

int main(int count, char **words)
{
	static const size_t sizes[] = { 64, 4096 };
	static const unsigned int gaps[] = { 400, 200, 100, 50, 25, 12, 6 };
	struct bench bench;
	unsigned int size, gap, direction;

	bench_begin(&bench, count, words, "Measures how long a transfer takes, with so many cycles of the card from one to the next.");
	printf("%4s %8s %6s %10s %10s %10s %10s   us\n", "", "bytes", "gap", "Mops", "least", "mean", "most");
	for (direction = H2C; direction <= C2H; direction++)
		for (size = 0; size < sizeof(sizes) / sizeof(*sizes); size++)
			for (gap = 0; gap < (bench.way == BY_MODULE ? sizeof(gaps) / sizeof(*gaps) : 1); gap++) {
				struct run run = { .bytes = sizes[size], .gap = bench.way == BY_MODULE ? gaps[gap] : 0,
					.at_random = true };
				struct found found[2] = { { 0 } }, *it = &found[direction];

				run.direction[direction] = true;
				bench_run(&bench, &run, found);
				printf("%4s %8zu %6u %10.4g %10.4g %10.4g %10.4g\n", direction_names[direction], sizes[size],
				       run.gap, it->mops, it->least, it->mean, it->most);
				fflush(stdout);
			}
	bench_end(&bench);
	return 0;
}
