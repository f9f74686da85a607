// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flow control of a port: PAUSE (IEEE 802.3, annex 31B) and PFC (IEEE 802.1Q, clause 36), on a card
 * that can obey them, and on one that can also send them.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"
#include "meridian_pause.h"

/* A step of the card's watchdog is the time of so many bits on the line. */
#define STEP_BITS	BIT_ULL(20)
#define MOST_STEPS	FIELD_MAX(MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_MASK)
#define LEAST_GIGABITS	10

/* Fills of a receive buffer are counted in so many bytes. */
#define FILL_UNIT	64

/*
 * What comes on the line after the card has decided to stop its partner: the frame of the card that
 * is under way, and one that the partner has begun, with preambles, FCS and gaps; the card's own
 * frame; what the partner takes to stop, which is 80 quanta of PAUSE at 25 Gb/s and less for PFC or
 * at 10 Gb/s; what is in the card and in the partner's MAC.
 */
#define FRAME_OVERHEAD	24
#define OWN_FRAME	84
#define RESPONSE	(80 * 64)
#define PIPELINE	512

/* The buffer keeps two words free; in FILL_UNIT. */
#define UNUSED_WORDS	2

/* 100 m of fibre both ways, at 25 Gb/s */
#define FIBRE_BITS	25000

/* The last word of a frame may have one byte. So the worst frames are of one byte above a word. */
#define worst_in_buffer(bytes, word) \
	DIV_ROUND_UP((bytes) * (64 + (word)), 65 + FRAME_OVERHEAD)

/* The partner goes on as soon as it is told so, which takes no longer than the frame under way. */
#define GO_ON_USECS	10
#define GO_ON_TRIES	100

/* A storm is told at most so often. */
#define TOLD_PERIOD	(60 * HZ)

static u64 bits_of_msec(const struct meridian *m)
{
	return 1000000ULL * (m->gigabits ?: LEAST_GIGABITS);
}

static u32 read_flow(struct meridian *m, unsigned int port, u32 offset)
{
	return meridian_read(m, MERIDIAN_FLOW_CONTROL_BASE(port) + offset);
}

static void write_flow(struct meridian *m, unsigned int port, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FLOW_CONTROL_BASE(port) + offset, value);
}

/**
 * meridian_has_pause() - whether the function's port can obey PAUSE frames
 * @m: the function; a VF has no say in it
 *
 * Context: Does not sleep.
 * Return: whether it can.
 */
bool meridian_has_pause(const struct meridian *m)
{
	return !meridian_is_vf(m->pdev) &&
	       meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_FLOW_CONTROL_MASK);
}

/**
 * meridian_sends_pause() - whether the function's port can also send flow control
 * @m: the function; a VF has no say in it
 *
 * Context: Does not sleep.
 * Return: whether it can.
 */
bool meridian_sends_pause(const struct meridian *m)
{
	return meridian_has_pause(m) &&
	       meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_FLOW_CONTROL_SENT_MASK);
}

/**
 * meridian_most_stop() - the longest time that the card's watchdog can be set to
 * @m: a PF
 *
 * Context: Does not sleep.
 * Return: it, in ms.
 */
u32 meridian_most_stop(const struct meridian *m)
{
	return div64_u64(MOST_STEPS * STEP_BITS, bits_of_msec(m));
}

/* A step of the watchdog for the chosen time. */
static u32 stop_limit(struct meridian *m, unsigned int port)
{
	u64 bits = m->card->pause[port].msecs * bits_of_msec(m);

	return min_t(u64, DIV_ROUND_UP_ULL(bits, STEP_BITS), MOST_STEPS);
}

/* Thresholds of the receive buffer, in FILL_UNIT. */
struct fills {
	u32 xoff;
	u32 xon;
	u32 lossy;
};

static u32 bytes_per_word(struct meridian *m)
{
	u32 geometry = meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_GEOMETRY);

	return FIELD_GET(MERIDIAN_IDENT_GEOMETRY_HOST_BYTES_MASK, geometry);
}

/*
 * Frames that may be lost get room for one of the longest, and more if there is: one that comes
 * while a little of that is left is kept whole. The rest is for the frames that must not be lost.
 */
static int choose_fills(struct meridian *m, unsigned int port, u16 delay, struct fills *fills)
{
	u32 buffer = read_flow(m, port, MERIDIAN_FLOW_CONTROL_BUFFER_SIZE);
	u32 frame = DIV_ROUND_UP(m->max_frame + FRAME_OVERHEAD, FILL_UNIT);
	u32 line = 2 * (m->max_frame + FRAME_OVERHEAD) + OWN_FRAME + RESPONSE + PIPELINE +
		   (delay ?: FIBRE_BITS) / BITS_PER_BYTE;
	u32 above = DIV_ROUND_UP(worst_in_buffer(line, bytes_per_word(m)), FILL_UNIT) +
		    UNUSED_WORDS;
	u32 left;

	if (buffer == U32_MAX || buffer < above + 3 * frame)
		return -ENOSPC;
	left = buffer - above - frame;
	fills->lossy = max(frame, left / 3);
	fills->xoff = left - fills->lossy;
	fills->xon = fills->xoff / 2;
	return 0;
}

static void write_address(struct meridian *m, unsigned int port)
{
	const u8 *address = m->netdev->perm_addr;

	write_flow(m, port, MERIDIAN_FLOW_CONTROL_ADDRESS_LOW, get_unaligned_le32(address));
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_ADDRESS_HIGH, get_unaligned_le16(address + 4));
}

/* The settings of what is sent stand still until the partner has been told to go on. */
static void stop_sending(struct meridian *m, unsigned int port)
{
	unsigned int tries;

	write_flow(m, port, MERIDIAN_FLOW_CONTROL_SEND, 0);
	for (tries = 0; tries < GO_ON_TRIES; tries++) {
		if (!(read_flow(m, port, MERIDIAN_FLOW_CONTROL_STATE) &
		      MERIDIAN_FLOW_CONTROL_STATE_STOPPED_MASK))
			return;
		usleep_range(GO_ON_USECS, 2 * GO_ON_USECS);
	}
	netdev_err(m->netdev, "port %u: its partner cannot be told to go on\n", port);
}

static void write_sending(struct meridian *m, unsigned int port, u32 send)
{
	struct meridian_pause *pause = &m->card->pause[port];
	struct fills fills;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_FLOW_CONTROL_SENT_MASK))
		return;
	stop_sending(m, port);
	if (!send || choose_fills(m, port, pause->delay, &fills))
		return;
	write_address(m, port);
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_QUANTA,
		   FIELD_MAX(MERIDIAN_FLOW_CONTROL_QUANTA_QUANTA_MASK));
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_BUFFER_THRESHOLD,
		   FIELD_PREP(MERIDIAN_FLOW_CONTROL_BUFFER_THRESHOLD_XOFF_MASK, fills.xoff) |
		   FIELD_PREP(MERIDIAN_FLOW_CONTROL_BUFFER_THRESHOLD_XON_MASK, fills.xon));
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_LOSSY, fills.lossy);
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_SEND_LIMIT, stop_limit(m, port));
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_SEND, send);
}

static u32 obeyed(const struct meridian_pause *pause)
{
	return FIELD_PREP(MERIDIAN_FLOW_CONTROL_RECEIVE_PAUSE_MASK, pause->is_obeyed) |
	       FIELD_PREP(MERIDIAN_FLOW_CONTROL_RECEIVE_PFC_MASK, pause->pfc);
}

static u32 sent(const struct meridian_pause *pause)
{
	return FIELD_PREP(MERIDIAN_FLOW_CONTROL_SEND_PAUSE_MASK, pause->is_sent) |
	       FIELD_PREP(MERIDIAN_FLOW_CONTROL_SEND_PFC_MASK, pause->pfc);
}

/**
 * meridian_write_pause() - have a port send and obey flow control as it was chosen, or none
 * @m: a PF; under the card's lock
 * @port: of its card
 * @is_open: whether the port is open to the host
 *
 * What others have set stays until somebody chooses.
 *
 * Context: May sleep.
 */
void meridian_write_pause(struct meridian *m, unsigned int port, bool is_open)
{
	struct meridian_pause *pause = &m->card->pause[port];
	u32 receive = is_open ? obeyed(pause) : 0;
	u32 send = is_open ? sent(pause) : 0;

	if (!meridian_has_pause(m) || (!receive && !send && !pause->is_written))
		return;
	/* The address stands still while either is on. */
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_RECEIVE, 0);
	write_sending(m, port, send);
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_WATCHDOG,
		   receive ? FIELD_PREP(MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_MASK,
					stop_limit(m, port)) : 0);
	write_flow(m, port, MERIDIAN_FLOW_CONTROL_RECEIVE, receive);
	pause->is_written = receive || send;
}

/**
 * meridian_get_pause() - whether the function's port obeys and sends PAUSE frames
 * @m: a PF whose card can
 * @rx: for whether it obeys them, whoever has switched it on
 * @tx: for whether it sends them
 *
 * Context: Does not sleep.
 */
void meridian_get_pause(struct meridian *m, bool *rx, bool *tx)
{
	u32 receive = read_flow(m, m->port, MERIDIAN_FLOW_CONTROL_RECEIVE);
	u32 send = meridian_sends_pause(m) ? read_flow(m, m->port, MERIDIAN_FLOW_CONTROL_SEND) : 0;

	*rx = receive != U32_MAX && receive & MERIDIAN_FLOW_CONTROL_RECEIVE_PAUSE_MASK;
	*tx = send != U32_MAX && send & MERIDIAN_FLOW_CONTROL_SEND_PAUSE_MASK;
}

static void write_chosen(struct meridian *m)
{
	bool is_open = m->card->port_users[m->port] && !test_bit(m->port, &m->card->tested);

	/* Somebody else may have switched it on. */
	m->card->pause[m->port].is_written |= is_open;
	meridian_write_pause(m, m->port, is_open);
	meridian_flush(m);
}

/* PFC of the port that this driver has not chosen, as its registers may be written by others. */
static bool has_pfc(struct meridian *m)
{
	return m->card->pause[m->port].pfc ||
	       read_flow(m, m->port, MERIDIAN_FLOW_CONTROL_RECEIVE) &
		       MERIDIAN_FLOW_CONTROL_RECEIVE_PFC_MASK;
}

static int try_fills(struct meridian *m, u16 delay)
{
	struct fills fills;
	int error = choose_fills(m, m->port, delay, &fills);

	if (error)
		netdev_err(m->netdev, "port %u: its receive buffer of %u bytes is too small to stop a partner in time\n",
			   m->port, FILL_UNIT * read_flow(m, m->port,
							  MERIDIAN_FLOW_CONTROL_BUFFER_SIZE));
	return error;
}

/**
 * meridian_choose_pause() - have the function's port obey and send PAUSE frames, or not
 * @m: a PF whose card can obey them
 * @rx: whether to obey them
 * @tx: whether to send them when the receive buffer fills, if it can
 *
 * It holds for all PFs of the port, until the last PF of the card loses its driver.
 *
 * Context: May sleep.
 * Return: 0; -EBUSY while somebody has the port obey PFC frames; -ENOSPC if its receive buffer is
 * too small to send.
 */
int meridian_choose_pause(struct meridian *m, bool rx, bool tx)
{
	int error = 0;

	mutex_lock(&m->card->lock);
	if ((rx || tx) && has_pfc(m))
		error = -EBUSY;
	else if (tx)
		error = try_fills(m, 0);
	if (!error) {
		m->card->pause[m->port].is_obeyed = rx;
		m->card->pause[m->port].is_sent = tx;
		write_chosen(m);
	}
	mutex_unlock(&m->card->lock);
	return error;
}

/**
 * meridian_get_pfc() - the priorities of the function's port that have PFC
 * @m: a PF
 * @delay: for the bits on the line that its cable may hold; 0: those of 100 m of fibre
 *
 * Context: Does not sleep.
 * Return: their bitmap.
 */
u8 meridian_get_pfc(struct meridian *m, u16 *delay)
{
	*delay = READ_ONCE(m->card->pause[m->port].delay);
	return READ_ONCE(m->card->pause[m->port].pfc);
}

/**
 * meridian_choose_pfc() - have the function's port obey and send PFC of priorities
 * @m: a PF whose card can send it
 * @priorities: a bitmap
 * @delay: bits on the line that the cable may hold both ways; 0: those of 100 m of fibre
 *
 * It holds for all PFs of the port, until the last PF of the card loses its driver.
 *
 * Context: May sleep.
 * Return: 0; -EBUSY while PAUSE is on; -ENOSPC if the receive buffer is too small for the cable.
 */
int meridian_choose_pfc(struct meridian *m, u8 priorities, u16 delay)
{
	struct meridian_pause *pause = &m->card->pause[m->port];
	int error = 0;

	mutex_lock(&m->card->lock);
	if (priorities && (pause->is_obeyed || pause->is_sent)) {
		netdev_err(m->netdev, "port %u: PAUSE and PFC exclude each other; switch PAUSE off first\n",
			   m->port);
		error = -EBUSY;
	} else if (priorities) {
		error = try_fills(m, delay);
	}
	if (!error) {
		WRITE_ONCE(pause->pfc, priorities);
		WRITE_ONCE(pause->delay, delay);
		write_chosen(m);
	}
	mutex_unlock(&m->card->lock);
	return error;
}

/**
 * meridian_stop_msecs() - for how long the function's port, or its partner, may be stopped
 * @m: a PF
 *
 * Context: Does not sleep.
 * Return: that, in ms; 0: for ever.
 */
u16 meridian_stop_msecs(struct meridian *m)
{
	return READ_ONCE(m->card->pause[m->port].msecs);
}

/**
 * meridian_limit_stop() - choose for how long the function's port, or its partner, may be stopped
 * @m: a PF whose card can obey them
 * @msecs: at most meridian_most_stop(); 0: for ever
 *
 * Context: May sleep.
 */
void meridian_limit_stop(struct meridian *m, u16 msecs)
{
	mutex_lock(&m->card->lock);
	WRITE_ONCE(m->card->pause[m->port].msecs, msecs);
	if (obeyed(&m->card->pause[m->port]) || sent(&m->card->pause[m->port]))
		write_chosen(m);
	mutex_unlock(&m->card->lock);
}

/* The events of the port that the log is to tell, and that are cleared therefore. */
static u32 take_events(struct meridian *m)
{
	struct meridian_pause *pause = &m->card->pause[m->port];
	u32 events = read_flow(m, m->port, MERIDIAN_FLOW_CONTROL_EVENTS);

	/* A card that does not answer reads as ones. */
	if (!events || events == U32_MAX)
		return 0;
	/* Until these are told, they stay there. */
	if (pause->told && time_before(jiffies, pause->told + TOLD_PERIOD))
		return 0;
	write_flow(m, m->port, MERIDIAN_FLOW_CONTROL_EVENTS, events);
	pause->told = jiffies | 1;
	return events;
}

/**
 * meridian_look_after_pause() - say that the port or its partner was stopped for too long
 * @m: a PF
 *
 * Context: May sleep.
 */
void meridian_look_after_pause(struct meridian *m)
{
	u32 events;

	if (!meridian_has_pause(m))
		return;
	/* Another PF of the port may look at the same time. */
	mutex_lock(&m->card->lock);
	events = take_events(m);
	mutex_unlock(&m->card->lock);
	if (events & MERIDIAN_FLOW_CONTROL_EVENTS_STORM_MASK)
		netdev_warn(m->netdev,
			    "port %u: its partner sends PAUSE without end; frames are sent again until it stops\n",
			    m->port);
	if (events & MERIDIAN_FLOW_CONTROL_EVENTS_SEND_EXPIRED_MASK)
		netdev_warn(m->netdev,
			    "port %u: the host has taken no frames for too long; its partner goes on, and frames may be lost\n",
			    m->port);
}
