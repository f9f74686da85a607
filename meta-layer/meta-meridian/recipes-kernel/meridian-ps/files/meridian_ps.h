/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux driver of the card's own ARM side (PS): what its files share. docs/ps-port.md of the
 * repository has the hardware.
 */
#ifndef MERIDIAN_PS_H
#define MERIDIAN_PS_H

#include <linux/bitfield.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>

#include "meridian_regs.h"

struct kernel_hwtstamp_config;

#define MERIDIAN_PS_NAME	"meridian_ps"
#define MERIDIAN_PS_PORTS	MERIDIAN_PS_RING_MAX
#define MERIDIAN_PS_BOXES	MERIDIAN_BOX_MAX
#define MERIDIAN_PS_ADDRESSES	MERIDIAN_PORT_PS_ADDRESS_LOW_MAX
#define MERIDIAN_PS_LONGEST	9600	/* bytes of a frame that a descriptor can have */
#define MERIDIAN_PS_HEADER	(ETH_HLEN + 2 * VLAN_HLEN) /* with two VLAN tags */
#define MERIDIAN_PS_RING_SMALL	64
#define MERIDIAN_PS_RING_LARGE	4096
#define MERIDIAN_PS_SMALLEST_RATE	1490	/* frames a second, of a limit */
#define MERIDIAN_PS_LARGEST_RATE	1524388	/* the same */
#define MERIDIAN_PS_LARGEST_BURST	255
#define MERIDIAN_PS_PINS	2	/* that can be asked for: input, periodic output */
#define MERIDIAN_PS_STAMPS	16	/* the card keeps as many until they are read */

/**
 * struct meridian_ps_descriptor - a frame of a ring
 * @address: of the buffer
 * @length: of the buffer, or of the frame to be sent
 * @request: transmit: MERIDIAN_PS_WANT_STAMP
 * @tag: transmit: comes back with the timestamp
 * @unused: not looked at
 * @nanoseconds: receive: timestamp
 * @done_length: bytes of the frame
 * @done_tag: transmit: the tag
 * @done: MERIDIAN_PS_DONE_*; all that the card writes is there when the generation is
 */
struct meridian_ps_descriptor {
	__le64 address;
	__le16 length;
	__le16 request;
	__le16 tag;
	__le16 unused;
	__le32 nanoseconds;
	__le16 done_length;
	__le16 done_tag;
	__le64 done;
};

static_assert(sizeof(struct meridian_ps_descriptor) == 32);

#define MERIDIAN_PS_WANT_STAMP		BIT(0)
#define MERIDIAN_PS_DONE_SECONDS	GENMASK_ULL(47, 0)
#define MERIDIAN_PS_DONE_GENERATION	BIT_ULL(48)
#define MERIDIAN_PS_DONE_STAMPED	BIT_ULL(49)
#define MERIDIAN_PS_DONE_ERROR		BIT_ULL(50)

/**
 * struct meridian_ps_ring - what both directions have
 * @descriptor: in memory that the card sees
 * @dma: of @descriptor
 * @size: descriptors, a power of two
 * @block: offset of its registers from those of the receive ring
 * @producer: descriptors ever posted
 * @consumer: descriptors whose completion was taken
 */
struct meridian_ps_ring {
	struct meridian_ps_descriptor *descriptor;
	dma_addr_t dma;
	u32 size;
	u32 block;
	u16 producer;
	u16 consumer;
};

/**
 * struct meridian_ps_rx_stats - what the poll counts of frames received
 * @sync: of all of it
 * @packets: handed to the stack
 * @bytes: of these
 * @no_memory: frames lost, as there was no memory for them
 * @no_buffer: how often there was no memory for a buffer; the ring is shorter, no frame is lost
 * @errors: frames that the card says are wrong
 * @bad_completion: frames of a length that cannot be
 */
struct meridian_ps_rx_stats {
	struct u64_stats_sync sync;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t no_memory;
	u64_stats_t no_buffer;
	u64_stats_t errors;
	u64_stats_t bad_completion;
};

/**
 * struct meridian_ps_tx_stats - what is counted of frames sent
 * @sync: of all of it
 * @packets: that the card has taken and not refused
 * @bytes: of these
 * @dropped: not given to the card, or not taken by it when its ring ended
 * @errors: frames that the card could not send
 * @stopped: how often the queue was stopped, as the ring was full
 * @woken: how often it was woken
 */
struct meridian_ps_tx_stats {
	struct u64_stats_sync sync;
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t dropped;
	u64_stats_t errors;
	u64_stats_t stopped;
	u64_stats_t woken;
};

/**
 * struct meridian_ps_rx - receive
 * @ring: its descriptors
 * @pool: of buffers
 * @page: of each descriptor
 * @order: of the pages
 * @room: bytes of a buffer that the card may fill
 * @stats: written by the poll alone
 */
struct meridian_ps_rx {
	struct meridian_ps_ring ring;
	struct page_pool *pool;
	struct page **page;
	u32 order;
	u32 room;
	struct meridian_ps_rx_stats stats;
};

/**
 * struct meridian_ps_tx_frame - a frame that the card has
 * @skb: to be freed
 * @dma: of its bytes
 * @length: of its bytes
 */
struct meridian_ps_tx_frame {
	struct sk_buff *skb;
	dma_addr_t dma;
	u32 length;
};

/**
 * struct meridian_ps_tx - transmit
 * @ring: its descriptors
 * @frame: of each descriptor
 * @sent: written by who holds the transmit lock
 * @done: written by the poll alone
 */
struct meridian_ps_tx {
	struct meridian_ps_ring ring;
	struct meridian_ps_tx_frame *frame;
	struct meridian_ps_tx_stats sent;
	struct meridian_ps_tx_stats done;
};

/**
 * struct meridian_ps_wait - a frame that waits for its transmit timestamp
 * @skb: who asked; NULL: the place is free
 * @tag: that the descriptor had
 * @since: jiffies
 */
struct meridian_ps_wait {
	struct sk_buff *skb;
	u16 tag;
	unsigned long since;
};

/**
 * struct meridian_ps_stamp - transmit timestamps
 * @lock: of all of it; netpoll sends frames with interrupts off
 * @wait: those under way
 * @turn: makes the tags of a place differ
 * @delivered: timestamps handed to who asked
 * @late: frames given up, as no timestamp came
 * @unknown: timestamps that no frame waited for
 * @skipped: frames sent without one, as too many were under way
 */
struct meridian_ps_stamp {
	spinlock_t lock; /* see above */
	struct meridian_ps_wait wait[MERIDIAN_PS_STAMPS];
	u16 turn;
	u64 delivered;
	u64 late;
	u64 unknown;
	u64 skipped;
};

/**
 * struct meridian_ps_config - what an administrator chooses, in force after a restart of the port
 * @rx_size: descriptors
 * @tx_size: descriptors
 * @mtu: that the receive buffers are for
 */
struct meridian_ps_config {
	u32 rx_size;
	u32 tx_size;
	u32 mtu;
};

/**
 * struct meridian_ps_coalesce - when completions raise the interrupt
 * @usecs: after the first
 * @frames: or with so many; 0: no such limit
 */
struct meridian_ps_coalesce {
	u32 usecs;
	u32 frames;
};

/**
 * struct meridian_ps_rate - how many frames may come
 * @rate: a second; 0: any
 * @burst: at once
 */
struct meridian_ps_rate {
	u32 rate;
	u32 burst;
};

/**
 * struct meridian_ps_limits - what the card lets through from the wire
 * @lock: one at a time writes them to the card
 * @others: what is not of PTP
 * @ptp: what is
 */
struct meridian_ps_limits {
	struct mutex lock; /* see above */
	struct meridian_ps_rate others;
	struct meridian_ps_rate ptp;
};

/**
 * struct meridian_ps_latency - what frames take between the connector and where the MAC stamps them
 * @lock: one at a time changes them and writes them to the card, so that both agree
 * @rx_ps: picoseconds, from the connector
 * @tx_ps: picoseconds, to it
 */
struct meridian_ps_latency {
	struct mutex lock; /* see above */
	s32 rx_ps;
	s32 tx_ps;
};

enum {
	MERIDIAN_PS_FLAG_UP,		/* the rings run */
	MERIDIAN_PS_FLAG_STARVED,	/* the receive ring has found no memory */
	MERIDIAN_PS_FLAG_RESTART,	/* the rings must be taken down and up */
	MERIDIAN_PS_FLAG_ABSENT,	/* the card does not answer */
	MERIDIAN_PS_FLAG_STUCK,		/* the card does not end the rings */
};

/**
 * struct meridian_ps_port - an Ethernet port
 * @card: it is of
 * @netdev: of the port
 * @index: of the port on the card
 * @flags: MERIDIAN_PS_FLAG_*
 * @napi: receive, transmit completions, and transmit timestamps
 * @rx: receive
 * @tx: transmit
 * @stamp: transmit timestamps
 * @tstamp_tx: HWTSTAMP_TX_*
 * @tstamp_rx: HWTSTAMP_FILTER_ALL or HWTSTAMP_FILTER_NONE
 * @config: see there
 * @rx_coalesce: see there
 * @tx_coalesce: see there
 * @address: what the card's filter holds, as its registers have it; 0: nothing
 * @limits: see there
 * @latency: see there
 * @service: looks after link and timeouts while the port is up
 * @restart: takes the rings down and up
 * @detached: looks whether the card has ended the rings of a port that is detached
 * @patience: jiffies until it looks again
 * @restarts: how often the rings were taken down and up, by why
 * @restarts.rx_error: the receive ring had stopped by itself
 * @restarts.tx_error: the transmit ring had
 * @restarts.tx_timeout: frames were not taken
 * @restarts.card_reset: the card was reset
 * @restarts.failed: how often they did not end or start
 */
struct meridian_ps_port {
	struct meridian_ps *card;
	struct net_device *netdev;
	u32 index;
	unsigned long flags;
	struct napi_struct napi;
	struct meridian_ps_rx rx;
	struct meridian_ps_tx tx;
	struct meridian_ps_stamp stamp;
	int tstamp_tx;
	int tstamp_rx;
	struct meridian_ps_config config;
	struct meridian_ps_coalesce rx_coalesce;
	struct meridian_ps_coalesce tx_coalesce;
	u64 address[MERIDIAN_PS_ADDRESSES];
	struct meridian_ps_limits limits;
	struct meridian_ps_latency latency;
	struct delayed_work service;
	struct work_struct restart;
	struct delayed_work detached;
	unsigned long patience;
	struct {
		u64 rx_error;
		u64 tx_error;
		u64 tx_timeout;
		u64 card_reset;
		u64 failed;
	} restarts;
};

/**
 * struct meridian_ps_ptp - the PTP clock
 * @info: what the kernel calls
 * @pin: what each is for
 * @clock: the kernel's
 * @command: one at a time changes the clock and its pins
 * @latch: one at a time reads the clock
 * @nominal: increment of a cycle in 2^-32 ns
 * @increment: in force
 * @events: MERIDIAN_PTP_EVENT_ENABLE
 * @pps: MERIDIAN_PTP_PPS
 * @extts: MERIDIAN_PTP_EXTTS
 * @perout: the periodic output that was asked for
 * @perout.start: nanoseconds since the clock's epoch
 * @perout.period: nanoseconds; 0: there is none
 * @perout.width: nanoseconds
 */
struct meridian_ps_ptp {
	struct ptp_clock_info info;
	struct ptp_pin_desc pin[MERIDIAN_PS_PINS];
	struct ptp_clock *clock;
	struct mutex command; /* see above */
	spinlock_t latch; /* see above */
	u64 nominal;
	u64 increment;
	u32 events;
	u32 pps;
	u32 extts;
	struct {
		u64 start;
		u64 period;
		u64 width;
	} perout;
};

/**
 * struct meridian_ps_box - interrupts of the user's modules, a bit each
 * @lock: what follows, and the registers
 * @enabled: the next one of these is told
 * @told: of these the files are to be woken
 * @count: of those that were told, by module
 * @is_over: the files are about to go
 * @wake: wakes who waits
 */
struct meridian_ps_box {
	spinlock_t lock; /* see above */
	u32 enabled;
	u32 told;
	unsigned int count[MERIDIAN_PS_BOXES];
	bool is_over;
	struct work_struct wake;
};

/**
 * struct meridian_ps - the card
 * @dev: platform device
 * @regs: the card's registers
 * @irq: the kernel's number of its interrupt
 * @capabilities: MERIDIAN_IDENT_CAPABILITIES_*
 * @ports: it has
 * @addresses: that the filter of a port holds
 * @longest: bytes of the longest frame, without FCS
 * @has_clocks: it counts the cycles of the MACs' clocks
 * @counter_lock: one at a time reads counters of two words, or latches clocks
 * @port: those that have a netdev
 * @ptp: the clock
 * @watch: looks after it
 * @asleep: from suspend to resume, when no port may start its rings; under RTNL
 * @box: interrupts of the user's modules
 */
struct meridian_ps {
	struct device *dev;
	void __iomem *regs;
	int irq;
	u32 capabilities;
	u32 ports;
	u32 addresses;
	u32 longest;
	bool has_clocks;
	spinlock_t counter_lock; /* see above */
	struct meridian_ps_port *port[MERIDIAN_PS_PORTS];
	struct meridian_ps_ptp ptp;
	struct delayed_work watch;
	bool asleep;
	struct meridian_ps_box box;
};

static inline u32 meridian_ps_read(struct meridian_ps *card, u32 offset)
{
	return readl(card->regs + offset);
}

static inline void meridian_ps_write(struct meridian_ps *card, u32 offset, u32 value)
{
	writel(value, card->regs + offset);
}

/* Whether the card still answers: it does not while its logic is not loaded, or is another. */
static inline bool meridian_ps_present(struct meridian_ps *card)
{
	return meridian_ps_read(card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_MAGIC) ==
	       MERIDIAN_MAGIC;
}

static inline u32 meridian_ps_ptp_read(struct meridian_ps *card, u32 offset)
{
	return meridian_ps_read(card, MERIDIAN_PTP_PS_BASE + offset);
}

static inline void meridian_ps_ptp_write(struct meridian_ps *card, u32 offset, u32 value)
{
	meridian_ps_write(card, MERIDIAN_PTP_PS_BASE + offset, value);
}

/* Registers of a port's rings: MERIDIAN_PS_RING_*. */
static inline u32 meridian_ps_ring_read(struct meridian_ps_port *port, u32 offset)
{
	return meridian_ps_read(port->card, MERIDIAN_PS_RING_PS_BASE(port->index) + offset);
}

static inline void meridian_ps_ring_write(struct meridian_ps_port *port, u32 offset, u32 value)
{
	meridian_ps_write(port->card, MERIDIAN_PS_RING_PS_BASE(port->index) + offset, value);
}

/* Registers of a port: MERIDIAN_PORT_*. */
static inline u32 meridian_ps_port_read(struct meridian_ps_port *port, u32 offset)
{
	return meridian_ps_read(port->card, MERIDIAN_PORT_PS_BASE(port->index) + offset);
}

static inline void meridian_ps_port_write(struct meridian_ps_port *port, u32 offset, u32 value)
{
	meridian_ps_write(port->card, MERIDIAN_PORT_PS_BASE(port->index) + offset, value);
}

static inline u32 meridian_ps_next(const struct meridian_ps_ring *ring, u16 index)
{
	return index & (ring->size - 1);
}

static inline u32 meridian_ps_posted(const struct meridian_ps_ring *ring)
{
	return (u16)(READ_ONCE(ring->producer) - READ_ONCE(ring->consumer));
}

/* meridian_ps_netdev.c */
int meridian_ps_add_port(struct meridian_ps *card, u32 index);

/* meridian_ps_port.c */
int meridian_ps_poll(struct napi_struct *napi, int budget);
int meridian_ps_begin_port(struct meridian_ps_port *port);
int meridian_ps_up(struct meridian_ps_port *port);
int meridian_ps_down(struct meridian_ps_port *port);
int meridian_ps_configure(struct meridian_ps_port *port, const struct meridian_ps_config *config);
bool meridian_ps_port_interrupt(struct meridian_ps_port *port);
bool meridian_ps_mask_port(struct meridian_ps_port *port);

/* meridian_ps_address.c */
int meridian_ps_take_address(struct meridian_ps_port *port, struct device_node *node);
void meridian_ps_tell_host(struct meridian_ps_port *port, struct device_node *node);

/* meridian_ps_ring.c */
int meridian_ps_alloc_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring, u32 size);
void meridian_ps_free_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring);
void meridian_ps_place_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring);
void meridian_ps_start_ring(struct meridian_ps_port *port, struct meridian_ps_ring *ring);
int meridian_ps_reset_rings(struct meridian_ps_port *port);
bool meridian_ps_has_ended(struct meridian_ps_port *port);
void meridian_ps_write_coalesce(struct meridian_ps_port *port);
u32 meridian_ps_ring_error(struct meridian_ps_port *port, const struct meridian_ps_ring *ring);
bool meridian_ps_take(struct meridian_ps_ring *ring, u64 *done);

/* meridian_ps_rx.c */
int meridian_ps_alloc_rx(struct meridian_ps_port *port);
void meridian_ps_free_rx(struct meridian_ps_port *port);
void meridian_ps_leave_rx(struct meridian_ps_port *port);
bool meridian_ps_fill_rx(struct meridian_ps_port *port);
int meridian_ps_poll_rx(struct meridian_ps_port *port, int budget);

/* meridian_ps_tx.c */
int meridian_ps_alloc_tx(struct meridian_ps_port *port);
void meridian_ps_free_tx(struct meridian_ps_port *port);
void meridian_ps_leave_tx(struct meridian_ps_port *port);
netdev_tx_t meridian_ps_start_xmit(struct sk_buff *skb, struct net_device *netdev);
void meridian_ps_poll_tx(struct meridian_ps_port *port, int budget);

/* meridian_ps_service.c */
int meridian_ps_init_service(struct meridian_ps_port *port);
void meridian_ps_start_service(struct meridian_ps_port *port);
void meridian_ps_stop_service(struct meridian_ps_port *port);

/* meridian_ps_attach.c */
int meridian_ps_init_detach(struct meridian_ps_port *port);

/* meridian_ps_detach.c */
void meridian_ps_detach(struct meridian_ps_port *port, int error);
void meridian_ps_look_again(struct meridian_ps_port *port);

/* meridian_ps_pm.c */
extern const struct dev_pm_ops meridian_ps_pm_ops;

/* meridian_ps_filter.c */
void meridian_ps_set_rx_mode(struct net_device *netdev);
void meridian_ps_close_filter(struct meridian_ps_port *port);
int meridian_ps_set_mac_address(struct net_device *netdev, void *data);

/* meridian_ps_limit.c */
void meridian_ps_init_limits(struct meridian_ps_port *port, const struct device_node *node);
void meridian_ps_write_limits(struct meridian_ps_port *port);
void meridian_ps_set_limit(struct meridian_ps_port *port, struct meridian_ps_rate *limit,
			   const struct meridian_ps_rate *wanted);

/* meridian_ps_devlink.c */
#if IS_ENABLED(CONFIG_NET_DEVLINK)
int meridian_ps_init_devlink(struct meridian_ps *card);
#else
static inline int meridian_ps_init_devlink(struct meridian_ps *card)
{
	return 0;
}
#endif

/* meridian_ps_latency.c */
void meridian_ps_init_latency(struct meridian_ps_port *port, const struct device_node *node);
void meridian_ps_write_latency(struct meridian_ps_port *port);
int meridian_ps_add_latency_files(struct meridian_ps_port *port);

/* meridian_ps_stamp.c */
void meridian_ps_init_stamp(struct meridian_ps_port *port);
bool meridian_ps_want_stamp(struct meridian_ps_port *port, struct sk_buff *skb, u16 *tag);
void meridian_ps_cancel_stamp(struct meridian_ps_port *port, u16 tag);
void meridian_ps_poll_stamps(struct meridian_ps_port *port);
void meridian_ps_expire_stamps(struct meridian_ps_port *port, bool all);

/* meridian_ps_hwtstamp.c */
void meridian_ps_stamp_rx(struct meridian_ps_port *port, struct sk_buff *skb, u64 seconds,
			  u32 nanoseconds);
int meridian_ps_hwtstamp_get(struct net_device *netdev, struct kernel_hwtstamp_config *config);
int meridian_ps_hwtstamp_set(struct net_device *netdev, struct kernel_hwtstamp_config *config,
			     struct netlink_ext_ack *extack);

/* meridian_ps_ptp.c */
int meridian_ps_init_ptp(struct meridian_ps *card);
void meridian_ps_restore_ptp(struct meridian_ps *card);

/* meridian_ps_time.c */
void meridian_ps_time(struct meridian_ps *card, struct timespec64 *now,
		      struct ptp_system_timestamp *system);

/* meridian_ps_pins.c */
extern const struct ptp_pin_desc meridian_ps_pins[MERIDIAN_PS_PINS];
int meridian_ps_verify_pin(struct ptp_clock_info *info, unsigned int pin,
			   enum ptp_pin_function function, unsigned int channel);
int meridian_ps_enable_pins(struct meridian_ps *card, const struct ptp_clock_request *request,
			    int on);
void meridian_ps_restart_perout(struct meridian_ps *card);
void meridian_ps_write_pins(struct meridian_ps *card);
void meridian_ps_close_pins(struct meridian_ps *card);
bool meridian_ps_ptp_interrupt(struct meridian_ps *card);
bool meridian_ps_mask_events(struct meridian_ps *card);

/* meridian_ps_box.c */
int meridian_ps_init_box(struct meridian_ps *card);
int meridian_ps_add_box_files(struct meridian_ps *card);
bool meridian_ps_box_interrupt(struct meridian_ps *card);
void meridian_ps_restore_box(struct meridian_ps *card);

/* meridian_ps_watch.c */
int meridian_ps_init_watch(struct meridian_ps *card);
void meridian_ps_start_watch(struct meridian_ps *card);
void meridian_ps_check_clock(struct meridian_ps *card);

/* meridian_ps_stats.c */
void meridian_ps_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats);
int meridian_ps_stats_count(struct meridian_ps_port *port);
void meridian_ps_stats_strings(struct meridian_ps_port *port, u8 *data);
void meridian_ps_stats_values(struct meridian_ps_port *port, u64 *data);
u64 meridian_ps_read_stat(const struct u64_stats_sync *sync, const u64_stats_t *counter);
u64 meridian_ps_read_counter(struct meridian_ps *card, u32 offset);
u64 meridian_ps_read_ring_counter(struct meridian_ps_port *port, u32 offset);
u64 meridian_ps_read_port_counter(struct meridian_ps_port *port, u32 offset);
u64 meridian_ps_read_policed(struct meridian_ps_port *port);

/* meridian_ps_queue_stats.c */
#ifdef MERIDIAN_PS_HAS_QUEUE_STATS
extern const struct netdev_stat_ops meridian_ps_stat_ops;
void meridian_ps_ts_stats(struct net_device *netdev, struct ethtool_ts_stats *stats);
#endif

/* meridian_ps_mac_stats.c */
void meridian_ps_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats);
void meridian_ps_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			    const struct ethtool_rmon_hist_range **ranges);

/* meridian_ps_ethtool.c */
extern const struct ethtool_ops meridian_ps_ethtool_ops;

#endif
