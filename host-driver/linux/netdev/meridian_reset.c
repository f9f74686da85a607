// SPDX-License-Identifier: GPL-2.0-only
/* Queues that start anew, after a fault or a reset. */
#include <linux/rtnetlink.h>

#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_configure.h"

/**
 * meridian_up_again() - up after a reset
 * @m: a function that is down, but not by the administrator's wish; under RTNL
 *
 * Context: May sleep.
 * Return: 0; a negative error, then a PF is closed, and a VF is tried again by the service: its PF
 * may have a reset or a new driver.
 */
int meridian_up_again(struct meridian *m)
{
	int error = meridian_up(m);

	if (!error) {
		clear_bit(MERIDIAN_FLAG_WAITING, &m->flags);
	} else if (meridian_is_vf(m->pdev)) {
		m->retry_next = jiffies + MERIDIAN_RETRY_PERIOD;
		if (!test_and_set_bit(MERIDIAN_FLAG_WAITING, &m->flags))
			netdev_warn(m->netdev, "the VF waits for its PF\n");
	} else {
		netdev_err(m->netdev, "the queues do not start again after a reset\n");
		meridian_close(m->netdev);
	}
	return error;
}

/*
 * What a VF asks its PF for may be refused now and granted later, so a VF is not closed for it. Its
 * link goes down where the PF may have a reset, or does not give the queues.
 */
static int reset_vf(struct meridian *m)
{
	int error;

	if (READ_ONCE(m->is_pf_silent)) {
		meridian_down(m);
		return meridian_up_again(m);
	}
	meridian_away(m);
	error = meridian_up_again(m);
	if (error)
		meridian_stay_down(m);
	return error;
}

/**
 * meridian_reset() - let the function's queues start anew, if it is up
 * @m: the function; not under RTNL
 *
 * Where they start, the link stays up, but that of a VF whose PF may have a reset.
 *
 * Context: May sleep.
 * Return: 0; a negative error, then it is down.
 */
int meridian_reset(struct meridian *m)
{
	int error = 0;

	rtnl_lock();
	meridian_lock(m->netdev);
	if (test_bit(MERIDIAN_FLAG_UP, &m->flags)) {
		if (meridian_is_vf(m->pdev))
			error = reset_vf(m);
		else
			error = meridian_restart(m);
	}
	meridian_unlock(m->netdev);
	rtnl_unlock();
	return error;
}
