// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive. The card fills buffers in the order they were posted, as many as a frame needs, and
 * writes one completion a frame. Buffers are pages of a pool and go up the stack as they are.
 */
#include <linux/bitfield.h>

#include "compat_pool.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_fault.h"
#include "meridian_frames.h"
#include "meridian_xdp.h"

/* Doorbells for buffers are rung for so many at once. */
#define FILL_BATCH	16

/* What a completion says of a frame. */
struct meridian_completion {
	u32 length;
	bool is_bad;
	u32 hash;
	u32 verdicts;	/* the word behind it; 0 in an entry of 8 bytes */
};

static u32 buffers_ready(const struct meridian_rx *rx)
{
	return rx->pidx >= rx->cidx ? rx->pidx - rx->cidx : rx->pidx + rx->ring.slots - rx->cidx;
}

static u32 buffers_of(u32 length)
{
	return length ? DIV_ROUND_UP(length, MERIDIAN_RX_BUFFER) : 1;
}

static void ring(struct meridian_rx *rx)
{
	rx->posted = rx->pidx;
	qdma_c2h_doorbell(&rx->m->qdma, rx->index, rx->pidx);
}

static void count_no_memory(struct meridian_rx *rx)
{
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_inc(&rx->stats.no_memory);
	u64_stats_update_end(&rx->stats.sync);
}

/* Takes a page for the next descriptor; @dma: where the card is to write. */
static bool post(struct meridian_rx *rx, dma_addr_t *dma)
{
	struct page *page = page_pool_dev_alloc_pages(rx->pool);

	if (unlikely(!page)) {
		count_no_memory(rx);
		return false;
	}
	rx->page[rx->pidx] = page;
	*dma = page_pool_get_dma_addr(page) + MERIDIAN_RX_HEADROOM;
	return true;
}

/**
 * meridian_fill_rx() - post buffers until the ring is full
 * @rx: the queue
 *
 * Context: Does not sleep.
 * Return: false if memory did not last.
 */
bool meridian_fill_rx(struct meridian_rx *rx)
{
	u32 free = rx->ring.slots - 1 - buffers_ready(rx);
	bool ok = true;

	if (free < FILL_BATCH)
		return true;
	while (free--) {
		dma_addr_t dma;

		ok = rx->xsk ? meridian_xsk_post(rx, &dma) : post(rx, &dma);
		if (unlikely(!ok))
			break;
		rx->ring.entries[rx->pidx] = cpu_to_le64(dma);
		rx->pidx = meridian_next(rx->pidx, rx->ring.slots);
	}
	if (rx->posted != rx->pidx)
		ring(rx);
	return ok;
}

/* The page of the frame's next bytes, which are the driver's from here on. */
static struct page *take_page(struct meridian_rx *rx, u32 bytes)
{
	struct page *page = rx->page[rx->cidx];

	dma_sync_single_range_for_cpu(&rx->m->pdev->dev, page_pool_get_dma_addr(page),
				      MERIDIAN_RX_HEADROOM, bytes, DMA_BIDIRECTIONAL);
	rx->page[rx->cidx] = NULL;
	rx->cidx = meridian_next(rx->cidx, rx->ring.slots);
	return page;
}

static void drop_buffers(struct meridian_rx *rx, u32 count)
{
	while (count--)
		page_pool_put_full_page(rx->pool, take_page(rx, MERIDIAN_RX_BUFFER), true);
}

static void add_buffers(struct meridian_rx *rx, struct sk_buff *skb, u32 left)
{
	while (left) {
		u32 bytes = min_t(u32, left, MERIDIAN_RX_BUFFER);
		struct page *page = take_page(rx, bytes);

		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, MERIDIAN_RX_HEADROOM, bytes,
				PAGE_SIZE);
		meridian_recycle_more(rx->pool, page);
		left -= bytes;
	}
}

/*
 * The skb of a frame whose first page is taken; @data and @bytes: what of it is the frame. Without
 * memory for one the page is still the caller's.
 */
static struct sk_buff *build(struct meridian_rx *rx, struct page *page, void *data, u32 bytes)
{
	struct sk_buff *skb = napi_build_skb(page_address(page), PAGE_SIZE);

	if (unlikely(!skb)) {
		count_no_memory(rx);
		return NULL;
	}
	skb_reserve(skb, data - page_address(page));
	__skb_put(skb, bytes);
	meridian_recycle(skb, rx->pool, page);
	return skb;
}

static struct sk_buff *receive(struct meridian_rx *rx,
			       const struct meridian_completion *completion)
{
	u32 bytes = min_t(u32, completion->length, MERIDIAN_RX_BUFFER);
	struct page *page = take_page(rx, bytes);
	struct sk_buff *skb = build(rx, page, page_address(page) + MERIDIAN_RX_HEADROOM, bytes);

	if (unlikely(!skb)) {
		page_pool_put_full_page(rx->pool, page, true);
		drop_buffers(rx, buffers_of(completion->length) - 1);
		return NULL;
	}
	add_buffers(rx, skb, completion->length - bytes);
	return skb;
}

/* Whether a frame may be longer than a buffer. */
static bool takes_long(const struct meridian_rx *rx, const struct bpf_prog *prog)
{
	return !rx->xsk && (!prog || meridian_takes_parts(prog));
}

/* Longer than the MTU allows; not to be seen by who trusts the program. */
static void drop_long(struct meridian_rx *rx, u32 length)
{
	if (rx->xsk)
		meridian_xsk_drop(rx, buffers_of(length));
	else
		drop_buffers(rx, buffers_of(length));
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_inc(&rx->stats.xdp_error);
	u64_stats_update_end(&rx->stats.sync);
}

static void add_parts(struct meridian_rx *rx, struct xdp_buff *xdp, u32 left)
{
	while (left) {
		u32 bytes = min_t(u32, left, MERIDIAN_RX_BUFFER);

		meridian_add_part(xdp, take_page(rx, bytes), MERIDIAN_RX_HEADROOM, bytes);
		left -= bytes;
	}
}

/* The program may have shortened the frame, to fewer parts, too. */
static struct sk_buff *build_xdp(struct meridian_rx *rx, struct xdp_buff *xdp)
{
	u32 meta = xdp->data - xdp->data_meta, parts = 0, bytes = 0;
	struct sk_buff *skb;

	/* Where the parts are is told in the same place for the skb, which begins with none. */
	if (xdp_buff_has_frags(xdp)) {
		parts = xdp_get_shared_info_from_buff(xdp)->nr_frags;
		bytes = meridian_parts_bytes(xdp);
	}
	skb = build(rx, virt_to_page(xdp->data_hard_start), xdp->data, xdp->data_end - xdp->data);
	if (unlikely(!skb)) {
		meridian_give_back(rx, xdp);
		return NULL;
	}
	if (meta)
		skb_metadata_set(skb, meta);
	if (parts)
		meridian_keep_parts(skb, xdp, parts, bytes);
	return skb;
}

/* Not inline, as frames that no program sees would pay for its registers. */
static noinline struct sk_buff *receive_xdp(struct meridian_rx *rx, struct bpf_prog *prog,
					    u32 length, u32 hash, u32 verdicts)
{
	u32 bytes = min_t(u32, length, MERIDIAN_RX_BUFFER);
	struct page *page = take_page(rx, bytes);
	struct meridian_xdp_buff buff;
	struct xdp_buff *xdp = &buff.xdp;

	xdp_init_buff(xdp, PAGE_SIZE, &rx->xdp_rxq);
	xdp_prepare_buff(xdp, page_address(page), MERIDIAN_RX_HEADROOM, bytes, true);
	meridian_note(xdp, hash, verdicts);
	add_parts(rx, xdp, length - bytes);
	return meridian_run_xdp(rx, prog, xdp) ? build_xdp(rx, xdp) : NULL;
}

static void count_checksum(struct meridian_rx *rx, u64_stats_t *counter)
{
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_inc(counter);
	u64_stats_update_end(&rx->stats.sync);
}

/* What the card finds bad is left to the stack: it counts, and whoever sniffs sees the frame. */
static void judge_checksums(struct meridian_rx *rx, struct sk_buff *skb, u32 verdicts)
{
	u32 ip = FIELD_GET(MERIDIAN_COMPLETION_IP_CHECKSUM_MASK, verdicts);
	u32 l4 = FIELD_GET(MERIDIAN_COMPLETION_L4_CHECKSUM_MASK, verdicts);

	if (unlikely(ip == MERIDIAN_CHECKSUM_BAD || l4 == MERIDIAN_CHECKSUM_BAD)) {
		count_checksum(rx, &rx->stats.checksum_bad);
	} else if (l4 == MERIDIAN_CHECKSUM_GOOD) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		count_checksum(rx, &rx->stats.checksum_good);
	} else {
		count_checksum(rx, &rx->stats.checksum_none);
	}
}

static enum pkt_hash_types hash_type(u32 verdicts)
{
	switch (FIELD_GET(MERIDIAN_COMPLETION_HASH_TYPE_MASK, verdicts)) {
	case MERIDIAN_HASH_TYPE_IPV4:
	case MERIDIAN_HASH_TYPE_IPV6:
		return PKT_HASH_TYPE_L3;
	case MERIDIAN_HASH_TYPE_IPV4_TCP:
	case MERIDIAN_HASH_TYPE_IPV4_UDP:
	case MERIDIAN_HASH_TYPE_IPV6_TCP:
	case MERIDIAN_HASH_TYPE_IPV6_UDP:
		return PKT_HASH_TYPE_L4;
	default:
		return PKT_HASH_TYPE_NONE;
	}
}

/* What the card has found out of the frame. */
static void tell(struct meridian_rx *rx, struct sk_buff *skb,
		 const struct meridian_completion *completion)
{
	netdev_features_t features = rx->m->netdev->features;
	u32 verdicts = completion->verdicts;

	if (features & NETIF_F_RXHASH && hash_type(verdicts) != PKT_HASH_TYPE_NONE)
		skb_set_hash(skb, completion->hash, hash_type(verdicts));
	if (features & NETIF_F_RXCSUM)
		judge_checksums(rx, skb, verdicts);
	else
		count_checksum(rx, &rx->stats.checksum_none);
	/* Whatever is asked for by now, this frame has lost its tag. */
	if (verdicts & MERIDIAN_COMPLETION_VLAN_STRIPPED_MASK)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q),
				       FIELD_GET(MERIDIAN_COMPLETION_VLAN_TCI_MASK, verdicts));
}

static void deliver(struct meridian_rx *rx, struct napi_struct *napi,
		    const struct meridian_completion *completion)
{
	struct bpf_prog *prog = READ_ONCE(rx->m->xdp);
	struct sk_buff *skb;

	if (unlikely(completion->length > MERIDIAN_RX_BUFFER && !takes_long(rx, prog))) {
		drop_long(rx, completion->length);
		return;
	}
	if (rx->xsk)
		skb = meridian_xsk_receive(rx, napi, prog, completion->length, completion->hash,
					   completion->verdicts);
	else if (prog)
		skb = receive_xdp(rx, prog, completion->length, completion->hash,
				  completion->verdicts);
	else
		skb = receive(rx, completion);
	if (!skb)
		return;
	if (unlikely(READ_ONCE(rx->is_looped)) && meridian_loop(rx, skb))
		return;
	skb_record_rx_queue(skb, rx->index);
	tell(rx, skb, completion);
	skb->protocol = eth_type_trans(skb, rx->m->netdev);
	napi_gro_receive(napi, skb);
}

/* The next completion, if there is one. */
static bool take_completion(struct meridian_rx *rx, struct meridian_completion *completion)
{
	const __le64 *words = &rx->completions.entries[rx->completion << rx->entry_log2];
	u64 entry = le64_to_cpu(READ_ONCE(*words)), more;

	if (qdma_completion_color(entry) != rx->color)
		return false;
	/* Frames are not to be read before their completion. */
	dma_rmb();
	more = rx->entry_log2 ? le64_to_cpu(words[1]) : 0;
	completion->hash = lower_32_bits(more);
	completion->verdicts = upper_32_bits(more);
	completion->length = qdma_completion_length(entry);
	completion->is_bad = qdma_completion_error(entry) || completion->length < ETH_HLEN ||
			     completion->length > rx->m->max_frame ||
			     buffers_of(completion->length) > buffers_ready(rx);
	if (unlikely(completion->is_bad))
		WRITE_ONCE(rx->bad_entry, entry);
	rx->completion = meridian_next(rx->completion, rx->completions.slots);
	if (!rx->completion)
		rx->color ^= 1;
	return true;
}

/* Which buffers are the card's and which are ours is not known any more: only a reset helps. */
static void fail(struct meridian_rx *rx)
{
	WRITE_ONCE(rx->is_failed, true);
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_inc(&rx->stats.bad_completion);
	u64_stats_update_end(&rx->stats.sync);
	netdev_warn(rx->m->netdev, "receive queue %u has completions that cannot be: resetting\n",
		    rx->index);
	meridian_report(rx->m, MERIDIAN_FAULT_RX, rx->index);
}

/**
 * meridian_rx_ended() - look whether the card has ended the ring of completions
 * @rx: the queue
 *
 * It does for an index that cannot be; nothing comes from then on.
 *
 * Context: Does not sleep.
 * Return: whether it has.
 */
bool meridian_rx_ended(const struct meridian_rx *rx)
{
	u32 at = rx->completions.slots << rx->entry_log2;
	u64 status = le64_to_cpu(READ_ONCE(rx->completions.entries[at]));

	if (likely(!qdma_completion_status_error(status)) || READ_ONCE(rx->is_failed))
		return false;
	return true;
}

/**
 * meridian_poll_rx() - hand frames to the stack
 * @rx: the queue
 * @napi: that polls
 * @budget: of it
 *
 * The caller tells the card how far completions are read.
 *
 * Context: NAPI poll (softirq). Does not sleep.
 * Return: how many frames there were.
 */
int meridian_poll_rx(struct meridian_rx *rx, struct napi_struct *napi, int budget)
{
	struct meridian_completion completion;
	int packets = 0;
	u64 bytes = 0;

	while (packets < budget && !rx->is_failed && take_completion(rx, &completion)) {
		if (unlikely(completion.is_bad)) {
			fail(rx);
			break;
		}
		packets++;
		bytes += completion.length;
		deliver(rx, napi, &completion);
	}
	if (unlikely(!packets && meridian_rx_ended(rx)))
		fail(rx);
	if (rx->must_flush) {
		rx->must_flush = false;
		xdp_do_flush();
	}
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_add(&rx->stats.packets, packets);
	u64_stats_add(&rx->stats.bytes, bytes);
	u64_stats_update_end(&rx->stats.sync);
	if (unlikely(!meridian_fill_rx(rx)))
		set_bit(MERIDIAN_FLAG_STARVED, &rx->m->flags);
	return packets;
}

/**
 * meridian_release_rx() - give all buffers back
 * @rx: a queue that the card has no more
 *
 * Context: Does not sleep.
 */
void meridian_release_rx(struct meridian_rx *rx)
{
	u32 i;

	meridian_xsk_release(rx);
	for (i = 0; i < rx->ring.slots; i++) {
		if (rx->page[i])
			page_pool_put_full_page(rx->pool, rx->page[i], false);
		rx->page[i] = NULL;
	}
}
