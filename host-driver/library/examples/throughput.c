// SPDX-License-Identifier: BSD-3-Clause
/* How many bytes a second go to the card, from it, and both at once, one transfer behind the other. */
#include <stdio.h>

#include "common.h"

int main(int count, char **words)
{
	static const size_t sizes[] = { 64, 256, 1024, 4096, 16384, 32768 };
	struct bench bench;
	unsigned int size, what;

	bench_begin(&bench, count, words, "Measures how many bytes a second go to the card (h2c), from it (c2h), and both at once.");
	printf("%8s %10s %10s %10s %10s   GB/s\n", "bytes", "h2c", "c2h", "h2c, both", "c2h, both");
	for (size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
		double rates[4] = { 0 };

		for (what = 1; what <= (bench.way == BY_MODULE ? 3 : 2); what++) {
			struct run run = { .direction = { what & 1, what >> 1 & 1 }, .bytes = sizes[size] };
			struct found found[2] = { { 0 } };

			bench_run(&bench, &run, found);
			if (run.direction[H2C])
				rates[what == 3 ? 2 : 0] = found[H2C].mops * (double)sizes[size] / 1000;
			if (run.direction[C2H])
				rates[what == 3 ? 3 : 1] = found[C2H].mops * (double)sizes[size] / 1000;
		}
		printf("%8zu %10.4g %10.4g %10.4g %10.4g\n", sizes[size], rates[0], rates[1], rates[2], rates[3]);
		fflush(stdout);
	}
	bench_end(&bench);
	return 0;
}
