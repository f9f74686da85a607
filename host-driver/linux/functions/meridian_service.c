// SPDX-License-Identifier: GPL-2.0-only
/* What is looked after beside the frames: link, a card that is gone, resets. */
#include <linux/rtnetlink.h>

#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_configure.h"
#include "meridian_devlink.h"
#include "meridian_fault.h"
#include "meridian_frames.h"
#include "meridian_function.h"
#include "meridian_hw.h"
#include "meridian_pause.h"
#include "meridian_selftest.h"
#include "meridian_ring.h"
#include "meridian_vfs.h"

#define SERVICE_PERIOD	(HZ / 4)
#define PORT_PERIOD	HZ
#define LOSS_PERIOD	(10 * HZ)
#define BACK_PERIOD	HZ

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
	set_bit(MERIDIAN_FLAG_GONE, &m->flags);
	netdev_err(m->netdev, "the card does not answer any more: every read gives all ones%s\n",
		   meridian_is_vf(m->pdev) ? "; the VF waits for it" : "");
	netif_device_detach(m->netdev);
	netif_carrier_off(m->netdev);
}

/* Under RTNL. Queues that run still end before the VF may access memory again. */
static void come_back(struct meridian *m)
{
	qdma_watch_anew(&m->qdma);
	clear_bit(MERIDIAN_FLAG_GONE, &m->flags);
	netdev_warn(m->netdev, "the card answers again: the VF starts anew\n");
	meridian_doubt_pf(m);
	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		meridian_down(m);
	if (!test_bit(MERIDIAN_FLAG_FENCED, &m->flags))
		pci_set_master(m->pdev);
	/* A PF of another driver may not do it after its reset. */
	pci_restore_msi_state(m->pdev);
	if (netif_running(m->netdev))
		meridian_up_again(m);
	netif_device_attach(m->netdev);
}

/*
 * A VF cannot tell a card that is gone from a reset of its PF, of which nobody tells it. PCIe lets
 * that last as long as the function asks for; Linux waits a minute. So a VF goes on looking. A PF
 * knows of its resets. Who is cut off is PCIe's recovery's to bring back.
 */
static void look_for_return(struct meridian *m)
{
	if (!pci_channel_offline(m->pdev) && qdma_answers(&m->qdma) &&
	    meridian_read(m, MERIDIAN_VF_MAGIC) == MERIDIAN_MAGIC && rtnl_trylock()) {
		meridian_lock(m->netdev);
		come_back(m);
		meridian_unlock(m->netdev);
		rtnl_unlock();
	}
}

static void look_after_transmit(struct meridian *m)
{
	bool is_still = false;
	unsigned int i;
	u64 bytes;

	if (!netif_carrier_ok(m->netdev))
		return;
	for (i = 0; i < m->channels; i++)
		is_still |= meridian_tx_is_still(&m->channel[i].tx);
	if (is_still) {
		bytes = meridian_read_function_counter(m, MERIDIAN_FUNCTION_COUNTER_TX_BYTES);
		m->idle_looks = bytes == m->bytes_seen ? m->idle_looks + 1 : 0;
		m->bytes_seen = bytes;
	} else {
		m->idle_looks = 0;
	}
	for (i = 0; i < m->channels; i++)
		meridian_look_after_tx(&m->channel[i].tx, m->idle_looks);
}

static void look_after_port(struct meridian *m)
{
	if (meridian_is_vf(m->pdev) || time_before(jiffies, m->port_next))
		return;
	m->port_next = jiffies + PORT_PERIOD;
	meridian_recover_port(m);
	meridian_look_after_port(m);
	meridian_look_after_pause(m);
}

/* What a PF that was silent has not heard, or may not have; whether rx_mode has a part in it. */
static bool is_to_ask_again(struct meridian *m)
{
	bool is_untold = test_bit(MERIDIAN_FLAG_UNTOLD, &m->flags);

	if (!is_untold && !test_bit(MERIDIAN_FLAG_UNHEARD, &m->flags) &&
	    !test_bit(MERIDIAN_FLAG_OWN, &m->flags))
		return false;
	if (time_before(jiffies, m->retry_next))
		return false;
	m->retry_next = jiffies + MERIDIAN_RETRY_PERIOD;
	if (is_untold) {
		meridian_doubt_pf(m);
		meridian_tell_settings(m);
		/* The filter comes behind them. */
		if (test_bit(MERIDIAN_FLAG_UNTOLD, &m->flags))
			return false;
	}
	meridian_repeat_own_address(m);
	return is_untold || test_bit(MERIDIAN_FLAG_UNHEARD, &m->flags);
}

/* A PF says it to a VF that asks, and only then: it does not wait for VFs. */
static void look_for_losses(struct meridian *m)
{
	if (!meridian_is_vf(m->pdev) || time_before(jiffies, m->loss_next))
		return;
	m->loss_next = jiffies + LOSS_PERIOD;
	schedule_work(&m->losses);
}

static void look_after_queues(struct meridian *m)
{
	if (meridian_is_vf(m->pdev) && meridian_was_reset(m)) {
		netdev_warn(m->netdev, "the VF has lost its queues by a reset: they start anew\n");
		meridian_schedule_reset(m);
		return;
	}
	if (test_and_clear_bit(MERIDIAN_FLAG_FILTER, &m->flags) || is_to_ask_again(m) ||
	    (meridian_is_vf(m->pdev) && !m->is_loss_seen && meridian_see_flags(m)))
		schedule_work(&m->rx_mode);
	look_for_losses(m);
	meridian_update_link(m);
	wake_queues(m);
	look_after_transmit(m);
	m->ops->read_missed(m);
}

/*
 * A PF hears of its VFs' messages by interrupts, which are accesses to memory. A VF whose PF was
 * away looks whether it is back.
 */
static void look_after_down(struct meridian *m)
{
	if (time_before(jiffies, m->retry_next))
		return;
	m->retry_next = jiffies + MERIDIAN_RETRY_PERIOD;
	if (!meridian_is_vf(m->pdev))
		meridian_end_fence(m);
	else if (test_bit(MERIDIAN_FLAG_WAITING, &m->flags))
		meridian_up_again(m);
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
		/* A recovery that has just begun stops this work before the next look. */
		if (!test_bit(MERIDIAN_FLAG_GONE, &m->flags))
			say_gone(m);
		else if (meridian_is_vf(m->pdev))
			look_for_return(m);
		if (meridian_is_vf(m->pdev))
			schedule_delayed_work(&m->service, BACK_PERIOD);
		return;
	}
	/* What an interrupt has left. */
	meridian_take_late_errors(m);
	if (m->vfs)
		meridian_serve_vfs(m);
	look_after_port(m);
	if (!meridian_is_vf(m->pdev)) {
		meridian_look_after_boxes(m);
		meridian_take_box_irqs(m);
	}
	/* Who holds RTNL may wait for this work to end. */
	if (rtnl_trylock()) {
		meridian_lock(m->netdev);
		if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
			look_after_queues(m);
		else
			look_after_down(m);
		meridian_unlock(m->netdev);
		rtnl_unlock();
	}
	schedule_delayed_work(&m->service, SERVICE_PERIOD);
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

static void do_losses(struct work_struct *work)
{
	struct meridian *m = container_of(work, struct meridian, losses);

	if (meridian_see_losses(m))
		schedule_work(&m->rx_mode);
}

static irqreturn_t misc_interrupt(int irq, void *data)
{
	struct meridian *m = data;

	/* Reads give anything; meridian_after_reset() has it look again. */
	if (test_bit(MERIDIAN_FLAG_RESET, &m->flags))
		return IRQ_HANDLED;
	meridian_take_errors(m);
	meridian_serve_vfs(m);
	meridian_take_box_irqs(m);
	return IRQ_HANDLED;
}

/**
 * meridian_request_misc_irq() - the vector that is not for queues
 * @m: the PF
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_request_misc_irq(struct meridian *m)
{
	meridian_begin_errors(m);
	return request_threaded_irq(pci_irq_vector(m->pdev, 0), NULL, misc_interrupt, IRQF_ONESHOT,
				    MERIDIAN_NAME, m);
}

/**
 * meridian_free_misc_irq() - undo meridian_request_misc_irq()
 * @m: a PF that has left its card
 *
 * Context: May sleep.
 */
void meridian_free_misc_irq(struct meridian *m)
{
	free_irq(pci_irq_vector(m->pdev, 0), m);
}

void meridian_init_service(struct meridian *m)
{
	INIT_DELAYED_WORK(&m->service, do_service);
	m->retry_next = jiffies;
	m->port_next = jiffies;
	m->loss_next = jiffies;
	meridian_init_vf_watch(m);
	INIT_WORK(&m->reset, do_reset);
	INIT_WORK(&m->rx_mode, do_rx_mode);
	INIT_WORK(&m->losses, do_losses);
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
 *
 * Context: May sleep.
 */
void meridian_stop_service(struct meridian *m)
{
	cancel_delayed_work_sync(&m->service);
	cancel_delayed_work_sync(&m->vf_watch);
	cancel_work_sync(&m->reset);
	cancel_work_sync(&m->losses);
	cancel_work_sync(&m->rx_mode);
}
