// SPDX-License-Identifier: GPL-2.0-only
/* A port as a network device: up and down, its part of the interrupt, its poll. */
#include <linux/interrupt.h>
#include <linux/of.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define DEFAULT_RING		512
#define DEFAULT_RX_USECS	10
#define DEFAULT_TX_USECS	50
#define DEFAULT_FRAMES		32

/* Causes that the poll looks after. */
#define POLLED	(MERIDIAN_PS_RING_INTERRUPT_STATUS_RX_MASK | \
		 MERIDIAN_PS_RING_INTERRUPT_STATUS_TX_MASK | \
		 MERIDIAN_PS_RING_INTERRUPT_STATUS_TX_TIMESTAMP_MASK)
#define FAULT	MERIDIAN_PS_RING_INTERRUPT_STATUS_ERROR_MASK

static u32 pending(struct meridian_ps_port *port)
{
	return meridian_ps_ring_read(port, MERIDIAN_PS_RING_INTERRUPT_STATUS) &
	       meridian_ps_ring_read(port, MERIDIAN_PS_RING_INTERRUPT_ENABLE);
}

/**
 * meridian_ps_port_interrupt() - a port's part of the card's interrupt
 * @port: it
 *
 * Context: Does not sleep.
 * Return: whether it had a part in it.
 */
bool meridian_ps_port_interrupt(struct meridian_ps_port *port)
{
	u32 causes;

	if (!test_bit(MERIDIAN_PS_FLAG_UP, &port->flags))
		return false;
	causes = pending(port);
	if (causes & FAULT) {
		meridian_ps_ring_write(port, MERIDIAN_PS_RING_INTERRUPT_STATUS, FAULT);
		schedule_work(&port->restart);
	}
	if (causes & POLLED) {
		meridian_ps_ring_write(port, MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR, POLLED);
		/* The write is posted: until it is there, the level raises one more of nobody. */
		meridian_ps_ring_read(port, MERIDIAN_PS_RING_INTERRUPT_ENABLE);
		napi_schedule_irqoff(&port->napi);
	}
	return causes;
}

static void disable_interrupts(struct meridian_ps_port *port)
{
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_INTERRUPT_ENABLE, 0);
	meridian_ps_ring_read(port, MERIDIAN_PS_RING_INTERRUPT_ENABLE);
}

/**
 * meridian_ps_mask_port() - mask what a port that is not up still raises
 * @port: it
 *
 * Nobody else would, and the card's interrupt is a level: on the processor that takes it nothing
 * but its handler would run, until the kernel gave the interrupt up, for all ports and the clock.
 *
 * Context: Does not sleep.
 * Return: whether there was something.
 */
bool meridian_ps_mask_port(struct meridian_ps_port *port)
{
	u32 causes = pending(port);

	/* In this order: a port that is coming up is up before it enables a cause. */
	if (causes && !test_bit(MERIDIAN_PS_FLAG_UP, &port->flags))
		disable_interrupts(port);
	return causes;
}

static int poll(struct napi_struct *napi, int budget)
{
	struct meridian_ps_port *port = container_of(napi, struct meridian_ps_port, napi);
	int frames;

	/*
	 * Netpoll, with interrupts off, wants room in the transmit ring and nothing else. It may
	 * call in between, so no cause is cleared: the next poll would not come.
	 */
	if (!budget) {
		meridian_ps_poll_tx(port, budget);
		return 0;
	}
	/*
	 * The card forgets a cause with the completions that are in memory by then. A write may
	 * be on its way for a while, and the rings are not to be looked at before it is there: it
	 * is when what is read behind it has come.
	 */
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_INTERRUPT_STATUS, POLLED);
	meridian_ps_poll_stamps(port);
	meridian_ps_poll_tx(port, budget);
	frames = meridian_ps_poll_rx(port, budget);
	if (frames < budget && napi_complete_done(napi, frames))
		meridian_ps_ring_write(port, MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET, POLLED);
	return frames;
}

/**
 * meridian_ps_up() - start the rings
 * @port: with @config set; under RTNL
 *
 * Context: May sleep.
 * Return: 0 or a negative error; then it is down.
 */
int meridian_ps_up(struct meridian_ps_port *port)
{
	int error = meridian_ps_reset_rings(port);

	if (error)
		return error;
	error = meridian_ps_alloc_tx(port);
	if (error)
		return error;
	error = meridian_ps_alloc_rx(port);
	if (error) {
		meridian_ps_free_tx(port);
		return error;
	}
	meridian_ps_write_coalesce(port);
	/* A card that was reset has none. */
	meridian_ps_write_limits(port);
	meridian_ps_write_latency(port);
	meridian_ps_place_ring(port, &port->tx.ring);
	meridian_ps_place_ring(port, &port->rx.ring);
	napi_enable(&port->napi);
	/* The poll, which fills it from now on, is not scheduled yet. */
	meridian_ps_fill_rx(port);
	meridian_ps_start_ring(port, &port->tx.ring);
	meridian_ps_start_ring(port, &port->rx.ring);
	set_bit(MERIDIAN_PS_FLAG_UP, &port->flags);
	/* Timestamps that are left over from before. */
	meridian_ps_poll_stamps(port);
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_INTERRUPT_STATUS, POLLED | FAULT);
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_INTERRUPT_ENABLE, POLLED | FAULT);
	netif_addr_lock_bh(port->netdev);
	meridian_ps_set_rx_mode(port->netdev);
	netif_addr_unlock_bh(port->netdev);
	netdev_reset_queue(port->netdev);
	netif_trans_update(port->netdev);
	netif_wake_queue(port->netdev);
	/* Completions that came before the causes were cleared. */
	local_bh_disable();
	napi_schedule(&port->napi);
	local_bh_enable();
	return 0;
}

/**
 * meridian_ps_down() - stop the rings
 * @port: that is up; under RTNL
 *
 * Context: May sleep.
 * Return: 0 or a negative error; then the card has not ended the rings, and the port is detached
 *	   until it does.
 */
int meridian_ps_down(struct meridian_ps_port *port)
{
	int error;

	/* While the port is up its handler answers for what it raises. */
	disable_interrupts(port);
	netif_addr_lock_bh(port->netdev);
	meridian_ps_close_filter(port);
	clear_bit(MERIDIAN_PS_FLAG_UP, &port->flags);
	netif_addr_unlock_bh(port->netdev);
	netif_tx_disable(port->netdev);
	/* Nobody is to think that the queue has stood still for long. */
	netif_trans_update(port->netdev);
	napi_disable(&port->napi);
	/* The poll may have woken the queue behind the first call. */
	netif_tx_disable(port->netdev);
	/* The poll may have enabled them again, and a handler may be about to disable them. */
	disable_interrupts(port);
	synchronize_irq(port->card->irq);
	error = meridian_ps_reset_rings(port);
	if (error) {
		meridian_ps_detach(port, error);
	} else {
		meridian_ps_free_rx(port);
		meridian_ps_free_tx(port);
	}
	meridian_ps_expire_stamps(port, true);
	return error;
}

/**
 * meridian_ps_configure() - put another configuration into force
 * @port: up or not; under RTNL
 * @config: it
 *
 * Context: May sleep.
 * Return: 0 or a negative error; then what was before is in force, or is when the port is back.
 */
int meridian_ps_configure(struct meridian_ps_port *port, const struct meridian_ps_config *config)
{
	struct meridian_ps_config before = port->config;
	int error;

	if (!memcmp(config, &before, sizeof(before)))
		return 0;
	if (!test_bit(MERIDIAN_PS_FLAG_UP, &port->flags)) {
		port->config = *config;
		return 0;
	}
	error = meridian_ps_down(port);
	if (error)
		return error;
	port->config = *config;
	error = meridian_ps_up(port);
	if (!error)
		return 0;
	port->config = before;
	if (meridian_ps_up(port)) {
		netdev_err(port->netdev, "the rings do not start again: %d\n", error);
		set_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags);
	}
	return error;
}

static int open(struct net_device *netdev)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	int error = meridian_ps_up(port);

	if (error)
		return error;
	meridian_ps_start_service(port);
	return 0;
}

static int stop(struct net_device *netdev)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	meridian_ps_stop_service(port);
	netif_carrier_off(netdev);
	if (test_bit(MERIDIAN_PS_FLAG_UP, &port->flags))
		meridian_ps_down(port);
	return 0;
}

static int change_mtu(struct net_device *netdev, int mtu)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	struct meridian_ps_config config = port->config;
	int error;

	config.mtu = mtu;
	error = meridian_ps_configure(port, &config);
	if (!error)
		WRITE_ONCE(netdev->mtu, mtu);
	return error;
}

static void tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	const struct meridian_ps_ring *ring = &port->tx.ring;

	port->restarts.tx_timeout++;
	netdev_err(netdev, "transmit stands still: posted %u, done %u, the card's consumer %u\n",
		   ring->producer, ring->consumer,
		   meridian_ps_ring_read(port, MERIDIAN_PS_RING_TX_CONSUMER));
	set_bit(MERIDIAN_PS_FLAG_RESTART, &port->flags);
	schedule_work(&port->restart);
}

MERIDIAN_PS_DEFINE_HWTSTAMP(meridian_ps_hwtstamp_get, meridian_ps_hwtstamp_set)

static const struct net_device_ops netdev_ops = {
	.ndo_open = open,
	.ndo_stop = stop,
	.ndo_start_xmit = meridian_ps_start_xmit,
	.ndo_set_rx_mode = meridian_ps_set_rx_mode,
	.ndo_set_mac_address = meridian_ps_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = change_mtu,
	.ndo_tx_timeout = tx_timeout,
	.ndo_get_stats64 = meridian_ps_get_stats64,
	MERIDIAN_PS_HWTSTAMP_OPS(meridian_ps_hwtstamp_get, meridian_ps_hwtstamp_set),
};

/* The node of the port in the device tree, if there is one. */
static struct device_node *find_node(struct meridian_ps *card, u32 index)
{
	struct device_node *ports, *node;
	u32 number;

	ports = of_get_child_by_name(card->dev->of_node, "ethernet-ports");
	if (!ports)
		return NULL;
	for_each_child_of_node(ports, node) {
		if (!of_property_read_u32(node, "reg", &number) && number == index)
			break;
	}
	of_node_put(ports);
	return node;
}

static void put_node(void *node)
{
	of_node_put(node);
}

/**
 * meridian_ps_add_port() - make a port's network device
 * @card: the card
 * @index: of the port
 *
 * It is still to be registered.
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_add_port(struct meridian_ps *card, u32 index)
{
	struct device_node *node = find_node(card, index);
	struct meridian_ps_port *port;
	struct net_device *netdev;
	int error;

	error = devm_add_action_or_reset(card->dev, put_node, node);
	if (error)
		return error;
	netdev = devm_alloc_etherdev(card->dev, sizeof(*port));
	if (!netdev)
		return -ENOMEM;
	port = netdev_priv(netdev);
	port->card = card;
	port->netdev = netdev;
	port->index = index;
	port->tx.ring.block = MERIDIAN_PS_RING_TX_CONTROL - MERIDIAN_PS_RING_RX_CONTROL;
	port->config = (struct meridian_ps_config){
		.rx_size = DEFAULT_RING, .tx_size = DEFAULT_RING, .mtu = ETH_DATA_LEN,
	};
	port->rx_coalesce.usecs = DEFAULT_RX_USECS;
	port->tx_coalesce.usecs = DEFAULT_TX_USECS;
	port->rx_coalesce.frames = DEFAULT_FRAMES;
	port->tx_coalesce.frames = DEFAULT_FRAMES;
	u64_stats_init(&port->rx.stats.sync);
	u64_stats_init(&port->tx.sent.sync);
	u64_stats_init(&port->tx.done.sync);
	meridian_ps_init_stamp(port);
	error = meridian_ps_init_service(port) ?: meridian_ps_init_detach(port);
	if (error)
		return error;
	SET_NETDEV_DEV(netdev, card->dev);
	netdev->dev.of_node = node;
	netdev->dev_port = index;
	netdev->netdev_ops = &netdev_ops;
	netdev->ethtool_ops = &meridian_ps_ethtool_ops;
	netdev->priv_flags |= IFF_UNICAST_FLT | IFF_LIVE_ADDR_CHANGE;
	netdev->features |= NETIF_F_HIGHDMA;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->max_mtu = max_t(u32, card->longest - MERIDIAN_PS_HEADER, ETH_DATA_LEN);
	MERIDIAN_PS_SET_STAT_OPS(netdev, &meridian_ps_stat_ops);
	netif_napi_add(netdev, &port->napi, poll);
	netif_napi_set_irq(&port->napi, card->irq);
	netif_queue_set_napi(netdev, 0, NETDEV_QUEUE_TYPE_RX, &port->napi);
	netif_queue_set_napi(netdev, 0, NETDEV_QUEUE_TYPE_TX, &port->napi);
	netif_carrier_off(netdev);
	error = meridian_ps_take_address(port, node);
	if (error)
		return error;
	card->port[index] = port;
	return 0;
}

/**
 * meridian_ps_begin_port() - let the card have what the device tree says of a port
 * @port: of meridian_ps_add_port(); all ports of the card are there
 *
 * Nothing is waited for, so what is wrong in the device tree is in the log once.
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_begin_port(struct meridian_ps_port *port)
{
	struct device_node *node = port->netdev->dev.of_node;

	meridian_ps_tell_host(port, node);
	disable_interrupts(port);
	meridian_ps_close_filter(port);
	meridian_ps_init_limits(port, node);
	meridian_ps_init_latency(port, node);
	return meridian_ps_reset_rings(port);
}
