// SPDX-License-Identifier: GPL-2.0-only
/* A port: up and down, its part of the interrupt, its poll. */
#include <linux/interrupt.h>
#include <linux/of.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

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

/**
 * meridian_ps_poll() - frames and timestamps of a port
 * @napi: the port's
 * @budget: received frames at most; 0: netpoll asks
 *
 * Context: NAPI poll (softirq). Does not sleep.
 * Return: how many frames it has received.
 */
int meridian_ps_poll(struct napi_struct *napi, int budget)
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
