// SPDX-License-Identifier: GPL-2.0-only
/* The user's modules that the bitstream has, of each port and at the host: state, and reset. */
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

/* So long may a module take to get ready before the log tells of it. */
#define READY_SECONDS	10

/*
 * A module that breaks no frame for so long is well again. Until then it is not reported anew, so
 * there is one report a minute at most.
 */
#define QUIET_SECONDS	60

/*
 * A reset may cut a frame of each direction, and the card refuses it. The driver does not see the
 * resets of others, so it takes so many refused frames for cut ones.
 */
#define CUT_FRAMES	16

static const u32 refused_low[] = {
	MERIDIAN_BOX_RX_REFUSED_LOW,
	MERIDIAN_BOX_TX_REFUSED_LOW,
};

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

/* Of the module at the host, too. */
static const struct {
	const char *name;
	u32 low;
} host_counters[] = {
	{ "rx_denied", MERIDIAN_BOX_RX_DENIED_LOW },
	{ "rx_no_buffer", MERIDIAN_BOX_RX_NO_BUFFER_LOW },
	{ "tx_invalid", MERIDIAN_BOX_TX_INVALID_LOW },
};

/**
 * meridian_has_box() - whether the bitstream has a module there
 * @m: a PF
 * @place: a port, or MERIDIAN_BOX_AT_HOST
 *
 * Context: Does not sleep.
 * Return: whether it has.
 */
bool meridian_has_box(const struct meridian *m, unsigned int place)
{
	if (place == MERIDIAN_BOX_AT_HOST)
		return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK);
	return place < m->ports && meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_USER_BOX_MASK);
}

static u32 box_read(struct meridian *m, unsigned int place, u32 offset)
{
	return meridian_read(m, MERIDIAN_BOX_BASE(place) + offset);
}

/* A card that does not answer reads as ones, which is no fault of a box. */
static u32 read_status(struct meridian *m, unsigned int place)
{
	u32 status = box_read(m, place, MERIDIAN_BOX_STATUS);

	return status == U32_MAX ? MERIDIAN_BOX_STATUS_READY_MASK : status;
}

static u32 read_hung(struct meridian *m, unsigned int place)
{
	return read_status(m, place) & HUNG;
}

/**
 * meridian_name_box() - say where a module is
 * @text: to be written
 * @size: its bytes
 * @place: a port, or MERIDIAN_BOX_AT_HOST
 *
 * Context: Does not sleep.
 * Return: @text.
 */
const char *meridian_name_box(char *text, size_t size, unsigned int place)
{
	if (place == MERIDIAN_BOX_AT_HOST)
		strscpy(text, "at the host", size);
	else
		snprintf(text, size, "of port %u", place);
	return text;
}

/* Tells once of a module that does not get ready, though nobody holds it in reset. */
static void see_ready(struct meridian *m, unsigned int place, u32 status)
{
	struct meridian_box *box = &m->card->box[place];
	char where[16];

	if (status & MERIDIAN_BOX_STATUS_READY_MASK ||
	    box_read(m, place, MERIDIAN_BOX_CONTROL) & MERIDIAN_BOX_CONTROL_RESET_MASK) {
		box->state = MERIDIAN_BOX_READY;
	} else if (box->state == MERIDIAN_BOX_READY) {
		box->state = MERIDIAN_BOX_STARTING;
		box->since = jiffies;
	} else if (box->state == MERIDIAN_BOX_STARTING &&
		   time_after(jiffies, box->since + READY_SECONDS * HZ)) {
		box->state = MERIDIAN_BOX_UNREADY;
		netdev_warn(m->netdev, "the box %s has not been ready for %u s: its box_rst_done is low\n",
			    meridian_name_box(where, sizeof(where), place), READY_SECONDS);
	}
}

/* Returns what of the module has begun to hang and may be reported. Under the card's lock. */
static u32 see_box(struct meridian *m, unsigned int place, u32 status)
{
	struct meridian_box *box = &m->card->box[place];
	u32 hung = status & HUNG;
	u32 fresh = hung & ~box->hung;

	see_ready(m, place, status);

	if (fresh && box->pause && time_before(jiffies, box->next)) {
		box->hung &= hung;
		return 0;
	}
	box->hung = hung;
	return fresh;
}

/* Returns whether the module has begun to break frames. Under the card's lock. */
static bool see_broken(struct meridian *m, unsigned int place)
{
	struct meridian_box *box = &m->card->box[place];
	bool is_more = false;
	unsigned int way;

	for (way = 0; way < ARRAY_SIZE(refused_low); way++) {
		u64 refused = meridian_read_counter(m, MERIDIAN_BOX_BASE(place) + refused_low[way]);

		/* A card that does not answer reads as ones. */
		if (upper_32_bits(refused) == U32_MAX)
			return false;
		/* One that was reset counts anew. */
		if (box->is_counted && refused > box->refused[way]) {
			box->broken[way] += refused - box->refused[way];
			is_more = true;
		}
		box->refused[way] = refused;
	}
	box->is_counted = true;
	if (is_more) {
		box->broke_at = jiffies;
	} else if (time_after(jiffies, box->broke_at + QUIET_SECONDS * HZ)) {
		memset(box->broken, 0, sizeof(box->broken));
		box->is_breaking = false;
	}
	if (box->is_breaking || max(box->broken[0], box->broken[1]) <= CUT_FRAMES)
		return false;
	box->is_breaking = true;
	return true;
}

/**
 * meridian_say_broken() - say how many frames a module has broken since it was last well
 * @card: a card
 * @place: of the module
 * @text: to be written
 * @size: its bytes
 *
 * Context: May sleep.
 */
void meridian_say_broken(struct meridian_card *card, unsigned int place, char *text, size_t size)
{
	const struct meridian_box *box = &card->box[place];
	char where[16];

	meridian_name_box(where, sizeof(where), place);
	mutex_lock(&card->lock);
	snprintf(text, size,
		 "the user's module %s breaks frames: %llu to the host, %llu to the wire", where,
		 box->broken[0], box->broken[1]);
	mutex_unlock(&card->lock);
}

/**
 * meridian_look_after_boxes() - report each module that has hung since, breaks frames, or does not
 *	get ready
 * @m: a PF; one of a card's PFs does it
 *
 * A module that hangs again and again is reported after pauses that double, up to MOST_PAUSE. One
 * that breaks frames is reported once, until it has broken none for QUIET_SECONDS.
 *
 * Context: May sleep.
 */
void meridian_look_after_boxes(struct meridian *m)
{
	unsigned int place, places = 0, breaking = 0;
	bool is_any_bad = false, is_any_over = false;
	struct meridian_card *card = m->card;
	char where[16];
	u32 hung;

	for (place = 0; place < MERIDIAN_BOX_MAX; place++) {
		struct meridian_box *box = &card->box[place];
		bool was_breaking;
		u32 status;

		if (!meridian_has_box(m, place))
			continue;
		/* The lock is held by a reset that is under way. */
		mutex_lock(&card->lock);
		hung = 0;
		if (card->error_function == m) {
			was_breaking = box->is_breaking;
			status = read_status(m, place);
			hung = see_box(m, place, status);
			if (see_broken(m, place))
				breaking |= BIT(place);
			is_any_bad |= status & HUNG || box->is_breaking;
			is_any_over |= was_breaking && !box->is_breaking;
		}
		if (breaking & BIT(place))
			netdev_warn(m->netdev,
				    "the box %s breaks frames: %llu to the host, %llu to the wire\n",
				    meridian_name_box(where, sizeof(where), place),
				    box->broken[0], box->broken[1]);
		mutex_unlock(&card->lock);
		if (!hung)
			continue;
		netdev_warn(m->netdev, "the box %s hangs:%s%s%s, until it is reset\n",
			    meridian_name_box(where, sizeof(where), place),
			    hung & MERIDIAN_BOX_STATUS_RX_HUNG_MASK ? " receive" : "",
			    hung & MERIDIAN_BOX_STATUS_TX_HUNG_MASK ? " transmit" : "",
			    hung & REGISTERS_HUNG ? " registers" : "");
		places |= BIT(place);
	}
	if (places)
		meridian_report(m, MERIDIAN_FAULT_BOX, places);
	if (breaking)
		meridian_report_broken(m, breaking);
	else if (is_any_over && !is_any_bad)
		meridian_report_boxes_well(m);
}

/**
 * meridian_forget_boxes() - report modules that hang anew at the next look
 * @card: a card, one of whose modules could not be reset
 *
 * Context: May sleep.
 */
void meridian_forget_boxes(struct meridian_card *card)
{
	unsigned int place;

	mutex_lock(&card->lock);
	for (place = 0; place < MERIDIAN_BOX_MAX; place++) {
		card->box[place].hung = 0;
		card->box[place].state = MERIDIAN_BOX_READY;
		meridian_forget_broken(&card->box[place]);
	}
	mutex_unlock(&card->lock);
}

static void reset_box(struct meridian *m, unsigned int place)
{
	struct meridian_box *box = &m->card->box[place];
	u32 control = MERIDIAN_BOX_BASE(place) + MERIDIAN_BOX_CONTROL;

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
	box->state = MERIDIAN_BOX_READY;
	meridian_forget_broken(box);
}

/**
 * meridian_reset_boxes() - reset the modules that hang
 * @m: a PF
 * @is_asked: by the administrator: those that break frames, too
 *
 * A module that breaks frames harms its own direction only, and some of its frames may be good. A
 * reset would take its registers' settings away, such as a filter's rules: it is reset only if
 * somebody asks for it.
 *
 * Context: May sleep.
 * Return: 0, -EIO if one hangs after it, or -EOPNOTSUPP if one breaks frames and is left alone.
 */
int meridian_reset_boxes(struct meridian *m, bool is_asked)
{
	unsigned int place;
	int error = 0;

	mutex_lock(&m->card->lock);
	for (place = 0; place < MERIDIAN_BOX_MAX; place++) {
		bool is_breaking = m->card->box[place].is_breaking;

		if (!meridian_has_box(m, place))
			continue;
		if (read_hung(m, place) || (is_asked && is_breaking)) {
			reset_box(m, place);
			if (read_hung(m, place))
				error = -EIO;
		} else if (is_breaking && !error) {
			error = -EOPNOTSUPP;
		}
	}
	mutex_unlock(&m->card->lock);
	return error;
}

static void put_box(struct meridian *m, unsigned int place, struct devlink_fmsg *fmsg)
{
	u32 status = box_read(m, place, MERIDIAN_BOX_STATUS);
	u32 base = MERIDIAN_BOX_BASE(place);
	unsigned int i;

	devlink_fmsg_obj_nest_start(fmsg);
	if (place != MERIDIAN_BOX_AT_HOST)
		devlink_fmsg_u32_pair_put(fmsg, "port", place);
	devlink_fmsg_u32_pair_put(fmsg, "id", box_read(m, place, MERIDIAN_BOX_ID));
	devlink_fmsg_u32_pair_put(fmsg, "version", box_read(m, place, MERIDIAN_BOX_VERSION));
	devlink_fmsg_bool_pair_put(fmsg, "ready", status & MERIDIAN_BOX_STATUS_READY_MASK);
	devlink_fmsg_bool_pair_put(fmsg, "rx_hung", status & MERIDIAN_BOX_STATUS_RX_HUNG_MASK);
	devlink_fmsg_bool_pair_put(fmsg, "tx_hung", status & MERIDIAN_BOX_STATUS_TX_HUNG_MASK);
	devlink_fmsg_bool_pair_put(fmsg, "registers_hung", status & REGISTERS_HUNG);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		devlink_fmsg_u64_pair_put(fmsg, counters[i].name,
					  meridian_read_counter(m, base + counters[i].low));
	for (i = 0; place == MERIDIAN_BOX_AT_HOST && i < ARRAY_SIZE(host_counters); i++)
		devlink_fmsg_u64_pair_put(fmsg, host_counters[i].name,
					  meridian_read_counter(m, base + host_counters[i].low));
	devlink_fmsg_obj_nest_end(fmsg);
}

/**
 * meridian_put_boxes() - tell devlink how the modules are
 * @m: a PF
 * @fmsg: to be filled
 *
 * Context: Does not sleep.
 */
void meridian_put_boxes(struct meridian *m, struct devlink_fmsg *fmsg)
{
	unsigned int place;

	devlink_fmsg_arr_pair_nest_start(fmsg, "ports");
	for (place = 0; place < MERIDIAN_BOX_AT_HOST; place++) {
		if (meridian_has_box(m, place))
			put_box(m, place, fmsg);
	}
	devlink_fmsg_arr_pair_nest_end(fmsg);
	if (!meridian_has_box(m, MERIDIAN_BOX_AT_HOST))
		return;
	devlink_fmsg_arr_pair_nest_start(fmsg, "host");
	put_box(m, MERIDIAN_BOX_AT_HOST, fmsg);
	devlink_fmsg_arr_pair_nest_end(fmsg);
}
