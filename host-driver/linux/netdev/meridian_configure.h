/* SPDX-License-Identifier: GPL-2.0-only */
/* How queues come, change and go. */
#ifndef MERIDIAN_CONFIGURE_H
#define MERIDIAN_CONFIGURE_H

#include "meridian.h"

/* A card that is busy takes half a second each time, in which nobody else has RTNL. */
#define MERIDIAN_RETRY_PERIOD	(5 * HZ)

/* meridian_configure.c */
void meridian_tell_settings(struct meridian *m);
int meridian_up(struct meridian *m);
void meridian_down(struct meridian *m);
void meridian_away(struct meridian *m);
void meridian_stay_down(struct meridian *m);
int meridian_configure(struct meridian *m, const struct meridian_config *config);
void meridian_enable_channel(struct meridian_channel *channel);
bool meridian_disable_channel(struct meridian_channel *channel);
int meridian_restart(struct meridian *m);
int meridian_restart_rx(struct meridian *m, unsigned int index);
int meridian_renew_rx(struct meridian *m, unsigned int index);

/* meridian_link.c */
void meridian_update_link(struct meridian *m);

/* meridian_reset.c */
int meridian_up_again(struct meridian *m);
int meridian_reset(struct meridian *m);

/* meridian_bpf.c */
bool meridian_xdp_allows(struct meridian *m, struct bpf_prog *prog, int mtu);
int meridian_bpf(struct net_device *netdev, struct netdev_bpf *bpf);

/* meridian_queue_ops.c */
void meridian_offer_queue_ops(struct net_device *netdev);

#endif
