// SPDX-License-Identifier: GPL-2.0-only
/* The link, as Linux is told of it. */
#include "meridian.h"
#include "meridian_configure.h"
#include "meridian_frames.h"

/**
 * meridian_update_link() - tell Linux of the link
 * @m: the function
 *
 * Context: Does not sleep.
 */
void meridian_update_link(struct meridian *m)
{
	bool is_up = test_bit(MERIDIAN_FLAG_UP, &m->flags) && m->ops->link_up(m);

	if (is_up == netif_carrier_ok(m->netdev))
		return;
	if (is_up) {
		netif_carrier_on(m->netdev);
		meridian_xsk_link_up(m);
	} else {
		netif_carrier_off(m->netdev);
	}
	netdev_info(m->netdev, "link %s\n", is_up ? "up" : "down");
}
