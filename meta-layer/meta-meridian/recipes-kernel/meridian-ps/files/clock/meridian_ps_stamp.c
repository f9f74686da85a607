// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transmit timestamps. The card tells the time of a frame with the frame's tag, in any order, or
 * not at all: as when a frame was sent inside the card alone. Whoever waits is given up then.
 */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define LIMIT		(2 * HZ)
#define PLACE_MASK	(MERIDIAN_PS_STAMPS - 1)	/* of a tag; the rest is the turn */

static_assert(!(MERIDIAN_PS_STAMPS & PLACE_MASK));

void meridian_ps_init_stamp(struct meridian_ps_port *port)
{
	spin_lock_init(&port->stamp.lock);
	port->tstamp_tx = HWTSTAMP_TX_OFF;
	port->tstamp_rx = HWTSTAMP_FILTER_NONE;
}

/**
 * meridian_ps_want_stamp() - let a frame wait for its timestamp
 * @port: that it is sent by
 * @skb: it
 * @tag: for its descriptor
 *
 * Context: Does not sleep.
 * Return: false if it is to be sent without, as none was switched on or too many wait.
 */
bool meridian_ps_want_stamp(struct meridian_ps_port *port, struct sk_buff *skb, u16 *tag)
{
	struct meridian_ps_stamp *stamp = &port->stamp;
	struct meridian_ps_wait *wait;
	unsigned long flags;
	unsigned int i;

	if (READ_ONCE(port->tstamp_tx) != HWTSTAMP_TX_ON)
		return false;
	spin_lock_irqsave(&stamp->lock, flags);
	for (i = 0; i < MERIDIAN_PS_STAMPS && stamp->wait[i].skb; i++)
		;
	if (i == MERIDIAN_PS_STAMPS) {
		stamp->skipped++;
	} else {
		wait = &stamp->wait[i];
		wait->tag = stamp->turn++ * MERIDIAN_PS_STAMPS | i;
		wait->since = jiffies;
		wait->skb = skb_get(skb);
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
		*tag = wait->tag;
	}
	spin_unlock_irqrestore(&stamp->lock, flags);
	return i < MERIDIAN_PS_STAMPS;
}

/* The frame that waits for a tag, which then waits no longer; NULL if there is none. */
static struct sk_buff *take(struct meridian_ps_stamp *stamp, u16 tag, u64 *counter)
{
	struct meridian_ps_wait *wait = &stamp->wait[tag & PLACE_MASK];
	struct sk_buff *skb = NULL;
	unsigned long flags;

	spin_lock_irqsave(&stamp->lock, flags);
	if (wait->skb && wait->tag == tag) {
		swap(skb, wait->skb);
		if (counter)
			++*counter;
	} else {
		stamp->unknown++;
	}
	spin_unlock_irqrestore(&stamp->lock, flags);
	return skb;
}

/**
 * meridian_ps_cancel_stamp() - wait for a timestamp no longer
 * @port: of the frame
 * @tag: of the frame, which is not sent
 *
 * Context: Does not sleep.
 */
void meridian_ps_cancel_stamp(struct meridian_ps_port *port, u16 tag)
{
	dev_kfree_skb_any(take(&port->stamp, tag, NULL));
}

/**
 * meridian_ps_poll_stamps() - hand out the timestamps that the card has
 * @port: it is of
 *
 * Context: Does not sleep.
 */
void meridian_ps_poll_stamps(struct meridian_ps_port *port)
{
	struct meridian_ps_stamp *stamp = &port->stamp;
	unsigned int i;

	/* What comes meanwhile raises the interrupt again. */
	for (i = 0; i < MERIDIAN_PS_STAMPS; i++) {
		u32 status = meridian_ps_ring_read(port, MERIDIAN_PS_RING_TIMESTAMP_STATUS);
		struct skb_shared_hwtstamps stamps = {};
		struct sk_buff *skb;
		u32 high, nanoseconds;
		u64 seconds;

		if (!(status & MERIDIAN_PS_RING_TIMESTAMP_STATUS_VALID_MASK))
			break;
		high = meridian_ps_ring_read(port, MERIDIAN_PS_RING_TIMESTAMP_SECONDS_HIGH);
		seconds = (u64)high << 32 |
			  meridian_ps_ring_read(port, MERIDIAN_PS_RING_TIMESTAMP_SECONDS_LOW);
		nanoseconds = meridian_ps_ring_read(port, MERIDIAN_PS_RING_TIMESTAMP_NANOSECONDS);
		stamps.hwtstamp = ktime_set(seconds, nanoseconds);
		meridian_ps_ring_write(port, MERIDIAN_PS_RING_TIMESTAMP_POP,
				       MERIDIAN_PS_RING_TIMESTAMP_POP_POP_MASK);
		skb = take(stamp, FIELD_GET(MERIDIAN_PS_RING_TIMESTAMP_STATUS_TAG_MASK, status),
			   &stamp->delivered);
		if (!skb)
			continue;
		skb_tstamp_tx(skb, &stamps);
		dev_consume_skb_any(skb);
	}
}

/**
 * meridian_ps_expire_stamps() - give up frames that have waited for too long
 * @port: of the frames
 * @all: every one that waits
 *
 * Context: Does not sleep.
 */
void meridian_ps_expire_stamps(struct meridian_ps_port *port, bool all)
{
	struct meridian_ps_stamp *stamp = &port->stamp;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < MERIDIAN_PS_STAMPS; i++) {
		struct meridian_ps_wait *wait = &stamp->wait[i];
		struct sk_buff *skb = NULL;

		spin_lock_irqsave(&stamp->lock, flags);
		if (wait->skb && (all || time_after(jiffies, wait->since + LIMIT))) {
			swap(skb, wait->skb);
			stamp->late++;
		}
		spin_unlock_irqrestore(&stamp->lock, flags);
		dev_kfree_skb_any(skb);
	}
}
