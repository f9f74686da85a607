/* SPDX-License-Identifier: GPL-2.0-only */
/* A pattern by DMA both ways through every queue, made and checked by the card. */
#ifndef MERIDIAN_PATTERN_H
#define MERIDIAN_PATTERN_H

#include "meridian.h"

int meridian_test_pattern(struct meridian *m);

#endif
