// SPDX-License-Identifier: GPL-2.0-only
/* Frames of the self-test, which go back to the card as they came. */
#include <linux/etherdevice.h>

#include "meridian.h"
#include "meridian_frames.h"

/* No station has the addresses; the type is that of local experiments (IEEE 802). */
const struct ethhdr meridian_loop_header = {
	.h_dest = { 0x02, 0x4d, 0x52, 0x44, 0xff, 0xfe },
	.h_source = { 0x02, 0x4d, 0x52, 0x44, 0xff, 0xff },
	.h_proto = htons(ETH_P_802_EX1),
};

/**
 * meridian_loop() - send a frame of the self-test back, in NAPI
 * @rx: the queue it came by; the transmit queue of its channel gets it
 * @skb: the frame, with its Ethernet header
 *
 * Context: Does not sleep.
 * Return: false if it is another frame, then it is still the caller's.
 */
bool meridian_loop(struct meridian_rx *rx, struct sk_buff *skb)
{
	struct meridian_channel *channel = container_of(rx, struct meridian_channel, rx);
	struct netdev_queue *queue = netdev_get_tx_queue(rx->m->netdev, rx->index);
	int error;

	if (memcmp(skb->data, &meridian_loop_header, ETH_HLEN))
		return false;
	__netif_tx_lock(queue, smp_processor_id());
	error = meridian_send_back(&channel->tx, skb);
	__netif_tx_unlock(queue);
	if (unlikely(error))
		dev_kfree_skb_any(skb);
	return true;
}
