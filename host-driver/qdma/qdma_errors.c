// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Errors of the IP: leaves, their summary, and the one interrupt for all of them. */
#include "qdma_device.h"

/*
 * Leaves as the public drivers unmask them; memory-mapped engines are left out, as there are none.
 */
struct leaf {
	u32 status;
	int mask_after;	/* bytes from there to the mask */
	u32 mask;
	u32 summary;	/* bits of QDMA_ERROR_STATUS */
};

static const struct leaf leaves[] = {
	{ QDMA_DESCRIPTOR_ERROR, 4, 0x01f9037e, 1u << 2 },
	{ QDMA_DOORBELL_ERROR, 4, 0x000000b3, 1u << 3 },
	{ QDMA_C2H_ERROR, 4, 0x0003f6df, 1u << 8 },
	{ QDMA_C2H_FATAL, 4, 0x001fdf1b, 1u << 8 },
	{ QDMA_H2C_ERROR, 4, 0x0000003f, 1u << 16 },
	{ QDMA_RAM_SINGLE_ERROR, -4, QDMA_ALL_ONES, 1u << 0 },
	{ QDMA_RAM_SINGLE_ERROR_1, -4, QDMA_ALL_ONES, 1u << 0 },
	{ QDMA_RAM_DOUBLE_ERROR, -4, QDMA_ALL_ONES, 1u << 1 },
	{ QDMA_RAM_DOUBLE_ERROR_1, -4, QDMA_ALL_ONES, 1u << 1 },
};

static void arm(struct qdma_device *qdma, u32 vector)
{
	qdma_os_write(qdma->bar, QDMA_ERROR_INTERRUPT,
		      QDMA_ERROR_INTERRUPT_ARM | vector << 12 | qdma->function);
}

/**
 * qdma_enable_errors() - clear what there is, and ask for an interrupt at the next
 * @qdma: a PF; one of a card
 * @vector: of this PF
 */
void qdma_enable_errors(struct qdma_device *qdma, u32 vector)
{
	u32 summary = 0, i;

	for (i = 0; i < ARRAY_SIZE(leaves); i++) {
		qdma_os_write(qdma->bar, leaves[i].status, QDMA_ALL_ONES);
		qdma_os_write(qdma->bar, leaves[i].status + leaves[i].mask_after,
			      leaves[i].mask);
		summary |= leaves[i].summary;
	}
	qdma_os_write(qdma->bar, QDMA_ERROR_STATUS, QDMA_ALL_ONES);
	qdma_os_write(qdma->bar, QDMA_ERROR_MASK, summary);
	arm(qdma, vector);
}

/**
 * qdma_disable_errors() - no interrupt for errors from now on
 * @qdma: the PF that had asked for it
 */
void qdma_disable_errors(struct qdma_device *qdma)
{
	qdma_os_write(qdma->bar, QDMA_ERROR_MASK, 0);
	qdma_os_write(qdma->bar, QDMA_ERROR_INTERRUPT, 0);
}

static u32 take(struct qdma_device *qdma, u32 status)
{
	u32 word = qdma_read(qdma, status);

	if (word)
		qdma_os_write(qdma->bar, status, word);
	return word;
}

/**
 * qdma_take_errors() - read errors, clear them, ask for the next interrupt
 * @qdma: the PF that had asked for it
 * @errors: what there was
 */
void qdma_take_errors(struct qdma_device *qdma, struct qdma_errors *errors)
{
	u32 target;

	memset(errors, 0, sizeof(*errors));
	errors->summary = qdma_read(qdma, QDMA_ERROR_STATUS);
	if (errors->summary == QDMA_ALL_ONES && !qdma_present(qdma)) {
		errors->summary = 0;
		return;
	}
	if (errors->summary) {
		errors->descriptor = take(qdma, QDMA_DESCRIPTOR_ERROR);
		errors->doorbell = take(qdma, QDMA_DOORBELL_ERROR);
		errors->c2h = take(qdma, QDMA_C2H_ERROR);
		errors->c2h_fatal = take(qdma, QDMA_C2H_FATAL);
		errors->h2c = take(qdma, QDMA_H2C_ERROR);
		take(qdma, QDMA_RAM_SINGLE_ERROR);
		take(qdma, QDMA_RAM_SINGLE_ERROR_1);
		take(qdma, QDMA_RAM_DOUBLE_ERROR);
		take(qdma, QDMA_RAM_DOUBLE_ERROR_1);
		qdma_os_write(qdma->bar, QDMA_ERROR_STATUS, errors->summary);
	}
	target = qdma_read(qdma, QDMA_ERROR_INTERRUPT);
	qdma_os_write(qdma->bar, QDMA_ERROR_INTERRUPT, target | QDMA_ERROR_INTERRUPT_ARM);
}
