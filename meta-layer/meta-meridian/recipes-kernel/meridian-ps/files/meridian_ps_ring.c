// SPDX-License-Identifier: GPL-2.0-only
/* What the rings of both directions have in common: memory, start, end, completions. */
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>
#include <linux/log2.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/* The card ends what is in flight in less than a millisecond, if memory answers. */
#define STOP_POLL_US	50
#define STOP_LIMIT_US	2000000

/* The registers of the transmit ring are those of the receive ring, further on. */
static_assert(MERIDIAN_PS_RING_TX_STATUS - MERIDIAN_PS_RING_RX_STATUS ==
	      MERIDIAN_PS_RING_TX_CONTROL - MERIDIAN_PS_RING_RX_CONTROL);
static_assert(MERIDIAN_PS_RING_TX_BASE_HIGH - MERIDIAN_PS_RING_RX_BASE_HIGH ==
	      MERIDIAN_PS_RING_TX_CONTROL - MERIDIAN_PS_RING_RX_CONTROL);
static_assert(MERIDIAN_PS_RING_TX_COALESCE - MERIDIAN_PS_RING_RX_COALESCE ==
	      MERIDIAN_PS_RING_TX_CONTROL - MERIDIAN_PS_RING_RX_CONTROL);

static u32 control(const struct meridian_ps_ring *ring)
{
	return FIELD_PREP(MERIDIAN_PS_RING_RX_CONTROL_SIZE_LOG2_MASK, ilog2(ring->size));
}

/**
 * meridian_ps_alloc_ring() - memory for a ring
 * @port: it is of
 * @ring: its @block is set
 * @size: descriptors, a power of two
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int meridian_ps_alloc_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring, u32 size)
{
	/* Of a whole number of pages, so it begins with one, as the card wants it. */
	size_t bytes = PAGE_ALIGN(size * sizeof(*ring->descriptor));

	ring->descriptor = dma_alloc_coherent(port->card->dev, bytes, &ring->dma, GFP_KERNEL);
	if (!ring->descriptor)
		return -ENOMEM;
	ring->size = size;
	return 0;
}

/**
 * meridian_ps_free_ring() - give a ring's memory back
 * @port: it is of
 * @ring: that the card has no more
 *
 * Context: May sleep.
 */
void meridian_ps_free_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring)
{
	size_t bytes = PAGE_ALIGN(ring->size * sizeof(*ring->descriptor));

	if (ring->descriptor)
		dma_free_coherent(port->card->dev, bytes, ring->descriptor, ring->dma);
	ring->descriptor = NULL;
}

/**
 * meridian_ps_place_ring() - tell the card of a ring
 * @port: it is of
 * @ring: has just been reset; descriptors may be posted from here on
 *
 * Context: Does not sleep.
 */
void meridian_ps_place_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring)
{
	memset(ring->descriptor, 0, ring->size * sizeof(*ring->descriptor));
	ring->producer = 0;
	ring->consumer = 0;
	meridian_ps_ring_write(port, ring->block + MERIDIAN_PS_RING_RX_BASE_LOW,
			       lower_32_bits(ring->dma));
	meridian_ps_ring_write(port, ring->block + MERIDIAN_PS_RING_RX_BASE_HIGH,
			       upper_32_bits(ring->dma));
	meridian_ps_ring_write(port, ring->block + MERIDIAN_PS_RING_RX_CONTROL, control(ring));
}

/**
 * meridian_ps_start_ring() - let the card run a ring
 * @port: it is of
 * @ring: meridian_ps_place_ring() has been called for it
 *
 * Context: Does not sleep.
 */
void meridian_ps_start_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring)
{
	meridian_ps_ring_write(port, ring->block + MERIDIAN_PS_RING_RX_CONTROL,
			       control(ring) | MERIDIAN_PS_RING_RX_CONTROL_ENABLE_MASK);
}

/**
 * meridian_ps_has_ended() - look whether the card has given both rings up
 * @port: whose rings it was told to reset
 *
 * Context: Does not sleep.
 * Return: whether it has; false, too, while it does not answer.
 */
bool meridian_ps_has_ended(struct meridian_ps_port *port)
{
	u32 status = meridian_ps_ring_read(port, MERIDIAN_PS_RING_RX_STATUS) |
		     meridian_ps_ring_read(port, MERIDIAN_PS_RING_TX_STATUS);

	return !(status & MERIDIAN_PS_RING_RX_STATUS_RUNNING_MASK);
}

static void write_reset(struct meridian_ps_port *port, const struct meridian_ps_ring *ring, u32 bit)
{
	u32 offset = ring->block + MERIDIAN_PS_RING_RX_CONTROL;
	/* It is not to change while the ring runs. */
	u32 size = meridian_ps_ring_read(port, offset) & MERIDIAN_PS_RING_RX_CONTROL_SIZE_LOG2_MASK;

	meridian_ps_ring_write(port, offset, size | bit);
}

/**
 * meridian_ps_reset_rings() - stop both rings, and take them back to their first descriptor
 * @port: whose rings may be those that the card has from somebody before
 *
 * May sleep.
 *
 * Context: Does not sleep.
 * Return: 0; -ETIMEDOUT if they do not end, then the card may still write to their memory.
 */
int meridian_ps_reset_rings(struct meridian_ps_port *port)
{
	bool has_ended;
	int error;

	write_reset(port, &port->tx.ring, MERIDIAN_PS_RING_RX_CONTROL_RESET_MASK);
	write_reset(port, &port->rx.ring, MERIDIAN_PS_RING_RX_CONTROL_RESET_MASK);
	error = read_poll_timeout(meridian_ps_has_ended, has_ended, has_ended, STOP_POLL_US,
				  STOP_LIMIT_US, false, port);
	if (error)
		return error;
	write_reset(port, &port->tx.ring, 0);
	write_reset(port, &port->rx.ring, 0);
	return 0;
}

static u32 coalesce(const struct meridian_ps_coalesce *coalesce)
{
	return FIELD_PREP(MERIDIAN_PS_RING_RX_COALESCE_MICROSECONDS_MASK, coalesce->usecs) |
	       FIELD_PREP(MERIDIAN_PS_RING_RX_COALESCE_FRAMES_MASK, coalesce->frames);
}

/**
 * meridian_ps_write_coalesce() - tell the card when completions raise the interrupt
 * @port: of both rings
 *
 * Context: Does not sleep.
 */
void meridian_ps_write_coalesce(struct meridian_ps_port *port)
{
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_RX_COALESCE, coalesce(&port->rx_coalesce));
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_TX_COALESCE, coalesce(&port->tx_coalesce));
}

/**
 * meridian_ps_ring_error() - why a ring has stopped by itself
 * @port: it is of
 * @ring: that runs
 *
 * Context: Does not sleep.
 * Return: what the card says, 0 if it has not stopped.
 */
u32 meridian_ps_ring_error(struct meridian_ps_port *port, const struct meridian_ps_ring *ring)
{
	return FIELD_GET(MERIDIAN_PS_RING_RX_STATUS_ERROR_MASK,
			 meridian_ps_ring_read(port, ring->block + MERIDIAN_PS_RING_RX_STATUS));
}

/**
 * meridian_ps_take() - look whether the card is done with the oldest descriptor
 * @ring: it is of
 * @done: what it says of it
 *
 * The caller takes what it needs of it, then counts @ring's consumer up.
 *
 * Context: Does not sleep.
 * Return: whether it is; all that the card wrote before may then be read.
 */
bool meridian_ps_take(struct meridian_ps_ring *ring, u64 *done)
{
	u16 consumer = ring->consumer;
	/* 1 in the first pass over the ring, 0 in the second, and so on. */
	bool generation = !(consumer & ring->size);

	if (consumer == READ_ONCE(ring->producer))
		return false;
	*done = le64_to_cpu(READ_ONCE(ring->descriptor[meridian_ps_next(ring, consumer)].done));
	if (!!(*done & MERIDIAN_PS_DONE_GENERATION) != generation)
		return false;
	dma_rmb();
	return true;
}
