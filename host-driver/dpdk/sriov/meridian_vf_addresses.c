/* SPDX-License-Identifier: BSD-3-Clause */
/* Which addresses the VFs of a PF have. */
#include <string.h>

#include "meridian_vfs.h"

static bool
is_of(const struct qdma_vf *vf, const struct rte_ether_addr *address)
{
	uint32_t i;

	for (i = 0; i < vf->addresses && !vf->is_away; i++) {
		if (memcmp(vf->address[i], address, RTE_ETHER_ADDR_LEN) == 0)
			return true;
	}
	return vf->has_own && memcmp(vf->own, address, RTE_ETHER_ADDR_LEN) == 0;
}

/* Whether a PF's VF has or keeps the address, be it its first or fixed one; the card is locked. */
bool
meridian_is_of_vf(const struct meridian *m, const struct rte_ether_addr *address)
{
	uint32_t i;

	if (m->vfs == NULL)
		return false;
	for (i = 0; i < m->vfs->service.vfs; i++) {
		if (is_of(&m->vfs->vf[i], address))
			return true;
	}
	return qdma_is_kept(&m->vfs->service, NULL, address->addr_bytes);
}

/* Whether a function is a PF's VF that knows of no such address; the card is locked. */
bool
meridian_is_left_by_vf(const struct meridian *m, uint32_t function,
		       const struct rte_ether_addr *address)
{
	uint32_t i;

	for (i = 0; m->vfs != NULL && i < m->vfs->service.vfs; i++) {
		if (m->vfs->vf[i].function == function)
			return !is_of(&m->vfs->vf[i], address);
	}
	return false;
}
