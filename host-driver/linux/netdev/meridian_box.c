// SPDX-License-Identifier: GPL-2.0-only
/* The user's module of each port, if the bitstream has one: how it is, and its reset. */
#include <linux/delay.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_devlink.h"
#include "meridian_fault.h"
#include "meridian_hw.h"

#define REGISTERS_HUNG	MERIDIAN_BOX_STATUS_REGISTERS_HUNG_MASK
#define HUNG	(MERIDIAN_BOX_STATUS_RX_HUNG_MASK | MERIDIAN_BOX_STATUS_TX_HUNG_MASK | \
		 REGISTERS_HUNG)

/* Bounds of the pause between resets of a module that hangs again and again. */
#define LEAST_PAUSE	HZ
#define MOST_PAUSE	(64 * HZ)

static const struct {
	const char *name;
	u32 low;
} counters[] = {
	{ "rx_passed", MERIDIAN_BOX_RX_PASSED_LOW },
	{ "rx_dropped", MERIDIAN_BOX_RX_DROPPED_LOW },
	{ "rx_sent", MERIDIAN_BOX_RX_SENT_LOW },
	{ "rx_refused", MERIDIAN_BOX_RX_REFUSED_LOW },
	{ "tx_passed", MERIDIAN_BOX_TX_PASSED_LOW },
	{ "tx_dropped", MERIDIAN_BOX_TX_DROPPED_LOW },
	{ "tx_sent", MERIDIAN_BOX_TX_SENT_LOW },
	{ "tx_refused", MERIDIAN_BOX_TX_REFUSED_LOW },
};

static u32 box_read(struct meridian *m, unsigned int port, u32 offset)
{
	return meridian_read(m, MERIDIAN_BOX_BASE(port) + offset);
}

/* A card that does not answer reads as ones, which is no fault of a box. */
static u32 read_hung(struct meridian *m, unsigned int port)
{
	u32 status = box_read(m, port, MERIDIAN_BOX_STATUS);

	return status == U32_MAX ? 0 : status & HUNG;
}

/**
 * meridian_has_boxes() - whether the bitstream has modules of its user
 * @m: the PF
 *
 * Return: true if each port has one.
 */
bool meridian_has_boxes(const struct meridian *m)
{
	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_USER_BOX_MASK);
}

/* Returns what of the module has begun to hang and may be reported. Under the card's lock. */
static u32 see_box(struct meridian *m, unsigned int port)
{
	struct meridian_box *box = &m->card->box[port];
	u32 hung = read_hung(m, port);
	u32 fresh = hung & ~box->hung;

	if (fresh && box->pause && time_before(jiffies, box->next)) {
		box->hung &= hung;
		return 0;
	}
	box->hung = hung;
	return fresh;
}

/**
 * meridian_look_after_boxes() - report each module that has hung since the last look
 * @m: a PF; one of a card's PFs does it
 *
 * A module that hangs again and again is reported after pauses that double, up to MOST_PAUSE.
 */
void meridian_look_after_boxes(struct meridian *m)
{
	unsigned int port;
	u32 hung;

	if (!meridian_has_boxes(m))
		return;
	for (port = 0; port < m->ports; port++) {
		/* The lock is held by a reset that is under way. */
		mutex_lock(&m->card->lock);
		hung = m->card->error_function == m ? see_box(m, port) : 0;
		mutex_unlock(&m->card->lock);
		if (!hung)
			continue;
		netdev_warn(m->netdev, "the box of port %u hangs:%s%s%s, until it is reset\n", port,
			    hung & MERIDIAN_BOX_STATUS_RX_HUNG_MASK ? " receive" : "",
			    hung & MERIDIAN_BOX_STATUS_TX_HUNG_MASK ? " transmit" : "",
			    hung & REGISTERS_HUNG ? " registers" : "");
		meridian_report(m, MERIDIAN_FAULT_BOX, port);
	}
}

/**
 * meridian_forget_boxes() - report modules that hang anew at the next look
 * @card: a card, one of whose modules could not be reset
 */
void meridian_forget_boxes(struct meridian_card *card)
{
	unsigned int port;

	mutex_lock(&card->lock);
	for (port = 0; port < MERIDIAN_PORTS; port++)
		card->box[port].hung = 0;
	mutex_unlock(&card->lock);
}

static void reset_box(struct meridian *m, unsigned int port)
{
	struct meridian_box *box = &m->card->box[port];
	u32 control = MERIDIAN_BOX_BASE(port) + MERIDIAN_BOX_CONTROL;

	meridian_write(m, control, MERIDIAN_BOX_CONTROL_RESET_MASK);
	meridian_read(m, control);
	meridian_write(m, control, 0);
	/* The card holds the reset for 16 cycles. */
	usleep_range(10, 20);
	if (!box->pause || time_after(jiffies, box->next + MOST_PAUSE))
		box->pause = LEAST_PAUSE;
	else
		box->pause = min_t(unsigned long, 2 * box->pause, MOST_PAUSE);
	box->next = jiffies + box->pause;
	box->hung = 0;
}

/**
 * meridian_reset_boxes() - reset the modules that hang
 * @m: a PF
 *
 * May sleep.
 *
 * Return: 0, or -EIO if one hangs after it.
 */
int meridian_reset_boxes(struct meridian *m)
{
	unsigned int port;
	int error = 0;

	if (!meridian_has_boxes(m))
		return 0;
	mutex_lock(&m->card->lock);
	for (port = 0; port < m->ports; port++) {
		if (!read_hung(m, port))
			continue;
		reset_box(m, port);
		if (read_hung(m, port))
			error = -EIO;
	}
	mutex_unlock(&m->card->lock);
	return error;
}

/**
 * meridian_put_boxes() - tell devlink how the modules are
 * @m: a PF
 * @fmsg: to be filled
 */
void meridian_put_boxes(struct meridian *m, struct devlink_fmsg *fmsg)
{
	unsigned int ports = meridian_has_boxes(m) ? m->ports : 0;
	unsigned int port, i;
	u32 status;

	devlink_fmsg_arr_pair_nest_start(fmsg, "ports");
	for (port = 0; port < ports; port++) {
		status = box_read(m, port, MERIDIAN_BOX_STATUS);
		devlink_fmsg_obj_nest_start(fmsg);
		devlink_fmsg_u32_pair_put(fmsg, "port", port);
		devlink_fmsg_u32_pair_put(fmsg, "id", box_read(m, port, MERIDIAN_BOX_ID));
		devlink_fmsg_u32_pair_put(fmsg, "version", box_read(m, port, MERIDIAN_BOX_VERSION));
		devlink_fmsg_bool_pair_put(fmsg, "ready", status & MERIDIAN_BOX_STATUS_READY_MASK);
		devlink_fmsg_bool_pair_put(fmsg, "rx_hung",
					   status & MERIDIAN_BOX_STATUS_RX_HUNG_MASK);
		devlink_fmsg_bool_pair_put(fmsg, "tx_hung",
					   status & MERIDIAN_BOX_STATUS_TX_HUNG_MASK);
		devlink_fmsg_bool_pair_put(fmsg, "registers_hung", status & REGISTERS_HUNG);
		for (i = 0; i < ARRAY_SIZE(counters); i++)
			devlink_fmsg_u64_pair_put(fmsg, counters[i].name,
						  meridian_read_counter(m, MERIDIAN_BOX_BASE(port) +
									counters[i].low));
		devlink_fmsg_obj_nest_end(fmsg);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
}
