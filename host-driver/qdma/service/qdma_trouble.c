// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* What the administrator of VFs is told. */
#include "qdma_service.h"

#define TELL_NS		60000000000ull	/* between two lines of what may go on for hours */

/*
 * A PF may have had no turn for hours when one of its VFs loses what a VF of another PF asks for.
 * So the time is that of the last turn of any PF of the card.
 */
static u64 time_of(const struct qdma_service *service)
{
	const struct qdma_service *other;
	u64 now = service->now;

	for (other = service->card ? *service->card : NULL; other; other = other->next)
		now = other->now > now ? other->now : now;
	return now;
}

/**
 * qdma_service_tell() - tell the administrator of a VF, but not for ever
 * @service: its PF's
 * @vf: the VF
 * @trouble: what there is to say
 */
void qdma_service_tell(struct qdma_service *service, struct qdma_vf *vf,
		       enum qdma_vf_trouble trouble)
{
	u64 *told = &vf->told[trouble], now = time_of(service);

	if (*told && now - *told < TELL_NS)
		return;
	*told = now;
	service->ops->tell(service->owner, vf, trouble);
}
