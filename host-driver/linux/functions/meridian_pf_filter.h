/* SPDX-License-Identifier: GPL-2.0-only */
/* What a PF has in the card's receive filter, which may take it from its VFs. */
#ifndef MERIDIAN_PF_FILTER_H
#define MERIDIAN_PF_FILTER_H

#include "meridian.h"
#include "meridian_filter.h"

/* meridian_pf_filter.c */
void meridian_sync_filter(struct meridian *m);
void meridian_set_vlan(struct meridian *m, u16 vid, bool is_wanted);
int meridian_set_pf_address(struct meridian *m, void *address);
void meridian_clear_filter(struct meridian *m);

/* meridian_vf_filter.c */
int meridian_install_firmly(struct meridian *m, u32 function, const struct meridian_entry *entry);

#endif
