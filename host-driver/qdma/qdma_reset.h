/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * How a function loses its queues. PCIe's function level reset is not it: PG302 and PG344,
 * "Function Level Reset", have contexts, mailbox and the shell reset by a register of the mailbox,
 * which software writes. A queue that nobody takes points to memory of whoever had the function
 * before.
 */
#ifndef QDMA_RESET_H
#define QDMA_RESET_H

#include "qdma_device.h"

int qdma_reset_function(struct qdma_device *qdma);
int qdma_take_function(struct qdma_device *qdma, u32 base, u32 count);

#endif
