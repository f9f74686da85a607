/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Which of a function's queues a frame goes to, as the card has it and as a VF asks for it. */
#ifndef QDMA_RSS_H
#define QDMA_RSS_H

#include "../mailbox/qdma_mailbox.h"

#define QDMA_RSS_WORDS		10
#define QDMA_RSS_ENTRIES	128

/* What is to be hashed of addresses and ports, in Microsoft's order. */
#define QDMA_RSS_SYMMETRIC_XOR		1
#define QDMA_RSS_SYMMETRIC_OR_XOR	2

/**
 * struct qdma_rss - which of a function's queues a frame goes to
 * @order: what is hashed, in which order of bits: MERIDIAN_FUNCTION_HASH_ORDER_*
 * @key: of the hash, least significant word first
 * @entry: queues for the hash's lowest bits, counted from the function's first
 */
struct qdma_rss {
	u32 order;
	u32 key[QDMA_RSS_WORDS];
	u16 entry[QDMA_RSS_ENTRIES];
};

void qdma_message_put_rss(struct qdma_message *message, const struct qdma_rss *rss);
bool qdma_message_get_rss(const struct qdma_message *message, struct qdma_rss *rss, u32 queues);
bool qdma_rss_is_sound(const struct qdma_rss *rss);
bool qdma_rss_can(const struct qdma_rss *rss, u32 capabilities);
void qdma_spread(struct qdma_rss *rss, u32 queues);

#endif
