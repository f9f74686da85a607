// SPDX-License-Identifier: GPL-2.0-only
/*
 * Up, down, and from one configuration to another. What the next one needs is there before the
 * queues stop, and what the last one had is given back when they have started again: so there is
 * always something to go back to. The link stays up meanwhile.
 */
#include <linux/rtnetlink.h>

#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_configure.h"
#include "meridian_counts.h"
#include "meridian_fault.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_interrupt.h"
#include "meridian_ring.h"
#include "meridian_rss.h"

/* Looks whether the card has taken the frames that are in memory of a receive queue. */
#define OWN_POLLS	20

static void disable_channel(struct meridian_channel *channel)
{
	if (channel->is_polled)
		meridian_disable_napi(channel);
	channel->is_polled = false;
}

/**
 * meridian_enable_channel() - let a queue pair be polled
 * @channel: whose queues the card has
 *
 * Context: May sleep.
 */
void meridian_enable_channel(struct meridian_channel *channel)
{
	meridian_enable_napi(channel);
	channel->is_polled = true;
	/* An interrupt from before NAPI was enabled is lost. */
	local_bh_disable();
	napi_schedule(&channel->napi);
	local_bh_enable();
}

/* Nobody sends or polls any more when this returns, and no frame is on its way to a queue. */
static void quiesce(struct meridian *m)
{
	unsigned int i;

	clear_bit(MERIDIAN_FLAG_UP, &m->flags);
	/* Other interfaces may be redirecting frames to this one. */
	synchronize_net();
	netif_tx_disable(m->netdev);
	meridian_drain_tx(m);
	m->ops->close_queues(m);
	for (i = 0; i < m->channels; i++)
		disable_channel(&m->channel[i]);
	/* A poll that is done may still be at its doorbells. */
	synchronize_net();
}

/**
 * meridian_disable_channel() - end the polls of a queue pair, whose receive queue is to stop
 * @channel: of a function that is up; its transmit queue runs on
 *
 * Context: May sleep.
 * Return: true; false if the card does not take the frames that are in memory of the receive queue,
 * then it is polled as before.
 */
bool meridian_disable_channel(struct meridian_channel *channel)
{
	unsigned int polls;

	disable_channel(channel);
	synchronize_net();
	for (polls = 0; polls < OWN_POLLS; polls++) {
		local_bh_disable();
		meridian_clean_tx(&channel->tx, NAPI_POLL_WEIGHT);
		local_bh_enable();
		if (!meridian_tx_has_own(&channel->tx))
			return true;
		usleep_range(500, 1000);
	}
	meridian_enable_channel(channel);
	return false;
}

static bool is_silence(int error)
{
	return error == -EBUSY || error == -ETIMEDOUT;
}

/**
 * meridian_tell_settings() - how frames are spread, and whether their tags are stripped
 * @m: a function that is up; under RTNL
 *
 * A PF that does not answer its VF is not asked on, for each question takes a second of everybody's
 * time: MERIDIAN_FLAG_UNTOLD is set, and this is due again.
 *
 * Context: May sleep.
 */
void meridian_tell_settings(struct meridian *m)
{
	int error = m->ops->write_rss(m);

	if (error && !is_silence(error))
		netdev_warn(m->netdev, "cannot write the RSS settings, the old ones stay: %d\n",
			    error);
	if (!is_silence(error) && meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK)) {
		error = m->ops->set_strip(m, m->netdev->features & NETIF_F_HW_VLAN_CTAG_RX);
		if (error && !is_silence(error))
			netdev_warn(m->netdev, "cannot set the stripping of 802.1Q tags: %d\n",
				    error);
	}
	if (is_silence(error))
		set_bit(MERIDIAN_FLAG_UNTOLD, &m->flags);
	else
		clear_bit(MERIDIAN_FLAG_UNTOLD, &m->flags);
}

/* The card has the queues: frames come and go, and then all else that the function is to have. */
static void go(struct meridian *m)
{
	unsigned int i;

	for (i = 0; i < m->channels; i++)
		meridian_enable_channel(&m->channel[i]);
	meridian_spread_tx(m);
	/* What the queues of a VF take may be another thing than before. */
	netdev_update_features(m->netdev);
	set_bit(MERIDIAN_FLAG_UP, &m->flags);
	if (netif_device_present(m->netdev))
		netif_tx_start_all_queues(m->netdev);
	else if (meridian_present(m))
		netif_device_attach(m->netdev);
	meridian_tell_settings(m);
	if (!test_bit(MERIDIAN_FLAG_UNTOLD, &m->flags))
		m->ops->sync_filter(m);
	meridian_report_healthy(m);
	meridian_update_link(m);
}

static void give_back(struct meridian *m)
{
	meridian_free_memory(m, m->channel);
	meridian_count_channels(m, 0);
	meridian_end_channels(m, 0);
	m->channels = 0;
}

static void set_config(struct meridian *m, const struct meridian_config *config)
{
	bool is_spread_anew = config->queues != m->config.queues;

	m->config = *config;
	if (is_spread_anew && !netif_is_rxfh_configured(m->netdev))
		meridian_default_indirection(m);
}

/* What the function is to have, for which there is memory, the card gets. */
static int take(struct meridian *m, const struct meridian_config *config)
{
	int error;

	set_config(m, config);
	m->channels = config->queues;
	error = netif_set_real_num_queues(m->netdev, m->channels, m->channels);
	return error ? error : meridian_start_queues(m);
}

/*
 * Rings that a VF's PF has no size for are not worth their memory. The VF knows what its PF said at
 * the last hello, and the PF's driver may be another by now: so it says hello once more.
 */
static int check_tables(struct meridian *m)
{
	int error = meridian_check_tables(m, &m->config);

	if (!error || !meridian_is_vf(m->pdev))
		return error;
	m->is_introduced = false;
	error = m->ops->map_queues(m, 0);
	return error ? error : meridian_check_tables(m, &m->config);
}

/**
 * meridian_up() - memory, queues, frames
 * @m: a function that is down; under RTNL
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then it is down as before.
 */
int meridian_up(struct meridian *m)
{
	int error;

	/* Nobody is in the middle of a frame when the rings come. */
	netif_tx_disable(m->netdev);
	/* No queue can start before those of the last time have ended. */
	error = meridian_end_fence(m);
	if (error)
		netdev_err(m->netdev, "the card did not stop the previous queues: %d\n", error);
	if (!error)
		error = check_tables(m);
	if (!error)
		error = meridian_begin_channels(m, m->config.queues);
	if (error)
		return error;
	error = meridian_alloc_memory(m, m->channel, &m->config);
	if (!error)
		error = take(m, &m->config);
	if (error) {
		meridian_release_queues(m);
		give_back(m);
		return error;
	}
	meridian_count_channels(m, m->channels);
	go(m);
	return 0;
}

static void end_all(struct meridian *m)
{
	quiesce(m);
	meridian_stop_queues(m);
	meridian_release_queues(m);
	give_back(m);
}

/**
 * meridian_down() - no frames, no queues, no memory
 * @m: a function that is up; under RTNL
 *
 * Context: May sleep.
 */
void meridian_down(struct meridian *m)
{
	netif_carrier_off(m->netdev);
	end_all(m);
}

/**
 * meridian_away() - no frames, no queues and no memory for a moment, with the link up
 * @m: a function that is up
 *
 * The caller keeps RTNL until meridian_up() has succeeded, or calls meridian_stay_down().
 *
 * Context: May sleep.
 */
void meridian_away(struct meridian *m)
{
	/* The watchdog does not look at the queues of a device that is away. */
	netif_device_detach(m->netdev);
	end_all(m);
}

/**
 * meridian_stay_down() - take the link from a function that was away and did not come up
 * @m: the function; under RTNL
 *
 * Context: Does not sleep.
 */
void meridian_stay_down(struct meridian *m)
{
	netif_carrier_off(m->netdev);
	if (meridian_present(m))
		netif_device_attach(m->netdev);
}

/* Stops what runs, with the link up. */
static int begin_change(struct meridian *m)
{
	int error;

	netif_device_detach(m->netdev);
	quiesce(m);
	meridian_pause_queues(m);
	error = meridian_end_fence(m);
	if (!error)
		meridian_release_queues(m);
	return error;
}

/* The function has no queues, and will have none before somebody brings the interface up anew. */
static void give_up(struct meridian *m)
{
	netdev_err(m->netdev, "the previous queues do not start either: the interface stays down\n");
	netif_carrier_off(m->netdev);
	meridian_release_queues(m);
	give_back(m);
	if (meridian_present(m))
		netif_device_attach(m->netdev);
	meridian_close(m->netdev);
}

/* Takes a configuration with the memory of @others, which gets the memory of before; or neither. */
static int change(struct meridian *m, const struct meridian_config *config,
		  struct meridian_channel *others)
{
	struct meridian_config before = m->config;
	unsigned int i;
	bool is_lost;
	int error;

	error = begin_change(m);
	is_lost = error;
	if (!error) {
		meridian_exchange_memory(m, others);
		error = take(m, config);
		if (error) {
			meridian_exchange_memory(m, others);
			is_lost = take(m, &before);
		}
		for (i = 0; i < m->queue_limit; i++)
			meridian_retire_rx(&others[i].rx);
	}
	if (is_lost) {
		give_up(m);
		return error;
	}
	meridian_count_channels(m, m->channels);
	go(m);
	return error;
}

/* Memory and interrupts of a configuration, beside those that are in use. */
static int prepare(struct meridian *m, const struct meridian_config *config,
		   struct meridian_channel *others)
{
	unsigned int i;
	int error;

	error = meridian_begin_channels(m, config->queues);
	if (!error)
		error = meridian_alloc_memory(m, others, config);
	for (i = 0; i < config->queues && !error; i++) {
		error = meridian_stock_rx(&others[i].rx);
		if (error)
			meridian_free_memory(m, others);
	}
	return error;
}

/**
 * meridian_configure() - take another configuration
 * @m: the function; under RTNL
 * @config: to be taken
 *
 * Context: May sleep.
 * Return: 0; a negative error, then it is as it was before, and sends and receives, but where the
 * card takes no queues at all any more.
 */
int meridian_configure(struct meridian *m, const struct meridian_config *config)
{
	struct meridian_channel *others;
	int error;

	error = meridian_check_tables(m, config);
	if (error)
		return error;
	if (!test_bit(MERIDIAN_FLAG_UP, &m->flags)) {
		set_config(m, config);
		return 0;
	}
	others = meridian_new_channels(m);
	if (!others)
		return -ENOMEM;
	error = prepare(m, config, others);
	if (!error) {
		error = change(m, config, others);
		meridian_free_memory(m, others);
	}
	meridian_end_channels(m, m->channels);
	meridian_drop_channels(m, others);
	return error;
}

/**
 * meridian_restart() - let the queues that run start anew
 * @m: a function that is up; under RTNL
 *
 * Context: May sleep.
 * Return: 0; a negative error, then it is down.
 */
int meridian_restart(struct meridian *m)
{
	int error = begin_change(m);

	if (!error)
		error = take(m, &m->config);
	if (error)
		give_up(m);
	else
		go(m);
	return error;
}

/*
 * Where the card has the queue in part, all of them start anew before the memory is given back.
 * other: memory to be taken; NULL: it starts with its own.
 */
static int change_rx(struct meridian_rx *rx, struct meridian_rx *other)
{
	struct meridian *m = rx->m;
	int error = m->ops->stop_rx(m, m->queue_base + rx->index);
	bool is_stopped = !error;

	if (is_stopped) {
		meridian_release_rx(rx);
		if (other)
			meridian_exchange_rx(rx, other);
		error = meridian_start_rx(rx);
		if (error && other)
			meridian_exchange_rx(rx, other);
		if (other)
			meridian_retire_rx(other);
	}
	if (error) {
		netdev_err(m->netdev, "receive queue %u does not start anew: %d\n", rx->index,
			   error);
		meridian_restart(m);
		/* The card may have it in part, and neither end it nor be kept from it. */
		if (other && is_stopped)
			other->ring.is_runaway = test_bit(MERIDIAN_FLAG_RUNAWAY, &m->flags);
	}
	return error;
}

/**
 * meridian_restart_rx() - let one receive queue start anew, with other memory
 * @m: a function that is up; under RTNL
 * @index: of the queue; xsk_queues says whether it has a socket from now on
 *
 * The other queues run on, and so do all that transmit.
 *
 * Context: May sleep.
 * Return: 0; a negative error, then it runs with the memory that it had, but where the card takes
 * no queues at all any more.
 */
int meridian_restart_rx(struct meridian *m, unsigned int index)
{
	struct meridian_channel *channel = &m->channel[index];
	struct meridian_rx *rx = &channel->rx, *other;
	int error;

	other = kzalloc(sizeof(*other), GFP_KERNEL);
	if (!other)
		return -ENOMEM;
	other->m = m;
	other->index = index;
	error = meridian_alloc_rx(other, rx->ring.slots);
	if (!error)
		error = meridian_stock_rx(other);
	if (error)
		goto free;
	if (!meridian_disable_channel(channel)) {
		/* All stop, and with them those frames. */
		error = meridian_configure(m, &m->config);
		goto free;
	}
	error = change_rx(rx, other);
	if (!error)
		meridian_enable_channel(channel);
free:
	meridian_free_rx(other);
	kfree(other);
	return error;
}

/**
 * meridian_renew_rx() - let one receive queue start anew, with the memory that it has
 * @m: a function that is up; under RTNL
 * @index: of the queue; xsk_queues says whether it keeps its socket
 *
 * It needs no rings and no pages, only the small change of XDP's own books.
 *
 * Context: May sleep.
 * Return: 0; a negative error, then the card takes no queues at all any more.
 */
int meridian_renew_rx(struct meridian *m, unsigned int index)
{
	struct meridian_channel *channel = &m->channel[index];

	/* Frames that the card does not take end with all queues. */
	if (!meridian_disable_channel(channel))
		return meridian_restart(m);
	/* The others start anew with it where it does not by itself. */
	if (!change_rx(&channel->rx, NULL))
		meridian_enable_channel(channel);
	return test_bit(MERIDIAN_FLAG_UP, &m->flags) ? 0 : -EIO;
}
