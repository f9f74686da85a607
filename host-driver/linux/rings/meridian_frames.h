/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames: sent and received, of the stack, of XDP, of AF_XDP. */
#ifndef MERIDIAN_FRAMES_H
#define MERIDIAN_FRAMES_H

#include "meridian_queue.h"

/**
 * struct meridian_cut - how the card is to cut a large frame into segments
 * @request: MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_MASK: of payload in each, but the last
 * @inner: where the packet begins that is cut, if it is in a tunnel
 * @header: bytes of headers in each
 * @segments: how many
 */
struct meridian_cut {
	u32 request;
	u32 inner;
	u32 header;
	u32 segments;
};

/* meridian_offloads.c */
bool meridian_can_segment(const struct meridian *m);
bool meridian_plan_cut(const struct meridian *m, const struct sk_buff *skb,
		       struct meridian_cut *cut);
u32 meridian_inner_start(const struct sk_buff *skb);
int meridian_complete_checksum(const struct meridian *m, struct sk_buff *skb);
int meridian_tell_whole_length(struct sk_buff *skb, u32 inner);
netdev_features_t meridian_features_check(struct sk_buff *skb, struct net_device *netdev,
					  netdev_features_t features);

/* meridian_tx.c */
netdev_tx_t meridian_start_xmit(struct sk_buff *skb, struct net_device *netdev);
void meridian_send_xsk(struct meridian_tx *tx, dma_addr_t dma, u32 length);
int meridian_send_xdp(struct meridian_tx *tx, struct xdp_frame *frame, bool is_own);
void meridian_ring_tx(struct meridian_tx *tx);
void meridian_arm_tx(struct meridian_tx *tx);
int meridian_send_back(struct meridian_tx *tx, struct sk_buff *skb);

/* meridian_tx_done.c */
bool meridian_clean_tx(struct meridian_tx *tx, int budget);
void meridian_release_tx(struct meridian_tx *tx);
bool meridian_tx_has_own(const struct meridian_tx *tx);

void meridian_tx_timeout(struct net_device *netdev, unsigned int queue);
bool meridian_tx_is_still(const struct meridian_tx *tx);
void meridian_look_after_tx(struct meridian_tx *tx, u32 idle_looks);

/* meridian_pieces.c */
bool meridian_can_gather(const struct sk_buff *skb);
int meridian_map_more_of_skb(struct meridian_tx *tx, struct sk_buff *skb);
int meridian_map_more_of_xdp(struct meridian_tx *tx, struct xdp_frame *frame, bool is_own);
void meridian_unmap_more(struct meridian_tx *tx, u32 index, u32 count);
void meridian_put_more(struct meridian_tx *tx, u32 count);

/* meridian_push.c */
void meridian_settle_push(struct meridian *m);
void meridian_push(struct meridian_tx *tx, const struct sk_buff *skb);

/* meridian_rx.c */
int meridian_poll_rx(struct meridian_rx *rx, struct napi_struct *napi, int budget);
bool meridian_rx_ended(const struct meridian_rx *rx);
bool meridian_fill_rx(struct meridian_rx *rx);
void meridian_release_rx(struct meridian_rx *rx);

/* meridian_loop.c */
extern const struct ethhdr meridian_loop_header;
bool meridian_loop(struct meridian_rx *rx, struct sk_buff *skb);

/* meridian_xdp.c */
void meridian_give_back(struct meridian_rx *rx, struct xdp_buff *xdp);
bool meridian_run_xdp(struct meridian_rx *rx, struct bpf_prog *prog, struct xdp_buff *xdp);
int meridian_xdp_xmit(struct net_device *netdev, int count, struct xdp_frame **frames, u32 flags);

/* meridian_xsk.c */
int meridian_xsk_begin(struct meridian_rx *rx);
int meridian_xsk_register(struct meridian_rx *rx);
void meridian_xsk_claim(struct meridian_rx *rx);
void meridian_xsk_release(struct meridian_rx *rx);
void meridian_xsk_end(struct meridian_rx *rx);
bool meridian_xsk_post(struct meridian_rx *rx, dma_addr_t *dma);
void meridian_xsk_keep(struct xsk_buff_pool *pool);
void meridian_xsk_drop(struct meridian_rx *rx, u32 count);
struct sk_buff *meridian_xsk_receive(struct meridian_rx *rx, struct napi_struct *napi,
				     struct bpf_prog *prog, u32 bytes, u32 hash, u32 verdicts);
bool meridian_xsk_send(struct meridian_channel *channel);
void meridian_xsk_sent(struct meridian_tx *tx, u32 count);
void meridian_xsk_link_up(struct meridian *m);
int meridian_xsk_wakeup(struct net_device *netdev, u32 queue, u32 flags);

#endif
