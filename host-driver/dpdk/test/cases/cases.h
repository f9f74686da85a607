/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of port_test. Each is a program run of its own, on a test card. */
#ifndef MERIDIAN_TEST_CASES_H
#define MERIDIAN_TEST_CASES_H

#include <stddef.h>

/* One of the cases, by its name. The last of a list has none. */
struct test_case {
	const char *name;
	void (*run)(void);
};

#define CASE(name)	{ #name, name }

extern const struct test_case address_cases[];
extern const struct test_case class_cases[];
extern const struct test_case frame_cases[];
extern const struct test_case hash_cases[];
extern const struct test_case memory_cases[];
extern const struct test_case opening_cases[];
extern const struct test_case push_cases[];
extern const struct test_case queue_cases[];
extern const struct test_case removal_cases[];
extern const struct test_case reset_cases[];
extern const struct test_case segment_cases[];
extern const struct test_case settings_cases[];
extern const struct test_case shaper_cases[];
extern const struct test_case statistics_cases[];
extern const struct test_case trouble_cases[];

#endif
