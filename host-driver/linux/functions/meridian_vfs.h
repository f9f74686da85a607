/* SPDX-License-Identifier: GPL-2.0-only */
/* VFs as their PF has them. */
#ifndef MERIDIAN_VFS_H
#define MERIDIAN_VFS_H

#include <linux/if_link.h>
#include <linux/netdevice.h>

#include "qdma/service/qdma_service.h"
#include "meridian_vf.h"

struct meridian;
struct meridian_devlink;
struct pci_dev;
struct qdma_vf;

/* meridian_vfs.c */
int meridian_make_vfs(struct meridian *m, u32 first, u32 stride, unsigned int count,
		      unsigned int messages);
void meridian_end_vfs(struct meridian *m);
void meridian_suspend_vfs(struct meridian *m);
void meridian_resume_vfs(struct meridian *m);
void meridian_serve_vfs(struct meridian *m);

/* meridian_vf_policy.c */
void meridian_write_vf_switches(struct meridian *m, const struct meridian_vf *policy);
void meridian_write_vf_policy(struct meridian *m, const struct meridian_vf *vf);

/* meridian_vf_watch.c */
bool meridian_vf_is_master(void *owner, const struct qdma_vf *vf);
u16 meridian_vf_command(struct meridian *m, const struct qdma_vf *vf);
void meridian_restore_vf(struct meridian *m, const struct qdma_vf *vf, u16 command);
void meridian_init_vf_watch(struct meridian *m);
void meridian_watch_vfs(struct meridian *m);

/* meridian_vf_filter.c */
bool meridian_is_free(struct meridian *m, const struct meridian_vf *vf, const u8 *address);
int meridian_add_entry(struct meridian *m, struct meridian_vf *vf, const u8 *address);
void meridian_remove_entry(struct meridian *m, struct meridian_vf *vf, const u8 *address);
int meridian_move_entries(struct meridian *m, struct meridian_vf *vf, bool is_back);
int meridian_sync_broadcasts(struct meridian *m);
void meridian_clear_broadcasts(struct meridian *m);
void meridian_clear_entries(struct meridian *m, struct meridian_vf *vf);

/* meridian_sriov.c */
void meridian_limit_vfs(struct meridian *m);
int meridian_sriov_configure(struct pci_dev *pdev, int count);
void meridian_adopt_vfs(struct meridian *m);
void meridian_leave_vfs(struct meridian_devlink *devlink);

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

#endif
