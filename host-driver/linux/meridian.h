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

#include "include/meridian_regs.h"
#include "meridian_told.h"
#include "qdma/mailbox/meridian_mailbox.h"
#include "qdma/mailbox/qdma_mailbox.h"
#include "qdma/qdma_queue.h"
#include "qdma/qdma_ring.h"
#include "qdma/qdma_reset.h"
#include "qdma/service/qdma_service.h"
#include "qdma/service/qdma_shares.h"

#define MERIDIAN_NAME		"meridian"
#define MERIDIAN_VERSION	"0.1"

#define MERIDIAN_PFS		4
#define MERIDIAN_PORTS		4
#define MERIDIAN_QUEUES		64	/* at most, of a PF; PF n has those from 64 n on */
#define MERIDIAN_RING_MIN	64
#define MERIDIAN_RING_MAX	4096
#define MERIDIAN_RING_DEFAULT	512
#define MERIDIAN_PUSH_DEFAULT	128	/* bytes of a frame */
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
struct meridian_channel;
struct meridian_devlink;
struct meridian_faults;
struct meridian_vector;
struct meridian_vf;

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

enum meridian_rx_count {
	MERIDIAN_RX_PACKETS, MERIDIAN_RX_BYTES, MERIDIAN_RX_NO_MEMORY, MERIDIAN_RX_BAD,
	MERIDIAN_RX_XDP_DROP, MERIDIAN_RX_XDP_TX, MERIDIAN_RX_XDP_REDIRECT, MERIDIAN_RX_XDP_ERROR,
	MERIDIAN_RX_CHECKSUM_GOOD, MERIDIAN_RX_CHECKSUM_BAD, MERIDIAN_RX_CHECKSUM_NONE,
	MERIDIAN_RX_COUNTS
};

enum meridian_tx_count {
	MERIDIAN_TX_PACKETS, MERIDIAN_TX_BYTES, MERIDIAN_TX_DROPPED, MERIDIAN_TX_STOPPED,
	MERIDIAN_TX_WOKEN, MERIDIAN_TX_XDP, MERIDIAN_TX_NEEDS_CSUM,
	MERIDIAN_TX_GATHERED, MERIDIAN_TX_LINEARIZED, MERIDIAN_TX_PUSHED,
	MERIDIAN_TX_SEGMENTED, MERIDIAN_TX_SEGMENTED_BYTES,
	MERIDIAN_TX_SEGMENTS, MERIDIAN_TX_SEGMENTS_BYTES,
	MERIDIAN_TX_COUNTS
};

/**
 * struct meridian_counts - what queues have counted
 * @rx: by enum meridian_rx_count
 * @tx: by enum meridian_tx_count
 */
struct meridian_counts {
	u64 rx[MERIDIAN_RX_COUNTS];
	u64 tx[MERIDIAN_TX_COUNTS];
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
 * struct meridian_box_irq - interrupts of a user's module, as a program sees them
 * @count: of those that a program was told of
 * @is_armed: the next one is told; under the card's lock
 */
struct meridian_box_irq {
	unsigned int count;
	bool is_armed;
};

/**
 * struct meridian_red - random early detection by the card
 * @handle: of the queueing discipline; 0: there is none
 * @told: marks that its statistics have
 * @told_of_line: marks that those of its line have
 */
struct meridian_red {
	u32 handle;
	u64 told;
	u64 told_of_line;
};

/**
 * struct meridian - a function of the card
 * @pdev: on PCIe
 * @devlink: as devlink knows it
 * @faults: that are to be told, and repaired
 * @ops: of a PF, or of a VF
 * @netdev: its network interface
 * @card: shared with its other PFs
 * @shell: BAR2
 * @window: BAR4, into which frames are pushed; NULL: the card has none
 * @window_queues: that have a place in it
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
 * @push: frames of up to so many bytes are pushed now
 * @push_wish: of up to so many, if the card can
 * @red: of a PF: what the card does of tc red; under RTNL
 * @rss: how its frames are spread
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
 * @losses: of a VF: asks whether its PF has taken addresses from it
 * @errors_next: jiffies before which the card's errors are not looked at again
 * @retry_next: jiffies before which a function that is down does not try again to end its queues,
 *	or to have them if it is waiting, and a VF that is up does not ask a silent PF again
 * @bytes_seen: what the function had sent when the service last saw a queue without progress
 * @idle_looks: how many of these looks in a row have found @bytes_seen unchanged
 * @port_next: jiffies before which a PF does not look again whether its port is open
 * @of_card: of a PF: in the list of its card's
 * @entries: what the function has in the card's filter; under the card's lock
 * @vlans: of a PF: that are to be received; under the card's lock, as are the two below
 * @is_any_vlan: of a PF: these are so many that its addresses are received in any
 * @vlan_entries: of a PF: entries for single VLANs at most
 * @mailbox_lock: of a VF: one question at a time
 * @is_pf_silent: of a VF: its PF has not answered the last question
 * @is_introduced: of a VF: its PF has heard all that a VF says first
 * @is_loss_seen: of a VF: as the service has looked, it had lost its queues
 * @granted_flags: of a VF: what its PF has granted last; all ones: not known
 * @refused_flags: of a VF: what its PF has refused since
 * @seen_flags: of a VF: the card's, as the PF was asked last
 * @lost: of a VF: how many addresses its PF has taken from it, as it has seen
 * @lost_told: lines about that; under the card's lock, as is the one below
 * @missed_told: of a VF: lines about addresses that its PF does not take
 * @loss_next: jiffies before which a VF does not ask again how many these are
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
 * @box_irq: by place of the module
 * @is_box_over: no program listens to a module any more; under the card's lock
 */
struct meridian {
	struct pci_dev *pdev;
	struct meridian_devlink *devlink;
	struct meridian_faults *faults;
	const struct meridian_ops *ops;
	struct net_device *netdev;
	struct meridian_card *card;
	u8 __iomem *shell;
	u8 __iomem *window;
	u32 window_queues;
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
	u32 push;
	u32 push_wish;
	struct meridian_red red;
	struct qdma_rss rss;
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
	struct work_struct losses;
	unsigned long errors_next;
	unsigned long retry_next;
	u64 bytes_seen;
	u32 idle_looks;
	unsigned long port_next;
	struct list_head of_card;
	struct list_head entries;
	unsigned long vlans[BITS_TO_LONGS(VLAN_N_VID)];
	bool is_any_vlan;
	unsigned int vlan_entries;
	struct mutex mailbox_lock; /* questions */
	bool is_pf_silent;
	bool is_introduced;
	bool is_loss_seen;
	u32 granted_flags;
	u32 refused_flags;
	u32 seen_flags;
	u32 lost;
	struct meridian_told lost_told;
	struct meridian_told missed_told;
	unsigned long loss_next;
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
	struct meridian_box_irq box_irq[MERIDIAN_BOX_MAX];
	bool is_box_over;
};

enum meridian_flag {
	MERIDIAN_FLAG_UP,	/* queues are there */
	MERIDIAN_FLAG_RESET,	/* between meridian_before_reset() and meridian_after_reset() */
	MERIDIAN_FLAG_GONE,	/* the card answers no more, and this was said */
	MERIDIAN_FLAG_WAITING,	/* a VF would be up if its PF answered */
	MERIDIAN_FLAG_FENCED,	/* queues may run, so the Bus Master bit is clear */
	MERIDIAN_FLAG_RUNAWAY,	/* that bit stays set: what the card has is the card's */
	MERIDIAN_FLAG_STARVED,	/* a receive queue has found no memory */
	MERIDIAN_FLAG_MISC_IRQ,	/* the first vector has its handler */
	MERIDIAN_FLAG_FILTER,	/* there was no memory to look what is to be received */
	MERIDIAN_FLAG_UNHEARD,	/* a VF's PF has not heard what is to be received */
	MERIDIAN_FLAG_UNTOLD,	/* nor how frames are spread, and whether tags are stripped */
	MERIDIAN_FLAG_OWN,	/* a VF's PF may have another address as its own than Linux */
	MERIDIAN_FLAG_ERRORS,	/* the card may have errors that were not looked at */
};

/**
 * meridian_is_vf() - whether a function is a VF
 * @pdev: of one of the driver's devices: 0x9.3f is a PF, 0xa.3f a VF of it
 *
 * Linux knows by itself only where the PF is in the same system, in no virtual machine.
 *
 * Context: Does not sleep.
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
 * Context: Does not sleep.
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
 * Context: Does not sleep.
 * Return: true if their interrupts come by rings; false if each pair has a vector to itself.
 */
static inline bool meridian_shares_vectors(const struct meridian *m)
{
	return m->vector;
}

#endif
