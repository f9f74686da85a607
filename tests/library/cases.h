/* SPDX-License-Identifier: Apache-2.0 */
/* What files of cases share. */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #what); \
			exit(1); \
		} \
	} while (0)
#define SAYS(text, part)	CHECK(strstr(text, part))

void addresses_of_an_iommu(void);
void a_function_of_vfio_is_taken_and_given_back(void);
void memory_is_in_pages_of_either_size(void);

#endif
