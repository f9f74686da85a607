/* SPDX-License-Identifier: BSD-3-Clause */
/* The PFs of one card find each other: contexts and filters take one command at a time. */
#include <stdlib.h>

#include <rte_string_fns.h>

#include "meridian.h"

static TAILQ_HEAD(, meridian_card) cards = TAILQ_HEAD_INITIALIZER(cards);
static pthread_mutex_t cards_lock = PTHREAD_MUTEX_INITIALIZER;

/**
 * meridian_card_get() - the card of a PF
 * @name: of the card
 *
 * Return: the card, for meridian_card_put(); NULL without memory.
 */
struct meridian_card *
meridian_card_get(const char *name)
{
	struct meridian_card *card;

	pthread_mutex_lock(&cards_lock);
	TAILQ_FOREACH(card, &cards, next) {
		if (strcmp(card->name, name) == 0)
			goto found;
	}
	card = calloc(1, sizeof(*card));
	if (card == NULL)
		goto out;
	rte_strscpy(card->name, name, sizeof(card->name));
	pthread_mutex_init(&card->lock, NULL);
	TAILQ_INIT(&card->pfs);
	TAILQ_INSERT_TAIL(&cards, card, next);
found:
	card->users++;
out:
	pthread_mutex_unlock(&cards_lock);
	return card;
}

/* card: of meridian_card_get(). */
void
meridian_card_put(struct meridian_card *card)
{
	pthread_mutex_lock(&cards_lock);
	if (--card->users == 0) {
		TAILQ_REMOVE(&cards, card, next);
		pthread_mutex_destroy(&card->lock);
		free(card);
	}
	pthread_mutex_unlock(&cards_lock);
}

/* The other PFs of the card see what the function has. m: a PF that is identified. */
void
meridian_card_join(struct meridian *m)
{
	pthread_mutex_lock(&m->card->lock);
	TAILQ_INSERT_TAIL(&m->card->pfs, m, of_card);
	pthread_mutex_unlock(&m->card->lock);
}

/*
 * m: a PF, whether it has joined its card or not. What was chosen for the classes of its port is
 * forgotten if it is the last one of the port.
 */
void
meridian_card_leave(struct meridian *m)
{
	struct meridian *pf;

	pthread_mutex_lock(&m->card->lock);
	TAILQ_FOREACH(pf, &m->card->pfs, of_card) {
		if (pf == m) {
			TAILQ_REMOVE(&m->card->pfs, m, of_card);
			break;
		}
	}
	TAILQ_FOREACH(pf, &m->card->pfs, of_card) {
		if (pf->port == m->port)
			break;
	}
	if (pf == NULL && m->port < MERIDIAN_PORTS)
		m->card->classes_chosen[m->port] = false;
	pthread_mutex_unlock(&m->card->lock);
}
