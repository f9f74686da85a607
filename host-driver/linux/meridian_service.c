// SPDX-License-Identifier: GPL-2.0-only
/* What is looked after beside the frames: link, the card's errors, a card that is gone, resets. */
#include <linux/rtnetlink.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_devlink.h"

#define SERVICE_PERIOD	(HZ / 4)
/* A card that is busy takes half a second each time, in which nobody else has RTNL. */
#define FENCE_PERIOD	(5 * HZ)

/**
 * meridian_update_link() - tell Linux of the link
 * @m: the function
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

/*
 * A queue without any buffer hears of no frame, so nothing would ask for buffers again; nor would
 * anything look at one whose completions the card has ended.
 */
static void wake_queues(struct meridian *m)
{
	bool is_starved = test_and_clear_bit(MERIDIAN_FLAG_STARVED, &m->flags);
	unsigned int i;

	for (i = 0; i < m->channels; i++) {
		if (!is_starved && !meridian_rx_ended(&m->channel[i].rx))
			continue;
		local_bh_disable();
		napi_schedule(&m->channel[i].napi);
		local_bh_enable();
	}
}

static void say_gone(struct meridian *m)
{
	if (test_and_set_bit(MERIDIAN_FLAG_GONE, &m->flags))
		return;
	netdev_err(m->netdev, "the card does not answer any more: every read gives all ones\n");
	netif_device_detach(m->netdev);
	netif_carrier_off(m->netdev);
}

static void take_errors(struct meridian *m)
{
	struct qdma_errors errors;

	m->errors_next = jiffies + SERVICE_PERIOD;
	mutex_lock(&m->card->lock);
	memset(&errors, 0, sizeof(errors));
	if (m->card->error_function == m)
		qdma_take_errors(&m->qdma, &errors);
	if (errors.summary)
		m->card->errors = errors;
	mutex_unlock(&m->card->lock);
	if (errors.summary && net_ratelimit())
		netdev_warn(m->netdev,
			    "QDMA errors %#x: descriptor %#x doorbell %#x c2h %#x fatal %#x h2c %#x\n",
			    errors.summary, errors.descriptor, errors.doorbell, errors.c2h,
			    errors.c2h_fatal, errors.h2c);
	if (qdma_errors_fatal(&errors))
		meridian_report(m, MERIDIAN_FAULT_QDMA, 0);
}

static void look_after_transmit(struct meridian *m)
{
	unsigned int i;

	if (!netif_carrier_ok(m->netdev))
		return;
	for (i = 0; i < m->channels; i++)
		meridian_look_after_tx(&m->channel[i].tx);
}

static void look_after_queues(struct meridian *m)
{
	if (meridian_is_vf(m->pdev) && meridian_was_reset(m)) {
		netdev_warn(m->netdev, "the VF has lost its queues by a reset: they start anew\n");
		meridian_schedule_reset(m);
		return;
	}
	if (test_and_clear_bit(MERIDIAN_FLAG_FILTER, &m->flags) ||
	    (meridian_is_vf(m->pdev) && !m->is_loss_seen && meridian_see_flags(m)))
		schedule_work(&m->rx_mode);
	meridian_update_link(m);
	wake_queues(m);
	look_after_transmit(m);
	m->ops->read_missed(m);
}

/* A PF hears of its VFs' messages by interrupts, which are accesses to memory. */
static void look_after_fence(struct meridian *m)
{
	if (time_before(jiffies, m->fence_next))
		return;
	m->fence_next = jiffies + FENCE_PERIOD;
	meridian_end_fence(m);
}

static void do_service(struct work_struct *work)
{
	struct meridian *m = container_of(work, struct meridian, service.work);
	int error = qdma_watch(&m->qdma);

	if (error == -EAGAIN) {
		schedule_delayed_work(&m->service, SERVICE_PERIOD);
		return;
	}
	if (error) {
		say_gone(m);
		return;
	}
	/* What an interrupt has left. */
	if (test_and_clear_bit(MERIDIAN_FLAG_ERRORS, &m->flags))
		take_errors(m);
	if (m->vfs)
		meridian_serve_vfs(m);
	/* Who holds RTNL may wait for this work to end. */
	if (rtnl_trylock()) {
		meridian_lock(m->netdev);
		if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
			look_after_queues(m);
		else if (!meridian_is_vf(m->pdev))
			look_after_fence(m);
		meridian_unlock(m->netdev);
		rtnl_unlock();
	}
	schedule_delayed_work(&m->service, SERVICE_PERIOD);
}

/**
 * meridian_reset() - let the function's queues start anew, if it is up
 * @m: the function; not under RTNL
 *
 * Return: 0; a negative error, then it is down.
 */
int meridian_reset(struct meridian *m)
{
	int error = 0;

	rtnl_lock();
	meridian_lock(m->netdev);
	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		error = meridian_restart(m);
	meridian_unlock(m->netdev);
	rtnl_unlock();
	return error;
}

static void do_reset(struct work_struct *work)
{
	meridian_reset(container_of(work, struct meridian, reset));
}

static void do_rx_mode(struct work_struct *work)
{
	struct meridian *m = container_of(work, struct meridian, rx_mode);

	m->ops->sync_filter(m);
}

/**
 * meridian_schedule_reset() - let the function's queues start anew, soon
 * @m: the function
 */
void meridian_schedule_reset(struct meridian *m)
{
	schedule_work(&m->reset);
}

static irqreturn_t misc_interrupt(int irq, void *data)
{
	struct meridian *m = data;

	/* Reads give anything; meridian_after_reset() has it look again. */
	if (test_bit(MERIDIAN_FLAG_RESET, &m->flags))
		return IRQ_HANDLED;
	/* A VF makes errors as fast as it rings. Until these are taken, none interrupts. */
	if (time_before(jiffies, m->errors_next))
		set_bit(MERIDIAN_FLAG_ERRORS, &m->flags);
	else
		take_errors(m);
	meridian_serve_vfs(m);
	return IRQ_HANDLED;
}

/**
 * meridian_request_misc_irq() - the vector that is not for queues
 * @m: the function; the first of its card gets the card's errors
 *
 * Return: 0 or a negative error.
 */
int meridian_request_misc_irq(struct meridian *m)
{
	int error;

	m->errors_next = jiffies;
	error = request_threaded_irq(pci_irq_vector(m->pdev, 0), NULL, misc_interrupt,
				     IRQF_ONESHOT, MERIDIAN_NAME, m);
	if (error)
		return error;
	mutex_lock(&m->card->lock);
	if (!m->card->error_function) {
		m->card->error_function = m;
		qdma_enable_errors(&m->qdma, 0);
	}
	mutex_unlock(&m->card->lock);
	return 0;
}

/**
 * meridian_free_misc_irq() - undo meridian_request_misc_irq()
 * @m: the function
 */
void meridian_free_misc_irq(struct meridian *m)
{
	mutex_lock(&m->card->lock);
	if (m->card->error_function == m) {
		m->card->error_function = NULL;
		qdma_disable_errors(&m->qdma);
	}
	mutex_unlock(&m->card->lock);
	free_irq(pci_irq_vector(m->pdev, 0), m);
}

void meridian_init_service(struct meridian *m)
{
	INIT_DELAYED_WORK(&m->service, do_service);
	m->fence_next = jiffies;
	meridian_init_vf_watch(m);
	INIT_WORK(&m->reset, do_reset);
	INIT_WORK(&m->rx_mode, do_rx_mode);
}

void meridian_start_service(struct meridian *m)
{
	schedule_delayed_work(&m->service, 0);
	if (m->vfs)
		meridian_watch_vfs(m);
}

/**
 * meridian_stop_service() - and wait until none of it runs
 * @m: the function; not under RTNL
 */
void meridian_stop_service(struct meridian *m)
{
	cancel_delayed_work_sync(&m->service);
	cancel_delayed_work_sync(&m->vf_watch);
	cancel_work_sync(&m->reset);
	cancel_work_sync(&m->rx_mode);
}

/* When it returns, nobody who looks at the card by himself is in the middle of it. */
static void announce_reset(struct meridian *m)
{
	mutex_lock(&m->devlink->lock);
	set_bit(MERIDIAN_FLAG_RESET, &m->flags);
	mutex_unlock(&m->devlink->lock);
	if (!meridian_is_vf(m->pdev))
		synchronize_irq(pci_irq_vector(m->pdev, 0));
}

/**
 * meridian_before_reset() - let go of all that a function level reset takes
 * @m: the function; not under RTNL
 */
void meridian_before_reset(struct meridian *m)
{
	meridian_stop_service(m);
	rtnl_lock();
	meridian_lock(m->netdev);
	netif_device_detach(m->netdev);
	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		meridian_down(m);
	meridian_unlock(m->netdev);
	rtnl_unlock();
	announce_reset(m);
}

/**
 * meridian_restore_pf() - bring back what a reset takes of a PF beside its queues
 * @m: a PF; under the card's lock
 */
void meridian_restore_pf(struct meridian *m)
{
	qdma_write_tables(&m->qdma, &qdma_default_tables);
	if (m->card->error_function == m)
		qdma_enable_errors(&m->qdma, 0);
	if (m->vfs)
		qdma_mailbox_interrupt(&m->qdma, 0, true);
}

/**
 * meridian_after_reset() - go on as before meridian_before_reset()
 * @m: the function; not under RTNL
 */
void meridian_after_reset(struct meridian *m)
{
	qdma_watch_anew(&m->qdma);
	clear_bit(MERIDIAN_FLAG_GONE, &m->flags);
	clear_bit(MERIDIAN_FLAG_RESET, &m->flags);
	if (!meridian_is_vf(m->pdev) && meridian_present(m)) {
		mutex_lock(&m->card->lock);
		meridian_restore_pf(m);
		mutex_unlock(&m->card->lock);
	}
	rtnl_lock();
	meridian_lock(m->netdev);
	if (netif_running(m->netdev) && meridian_up(m)) {
		netdev_err(m->netdev, "the queues do not start again after a reset\n");
		meridian_close(m->netdev);
	}
	if (meridian_present(m))
		netif_device_attach(m->netdev);
	meridian_unlock(m->netdev);
	rtnl_unlock();
	meridian_start_service(m);
}
