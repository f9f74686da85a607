// SPDX-License-Identifier: GPL-2.0-only
/* What the card counts of a function and of its port. */
#include "meridian.h"
#include "meridian_hw.h"

/**
 * meridian_read_counter() - a 64-bit counter
 * @m: the function
 * @offset: in BAR2, of the low word
 *
 * Reading the low word holds the high one for this function: one reader at a time.
 *
 * Context: Does not sleep.
 * Return: its value.
 */
u64 meridian_read_counter(struct meridian *m, u32 offset)
{
	u32 low, high;

	spin_lock_bh(&m->stats_lock);
	low = meridian_read(m, offset);
	high = meridian_read(m, offset + 4);
	spin_unlock_bh(&m->stats_lock);
	return (u64)high << 32 | low;
}

/* A VF's page has the counters where a function's has them. */
static_assert(MERIDIAN_VF_COUNTER_RX_DELIVERED == MERIDIAN_FUNCTION_COUNTER_RX_DELIVERED);
static_assert(MERIDIAN_VF_COUNTER_RX_COPIES == MERIDIAN_FUNCTION_COUNTER_RX_COPIES);
static_assert(MERIDIAN_VF_COUNTER_TX_BYTES == MERIDIAN_FUNCTION_COUNTER_TX_BYTES);
static_assert(MERIDIAN_VF_COUNTER_TX_COPIES_TO_PS == MERIDIAN_FUNCTION_COUNTER_TX_COPIES_TO_PS);

/**
 * meridian_read_function_counter() - a counter of the function
 * @m: a PF or a VF
 * @offset: MERIDIAN_FUNCTION_COUNTER_*
 *
 * Context: Does not sleep.
 * Return: its value.
 */
u64 meridian_read_function_counter(struct meridian *m, u32 offset)
{
	u32 base = meridian_is_vf(m->pdev) ? 0 : MERIDIAN_FUNCTION_BASE(m->function);

	return meridian_read_counter(m, base + offset);
}

/**
 * meridian_read_port_counter() - a counter of the function's port
 * @m: the function
 * @offset: MERIDIAN_PORT_COUNTERS_COUNTER_*
 *
 * Context: Does not sleep.
 * Return: its value.
 */
u64 meridian_read_port_counter(struct meridian *m, u32 offset)
{
	return meridian_read_counter(m, MERIDIAN_PORT_COUNTERS_BASE(m->port) + offset);
}

/**
 * meridian_read_missed() - look at what the card has dropped
 * @m: the function
 *
 * Context: Does not sleep.
 */
void meridian_read_missed(struct meridian *m)
{
	u32 full = MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL;
	u32 cut = MERIDIAN_FUNCTION_COUNTER_RX_COPY_CUT;
	u32 runt = MERIDIAN_PORT_COUNTERS_COUNTER_RX_RUNT;
	u32 oversize = MERIDIAN_PORT_COUNTERS_COUNTER_RX_OVERSIZE;
	struct meridian_missed now = {
		.no_buffer = meridian_read_function_counter(m, full) +
			     meridian_read_function_counter(m, cut),
		.bad_fcs = meridian_read_port_counter(m, MERIDIAN_PORT_COUNTERS_COUNTER_RX_BAD_FCS),
		.bad_length = meridian_read_port_counter(m, runt) +
			      meridian_read_port_counter(m, oversize),
	};

	if (!meridian_present(m))
		return;
	spin_lock_bh(&m->stats_lock);
	m->missed = now;
	spin_unlock_bh(&m->stats_lock);
}
