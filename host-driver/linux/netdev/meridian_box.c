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

/* A card that does not answer reads as ones: that is no box's fault. */
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

/**
 * meridian_look_after_boxes() - report each module that has hung since the last look
 * @m: a PF; one of a card's PFs does it
 */
void meridian_look_after_boxes(struct meridian *m)
{
	struct meridian_card *card = m->card;
	unsigned int port;
	u32 hung, told;

	if (!meridian_has_boxes(m))
		return;
	for (port = 0; port < m->ports; port++) {
		mutex_lock(&card->lock);
		if (card->error_function != m) {
			mutex_unlock(&card->lock);
			return;
		}
		/* Under the lock, as a reset may be under way. */
		hung = read_hung(m, port);
		told = card->box_hung[port];
		card->box_hung[port] = hung;
		mutex_unlock(&card->lock);
		if (!(hung & ~told))
			continue;
		if (net_ratelimit())
			netdev_warn(m->netdev,
				    "the box of port %u hangs:%s%s%s, until it is reset\n",
				    port, hung & MERIDIAN_BOX_STATUS_RX_HUNG_MASK ? " receive" : "",
				    hung & MERIDIAN_BOX_STATUS_TX_HUNG_MASK ? " transmit" : "",
				    hung & REGISTERS_HUNG ? " registers" : "");
		meridian_report(m, MERIDIAN_FAULT_BOX, port);
	}
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
	for (port = 0; port < m->ports; port++) {
		if (!read_hung(m, port))
			continue;
		mutex_lock(&m->card->lock);
		meridian_write(m, MERIDIAN_BOX_BASE(port) + MERIDIAN_BOX_CONTROL,
			       MERIDIAN_BOX_CONTROL_RESET_MASK);
		box_read(m, port, MERIDIAN_BOX_CONTROL);
		meridian_write(m, MERIDIAN_BOX_BASE(port) + MERIDIAN_BOX_CONTROL, 0);
		m->card->box_hung[port] = 0;
		mutex_unlock(&m->card->lock);
		/* The card holds the reset for 16 cycles. */
		usleep_range(10, 20);
		if (read_hung(m, port))
			error = -EIO;
	}
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
