/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux driver of Meridian's card: what its files share. */
#ifndef MERIDIAN_H
#define MERIDIAN_H

#include <linux/bpf.h>
#include <linux/dim.h>
#include <linux/if_vlan.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <net/xdp.h>

#include "../include/meridian_regs.h"
#include "../qdma/qdma_queue.h"
#include "../qdma/qdma_ring.h"

#define MERIDIAN_NAME		"meridian"
#define MERIDIAN_VERSION	"0.1"

#define MERIDIAN_PFS		4
#define MERIDIAN_PORTS		4
#define MERIDIAN_QUEUES		64	/* at most, of a PF; PF n has those from 64 n on */
#define MERIDIAN_RING_MIN	64
#define MERIDIAN_RING_MAX	4096
#define MERIDIAN_RING_DEFAULT	512

/* A receive buffer is the middle of a page: room for XDP before it, for the skb's end behind it. */
#define MERIDIAN_RX_HEADROOM	(XDP_PACKET_HEADROOM + NET_IP_ALIGN)
#define MERIDIAN_RX_BUFFER	3456

static_assert(MERIDIAN_RX_HEADROOM + MERIDIAN_RX_BUFFER +
	      SKB_DATA_ALIGN(sizeof(struct skb_shared_info)) <= PAGE_SIZE);

struct meridian;

/**
 * struct meridian_card - what the PFs of one card share
 * @list: in the list of cards
 * @users: PFs that are bound
 * @domain: of the card on PCIe
 * @bus: of the card on PCIe
 * @slot: of the card on PCIe
 * @lock: one at a time gives commands to contexts and filters
 * @port_users: bound PFs by port
 * @error_function: the PF that takes the interrupt for errors
 */
struct meridian_card {
	struct list_head list;
	unsigned int users;
	int domain;
	u8 bus;
	u8 slot;
	struct mutex lock; /* commands */
	unsigned int port_users[MERIDIAN_PORTS];
	struct meridian *error_function;
};

/**
 * struct meridian_tx_buffer - what a transmit descriptor is about
 * @skb: the frame, or
 * @frame: that of XDP, if @is_xdp
 * @dma: its address for the card
 * @length: bytes
 * @is_xdp: which of the two it is
 * @is_mapped: @dma is to be unmapped
 */
struct meridian_tx_buffer {
	union {
		struct sk_buff *skb;
		struct xdp_frame *frame;
	};
	dma_addr_t dma;
	u32 length;
	bool is_xdp;
	bool is_mapped;
};

/**
 * struct meridian_ring - memory that card and driver share
 * @entries: of which the last is the status
 * @dma: its address for the card
 * @slots: how many others there are
 * @bytes: of all
 */
struct meridian_ring {
	__le64 *entries;
	dma_addr_t dma;
	u32 slots;
	size_t bytes;
};

struct meridian_tx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t dropped;
	u64_stats_t stopped;
	u64_stats_t xdp;
	struct u64_stats_sync sync;
};

struct meridian_rx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t no_memory;
	u64_stats_t bad_completion;
	u64_stats_t xdp_drop;
	u64_stats_t xdp_tx;
	u64_stats_t xdp_redirect;
	u64_stats_t xdp_error;
	struct u64_stats_sync sync;
};

/**
 * struct meridian_tx - a transmit queue
 * @m: its function
 * @ring: of descriptors, two words each
 * @buffer: one for each descriptor
 * @index: of the queue
 * @pidx: next descriptor to fill; under the queue's transmit lock
 * @cidx: first descriptor the card has not taken; of NAPI
 * @stats: counted here
 */
struct meridian_tx {
	struct meridian *m;
	struct meridian_ring ring;
	struct meridian_tx_buffer *buffer;
	u32 index;
	u32 pidx ____cacheline_aligned_in_smp;
	u32 cidx ____cacheline_aligned_in_smp;
	struct meridian_tx_stats stats;
};

/**
 * struct meridian_rx - a receive queue
 * @m: its function
 * @ring: of descriptors, a word each
 * @completions: a word each
 * @page: one for each descriptor
 * @pool: where they come from
 * @xdp_rxq: as XDP knows the queue
 * @index: of the queue
 * @pidx: next descriptor to fill
 * @cidx: descriptor that the next frame begins in
 * @posted: what the card was told last of @pidx
 * @completion: next to read
 * @color: of entries that are new
 * @mode: of completion doorbells
 * @is_failed: the card has said what cannot be; nothing is read until a reset
 * @stats: counted here
 */
struct meridian_rx {
	struct meridian *m;
	struct meridian_ring ring;
	struct meridian_ring completions;
	struct page **page;
	struct page_pool *pool;
	struct xdp_rxq_info xdp_rxq;
	u32 index;
	u32 pidx;
	u32 cidx;
	u32 posted;
	u32 completion;
	u32 color;
	u32 mode;
	bool is_failed;
	struct meridian_rx_stats stats;
};

/**
 * struct meridian_channel - a queue pair with its interrupt
 * @m: its function
 * @napi: serves both
 * @tx: transmit
 * @rx: receive
 * @irq: Linux's number
 * @name: of the interrupt
 * @events: interrupts, for moderation
 * @dim: adaptive moderation
 */
struct meridian_channel {
	struct meridian *m;
	struct napi_struct napi;
	struct meridian_tx tx;
	struct meridian_rx rx;
	int irq;
	char name[IFNAMSIZ + 16];
	u16 events;
	struct dim dim;
};

/**
 * struct meridian - a function of the card
 * @pdev: on PCIe
 * @netdev: its network interface
 * @card: shared with its other PFs
 * @shell: BAR2
 * @qdma: BAR0
 * @function: its number within the card
 * @port: that it is bound to
 * @ports: of the card
 * @max_frame: bytes without FCS
 * @vectors: of MSI-X that it has; the first is not for queues
 * @queue_base: first of its queues
 * @queue_limit: queue pairs at most
 * @queues: queue pairs it is to have
 * @tx_slots: descriptors of a transmit ring
 * @rx_slots: descriptors of a receive ring
 * @channel: one for each queue pair, while it is up
 * @channels: how many there are
 * @xdp: the program, if there is one
 * @flags: MERIDIAN_FLAG_*
 * @service: looks after link, card and memory
 * @reset: takes everything down and up again
 */
struct meridian {
	struct pci_dev *pdev;
	struct net_device *netdev;
	struct meridian_card *card;
	u8 __iomem *shell;
	struct qdma_device qdma;
	u32 function;
	u32 port;
	u32 ports;
	u32 max_frame;
	unsigned int vectors;
	unsigned int queue_base;
	unsigned int queue_limit;
	unsigned int queues;
	u32 tx_slots;
	u32 rx_slots;
	struct meridian_channel *channel;
	unsigned int channels;
	struct bpf_prog *xdp;
	unsigned long flags;
	struct delayed_work service;
	struct work_struct reset;
};

enum meridian_flag {
	MERIDIAN_FLAG_UP,	/* queues are there */
	MERIDIAN_FLAG_GONE,	/* the card answers no more, and this was said */
	MERIDIAN_FLAG_STARVED,	/* a receive queue has found no memory */
	MERIDIAN_FLAG_MISC_IRQ,	/* the first vector has its handler */
};

/* meridian_card.c */
struct meridian_card *meridian_card_get(struct pci_dev *pdev);
void meridian_card_put(struct meridian_card *card);

/* meridian_hw.c */
u32 meridian_read(struct meridian *m, u32 offset);
void meridian_write(struct meridian *m, u32 offset, u32 value);
u32 meridian_read_function(struct meridian *m, u32 offset);
void meridian_write_function(struct meridian *m, u32 offset, u32 value);
int meridian_identify(struct meridian *m);
void meridian_flush(struct meridian *m);
bool meridian_present(struct meridian *m);
void meridian_enable_port(struct meridian *m, bool on);
void meridian_set_queues(struct meridian *m, u32 count);
void meridian_set_buffer_size(struct meridian *m, u32 queue, u32 bytes);
bool meridian_link_up(struct meridian *m);

/* meridian_netdev.c */
extern const struct net_device_ops meridian_netdev_ops;
int meridian_up(struct meridian *m);
void meridian_down(struct meridian *m);
void meridian_init_netdev(struct meridian *m);

/* meridian_ring.c */
int meridian_alloc_channels(struct meridian *m);
void meridian_free_channels(struct meridian *m);
int meridian_start_queues(struct meridian *m);
void meridian_stop_queues(struct meridian *m);

/* meridian_tx.c */
netdev_tx_t meridian_start_xmit(struct sk_buff *skb, struct net_device *netdev);
bool meridian_clean_tx(struct meridian_tx *tx, int budget);
void meridian_release_tx(struct meridian_tx *tx);
u32 meridian_tx_pending(const struct meridian_tx *tx);

/* meridian_rx.c */
int meridian_poll_rx(struct meridian_rx *rx, struct napi_struct *napi, int budget);
bool meridian_fill_rx(struct meridian_rx *rx);
void meridian_release_rx(struct meridian_rx *rx);

/* meridian_service.c */
void meridian_init_service(struct meridian *m);
void meridian_start_service(struct meridian *m);
void meridian_stop_service(struct meridian *m);
int meridian_request_misc_irq(struct meridian *m);
void meridian_free_misc_irq(struct meridian *m);
void meridian_update_link(struct meridian *m);
void meridian_schedule_reset(struct meridian *m);

#endif
