/* SPDX-License-Identifier: GPL-2.0-only */
/* VFs as their PF has them. */
#ifndef MERIDIAN_VFS_H
#define MERIDIAN_VFS_H

#include <linux/if_link.h>
#include <linux/netdevice.h>

struct meridian;
struct qdma_message;

/**
 * struct meridian_vf - a VF as its PF knows it
 * @function: its number within the card
 * @count: queues it was given
 * @is_known: it has said hello
 * @address: its own
 * @is_fixed: the system's administrator has chosen @address
 * @is_trusted: it may ask for all multicast, promiscuous mode and more addresses
 * @may_spoof: it may send with any source address
 * @flags: that it has asked for
 * @mapped: queues that frames may go to
 * @strip: its frames lose their 802.1Q tag
 * @entries: what it has in the card's filter
 * @tx_offload: its transmit queues ask for things
 * @vlan: control information of the tag that its frames get; 0: none
 * @min_rate: Mb/s that it gets before others
 * @max_rate: Mb/s that it does not exceed; 0: none
 * @link_state: IFLA_VF_LINK_STATE_*
 * @owed: ns of ktime at which what its messages are charged is paid
 * @is_deaf: it has not taken the last answer
 */
struct meridian_vf {
	u32 function;
	u32 count;
	bool is_known;
	u8 address[ETH_ALEN];
	bool is_fixed;
	bool is_trusted;
	bool may_spoof;
	u32 flags;
	u32 mapped;
	bool strip;
	struct list_head entries;
	bool tx_offload;
	u16 vlan;
	u32 min_rate;
	u32 max_rate;
	u32 link_state;
	u64 owed;
	bool is_deaf;
};

/**
 * struct meridian_mail - messages of a PF's VFs
 * @taken: out of the mailbox
 * @refused: of those, answered with a reason
 * @slowed: of those, sent by a VF that floods
 * @untaken: answers that a VF did not take
 */
struct meridian_mail {
	u64 taken;
	u64 refused;
	u64 slowed;
	u64 untaken;
};

/* meridian_mbx.c */
int meridian_answer_vf(struct meridian *m, struct meridian_vf *vf,
		       const struct qdma_message *request, struct qdma_message *answer);
void meridian_drop_vf(struct meridian *m, struct meridian_vf *vf);
void meridian_write_vf(struct meridian *m, struct meridian_vf *vf);

/* meridian_mail.c */
void meridian_serve_vfs(struct meridian *m);

/* meridian_sriov.c */
int meridian_sriov_configure(struct meridian *m, int count);
int meridian_end_sriov(struct meridian *m);

/* meridian_vf_verbs.c */
int meridian_set_vf_mac(struct net_device *netdev, int index, u8 *address);
int meridian_set_vf_trust(struct net_device *netdev, int index, bool is_trusted);
int meridian_set_vf_spoofchk(struct net_device *netdev, int index, bool is_checked);
int meridian_set_vf_rate(struct net_device *netdev, int index, int min, int max);
int meridian_set_vf_link_state(struct net_device *netdev, int index, int state);
int meridian_set_vf_vlan(struct net_device *netdev, int index, u16 vid, u8 qos, __be16 protocol);
int meridian_get_vf_config(struct net_device *netdev, int index, struct ifla_vf_info *info);
int meridian_get_vf_stats(struct net_device *netdev, int index, struct ifla_vf_stats *stats);
int meridian_set_bridge(struct net_device *netdev, struct nlmsghdr *message, u16 flags,
			struct netlink_ext_ack *extack);
int meridian_get_bridge(struct sk_buff *skb, u32 pid, u32 seq, struct net_device *netdev,
			u32 mask, int flags);
void meridian_write_vf_policy(struct meridian *m, const struct meridian_vf *vf);

#endif
