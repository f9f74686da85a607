/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files of a VF. */
#ifndef MERIDIAN_VF_WISHES_H
#define MERIDIAN_VF_WISHES_H

#include "meridian.h"

/* meridian_vf_ask.c */
int meridian_ask_pf(struct meridian *m, const struct qdma_message *request,
		    struct qdma_message *answer);
int meridian_ask_pf_briefly(struct meridian *m, const struct qdma_message *request,
			    struct qdma_message *answer);
int meridian_tell_pf(struct meridian *m, const struct qdma_message *message);

/* meridian_vf_address.c */
int meridian_ask_address(struct meridian *m, const u8 *address, bool is_added, bool is_own);
int meridian_settle_address(struct meridian *m, const u8 *address);

/* meridian_vf_wishes.c */
void meridian_sync_vf(struct meridian *m);
void meridian_forget_addresses(struct meridian *m);

#endif
