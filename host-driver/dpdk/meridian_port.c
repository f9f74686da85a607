/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of the card: open or closed to the host, with the traffic classes that were chosen. */
#include <string.h>

#include "meridian.h"

#define PORT_IS_OPEN	(MERIDIAN_PORT_HOST_ENABLE_RX_MASK | MERIDIAN_PORT_HOST_ENABLE_TX_MASK)

/* Whether frames of the port would come back: the card's ARM side tests it, or a program does. */
static bool
is_looped(struct meridian *m)
{
	uint32_t loopback;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK))
		return false;
	loopback = meridian_read(m, MERIDIAN_TRANSCEIVER_BASE(m->port) +
				    MERIDIAN_TRANSCEIVER_LOOPBACK);
	return loopback && loopback != QDMA_ALL_ONES;
}

/* The card is locked. */
static void
write_port(struct meridian *m)
{
	bool is_open = m->card->port_users[m->port] && !is_looped(m);

	meridian_write(m, MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ENABLE,
		       is_open ? PORT_IS_OPEN : 0);
	meridian_write_classes(m, is_open);
	meridian_flush(m);
}

/**
 * meridian_enable_port() - open or close the function's port for the host
 * @m: a PF
 * @on: the last one to close it closes it
 */
void
meridian_enable_port(struct meridian *m, bool on)
{
	pthread_mutex_lock(&m->card->lock);
	m->card->port_users[m->port] += on ? 1 : -1;
	write_port(m);
	pthread_mutex_unlock(&m->card->lock);
}

static bool
is_port_open(struct meridian *m)
{
	uint32_t offset = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ENABLE;

	return (meridian_read(m, offset) & PORT_IS_OPEN) == PORT_IS_OPEN;
}

/**
 * meridian_look_after_port() - open a port again that somebody has closed
 * @m: a PF that has opened it
 *
 * It is the one setting of the host's that a reset of the card's ARM takes. A card that does not
 * answer, or whose ARM is in reset, reads as if it were open.
 */
void
meridian_look_after_port(struct meridian *m)
{
	bool is_opened = false;

	pthread_mutex_lock(&m->card->lock);
	if (m->card->port_users[m->port] && !is_port_open(m) && !is_looped(m)) {
		write_port(m);
		/* While the ARM is in reset, its registers cannot be written. */
		is_opened = is_port_open(m);
	}
	pthread_mutex_unlock(&m->card->lock);
	if (is_opened)
		MERIDIAN_LOG(NOTICE, "%s: port %u was closed to the host, by a reset of the card's ARM or a test there: it is open again",
			     m->data->name, m->port);
}

/* The card is locked until end_choice(). What others have set ends with the first choice. */
static struct meridian_classes *
begin_choice(struct meridian *m)
{
	struct meridian_card *card = m->card;

	pthread_mutex_lock(&card->lock);
	if (!card->classes_chosen[m->port])
		card->classes[m->port] = meridian_classes_after_reset;
	card->classes_chosen[m->port] = true;
	return &card->classes[m->port];
}

static void
end_choice(struct meridian *m)
{
	write_port(m);
	pthread_mutex_unlock(&m->card->lock);
}

/**
 * meridian_choose_shares() - set shares and rates of the classes of the function's port
 * @m: a PF whose card has them
 * @shares: whose map of priorities does not count
 *
 * They are for all functions of the port, and last until its last PF of this process is closed. The
 * frames that are stored stay where they are.
 */
void
meridian_choose_shares(struct meridian *m, const struct meridian_classes *shares)
{
	struct meridian_classes *classes = begin_choice(m), all = *shares;

	memcpy(all.of_priority, classes->of_priority, sizeof(all.of_priority));
	*classes = all;
	end_choice(m);
}

/* Those of one class, as meridian_choose_shares() has them. */
void
meridian_choose_rates(struct meridian *m, uint32_t number, const struct meridian_classes *shares)
{
	struct meridian_classes *classes = begin_choice(m);

	classes->most[number] = shares->most[number];
	classes->least[number] = shares->least[number];
	end_choice(m);
}

/* The class of each priority (PCP), as meridian_choose_shares() has it. */
void
meridian_choose_map(struct meridian *m, const uint8_t *of_priority)
{
	struct meridian_classes *classes = begin_choice(m);

	memcpy(classes->of_priority, of_priority, sizeof(classes->of_priority));
	end_choice(m);
}
