// SPDX-License-Identifier: GPL-2.0-only
/* What the card has to enforce of what the administrator says of a VF. */
#include <linux/math64.h>

#include "meridian.h"
#include "meridian_hw.h"
#include "meridian_vfs.h"

/**
 * meridian_write_vf_switches() - flags and VLAN of a VF, as they are to be
 * @m: its PF, whose card's lock is held
 * @policy: of the VF
 *
 * Context: May sleep.
 */
void meridian_write_vf_switches(struct meridian *m, const struct meridian_vf *policy)
{
	const struct qdma_vf *vf = &m->vf_service.vf[policy - m->vf];
	u32 base = MERIDIAN_FUNCTION_BASE(vf->function);
	u32 flags = vf->flags, vlan = 0;

	/*
	 * Flags do not know VLANs: a VF in one gets its broadcasts by meridian_sync_broadcasts(),
	 * and nothing but its addresses beside, trusted or not.
	 */
	if (policy->vlan)
		flags = 0;
	if (policy->may_spoof)
		flags |= MERIDIAN_FUNCTION_FLAGS_TRUSTED_MASK;
	if (vf->is_trusted)
		flags |= MERIDIAN_FUNCTION_FLAGS_CONTROL_FRAMES_MASK;
	meridian_write(m, base + MERIDIAN_FUNCTION_FLAGS, flags);
	/* A VF in a VLAN does not see it. */
	if (policy->vlan)
		vlan = policy->vlan | MERIDIAN_FUNCTION_VLAN_INSERT_MASK;
	if (policy->vlan || vf->strip)
		vlan |= MERIDIAN_FUNCTION_VLAN_STRIP_MASK;
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK))
		meridian_write(m, base + MERIDIAN_FUNCTION_VLAN, vlan);
	meridian_flush(m);
}

/* The card counts bytes in 2^20 cycles of 4 ns. */
static u32 rate_word(u32 megabits)
{
	return div_u64(((u64)megabits << 16) + 62, 125);
}

/**
 * meridian_write_vf_policy() - rates, link and VLAN of a VF, as they are to be
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 *
 * Context: Does not sleep.
 */
void meridian_write_vf_policy(struct meridian *m, const struct meridian_vf *vf)
{
	u32 base = MERIDIAN_FUNCTION_BASE(vf->function);

	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK)) {
		meridian_write(m, base + MERIDIAN_FUNCTION_TX_MAX_RATE, rate_word(vf->max_rate));
		meridian_write(m, base + MERIDIAN_FUNCTION_TX_MIN_RATE, rate_word(vf->min_rate));
	}
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK))
		meridian_write(m, base + MERIDIAN_FUNCTION_LINK, vf->link_state);
}
