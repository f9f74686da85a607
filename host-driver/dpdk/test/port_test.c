/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver as an application sees it, on a test card.
 *   port_test [CASE]     names all cases, or runs one of them
 */
#include <string.h>

#include "cases.h"
#include "port.h"

static const struct test_case *const lists[] = {
	address_cases, class_cases, frame_cases, hash_cases, memory_cases, opening_cases,
	push_cases, queue_cases, removal_cases, reset_cases, segment_cases, settings_cases,
	shaper_cases, statistics_cases, trouble_cases,
};

int
main(int count, char **words)
{
	const struct test_case *each;
	unsigned int i;

	for (i = 0; i < RTE_DIM(lists); i++) {
		for (each = lists[i]; each->name != NULL; each++) {
			if (count < 2) {
				puts(each->name);
			} else if (strcmp(words[1], each->name) == 0) {
				begin(words[0]);
				each->run();
				return 0;
			}
		}
	}
	must(count < 2, "there is no case %s", words[1]);
	return 0;
}
