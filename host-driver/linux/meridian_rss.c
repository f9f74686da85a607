// SPDX-License-Identifier: GPL-2.0-only
/* Receive side scaling: which queue a frame's hash takes it to. */
#include <linux/ethtool.h>

#include "meridian.h"

/**
 * meridian_default_indirection() - spread over all queues
 * @m: the function
 */
void meridian_default_indirection(struct meridian *m)
{
	unsigned int i;

	for (i = 0; i < MERIDIAN_INDIRECTION; i++)
		m->indirection[i] = ethtool_rxfh_indir_default(i, m->config.queues);
}

/**
 * meridian_read_key() - take the hash key that the card has
 * @m: the function
 */
void meridian_read_key(struct meridian *m)
{
	unsigned int i;

	for (i = 0; i < MERIDIAN_KEY_WORDS; i++)
		m->key[i] = meridian_read_function(m, MERIDIAN_FUNCTION_HASH_KEY(i));
}

/**
 * meridian_write_rss() - key and indirection, as they are to be
 * @m: the function
 */
void meridian_write_rss(struct meridian *m)
{
	unsigned int i;

	for (i = 0; i < MERIDIAN_KEY_WORDS; i++)
		meridian_write_function(m, MERIDIAN_FUNCTION_HASH_KEY(i), m->key[i]);
	for (i = 0; i < MERIDIAN_INDIRECTION; i++)
		meridian_write_function(m, MERIDIAN_FUNCTION_INDIRECTION(i), m->indirection[i]);
	meridian_flush(m);
}
