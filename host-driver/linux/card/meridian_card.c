// SPDX-License-Identifier: GPL-2.0-only
/* The PFs of one card find each other: contexts and filters take one command at a time. */
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_hw.h"

static LIST_HEAD(cards);
static DEFINE_MUTEX(cards_lock);

static bool is_of(const struct meridian_card *card, struct pci_dev *pdev)
{
	return card->domain == pci_domain_nr(pdev->bus) && card->bus == pdev->bus->number &&
	       card->slot == PCI_SLOT(pdev->devfn);
}

/**
 * meridian_card_get() - the card of a PF
 * @pdev: the PF
 *
 * Context: May sleep.
 * Return: the card, for meridian_card_put(); NULL without memory.
 */
struct meridian_card *meridian_card_get(struct pci_dev *pdev)
{
	struct meridian_card *card;
	unsigned int port;

	mutex_lock(&cards_lock);
	list_for_each_entry(card, &cards, list) {
		if (is_of(card, pdev) && !meridian_is_vf(pdev))
			goto found;
	}
	card = kzalloc(sizeof(*card), GFP_KERNEL);
	if (!card)
		goto out;
	card->domain = pci_domain_nr(pdev->bus);
	card->bus = pdev->bus->number;
	card->slot = PCI_SLOT(pdev->devfn);
	for (port = 0; port < MERIDIAN_PORTS; port++)
		card->pause[port].msecs = MERIDIAN_PAUSE_MSECS;
	mutex_init(&card->lock);
	INIT_LIST_HEAD(&card->pfs);
	/* A VF has nothing to do with the PFs, though it may be in their system. */
	if (meridian_is_vf(pdev))
		INIT_LIST_HEAD(&card->list);
	else
		list_add(&card->list, &cards);
found:
	card->users++;
out:
	mutex_unlock(&cards_lock);
	return card;
}

/**
 * meridian_card_put() - a PF leaves its card
 * @card: of meridian_card_get()
 *
 * Context: May sleep.
 */
void meridian_card_put(struct meridian_card *card)
{
	mutex_lock(&cards_lock);
	if (!--card->users) {
		list_del(&card->list);
		mutex_destroy(&card->lock);
		kfree(card);
	}
	mutex_unlock(&cards_lock);
}

/**
 * meridian_forget_broken() - count the frames that a module breaks anew, from the next look on
 * @box: the module; under the card's lock
 *
 * Context: Does not sleep.
 */
void meridian_forget_broken(struct meridian_box *box)
{
	memset(box->broken, 0, sizeof(box->broken));
	box->is_breaking = false;
	box->is_counted = false;
}

/* Any that is there will do: the errors are the card's. */
static void choose_error_function(struct meridian_card *card)
{
	unsigned int port;

	card->error_function = list_first_entry_or_null(&card->pfs, struct meridian, of_card);
	/* What boxes do was told to the function before, not to this one. */
	for (port = 0; port < ARRAY_SIZE(card->box); port++) {
		card->box[port].hung = 0;
		card->box[port].state = MERIDIAN_BOX_READY;
		meridian_forget_broken(&card->box[port]);
	}
	if (card->error_function)
		qdma_enable_errors(&card->error_function->qdma, 0);
}

/**
 * meridian_card_join() - the other PFs of the card see what the function has
 * @m: a PF with an address and the interrupt that is not for queues
 *
 * The first of them gets the card's errors.
 *
 * Context: May sleep.
 */
void meridian_card_join(struct meridian *m)
{
	mutex_lock(&m->card->lock);
	list_add_tail(&m->of_card, &m->card->pfs);
	meridian_enforce_credit(m);
	if (!m->card->error_function)
		choose_error_function(m->card);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_card_leave() - undo meridian_card_join()
 * @m: a PF without queues that has nothing in the card's filter; another one gets the card's errors
 *
 * The last one leaves the card's switch for frames without buffers as after a reset, unless another
 * driver has queues there.
 *
 * Context: May sleep.
 */
void meridian_card_leave(struct meridian *m)
{
	mutex_lock(&m->card->lock);
	list_del(&m->of_card);
	if (m->card->error_function == m) {
		qdma_disable_errors(&m->qdma);
		choose_error_function(m->card);
	}
	if (list_empty(&m->card->pfs))
		meridian_release_credit(m);
	mutex_unlock(&m->card->lock);
}
