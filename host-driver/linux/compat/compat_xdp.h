/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in XDP and AF_XDP. */
#ifndef MERIDIAN_COMPAT_XDP_H
#define MERIDIAN_COMPAT_XDP_H

#include <linux/filter.h>
#include <linux/version.h>
#include <net/xdp.h>
#include <net/xdp_sock_drv.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
static inline void xdp_init_buff(struct xdp_buff *xdp, u32 size, struct xdp_rxq_info *rxq)
{
	xdp->frame_sz = size;
	xdp->rxq = rxq;
}

static inline void xdp_prepare_buff(struct xdp_buff *xdp, unsigned char *start, int headroom,
				    int length, bool has_meta)
{
	xdp->data_hard_start = start;
	xdp->data = start + headroom;
	xdp->data_end = xdp->data + length;
	xdp->data_meta = has_meta ? xdp->data : xdp->data + 1;
}
#endif

/* A frame in parts, each in a page: the first one's end says where the others are. From 5.18 on. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
static inline bool meridian_takes_parts(const struct bpf_prog *prog)
{
	return prog->aux->xdp_has_frags;
}

static inline void meridian_fill_part(skb_frag_t *part, struct page *page, u32 offset, u32 bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	skb_frag_fill_page_desc(part, page, offset, bytes);
#else
	__skb_frag_set_page(part, page);
	skb_frag_off_set(part, offset);
	skb_frag_size_set(part, bytes);
#endif
}

static inline void meridian_add_part(struct xdp_buff *xdp, struct page *page, u32 offset,
				     u32 bytes)
{
	struct skb_shared_info *shared = xdp_get_shared_info_from_buff(xdp);

	if (!xdp_buff_has_frags(xdp)) {
		xdp_buff_set_frags_flag(xdp);
		shared->nr_frags = 0;
		shared->xdp_frags_size = 0;
	}
	meridian_fill_part(&shared->frags[shared->nr_frags++], page, offset, bytes);
	shared->xdp_frags_size += bytes;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	shared->xdp_frags_truesize = shared->nr_frags * PAGE_SIZE;
#endif
	if (page_is_pfmemalloc(page))
		xdp_buff_set_frag_pfmemalloc(xdp);
}

static inline u32 meridian_parts_bytes(struct xdp_buff *xdp)
{
	return xdp_get_shared_info_from_buff(xdp)->xdp_frags_size;
}

static inline void meridian_keep_parts(struct sk_buff *skb, struct xdp_buff *xdp, u32 parts,
				       u32 bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	xdp_update_skb_frags_info(skb, parts, bytes, parts * PAGE_SIZE,
				  xdp_buff_get_skb_flags(xdp));
#else
	xdp_update_skb_shared_info(skb, parts, bytes, parts * PAGE_SIZE,
				   xdp_buff_is_frag_pfmemalloc(xdp));
#endif
}
#else
static inline bool meridian_takes_parts(const struct bpf_prog *prog)
{
	return false;
}

static inline void meridian_add_part(struct xdp_buff *xdp, struct page *page, u32 offset,
				     u32 bytes)
{
}

static inline u32 meridian_parts_bytes(struct xdp_buff *xdp)
{
	return 0;
}

static inline void meridian_keep_parts(struct sk_buff *skb, struct xdp_buff *xdp, u32 parts,
				       u32 bytes)
{
}

static inline bool xdp_buff_has_frags(struct xdp_buff *xdp)
{
	return false;
}

static inline bool xdp_frame_has_frags(struct xdp_frame *frame)
{
	return false;
}

static inline unsigned int xdp_get_frame_len(struct xdp_frame *frame)
{
	return frame->len;
}
#endif

/* Who frees the frames that were not sent, and what ndo_xdp_xmit returns, changed. */
static inline int meridian_xdp_not_sent(struct xdp_frame **frames, int sent, int count)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
	int i;

	for (i = sent; i < count; i++)
		xdp_return_frame_rx_napi(frames[i]);
#endif
	return sent;
}

static inline void meridian_xsk_sync(struct xdp_buff *xdp, struct xsk_buff_pool *pool)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	xsk_buff_dma_sync_for_cpu(xdp);
#else
	xsk_buff_dma_sync_for_cpu(xdp, pool);
#endif
}

static inline void meridian_bad_action(struct net_device *netdev, struct bpf_prog *prog,
				       u32 action)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
	bpf_warn_invalid_xdp_action(netdev, prog, action);
#else
	bpf_warn_invalid_xdp_action(action);
#endif
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define MERIDIAN_HAS_METADATA
extern const struct xdp_metadata_ops meridian_metadata_ops;
#endif

static inline void meridian_announce_xdp(struct net_device *netdev)
{
#ifdef MERIDIAN_HAS_METADATA
	netdev->xdp_metadata_ops = &meridian_metadata_ops;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	xdp_set_features_flag(netdev, NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT |
			      NETDEV_XDP_ACT_NDO_XMIT | NETDEV_XDP_ACT_XSK_ZEROCOPY |
			      NETDEV_XDP_ACT_RX_SG | NETDEV_XDP_ACT_NDO_XMIT_SG);
#endif
}

static inline int meridian_xdp_rxq_reg(struct xdp_rxq_info *rxq, struct net_device *netdev,
				       u32 queue, unsigned int napi_id)
{
	/* Programs may lengthen a frame's last part to the end of its page. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
	return __xdp_rxq_info_reg(rxq, netdev, queue, napi_id, PAGE_SIZE);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
	return xdp_rxq_info_reg(rxq, netdev, queue, napi_id);
#else
	return xdp_rxq_info_reg(rxq, netdev, queue);
#endif
}

#endif
