/* SPDX-License-Identifier: BSD-3-Clause */
/* net_meridian: what its files share. */
#ifndef MERIDIAN_H
#define MERIDIAN_H

#include <pthread.h>

#include <rte_ether.h>

#include <ethdev_driver.h>
#include <rte_tm_driver.h>

#include "include/meridian_regs.h"
#include "qdma/mailbox/meridian_mailbox.h"
#include "qdma/qdma_queue.h"
#include "qdma/qdma_reset.h"
#include "qdma/service/qdma_service.h"
#include "qdma/service/qdma_shares.h"
#include "meridian_bus.h"
#include "meridian_compat.h"
#include "meridian_log.h"
#include "meridian_queue.h"

#define MERIDIAN_PFS		4
#define MERIDIAN_PORTS		4
#define MERIDIAN_QUEUES		64	/* of a PF, if nothing else is said; PF n's begin at 64 n */
#define MERIDIAN_QUEUES_MAX	256	/* of a PF */
#define MERIDIAN_QUEUES_OF_VF	QDMA_VF_QUEUES
#define MERIDIAN_VFS		32	/* of a PF at most */
#define MERIDIAN_VF_MESSAGES	200	/* of a VF that floods, in a second, if nothing is said */
#define MERIDIAN_VF_MESSAGES_MAX 100000
#define MERIDIAN_KEY_BYTES	(4 * QDMA_RSS_WORDS)
#define MERIDIAN_GROUPS		256	/* at most, of multicast */
#define MERIDIAN_ADDRESSES	64	/* unicast, of a port */
#define MERIDIAN_MULTICAST	256	/* of a port */
#define MERIDIAN_ANY_VLAN	0xffff
#define MERIDIAN_CLASSES	8	/* of traffic, and priorities */
#define MERIDIAN_PROFILES	16	/* of shapers: two for each class */
#define MERIDIAN_CARD_COUNTERS	88	/* of a function and its port, at most */
#define MERIDIAN_FRAME_OVERHEAD	(RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)	/* the host has no FCS */

/* The card cuts frames into segments; and with which offloads frames may lie in several pieces. */
#define MERIDIAN_TX_TSO		(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO)
#define MERIDIAN_TX_SEVERAL	(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | MERIDIAN_TX_TSO)

struct meridian;

/**
 * struct meridian_ops - what a PF does by itself and a VF asks its PF for
 * @map_queues: gives the function so many queues, or none
 * @start_tx: makes a transmit queue's contexts; cuts: its frames may be cut into segments
 * @start_rx: makes a receive queue's contexts
 * @stop: takes one direction of a queue away; 0 says that the card touches its memory no more
 * @end_queues: takes all queues away, whatever is known of them; 0 says the same of all
 * @write_rss: key, indirection and order of bits
 * @set_strip: says whether frames lose their 802.1Q tag
 * @sync_filter: what is received
 * @is_link_up: as the function is told
 * @counter: one of MERIDIAN_FUNCTION_COUNTER_*, which a VF has at the same offsets
 *
 * Return: 0 or a negative errno.
 */
struct meridian_ops {
	int (*map_queues)(struct meridian *m, uint32_t count);
	int (*start_tx)(struct meridian *m, struct qdma_h2c_setting *setting, bool cuts);
	int (*start_rx)(struct meridian *m, struct qdma_c2h_setting *setting, uint32_t buffer);
	int (*stop)(struct meridian *m, uint32_t queue, bool is_rx);
	int (*end_queues)(struct meridian *m);
	int (*write_rss)(struct meridian *m);
	int (*set_strip)(struct meridian *m, bool on);
	int (*sync_filter)(struct meridian *m);
	bool (*is_link_up)(struct meridian *m);
	uint64_t (*counter)(struct meridian *m, uint32_t offset);
};

/**
 * struct meridian_bucket - a token bucket of a traffic class, as the card has it
 * @rate: in units of the card's; 0: there is no bucket
 * @burst: in 64 bytes
 */
struct meridian_bucket {
	uint32_t rate;
	uint32_t burst;
};

/**
 * struct meridian_classes - how the traffic classes of a port are set
 * @of_priority: class of the frames with a priority (PCP)
 * @strict: bitmap of classes that go before all lower ones, and before those that are not strict
 * @weight: of a class that is not strict; 0: it gets what the others leave
 * @most: a class does not exceed this rate
 * @least: below this rate a class goes before all that have theirs
 */
struct meridian_classes {
	uint8_t of_priority[MERIDIAN_CLASSES];
	uint8_t strict;
	uint8_t weight[MERIDIAN_CLASSES];
	struct meridian_bucket most[MERIDIAN_CLASSES];
	struct meridian_bucket least[MERIDIAN_CLASSES];
};

/* What a class counts. */
enum meridian_class_count {
	MERIDIAN_CLASS_FRAMES, MERIDIAN_CLASS_BYTES, MERIDIAN_CLASS_LOST, MERIDIAN_CLASS_MARKED,
	MERIDIAN_CLASS_COUNTS
};

/**
 * struct meridian_card - what the PFs of a card share in a process
 * @lock: contexts and filters take one command at a time
 * @name: of the card
 * @users: PFs
 * @port_users: started PFs of each port
 * @classes: by port, if @classes_chosen
 * @classes_chosen: by port: an application has set them
 * @classes_written: by port: the card has been told so
 * @pfs: its PFs, started or not
 * @services: of its PFs that have VFs
 * @groups: how many the card has
 * @group: its multicast
 */
struct meridian_card {
	TAILQ_ENTRY(meridian_card) next;
	pthread_mutex_t lock;
	char name[64];
	unsigned int users;
	unsigned int port_users[MERIDIAN_PORTS];
	struct meridian_classes classes[MERIDIAN_PORTS];
	bool classes_chosen[MERIDIAN_PORTS];
	bool classes_written[MERIDIAN_PORTS];
	TAILQ_HEAD(, meridian) pfs;
	struct qdma_service *services;
	uint32_t groups;
	struct qdma_group group[MERIDIAN_GROUPS];
};

/*
 * An address that the function receives; vid: only in this VLAN, 0: without a tag; or ANY_VLAN.
 * is_refused: that a VF wants to receive, and its PF does not let it.
 */
struct meridian_entry {
	struct rte_ether_addr address;
	uint16_t vid;
	bool is_refused;
};

/**
 * struct meridian_node - of a hierarchy of rte_tm
 * @id: that the application has given
 * @priority: 0 goes first
 * @weight: among those of the same priority
 * @profile: number of its shaper's, or RTE_TM_SHAPER_PROFILE_ID_NONE
 * @stats: RTE_TM_STATS_*
 * @is_there: the application has added it
 * @is_committed: it was there in the last commit
 */
struct meridian_node {
	uint32_t id;
	uint32_t priority;
	uint32_t weight;
	uint32_t profile;
	uint64_t stats;
	bool is_there;
	bool is_committed;
};

/**
 * struct meridian_profile - of shapers, that the application has added
 * @id: that the application has given
 * @most: peak rate
 * @least: committed rate
 * @is_there: the application has added it
 */
struct meridian_profile {
	uint32_t id;
	struct meridian_bucket most;
	struct meridian_bucket least;
	bool is_there;
};

/**
 * struct meridian_hierarchy - of a PF's port, as the application builds it
 * @port: the root
 * @classes: its children, by class
 * @priorities: that they may have
 * @profiles: of shapers, whether a node has them or not
 * @is_committed: the last commit was of one that had nodes
 * @before: what each class had counted as its statistics began
 */
struct meridian_hierarchy {
	struct meridian_node port;
	struct meridian_node classes[MERIDIAN_CLASSES];
	uint32_t priorities;
	struct meridian_profile profiles[MERIDIAN_PROFILES];
	bool is_committed;
	uint64_t before[MERIDIAN_CLASSES][MERIDIAN_CLASS_COUNTS];
};

/**
 * struct meridian - a port; in shared memory, but only the primary follows its pointers
 * @qdma: the function as the QDMA library knows it
 * @bus: how it is reached
 * @card: whose it is
 * @of_card: of a PF: in the list of its card's; under the card's lock, as is the next
 * @claimed: of a PF: an address that is its own before ethdev has it in its list
 * @ops: what depends on whether it is a VF
 * @data: of ethdev
 * @function: its number within the card
 * @port: Ethernet port it is bound to
 * @ports: of the card
 * @gigabits: of the port; 0: not told
 * @capabilities: MERIDIAN_IDENT_CAPABILITIES_*
 * @rate_unit: of the rates of traffic classes, bit/s on the line; 0: the card has none for a PF
 * @max_frame: bytes without FCS
 * @queue_base: first of its queues
 * @queue_limit: how many it may have
 * @mapped: how many it has while started
 * @is_started: the port is
 * @is_fenced: the card did not end the queues of before, so the function may not access memory
 * @is_away: the card has not answered for a second
 * @is_removed: it has been told that the card is gone
 * @is_reset: it has been told that the function needs a reset since it was started
 * @was_away: a PF that is started did not answer for a while
 * @glances: at a PF that is started
 * @looks: at a PF's link and card
 * @away_looks: at a card that is away
 * @rss: how its frames are spread
 * @is_spreading: they are; else all go to the first queue
 * @vlans: bitmap of those that are received, if asked for
 * @multicast: addresses
 * @multicasts: how many
 * @entries: in the card's filter
 * @entry_count: how many
 * @widened: MERIDIAN_FUNCTION_FLAGS_* in place of addresses that found no room there
 * @baseline: of the card's counters, as statistics were reset
 * @latch: of the word that a read of a counter's low half keeps
 * @pf_version: of the messages that the PF of a VF knows
 * @tx_offload: what the PF of a VF was asked for last, MERIDIAN_TX_OFFLOAD_*
 * @push: longest frame that is pushed if the card can; 0: none is
 * @is_pf_silent: the PF of a VF has not answered the last question
 * @is_loss_seen: as it was looked for, the VF had lost its queues
 * @vfs: that a PF serves, NULL: none
 * @hierarchy: of a PF whose card has traffic classes
 * @has_map: the application has given the priorities classes of its own
 * @is_unpaced: since it was started, the transmit queues of a PF are not held to rates
 */
struct meridian {
	struct qdma_device qdma;
	struct meridian_bus *bus;
	struct meridian_card *card;
	TAILQ_ENTRY(meridian) of_card;
	struct rte_ether_addr claimed;
	const struct meridian_ops *ops;
	struct rte_eth_dev_data *data;
	uint32_t function;
	uint32_t port;
	uint32_t ports;
	uint32_t gigabits;
	uint32_t capabilities;
	uint32_t rate_unit;
	uint32_t max_frame;
	uint32_t queue_base;
	uint32_t queue_limit;
	uint32_t mapped;
	bool is_started;
	bool is_fenced;
	bool is_away;
	bool is_removed;
	bool is_reset;
	bool was_away;
	uint32_t glances;
	uint32_t looks;
	uint32_t away_looks;
	struct qdma_rss rss;
	bool is_spreading;
	uint64_t vlans[4096 / 64];
	struct rte_ether_addr multicast[MERIDIAN_MULTICAST];
	uint32_t multicasts;
	struct meridian_entry *entries;
	uint32_t entry_count;
	uint32_t widened;
	uint64_t *baseline;
	pthread_mutex_t latch;
	uint32_t pf_version;
	uint32_t tx_offload;
	uint32_t push;
	bool is_pf_silent;
	bool is_loss_seen;
	struct meridian_vfs *vfs;
	struct meridian_hierarchy hierarchy;
	bool has_map;
	bool is_unpaced;
};

/**
 * struct meridian_options - what devargs say
 * @queues: of each PF
 * @address: of the port; zero: nothing is said
 * @vfs: that a PF serves
 * @trusted: bitmap of them
 * @vf_address: of the first one, others have those behind it; zero: they have random ones
 * @vf_messages: that one which floods is heard in a second
 * @push: longest frame that is written into the card; 0: none is
 */
struct meridian_options {
	uint32_t queues;
	struct rte_ether_addr address;
	uint32_t vfs;
	uint32_t trusted;
	struct rte_ether_addr vf_address;
	uint32_t vf_messages;
	uint32_t push;
};

static inline struct meridian *
meridian_of(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

static inline bool
meridian_can(const struct meridian *m, uint32_t capability)
{
	return (m->capabilities & capability) != 0;
}

/* A frame that is to be cut seldom lies in one piece, so the card has to join these, too. */
static inline bool
meridian_can_cut(const struct meridian *m)
{
	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK) &&
	       meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK) &&
	       meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK);
}

/* meridian_ethdev.c */
extern const struct eth_dev_ops meridian_primary_ops;
extern const struct eth_dev_ops meridian_secondary_ops;
int meridian_close(struct rte_eth_dev *dev);

/* meridian_take.c */
void meridian_give_up(struct meridian *m);
int meridian_take_pf(struct meridian *m);

/* meridian_hw.c */
uint32_t meridian_read(struct meridian *m, uint32_t offset);
void meridian_write(struct meridian *m, uint32_t offset, uint32_t value);
uint64_t meridian_read_counter(struct meridian *m, uint32_t offset);
uint32_t meridian_read_function(struct meridian *m, uint32_t offset);
void meridian_write_function(struct meridian *m, uint32_t offset, uint32_t value);
void meridian_flush(struct meridian *m);
bool meridian_present(struct meridian *m);
int meridian_check_map(const char *name, uint32_t magic, uint32_t version);
int meridian_identify(struct meridian *m, uint32_t queues);
void meridian_enforce_credit(struct meridian *m);
void meridian_set_queues(struct meridian *m, uint32_t function, uint32_t base, uint32_t count);
void meridian_set_tx(struct meridian *m, uint32_t queue, bool is_paced, uint32_t offload);
void meridian_set_rx(struct meridian *m, uint32_t queue, uint32_t buffer, uint32_t entry_log2);

/* meridian_port.c */
void meridian_enable_port(struct meridian *m, bool on);
void meridian_look_after_port(struct meridian *m);
void meridian_choose_shares(struct meridian *m, const struct meridian_classes *shares);
void meridian_choose_rates(struct meridian *m, uint32_t number,
			   const struct meridian_classes *shares);
void meridian_choose_map(struct meridian *m, const uint8_t *of_priority);

/* meridian_classes.c */
extern const struct meridian_classes meridian_classes_after_reset;
bool meridian_has_classes(const struct meridian *m);
void meridian_read_rate_unit(struct meridian *m);
void meridian_write_classes(struct meridian *m, bool is_open);
int meridian_get_classes(struct meridian *m, struct meridian_classes *classes);
uint64_t meridian_read_class(struct meridian *m, uint32_t number, enum meridian_class_count count);

/* meridian_tm.c, meridian_tm_capabilities.c, meridian_tm_shapers.c */
int meridian_tm_ops(struct rte_eth_dev *dev, void *ops);
void meridian_tm_begin_counts(struct meridian *m);
int meridian_tm_refuse(struct rte_tm_error *error, int code, enum rte_tm_error_type type,
		       const char *why);
const struct meridian_node *meridian_tm_find(const struct meridian *m, uint32_t id);
int meridian_tm_capabilities(struct rte_eth_dev *dev, struct rte_tm_capabilities *capabilities,
			     struct rte_tm_error *error);
int meridian_tm_level(struct rte_eth_dev *dev, uint32_t level,
		      struct rte_tm_level_capabilities *capabilities, struct rte_tm_error *error);
int meridian_tm_node(struct rte_eth_dev *dev, uint32_t id,
		     struct rte_tm_node_capabilities *capabilities, struct rte_tm_error *error);
uint64_t meridian_tm_lowest_rate(const struct meridian *m);
uint64_t meridian_tm_highest_rate(const struct meridian *m);
const struct meridian_profile *meridian_tm_profile(const struct meridian *m, uint32_t id);
int meridian_tm_add_profile(struct rte_eth_dev *dev, uint32_t id, MERIDIAN_TM_SHAPER params,
			    struct rte_tm_error *error);
int meridian_tm_delete_profile(struct rte_eth_dev *dev, uint32_t id, struct rte_tm_error *error);
int meridian_tm_add_shared(struct rte_eth_dev *dev, uint32_t id, uint32_t profile,
			   struct rte_tm_error *error);
int meridian_tm_check_shaper(const struct meridian *m, uint32_t profile, bool is_port,
			     struct rte_tm_error *error);
void meridian_tm_shape(const struct meridian *m, uint32_t number, uint32_t profile,
		       struct meridian_classes *shares);
int meridian_tm_update_shaper(struct rte_eth_dev *dev, uint32_t id, uint32_t profile,
			      struct rte_tm_error *error);
int meridian_tm_check_committed(const struct meridian *m, const struct meridian_classes *shares,
				struct rte_tm_error *error);

/* meridian_dcb.c */
int meridian_configure_map(struct rte_eth_dev *dev);
int meridian_dcb_info(struct rte_eth_dev *dev, struct rte_eth_dcb_info *info);

/* meridian_card.c */
struct meridian_card *meridian_card_get(const char *name);
void meridian_card_put(struct meridian_card *card);
void meridian_card_join(struct meridian *m);
void meridian_card_leave(struct meridian *m);

/* meridian_pf.c, meridian_vf.c */
extern const struct meridian_ops meridian_pf_ops;
extern const struct meridian_ops meridian_vf_ops;
int meridian_identify_vf(struct meridian *m);
void meridian_leave_pf(struct meridian *m);
int meridian_set_own_address(struct meridian *m, const struct rte_ether_addr *address);
int meridian_ask_flags(struct meridian *m);
int meridian_join_pf_again(struct meridian *m);
bool meridian_was_reset(struct meridian *m);

/* meridian_vfs.c, meridian_options.c */
int meridian_start_vfs(struct meridian *m, const struct meridian_options *options);
void meridian_restart_vfs(struct meridian *m);
void meridian_stop_vfs(struct meridian *m);
uint64_t *meridian_vf_counts(struct meridian *m);
int meridian_take_options(const struct rte_devargs *devargs, struct meridian_options *options);

/* meridian_vf_addresses.c */
bool meridian_is_of_vf(const struct meridian *m, const struct rte_ether_addr *address);
bool meridian_is_left_by_vf(const struct meridian *m, uint32_t function,
			    const struct rte_ether_addr *address);

/* meridian_ring.c */
uint32_t meridian_least_buffer(const struct meridian *m);
int meridian_rx_setup(struct rte_eth_dev *dev, uint16_t index, uint16_t slots, unsigned int socket,
		      const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int meridian_tx_setup(struct rte_eth_dev *dev, uint16_t index, uint16_t slots, unsigned int socket,
		      const struct rte_eth_txconf *conf);
void meridian_rx_release(struct rte_eth_dev *dev, uint16_t index);
void meridian_tx_release(struct rte_eth_dev *dev, uint16_t index);
int meridian_rx_start(struct rte_eth_dev *dev, uint16_t index);
int meridian_tx_start(struct rte_eth_dev *dev, uint16_t index);
void meridian_rx_info(struct rte_eth_dev *dev, uint16_t index, struct rte_eth_rxq_info *info);
void meridian_tx_info(struct rte_eth_dev *dev, uint16_t index, struct rte_eth_txq_info *info);

/* meridian_end.c */
void meridian_close_tx(struct meridian_tx *tx);
int meridian_rx_stop(struct rte_eth_dev *dev, uint16_t index);
int meridian_tx_stop(struct rte_eth_dev *dev, uint16_t index);
int meridian_end_tx(struct rte_eth_dev *dev);
int meridian_end_rx(struct rte_eth_dev *dev);
int meridian_fence(struct rte_eth_dev *dev, int error);
int meridian_end_fence(struct rte_eth_dev *dev);

/* meridian_interrupt.c */
bool meridian_is_interrupting(const struct rte_eth_dev *dev);
int meridian_check_interrupts(const struct rte_eth_dev *dev);
int meridian_start_interrupts(struct rte_eth_dev *dev);
void meridian_stop_interrupts(struct rte_eth_dev *dev);
int meridian_enable_interrupt(struct rte_eth_dev *dev, uint16_t index);
int meridian_disable_interrupt(struct rte_eth_dev *dev, uint16_t index);

/* meridian_burst.c */
void meridian_choose_bursts(struct rte_eth_dev *dev);
int meridian_rx_mode(struct rte_eth_dev *dev, uint16_t index, struct rte_eth_burst_mode *mode);
int meridian_tx_mode(struct rte_eth_dev *dev, uint16_t index, struct rte_eth_burst_mode *mode);
bool meridian_is_scattered(const struct rte_eth_dev *dev);
void meridian_set_status_calls(struct rte_eth_dev *dev);

/* meridian_owner.c */
bool meridian_is_anothers(const struct meridian *m, uint32_t function,
			  const struct rte_ether_addr *address);
int meridian_claim(struct meridian *m, uint32_t function, const struct rte_ether_addr *address);
int meridian_own(struct meridian *m, const struct rte_ether_addr *address);
void meridian_disown(struct meridian *m);
void meridian_take_address(struct meridian *m);

/* meridian_mac.c */
void meridian_draw_hash(struct meridian *m);
int meridian_mac_add(struct meridian *m, const struct rte_ether_addr *address, uint16_t vid,
		     uint32_t value);
int meridian_mac_find(struct meridian *m, const struct rte_ether_addr *address, uint16_t vid);
int meridian_mac_remove(struct meridian *m, const struct rte_ether_addr *address, uint16_t vid,
			uint32_t value);

/* meridian_filter.c, meridian_group.c */
int meridian_sync_filter(struct meridian *m);
void meridian_clear_filter(struct meridian *m);
int meridian_join_group(struct meridian *m, uint32_t function,
			const struct rte_ether_addr *address, uint16_t vid);
void meridian_leave_group(struct meridian *m, uint32_t function,
			  const struct rte_ether_addr *address, uint16_t vid);

/* meridian_receive.c: what ethdev says of the addresses to be received */
int meridian_promiscuous_on(struct rte_eth_dev *dev);
int meridian_promiscuous_off(struct rte_eth_dev *dev);
int meridian_all_multicast_on(struct rte_eth_dev *dev);
int meridian_all_multicast_off(struct rte_eth_dev *dev);
int meridian_mac_set(struct rte_eth_dev *dev, struct rte_ether_addr *address);
int meridian_mac_new(struct rte_eth_dev *dev, struct rte_ether_addr *address, uint32_t index,
		     uint32_t pool);
void meridian_mac_gone(struct rte_eth_dev *dev, uint32_t index);
int meridian_multicast_set(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t count);
int meridian_vlan_filter(struct rte_eth_dev *dev, uint16_t vid, int on);
int meridian_vlan_offload(struct rte_eth_dev *dev, int mask);

/* meridian_rss.c */
void meridian_draw_key(const struct meridian *m, uint32_t function, struct qdma_rss *rss);
void meridian_default_rss(struct meridian *m);
void meridian_rss_in_force(const struct meridian *m, struct qdma_rss *rss);
int meridian_configure_rss(struct rte_eth_dev *dev);
bool meridian_can_spread(const struct meridian *m);
void meridian_write_function_rss(struct meridian *m, uint32_t function, const struct qdma_rss *rss);
int meridian_write_rss(struct meridian *m);
int meridian_reta_set(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta,
		      uint16_t size);
int meridian_reta_get(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta,
		      uint16_t size);
int meridian_rss_set(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int meridian_rss_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
uint64_t meridian_rss_types(const struct meridian *m);

/* meridian_stats.c */
int meridian_stats_get(MERIDIAN_STATS_ARGS);
int meridian_stats_reset(struct rte_eth_dev *dev);
void meridian_take_baseline(struct meridian *m);
int meridian_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *stats, unsigned int count);
int meridian_xstats_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names,
			  unsigned int count);

/* meridian_link.c */
int meridian_link_update(struct rte_eth_dev *dev, int wait);
void meridian_watch(struct rte_eth_dev *dev, bool on);

#endif
