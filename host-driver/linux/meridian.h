/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux driver of Meridian's card: what its files share. */
#ifndef MERIDIAN_H
#define MERIDIAN_H

#include <linux/bpf.h>
#include <linux/dim.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <net/xdp.h>

#include "../include/meridian_regs.h"
#include "../qdma/meridian_mailbox.h"
#include "../qdma/qdma_mailbox.h"
#include "../qdma/qdma_queue.h"
#include "../qdma/qdma_ring.h"
#include "../qdma/qdma_reset.h"
#include "../qdma/qdma_service.h"
#include "../qdma/qdma_shares.h"
#include "meridian_queue.h"
#include "meridian_vfs.h"

#define MERIDIAN_NAME		"meridian"
#define MERIDIAN_VERSION	"0.1"

#define MERIDIAN_PFS		4
#define MERIDIAN_PORTS		4
#define MERIDIAN_QUEUES		64	/* at most, of a PF; PF n has those from 64 n on */
#define MERIDIAN_RING_MIN	64
#define MERIDIAN_RING_MAX	4096
#define MERIDIAN_RING_DEFAULT	512
#define MERIDIAN_TX_USECS_MAX	10000
#define MERIDIAN_GROUPS		256	/* at most, of multicast */
#define MERIDIAN_ANY_VLAN	0xffff

/* A receive buffer is the middle of a page: room for XDP before it, for the skb's end behind it. */
#define MERIDIAN_RX_HEADROOM	(XDP_PACKET_HEADROOM + NET_IP_ALIGN)
#define MERIDIAN_RX_BUFFER	3456

static_assert(MERIDIAN_RX_HEADROOM + MERIDIAN_RX_BUFFER +
	      SKB_DATA_ALIGN(sizeof(struct skb_shared_info)) <= PAGE_SIZE);

/* The longest MTU whose frames fit one buffer. */
#define MERIDIAN_XDP_MTU	3438

static_assert(ETH_HLEN + VLAN_HLEN + MERIDIAN_XDP_MTU == MERIDIAN_RX_BUFFER);

#define MERIDIAN_VF_QUEUE_BASE	(MERIDIAN_PFS * MERIDIAN_QUEUES)	/* first queue of VFs */
#define MERIDIAN_FIRST_VF	4	/* number of the first function that is one */

struct meridian;
struct meridian_devlink;
struct meridian_vector;

/**
 * struct meridian_ops - what a PF does by itself and a VF asks its PF for
 * @link_up: whether the port has a link
 * @map_queues: gives the function so many queues, or none: frames may go to them
 * @close_queues: no frames may go to its queues any more, in force on return
 * @start_tx: makes a transmit queue's contexts
 * @start_rx: makes a receive queue's contexts
 * @stop_tx: takes a transmit queue away; 0 if the card touches its memory no more
 * @stop_rx: takes a receive queue away; the same
 * @end_queues: takes all that the function may have, after a stop that failed
 * @write_rss: key, indirection and order of bits
 * @set_strip: says whether frames lose their 802.1Q tag
 * @sync_filter: what is received
 * @read_missed: looks at what the card has dropped
 */
struct meridian_ops {
	bool (*link_up)(struct meridian *m);
	int (*map_queues)(struct meridian *m, u32 count);
	void (*close_queues)(struct meridian *m);
	int (*start_tx)(struct meridian *m, const struct qdma_h2c_setting *setting);
	int (*start_rx)(struct meridian *m, const struct qdma_c2h_setting *setting);
	int (*stop_tx)(struct meridian *m, u32 queue);
	int (*stop_rx)(struct meridian *m, u32 queue);
	int (*end_queues)(struct meridian *m);
	int (*write_rss)(struct meridian *m);
	int (*set_strip)(struct meridian *m, bool on);
	void (*sync_filter)(struct meridian *m);
	void (*read_missed)(struct meridian *m);
};

/**
 * struct meridian_card - what the PFs of one card share
 * @list: in the list of cards
 * @users: PFs that are bound
 * @domain: of the card on PCIe
 * @bus: of the card on PCIe
 * @slot: of the card on PCIe
 * @lock: one at a time gives commands to contexts and filters
 * @port_users: bound PFs by port
 * @is_vepa: by port: the administrator wants all frames to go to the switch outside
 * @pf: those that can take an interrupt beside those of queues, by number; under @lock
 * @error_function: the one of them that takes the interrupt for errors
 * @errors: that the IP had last
 * @services: of its PFs that have VFs
 * @pfs: those that are bound and have an address
 * @mac_entries: that the filter's table holds
 * @groups: how many the card has
 * @group: those in use
 */
struct meridian_card {
	struct list_head list;
	unsigned int users;
	int domain;
	u8 bus;
	u8 slot;
	struct mutex lock; /* commands */
	unsigned int port_users[MERIDIAN_PORTS];
	bool is_vepa[MERIDIAN_PORTS];
	struct meridian *pf[MERIDIAN_PFS];
	struct meridian *error_function;
	struct qdma_errors errors;
	struct qdma_service *services;
	struct list_head pfs;
	unsigned int mac_entries;
	unsigned int groups;
	struct qdma_group group[MERIDIAN_GROUPS];
};

/**
 * struct meridian_config - what only changes while the function is down
 * @queues: queue pairs
 * @tx_slots: descriptors of a transmit ring
 * @rx_slots: descriptors of a receive ring
 */
struct meridian_config {
	unsigned int queues;
	u32 tx_slots;
	u32 rx_slots;
};

/**
 * struct meridian_moderation - when a queue interrupts
 * @usecs: after so long; 0: for every frame
 * @frames: or with so many; 0: they are not counted
 * @is_adaptive: both change with the load
 */
struct meridian_moderation {
	u32 usecs;
	u32 frames;
	bool is_adaptive;
};

/**
 * struct meridian_coalesce - when a queue pair interrupts
 * @rx: for received frames
 * @tx: for sent frames
 */
struct meridian_coalesce {
	struct meridian_moderation rx;
	struct meridian_moderation tx;
};

/**
 * struct meridian_missed - what the card has dropped, as it was looked at last
 * @no_buffer: received for a queue without buffers, or copies that found no room
 * @bad_fcs: of the port
 * @bad_length: of the port
 */
struct meridian_missed {
	u64 no_buffer;
	u64 bad_fcs;
	u64 bad_length;
};

/**
 * struct meridian - a function of the card
 * @pdev: on PCIe
 * @devlink: as devlink knows it
 * @ops: of a PF, or of a VF
 * @netdev: its network interface
 * @card: shared with its other PFs
 * @shell: BAR2
 * @qdma: BAR0
 * @function: its number within the card
 * @port: that it is bound to
 * @ports: of the card
 * @functions: of the card, PFs and VFs
 * @gigabits: Gb/s of the port; 0: unknown
 * @max_frame: bytes without FCS
 * @capabilities: MERIDIAN_IDENT_CAPABILITIES_*
 * @vectors: of MSI-X that it has
 * @vector: those that queue pairs share; NULL: each pair has one to itself
 * @queue_base: first of its queues
 * @queue_limit: queue pairs at most
 * @config: what it is to have
 * @coalesce: when its queues interrupt, as was said last of all
 * @queue_coalesce: as was said of each
 * @rss: how its frames are spread
 * @found_rss: of a PF: how they were before, and are again when the driver goes
 * @channel: one for each queue pair that it may have
 * @channels: how many of them it has, while it is up
 * @spread: for how many processors were given queues to send by
 * @xdp: the program, if there is one
 * @xsk_queues: those that an AF_XDP socket has to itself, without copies
 * @flags: MERIDIAN_FLAG_*
 * @service: looks after link, card and memory
 * @vf_watch: of a PF with VFs: finds those that are reset
 * @reset: lets the queues start anew
 * @rx_mode: brings the card's filter in line with Linux's lists
 * @errors_next: jiffies before which the card's errors are not looked at again
 * @retry_next: jiffies before which a function that is down does not try again to end its queues,
 *	or to have them if it is waiting
 * @of_card: of a PF: in the list of its card's
 * @entries: what the function has in the card's filter; under the card's lock
 * @vlans: of a PF: that are to be received; under the card's lock, as are the two below
 * @is_any_vlan: of a PF: these are so many that its addresses are received in any
 * @vlan_entries: of a PF: entries for single VLANs at most
 * @mailbox_lock: of a VF: one question at a time
 * @is_pf_silent: of a VF: its PF has not answered the last question
 * @is_loss_seen: of a VF: as the service has looked, it had lost its queues
 * @granted_flags: of a VF: what its PF has granted last; all ones: not known
 * @refused_flags: of a VF: what its PF has refused since
 * @seen_flags: of a VF: the card's, as the PF was asked last
 * @is_lacking: the card or the PF of a VF does not take all its addresses, and this was said
 * @pf_version: of a VF: version of our messages that its PF knows
 * @vf: of a PF, its VFs; under the card's lock
 * @vfs: how many
 * @vf_service: of a PF: does what they ask for; under the card's lock
 * @broadcasts: of a PF, the VLANs of its VFs whose broadcasts it receives; under the card's lock
 * @stats_lock: of all below, and for who reads a counter of the card
 * @counted: channels that count
 * @before: what others have counted
 * @missed: of the card
 */
struct meridian {
	struct pci_dev *pdev;
	struct meridian_devlink *devlink;
	const struct meridian_ops *ops;
	struct net_device *netdev;
	struct meridian_card *card;
	u8 __iomem *shell;
	struct qdma_device qdma;
	u32 function;
	u32 port;
	u32 ports;
	u32 gigabits;
	u32 functions;
	u32 max_frame;
	u32 capabilities;
	unsigned int vectors;
	struct meridian_vector *vector;
	unsigned int queue_base;
	unsigned int queue_limit;
	struct meridian_config config;
	struct meridian_coalesce coalesce;
	struct meridian_coalesce queue_coalesce[MERIDIAN_QUEUES];
	struct qdma_rss rss;
	struct qdma_rss found_rss;
	struct meridian_channel *channel;
	unsigned int channels;
	unsigned int spread;
	struct bpf_prog *xdp;
	DECLARE_BITMAP(xsk_queues, MERIDIAN_QUEUES);
	unsigned long flags;
	struct delayed_work service;
	struct delayed_work vf_watch;
	struct work_struct reset;
	struct work_struct rx_mode;
	unsigned long errors_next;
	unsigned long retry_next;
	struct list_head of_card;
	struct list_head entries;
	unsigned long vlans[BITS_TO_LONGS(VLAN_N_VID)];
	bool is_any_vlan;
	unsigned int vlan_entries;
	struct mutex mailbox_lock; /* questions */
	bool is_pf_silent;
	bool is_loss_seen;
	u32 granted_flags;
	u32 refused_flags;
	u32 seen_flags;
	bool is_lacking;
	u8 pf_version;
	struct meridian_vf *vf;
	unsigned int vfs;
	struct qdma_service vf_service;
	struct list_head broadcasts;
	spinlock_t stats_lock; /* what counts */
	unsigned int counted;
	struct meridian_counts before;
	struct meridian_missed missed;
};

enum meridian_flag {
	MERIDIAN_FLAG_UP,	/* queues are there */
	MERIDIAN_FLAG_RESET,	/* between meridian_before_reset() and meridian_after_reset() */
	MERIDIAN_FLAG_GONE,	/* the card answers no more, and this was said */
	MERIDIAN_FLAG_WAITING,	/* a VF would be up if its PF answered */
	MERIDIAN_FLAG_FENCED,	/* queues may run, so the Bus Master bit is clear */
	MERIDIAN_FLAG_RUNAWAY,	/* that bit could not be cleared: memory is not given back */
	MERIDIAN_FLAG_STARVED,	/* a receive queue has found no memory */
	MERIDIAN_FLAG_MISC_IRQ,	/* the first vector has its handler */
	MERIDIAN_FLAG_FILTER,	/* there was no memory to look what is to be received */
	MERIDIAN_FLAG_ERRORS,	/* the card may have errors that were not looked at */
};

/**
 * meridian_is_vf() - whether a function is a VF
 * @pdev: of one of the driver's devices: 0x9.3f is a PF, 0xa.3f a VF of it
 *
 * Linux knows by itself only where the PF is in the same system, in no virtual machine.
 *
 * Return: whether it is.
 */
static inline bool meridian_is_vf(const struct pci_dev *pdev)
{
	return (pdev->device & 0xf000) == 0xa000;
}

/**
 * meridian_first_vector() - the first of the vectors that are for queue pairs
 * @m: the function
 *
 * A PF has one for errors and messages before it; a VF is told of nothing by an interrupt.
 *
 * Return: its number, which is how many others there are.
 */
static inline unsigned int meridian_first_vector(const struct meridian *m)
{
	return meridian_is_vf(m->pdev) ? 0 : 1;
}

/**
 * meridian_shares_vectors() - whether queue pairs share vectors
 * @m: the function
 *
 * Return: true if their interrupts come by rings; false if each pair has a vector to itself.
 */
static inline bool meridian_shares_vectors(const struct meridian *m)
{
	return m->vector;
}

/* meridian_card.c */
struct meridian_card *meridian_card_get(struct pci_dev *pdev);
void meridian_card_put(struct meridian_card *card);
void meridian_card_join(struct meridian *m);
void meridian_card_leave(struct meridian *m);

/* meridian_hw.c */
u32 meridian_read(struct meridian *m, u32 offset);
void meridian_write(struct meridian *m, u32 offset, u32 value);
u32 meridian_read_function(struct meridian *m, u32 offset);
void meridian_write_function(struct meridian *m, u32 offset, u32 value);
int meridian_check_magic(struct meridian *m);
int meridian_identify(struct meridian *m);
void meridian_have_address(struct meridian *m);
void meridian_flush(struct meridian *m);
bool meridian_present(struct meridian *m);
void meridian_enable_port(struct meridian *m, bool on);
void meridian_open_port(struct meridian *m);
void meridian_set_queues(struct meridian *m, u32 count);
void meridian_set_buffer_size(struct meridian *m, u32 queue, u32 bytes);
void meridian_set_paced(struct meridian *m, u32 queue, bool on);
void meridian_set_tx_offload(struct meridian *m, u32 queue, bool on);
void meridian_set_vepa(struct meridian *m, bool is_vepa);
bool meridian_switching(struct meridian *m);
void meridian_set_entry_size(struct meridian *m, u32 queue, u32 entry_log2);
bool meridian_can(const struct meridian *m, u32 capability);
bool meridian_link_up(struct meridian *m);

/* meridian_filter.c */
void meridian_draw_hash(struct meridian *m);
int meridian_test_filter(struct meridian *m);

/* meridian_pf_filter.c */
unsigned int meridian_vlan_entries(const struct meridian *m);
void meridian_sync_filter(struct meridian *m);
void meridian_set_vlan(struct meridian *m, u16 vid, bool is_wanted);
int meridian_set_pf_address(struct meridian *m, void *address);
void meridian_clear_filter(struct meridian *m);

/* meridian_rss.c */
void meridian_default_indirection(struct meridian *m);
void meridian_default_hash(struct meridian *m);
void meridian_read_rss(struct meridian *m);
int meridian_write_rss(struct meridian *m);
void meridian_write_function_rss(struct meridian *m, u32 function, const struct qdma_rss *rss);

struct ethtool_rxfh_param;

u32 meridian_rxfh_key_size(struct net_device *netdev);
u32 meridian_rxfh_indir_size(struct net_device *netdev);
u32 meridian_ring_count(struct net_device *netdev);
int meridian_get_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh);
int meridian_set_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh,
		      struct netlink_ext_ack *extack);
int meridian_hash_fields(struct net_device *netdev, u32 flow);
int meridian_set_hash_fields(struct net_device *netdev, u32 flow, u64 fields,
			     struct netlink_ext_ack *extack);
int meridian_priv_flag_count(struct meridian *m);
void meridian_priv_flag_strings(u8 *data);
u32 meridian_priv_flags(struct net_device *netdev);
int meridian_set_priv_flags(struct net_device *netdev, u32 flags);

/* meridian_counts.c */
void meridian_count_channels(struct meridian *m, unsigned int count);
void meridian_all_counts(struct meridian *m, struct meridian_counts *counts);
void meridian_queue_counts(struct meridian *m, unsigned int index, struct meridian_counts *counts);
void meridian_offer_queue_stats(struct net_device *netdev);

/* meridian_stats.c */
u64 meridian_read_counter(struct meridian *m, u32 offset);
u64 meridian_read_function_counter(struct meridian *m, u32 offset);
u64 meridian_read_port_counter(struct meridian *m, u32 offset);
void meridian_read_missed(struct meridian *m);
void meridian_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats);
int meridian_stats_count(struct meridian *m);
void meridian_stats_strings(struct meridian *m, u8 *data);
void meridian_stats_values(struct meridian *m, u64 *data);

/* meridian_diag.c */
int meridian_regs_len(struct net_device *netdev);
void meridian_get_regs(struct net_device *netdev, struct ethtool_regs *regs, void *data);
int meridian_test_count(void);
void meridian_test_strings(u8 *data);
void meridian_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data);

/* meridian_ethtool.c */
extern const struct ethtool_ops meridian_ethtool_ops;

/* meridian_coalesce.c */
void meridian_default_coalesce(struct meridian *m);
void meridian_moderate_rx(struct meridian_rx *rx);
void meridian_moderate_tx(struct meridian_tx *tx);
void meridian_init_moderation(struct meridian_channel *channel);
void meridian_end_moderation(struct meridian_channel *channel);
void meridian_sample_dim(struct meridian_channel *channel);
void meridian_rest_tx(struct meridian_tx *tx);
bool meridian_may_rest_tx(const struct meridian_tx *tx);
int meridian_get_queue_coalesce(struct net_device *netdev, u32 queue,
				struct ethtool_coalesce *coalesce);
int meridian_set_queue_coalesce(struct net_device *netdev, u32 queue,
				struct ethtool_coalesce *coalesce);

/* meridian_vectors.c */
int meridian_alloc_vectors(struct meridian *m);
void meridian_free_vectors(struct meridian *m);
int meridian_start_rings(struct meridian *m);
u32 meridian_vector_of(struct meridian *m, unsigned int index);
int meridian_request_irq(struct meridian_channel *channel);
void meridian_free_irq(struct meridian_channel *channel);
void meridian_spread_tx(struct meridian *m);

/* meridian_napi.c */
void meridian_enable_napi(struct meridian_channel *channel);
void meridian_disable_napi(struct meridian_channel *channel);

/* meridian_netdev.c */
void meridian_init_netdev(struct meridian *m);

/* meridian_configure.c */
int meridian_up(struct meridian *m);
void meridian_down(struct meridian *m);
int meridian_configure(struct meridian *m, const struct meridian_config *config);
void meridian_enable_channel(struct meridian_channel *channel);
bool meridian_disable_channel(struct meridian_channel *channel);
int meridian_restart(struct meridian *m);
int meridian_restart_rx(struct meridian *m, unsigned int index);

/* meridian_queue_ops.c */
void meridian_offer_queue_ops(struct net_device *netdev);

/* meridian_memory.c */
struct meridian_channel *meridian_new_channels(struct meridian *m);
int meridian_alloc_memory(struct meridian *m, struct meridian_channel *channels,
			  const struct meridian_config *config);
void meridian_free_memory(struct meridian *m, struct meridian_channel *channels);
void meridian_exchange_memory(struct meridian *m, struct meridian_channel *others);
void meridian_exchange_rx(struct meridian_rx *rx, struct meridian_rx *other);
void meridian_retire_rx(struct meridian_rx *rx);
int meridian_alloc_rx(struct meridian_rx *rx, u32 slots);
int meridian_stock_rx(struct meridian_rx *rx);
void meridian_free_rx(struct meridian_rx *rx);

/* meridian_ring.c */
int meridian_begin_channels(struct meridian *m, unsigned int count);
void meridian_end_channels(struct meridian *m, unsigned int count);
int meridian_check_tables(struct meridian *m, const struct meridian_config *config);
int meridian_start_queues(struct meridian *m);
int meridian_start_rx(struct meridian_rx *rx);
void meridian_drain_tx(struct meridian *m);
int meridian_end_fence(struct meridian *m);
void meridian_pause_queues(struct meridian *m);
void meridian_stop_queues(struct meridian *m);
void meridian_release_queues(struct meridian *m);

/* meridian_tx.c */
netdev_features_t meridian_features_check(struct sk_buff *skb, struct net_device *netdev,
					  netdev_features_t features);
netdev_tx_t meridian_start_xmit(struct sk_buff *skb, struct net_device *netdev);
void meridian_tx_timeout(struct net_device *netdev, unsigned int queue);
void meridian_look_after_tx(struct meridian_tx *tx);
bool meridian_clean_tx(struct meridian_tx *tx, int budget);
void meridian_release_tx(struct meridian_tx *tx);
u32 meridian_tx_pending(const struct meridian_tx *tx);
u32 meridian_tx_room(const struct meridian_tx *tx);
bool meridian_tx_has_own(const struct meridian_tx *tx);
void meridian_send_xsk(struct meridian_tx *tx, dma_addr_t dma, u32 length);
int meridian_send_xdp(struct meridian_tx *tx, struct xdp_frame *frame, bool is_own);
void meridian_ring_tx(struct meridian_tx *tx);
void meridian_arm_tx(struct meridian_tx *tx);

/* meridian_xdp.c */
bool meridian_xdp_allows(struct meridian *m, struct bpf_prog *prog, int mtu);
void meridian_give_back(struct meridian_rx *rx, struct xdp_buff *xdp);
bool meridian_run_xdp(struct meridian_rx *rx, struct bpf_prog *prog, struct xdp_buff *xdp);
int meridian_bpf(struct net_device *netdev, struct netdev_bpf *bpf);
int meridian_xdp_xmit(struct net_device *netdev, int count, struct xdp_frame **frames, u32 flags);

/* meridian_xsk.c */
int meridian_setup_xsk(struct meridian *m, struct xsk_buff_pool *pool, u32 queue);
int meridian_xsk_begin(struct meridian_rx *rx);
int meridian_xsk_register(struct meridian_rx *rx);
void meridian_xsk_claim(struct meridian_rx *rx);
void meridian_xsk_release(struct meridian_rx *rx);
void meridian_xsk_end(struct meridian_rx *rx);
bool meridian_xsk_post(struct meridian_rx *rx, dma_addr_t *dma);
void meridian_xsk_drop(struct meridian_rx *rx, u32 count);
struct sk_buff *meridian_xsk_receive(struct meridian_rx *rx, struct napi_struct *napi,
				     struct bpf_prog *prog, u32 bytes, u32 hash, u32 verdicts);
bool meridian_xsk_send(struct meridian_channel *channel);
void meridian_xsk_sent(struct meridian_tx *tx, u32 count);
void meridian_xsk_link_up(struct meridian *m);
int meridian_xsk_wakeup(struct net_device *netdev, u32 queue, u32 flags);

/* meridian_rx.c */
int meridian_poll_rx(struct meridian_rx *rx, struct napi_struct *napi, int budget);
bool meridian_rx_ended(const struct meridian_rx *rx);
bool meridian_fill_rx(struct meridian_rx *rx);
void meridian_release_rx(struct meridian_rx *rx);

/* meridian_pf.c */
extern const struct meridian_ops meridian_pf_ops;
void meridian_leave_function(struct meridian *m);

/* meridian_vf.c */
extern const struct meridian_ops meridian_vf_ops;
int meridian_identify_vf(struct meridian *m);
void meridian_leave_pf(struct meridian *m);
bool meridian_was_reset(struct meridian *m);
u32 meridian_read_vf(struct meridian *m, u32 offset);

/* meridian_vf_wishes.c */
bool meridian_see_flags(struct meridian *m);
int meridian_set_own_address(struct meridian *m, const u8 *address);

/* meridian_recovery.c */
extern const struct pci_error_handlers meridian_error_handlers;
extern const struct dev_pm_ops meridian_pm_ops;
void meridian_restore_pf(struct meridian *m);
void meridian_before_reset(struct meridian *m);
void meridian_after_reset(struct meridian *m);
void meridian_shutdown(struct pci_dev *pdev);

/* meridian_main.c */
int meridian_start_function(struct meridian *m);

/* meridian_service.c */
void meridian_init_service(struct meridian *m);
void meridian_start_service(struct meridian *m);
void meridian_stop_service(struct meridian *m);
int meridian_request_misc_irq(struct meridian *m);
void meridian_free_misc_irq(struct meridian *m);
void meridian_update_link(struct meridian *m);
void meridian_schedule_reset(struct meridian *m);
int meridian_reset(struct meridian *m);
int meridian_up_again(struct meridian *m);

#endif
