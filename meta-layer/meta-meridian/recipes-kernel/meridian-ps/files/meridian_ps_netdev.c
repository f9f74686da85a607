// SPDX-License-Identifier: GPL-2.0-only
/* A port as a network device. */
#include <linux/of.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define DEFAULT_RING		512
#define DEFAULT_RX_USECS	10
#define DEFAULT_TX_USECS	50
#define DEFAULT_FRAMES		32

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
	netif_napi_add(netdev, &port->napi, meridian_ps_poll);
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
