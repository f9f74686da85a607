/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MERIDIAN_TEST_HEAP_H
#define MERIDIAN_TEST_HEAP_H

/* Pieces of memory that rte_malloc() and its like have given and rte_free() has not taken. */
long heap_pieces(void);

#endif
