// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
#include "qdma_rss.h"

#include "meridian_mailbox.h"

/**
 * qdma_message_put_rss() - what a VF asks for
 * @message: MERIDIAN_OP_RSS, begun
 * @rss: all of it; queues below 16
 */
void qdma_message_put_rss(struct qdma_message *message, const struct qdma_rss *rss)
{
	u8 *byte = message->byte;
	u32 i;

	byte[MERIDIAN_RSS_MICROSOFT] = rss->is_microsoft;
	for (i = 0; i < 4 * QDMA_RSS_WORDS; i++)
		byte[MERIDIAN_RSS_KEY + i] = rss->key[i / 4] >> 8 * (i % 4);
	for (i = 0; i < QDMA_RSS_ENTRIES; i++)
		byte[MERIDIAN_RSS_INDIRECTION + i / 2] |= rss->entry[i] << 4 * (i % 2);
}

/**
 * qdma_message_get_rss() - look what a VF asks for
 * @message: MERIDIAN_OP_RSS
 * @rss: result
 * @queues: that frames of the VF may go to
 *
 * Return: false if it cannot be.
 */
bool qdma_message_get_rss(const struct qdma_message *message, struct qdma_rss *rss, u32 queues)
{
	const u8 *byte = message->byte;
	u32 i;

	if (byte[MERIDIAN_RSS_MICROSOFT] > 1)
		return false;
	rss->is_microsoft = byte[MERIDIAN_RSS_MICROSOFT];
	memset(rss->key, 0, sizeof(rss->key));
	for (i = 0; i < 4 * QDMA_RSS_WORDS; i++)
		rss->key[i / 4] |= (u32)byte[MERIDIAN_RSS_KEY + i] << 8 * (i % 4);
	for (i = 0; i < QDMA_RSS_ENTRIES; i++) {
		rss->entry[i] = byte[MERIDIAN_RSS_INDIRECTION + i / 2] >> 4 * (i % 2) & 0xf;
		if (rss->entry[i] >= queues)
			return false;
	}
	return true;
}

/**
 * qdma_spread() - spread frames evenly
 * @rss: whose table it is
 * @queues: over so many, which are not 0
 */
void qdma_spread(struct qdma_rss *rss, u32 queues)
{
	u32 i;

	for (i = 0; i < QDMA_RSS_ENTRIES; i++)
		rss->entry[i] = i % queues;
}
