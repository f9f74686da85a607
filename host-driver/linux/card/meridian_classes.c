// SPDX-License-Identifier: GPL-2.0-only
/* Traffic classes of a port (IEEE 802.1Q), on a card with a pool of cells for transmit queues. */
#include <linux/bitfield.h>
#include <linux/math64.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_classes.h"
#include "meridian_hw.h"

#define PRIORITY_BITS	4
#define WEIGHT_BITS	8
#define COUNTS_OF_CLASS	(MERIDIAN_EGRESS_COUNTER_PORT0_CLASS1_FRAMES - \
			 MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_FRAMES)
#define COUNTS_OF_PORT	(MERIDIAN_EGRESS_COUNTER_PORT1_CLASS0_FRAMES - \
			 MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_FRAMES)

/* Of a class in MERIDIAN_EGRESS_RATES */
#define MAX_RATE(port, class)	MERIDIAN_EGRESS_RATES(32 * (port) + 4 * (class))
#define MAX_BURST(port, class)	MERIDIAN_EGRESS_RATES(32 * (port) + 4 * (class) + 1)
#define MIN_RATE(port, class)	MERIDIAN_EGRESS_RATES(32 * (port) + 4 * (class) + 2)
#define MIN_BURST(port, class)	MERIDIAN_EGRESS_RATES(32 * (port) + 4 * (class) + 3)
#define RATE_BITS	17

/* In 64 bytes: a frame of 9,600 bytes and more, so a class with a rate does not stand still. */
#define BURST		256
#define BITS_OF_KBIT	1000

/* Of a class in MERIDIAN_EGRESS_MARKS */
#define BOUNDS(port, class)	MERIDIAN_EGRESS_MARKS(16 * (port) + 2 * (class))
#define SLOPE(port, class)	MERIDIAN_EGRESS_MARKS(16 * (port) + 2 * (class) + 1)
#define BOUNDS_MIN_MASK		GENMASK(15, 0)
#define BOUNDS_MAX_MASK		GENMASK(31, 16)
#define SLOPE_MASK		GENMASK(16, 0)

/* As the card has it after a reset. */
static const struct meridian_classes after_reset = {
	.of_priority = { 0, 1, 2, 3, 4, 5, 6, 7 },
	.strict = U8_MAX,
	.weight = { 1, 1, 1, 1, 1, 1, 1, 1 },
};

static u32 read_egress(struct meridian *m, u32 offset)
{
	return meridian_read(m, MERIDIAN_EGRESS_BASE + offset);
}

static void write_egress(struct meridian *m, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_EGRESS_BASE + offset, value);
}

/**
 * meridian_has_classes() - whether the transmit queues of the function's port have classes
 * @m: the function; a VF has no say in them
 *
 * Context: Does not sleep.
 * Return: whether they have.
 */
bool meridian_has_classes(const struct meridian *m)
{
	return !meridian_is_vf(m->pdev) &&
	       meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_EGRESS_POOL_MASK);
}

static u32 weights(const u8 *weight)
{
	return weight[0] | weight[1] << WEIGHT_BITS | weight[2] << 2 * WEIGHT_BITS |
	       (u32)weight[3] << 3 * WEIGHT_BITS;
}

/* Bits a second of a rate of 1. */
static u64 unit_of_rates(struct meridian *m)
{
	return read_egress(m, MERIDIAN_EGRESS_RATE_UNIT) ?: 1;
}

/* Linux has no lowest rates, so one that another driver has left would be in force unseen. */
static void write_rate(struct meridian *m, unsigned int port, unsigned int class, u64 kbits)
{
	write_egress(m, MAX_BURST(port, class), kbits ? BURST : 0);
	write_egress(m, MAX_RATE(port, class),
		     div64_u64(kbits * BITS_OF_KBIT, unit_of_rates(m)));
	write_egress(m, MIN_RATE(port, class), 0);
	write_egress(m, MIN_BURST(port, class), 0);
}

static void write_marks(struct meridian *m, unsigned int port, unsigned int class,
			const struct meridian_marks *marks)
{
	/* In an order in which no frame is marked that neither line marks. */
	write_egress(m, SLOPE(port, class), 0);
	write_egress(m, BOUNDS(port, class), FIELD_PREP(BOUNDS_MIN_MASK, marks->min) |
					     FIELD_PREP(BOUNDS_MAX_MASK, marks->max));
	write_egress(m, SLOPE(port, class), FIELD_PREP(SLOPE_MASK, marks->slope));
}

static void write_all(struct meridian *m, unsigned int port, const struct meridian_classes *classes)
{
	u32 of_priorities = 0;
	unsigned int i;

	for (i = 0; i < MERIDIAN_CLASSES; i++)
		of_priorities |= (u32)classes->of_priority[i] << PRIORITY_BITS * i;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		write_rate(m, port, i, classes->max_kbits[i]);
		write_marks(m, port, i, &classes->marks[i]);
	}
	write_egress(m, MERIDIAN_EGRESS_WEIGHTS_0_TO_3(port), weights(classes->weight));
	write_egress(m, MERIDIAN_EGRESS_WEIGHTS_4_TO_7(port), weights(classes->weight + 4));
	write_egress(m, MERIDIAN_EGRESS_STRICT(port), classes->strict);
	write_egress(m, MERIDIAN_EGRESS_CLASSES(port), of_priorities);
}

/**
 * meridian_write_classes() - give a port's classes the settings that were chosen, or a reset's
 * @m: a PF; under the card's lock
 * @port: of its card
 * @is_open: whether the port is open to the host
 *
 * What others have set stays until somebody chooses.
 *
 * Context: Does not sleep.
 */
void meridian_write_classes(struct meridian *m, unsigned int port, bool is_open)
{
	struct meridian_card *card = m->card;
	bool on = is_open && card->classes_chosen[port];

	if (!meridian_has_classes(m) || (!on && !card->classes_written[port]))
		return;
	write_all(m, port, on ? &card->classes[port] : &after_reset);
	card->classes_written[port] = on;
}

/* Rounded up, so that write_rate() makes the same rate of it. */
static u64 read_rate(struct meridian *m, unsigned int class)
{
	u64 rate = read_egress(m, MAX_RATE(m->port, class)) * unit_of_rates(m);

	return div_u64(rate + BITS_OF_KBIT - 1, BITS_OF_KBIT);
}

static void read_marks(struct meridian *m, unsigned int class, struct meridian_marks *marks)
{
	u32 bounds = read_egress(m, BOUNDS(m->port, class));

	marks->min = FIELD_GET(BOUNDS_MIN_MASK, bounds);
	marks->max = FIELD_GET(BOUNDS_MAX_MASK, bounds);
	marks->slope = FIELD_GET(SLOPE_MASK, read_egress(m, SLOPE(m->port, class)));
}

static int read_all(struct meridian *m, struct meridian_classes *classes)
{
	u32 of_priorities = read_egress(m, MERIDIAN_EGRESS_CLASSES(m->port));
	u32 low = read_egress(m, MERIDIAN_EGRESS_WEIGHTS_0_TO_3(m->port));
	u32 high = read_egress(m, MERIDIAN_EGRESS_WEIGHTS_4_TO_7(m->port));
	unsigned int i;

	/* Of this register, a bit of each four is 0 in a card that answers. */
	if (of_priorities == U32_MAX)
		return -EIO;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		u32 four = i < 4 ? low : high;

		classes->of_priority[i] = of_priorities >> PRIORITY_BITS * i &
					  (MERIDIAN_CLASSES - 1);
		classes->weight[i] = four >> WEIGHT_BITS * (i % 4) & U8_MAX;
		classes->max_kbits[i] = read_rate(m, i);
		read_marks(m, i, &classes->marks[i]);
	}
	classes->strict = read_egress(m, MERIDIAN_EGRESS_STRICT(m->port));
	return 0;
}

/**
 * meridian_get_classes() - how the classes of the function's port are set
 * @m: a PF whose card has them
 * @classes: gets it, as it was chosen, or else as the card has it, whoever has set it
 *
 * Context: May sleep.
 * Return: 0; -EIO if the card does not answer.
 */
int meridian_get_classes(struct meridian *m, struct meridian_classes *classes)
{
	int error = 0;

	mutex_lock(&m->card->lock);
	if (m->card->classes_chosen[m->port])
		*classes = m->card->classes[m->port];
	else
		error = read_all(m, classes);
	mutex_unlock(&m->card->lock);
	return error;
}

static void write_chosen(struct meridian *m)
{
	/* Behind a reset, the port is opened with its classes. */
	if (!meridian_present(m))
		return;
	meridian_write_classes(m, m->port,
			       m->card->port_users[m->port] &&
			       !test_bit(m->port, &m->card->tested));
	meridian_flush(m);
}

/**
 * meridian_choose_classes() - set the classes of the function's port
 * @m: a PF whose card has them
 * @classes: for all PFs of the port, until the last PF of the card loses its driver
 *
 * The frames that are stored stay where they are.
 *
 * Context: May sleep.
 */
void meridian_choose_classes(struct meridian *m, const struct meridian_classes *classes)
{
	mutex_lock(&m->card->lock);
	m->card->classes[m->port] = *classes;
	WRITE_ONCE(m->card->classes_chosen[m->port], true);
	write_chosen(m);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_is_paced() - whether transmit queues of the PF that start now are held to its rates
 * @m: a PF
 *
 * Those of a port whose classes were set are not: the card holds back the queues that it paces,
 * whatever the class of their next frame is, so classes would share the port as queues take turns.
 *
 * Context: Does not sleep.
 * Return: whether they are.
 */
bool meridian_is_paced(const struct meridian *m)
{
	return !READ_ONCE(m->card->classes_chosen[m->port]);
}

/**
 * meridian_other_has_red() - whether the card marks for another PF of the function's port
 * @m: a PF; under RTNL
 *
 * Context: May sleep.
 * Return: whether it does.
 */
bool meridian_other_has_red(struct meridian *m)
{
	struct meridian *other;
	bool found = false;

	mutex_lock(&m->card->lock);
	list_for_each_entry(other, &m->card->pfs, of_card)
		found |= other != m && other->port == m->port && other->red.handle;
	mutex_unlock(&m->card->lock);
	return found;
}

/**
 * meridian_read_rates() - the rates to which the card can hold a class
 * @m: a PF whose card has classes
 * @lowest: gets the lowest, in kbit/s, rounded up
 * @highest: gets the highest, in kbit/s
 *
 * Context: Does not sleep.
 */
void meridian_read_rates(struct meridian *m, u64 *lowest, u64 *highest)
{
	u64 unit = unit_of_rates(m);

	*lowest = div_u64(unit + BITS_OF_KBIT - 1, BITS_OF_KBIT);
	*highest = div_u64(unit * (BIT(RATE_BITS) - 1), BITS_OF_KBIT);
}

/**
 * meridian_read_most_marks() - what marks may say
 * @m: a PF whose card has classes
 * @most: gets the highest of each; not those of @most->min, which @most->max bounds
 *
 * Context: Does not sleep.
 * Return: the bytes of a cell.
 */
u32 meridian_read_most_marks(struct meridian *m, struct meridian_marks *most)
{
	*most = (struct meridian_marks){ .max = U16_MAX, .slope = SLOPE_MASK };
	return FIELD_GET(MERIDIAN_EGRESS_SIZES_CELL_BYTES_MASK,
			 read_egress(m, MERIDIAN_EGRESS_SIZES)) ?: 1;
}

/**
 * meridian_read_class() - a counter of a class of the function's port
 * @m: a PF whose card has classes
 * @class: which
 * @count: MERIDIAN_CLASS_FRAMES and so on
 *
 * Context: Does not sleep.
 * Return: what it has counted.
 */
u64 meridian_read_class(struct meridian *m, unsigned int class, unsigned int count)
{
	return meridian_read_counter(m, MERIDIAN_EGRESS_BASE +
				     MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_FRAMES +
				     COUNTS_OF_PORT * m->port + COUNTS_OF_CLASS * class +
				     sizeof(u64) * count);
}
