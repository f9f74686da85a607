/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic classes of a port (IEEE 802.1Q), on a card with a pool of cells for transmit queues. */
#include "meridian.h"

#define PRIORITY_BITS	4
#define WEIGHT_BITS	8
#define COUNTS_OF_CLASS	(MERIDIAN_EGRESS_COUNTER_PORT0_CLASS1_FRAMES - \
			 MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_FRAMES)
#define COUNTS_OF_PORT	(MERIDIAN_EGRESS_COUNTER_PORT1_CLASS0_FRAMES - \
			 MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_FRAMES)

/* Words of MERIDIAN_EGRESS_RATES, whose rates have a burst behind them */
#define RATES_OF_PORT	32
#define RATES_OF_CLASS	4
#define LEAST		2

/* Words of MERIDIAN_EGRESS_MARKS */
#define MARKS_OF_PORT	16

/* As the card has it after a reset. */
const struct meridian_classes meridian_classes_after_reset = {
	.of_priority = { 0, 1, 2, 3, 4, 5, 6, 7 },
	.strict = UINT8_MAX,
	.weight = { 1, 1, 1, 1, 1, 1, 1, 1 },
};

/* Whether the transmit queues of the function's port have classes. A VF has no say in them. */
bool
meridian_has_classes(const struct meridian *m)
{
	return !m->qdma.is_vf && meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_EGRESS_POOL_MASK);
}

static uint32_t
read_egress(struct meridian *m, uint32_t offset)
{
	return meridian_read(m, MERIDIAN_EGRESS_BASE + offset);
}

static void
write_egress(struct meridian *m, uint32_t offset, uint32_t value)
{
	meridian_write(m, MERIDIAN_EGRESS_BASE + offset, value);
}

/* m: its port and capabilities are known. */
void
meridian_read_rate_unit(struct meridian *m)
{
	m->rate_unit = 0;
	if (meridian_has_classes(m))
		m->rate_unit = read_egress(m, MERIDIAN_EGRESS_RATE_UNIT);
}

static uint32_t
weights(const uint8_t *weight)
{
	return weight[0] | weight[1] << WEIGHT_BITS | weight[2] << 2 * WEIGHT_BITS |
	       (uint32_t)weight[3] << 3 * WEIGHT_BITS;
}

/* The burst goes first, so a class that gets a rate has room for it. */
static void
write_bucket(struct meridian *m, uint32_t word, const struct meridian_bucket *bucket)
{
	write_egress(m, MERIDIAN_EGRESS_RATES(word + 1), bucket->burst);
	write_egress(m, MERIDIAN_EGRESS_RATES(word), bucket->rate);
}

static void
write_rates(struct meridian *m, const struct meridian_classes *classes)
{
	uint32_t i;

	if (!m->rate_unit)
		return;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		uint32_t word = RATES_OF_PORT * m->port + RATES_OF_CLASS * i;

		write_bucket(m, word, &classes->most[i]);
		write_bucket(m, word + LEAST, &classes->least[i]);
	}
}

/* rte_tm has no marks here, so those that another driver has left would be in force unseen. */
static void
write_no_marks(struct meridian *m)
{
	uint32_t i;

	for (i = 0; i < MARKS_OF_PORT; i++)
		write_egress(m, MERIDIAN_EGRESS_MARKS(MARKS_OF_PORT * m->port + i), 0);
}

static void
write_all(struct meridian *m, const struct meridian_classes *classes)
{
	uint32_t of_priorities = 0, i;

	for (i = 0; i < MERIDIAN_CLASSES; i++)
		of_priorities |= (uint32_t)classes->of_priority[i] << PRIORITY_BITS * i;
	write_rates(m, classes);
	write_no_marks(m);
	write_egress(m, MERIDIAN_EGRESS_WEIGHTS_0_TO_3(m->port), weights(classes->weight));
	write_egress(m, MERIDIAN_EGRESS_WEIGHTS_4_TO_7(m->port), weights(classes->weight + 4));
	write_egress(m, MERIDIAN_EGRESS_STRICT(m->port), classes->strict);
	write_egress(m, MERIDIAN_EGRESS_CLASSES(m->port), of_priorities);
}

/**
 * meridian_write_classes() - give the port's classes the settings that were chosen, or a reset's
 * @m: a PF, whose card's lock is held
 * @is_open: whether the port is open to the host
 *
 * What others have set stays until somebody chooses.
 */
void
meridian_write_classes(struct meridian *m, bool is_open)
{
	struct meridian_card *card = m->card;
	bool on = is_open && card->classes_chosen[m->port];

	if (!meridian_has_classes(m) || (!on && !card->classes_written[m->port]))
		return;
	write_all(m, on ? &card->classes[m->port] : &meridian_classes_after_reset);
	card->classes_written[m->port] = on;
}

static int
read_all(struct meridian *m, struct meridian_classes *classes)
{
	uint32_t of_priorities = read_egress(m, MERIDIAN_EGRESS_CLASSES(m->port));
	uint32_t low = read_egress(m, MERIDIAN_EGRESS_WEIGHTS_0_TO_3(m->port));
	uint32_t high = read_egress(m, MERIDIAN_EGRESS_WEIGHTS_4_TO_7(m->port));
	uint32_t i;

	/* Of this register, a bit of each four is 0 in a card that answers. */
	if (of_priorities == QDMA_ALL_ONES)
		return -EIO;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		uint32_t four = i < 4 ? low : high;

		classes->of_priority[i] = of_priorities >> PRIORITY_BITS * i &
					  (MERIDIAN_CLASSES - 1);
		classes->weight[i] = four >> WEIGHT_BITS * (i % 4) & UINT8_MAX;
	}
	classes->strict = read_egress(m, MERIDIAN_EGRESS_STRICT(m->port));
	return 0;
}

/**
 * meridian_get_classes() - how the classes of the function's port are set
 * @m: a PF whose card has them
 * @classes: gets it, as it was chosen, or else as the card has it, whoever has set it; then without
 *	rates
 *
 * Return: 0; -EIO if the card does not answer.
 */
int
meridian_get_classes(struct meridian *m, struct meridian_classes *classes)
{
	int error = 0;

	pthread_mutex_lock(&m->card->lock);
	if (m->card->classes_chosen[m->port])
		*classes = m->card->classes[m->port];
	else
		error = read_all(m, classes);
	pthread_mutex_unlock(&m->card->lock);
	return error;
}

/* What a class of the function's port has counted since the start of the card. */
uint64_t
meridian_read_class(struct meridian *m, uint32_t number, enum meridian_class_count count)
{
	return meridian_read_counter(m, MERIDIAN_EGRESS_BASE +
				     MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_FRAMES +
				     COUNTS_OF_PORT * m->port + COUNTS_OF_CLASS * number +
				     sizeof(uint64_t) * count);
}
