// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
#include "qdma_rss.h"

#include "../../include/meridian_regs.h"
#include "../mailbox/meridian_mailbox.h"

#define ORDER_SYMMETRIC		MERIDIAN_FUNCTION_HASH_ORDER_SYMMETRIC_MASK
#define ORDER_LEFT_OUT		MERIDIAN_FUNCTION_HASH_ORDER_LEFT_OUT_MASK
#define ORDER_MICROSOFT		MERIDIAN_FUNCTION_HASH_ORDER_MICROSOFT_MASK
#define ORDERS			(ORDER_MICROSOFT | ORDER_SYMMETRIC | ORDER_LEFT_OUT)

/**
 * qdma_message_put_rss() - what a VF asks for
 * @message: MERIDIAN_OP_RSS, begun
 * @rss: all of it; queues below 16
 */
void qdma_message_put_rss(struct qdma_message *message, const struct qdma_rss *rss)
{
	u8 *byte = message->byte;
	u32 i;

	for (i = 0; i < 4; i++)
		byte[MERIDIAN_RSS_ORDER + i] = rss->order >> 8 * i;
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

	rss->order = 0;
	for (i = 0; i < 4; i++)
		rss->order |= (u32)byte[MERIDIAN_RSS_ORDER + i] << 8 * i;
	if (!qdma_rss_is_sound(rss))
		return false;
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
 * qdma_rss_is_sound() - whether an order means something
 * @rss: as a function is to be spread
 *
 * A symmetric hash takes both of a pair or none, or both directions would not have the same.
 *
 * Return: whether it does.
 */
bool qdma_rss_is_sound(const struct qdma_rss *rss)
{
	u32 left = (rss->order & ORDER_LEFT_OUT) >> MERIDIAN_FUNCTION_HASH_ORDER_LEFT_OUT_SHIFT;
	u32 symmetric = rss->order & ORDER_SYMMETRIC;

	if (rss->order & ~ORDERS || symmetric == ORDER_SYMMETRIC ||
	    (rss->order && !(rss->order & ORDER_MICROSOFT)))
		return false;
	return !symmetric || !((left ^ left >> 1) & 0x5555);
}

/**
 * qdma_rss_can() - whether a card hashes so
 * @rss: as a function is to be spread
 * @capabilities: of the card, MERIDIAN_IDENT_CAPABILITIES_*
 *
 * Return: whether it does.
 */
bool qdma_rss_can(const struct qdma_rss *rss, u32 capabilities)
{
	if (rss->order & ~ORDER_MICROSOFT)
		return capabilities & MERIDIAN_IDENT_CAPABILITIES_HASH_FIELDS_MASK;
	return !rss->order || capabilities & MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK;
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
