/* SPDX-License-Identifier: BSD-3-Clause */
/* The null card's MAC table, as commands of the driver keep it; it does not choose frames. */
#include "meridian_bus.h"
#include "meridian_null.h"

#define WORD(name)	((MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_MAC_##name) / 4)

static struct meridian_null_address *
find(struct meridian_null_card *card)
{
	const uint32_t *shell = card->shell;
	uint32_t i;

	for (i = 0; i < card->addresses; i++) {
		struct meridian_null_address *entry = &card->address[i];

		if (entry->low == shell[WORD(KEY_LOW)] && entry->high == shell[WORD(KEY_HIGH)] &&
		    entry->scope == shell[WORD(SCOPE)])
			return entry;
	}
	return NULL;
}

static uint32_t
add(struct meridian_null_card *card, struct meridian_null_address *entry)
{
	uint32_t result = MERIDIAN_MAC_RESULT_EXISTS;

	if (entry == NULL) {
		if (card->addresses == MERIDIAN_NULL_ADDRESSES)
			return MERIDIAN_MAC_RESULT_FULL;
		result = MERIDIAN_MAC_RESULT_DONE;
		entry = &card->address[card->addresses++];
	}
	*entry = (struct meridian_null_address){
		.low = card->shell[WORD(KEY_LOW)],
		.high = card->shell[WORD(KEY_HIGH)],
		.scope = card->shell[WORD(SCOPE)],
		.value = card->shell[WORD(VALUE)],
	};
	return result;
}

/**
 * meridian_null_filter() - do a command of the MAC table
 * @card: whose registers have its key, scope and value
 * @operation: MERIDIAN_MAC_OPERATION_*
 */
void
meridian_null_filter(struct meridian_null_card *card, uint32_t operation)
{
	struct meridian_null_address *entry = find(card);
	uint32_t result = MERIDIAN_MAC_RESULT_NOT_FOUND, value = 0;

	if (operation == MERIDIAN_MAC_OPERATION_ADD) {
		result = add(card, entry);
	} else if (entry != NULL) {
		result = MERIDIAN_MAC_RESULT_DONE;
		value = entry->value;
		if (operation == MERIDIAN_MAC_OPERATION_REMOVE)
			*entry = card->address[--card->addresses];
	}
	/* The status has index and kind of a value side by side, as the value has. */
	card->shell[WORD(STATUS)] = result << MERIDIAN_FILTER_MAC_STATUS_RESULT_SHIFT |
				    value << MERIDIAN_FILTER_MAC_STATUS_INDEX_SHIFT;
}
