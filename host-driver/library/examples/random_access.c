// SPDX-License-Identifier: BSD-3-Clause
/* How many transfers a second there are to places at random. */
#include <stdio.h>

#include "common.h"

int main(int count, char **words)
{
	static const size_t sizes[] = { 64, 128, 256, 512, 1024, 2048, 4096 };
	struct bench bench;
	unsigned int size, what, direction;

	bench_begin(&bench, count, words, "Measures how many transfers a second there are to and from places at random.");
	printf("%8s %10s %10s %10s   million a second, GB/s\n", "bytes", "what", "transfers", "bytes");
	for (size = 0; size < sizeof(sizes) / sizeof(*sizes); size++)
		for (what = 1; what <= (bench.way == BY_MODULE ? 3 : 2); what++) {
			struct run run = { .direction = { what & 1, what >> 1 & 1 }, .bytes = sizes[size], .at_random = true };
			struct found found[2] = { { 0 } };

			bench_run(&bench, &run, found);
			for (direction = H2C; direction <= C2H; direction++)
				if (run.direction[direction])
					printf("%8zu %6s%4s %10.4g %10.4g\n", sizes[size], what == 3 ? "both, " : "",
					       direction_names[direction], found[direction].mops,
					       found[direction].mops * (double)sizes[size] / 1000);
			fflush(stdout);
		}
	bench_end(&bench);
	return 0;
}
