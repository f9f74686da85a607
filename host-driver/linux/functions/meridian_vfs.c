// SPDX-License-Identifier: GPL-2.0-only
/*
 * VFs of a PF. What they ask for is heard and done by the library (qdma_service.h); here is
 * what the card does of it, and what a VF that sends too many messages may cost.
 */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>
#include <linux/random.h>

#include "meridian.h"
#include "meridian_card.h"
#include "meridian_devlink.h"
#include "meridian_hw.h"
#include "meridian_rss.h"
#include "meridian_vfs.h"

/* Of one interrupt: messages at most, and time that VFs who are slow or flood may take. */
#define TURNS		64
#define WAIT_NS		(NSEC_PER_SEC / 4)
#define NAP_NS		NSEC_PER_MSEC

static void write_function(struct meridian *m, const struct qdma_vf *vf, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FUNCTION_BASE(vf->function) + offset, value);
}

static struct meridian_vf *policy_of(const struct meridian *m, const struct qdma_vf *vf)
{
	return &m->vf[vf - m->vf_service.vf];
}

/* A key that was no other VF's. */
static void set_queues(void *owner, const struct qdma_vf *vf, u32 count)
{
	struct qdma_rss rss = {};
	struct meridian *m = owner;

	write_function(m, vf, MERIDIAN_FUNCTION_PORT, m->port);
	if (count) {
		get_random_bytes(rss.key, sizeof(rss.key));
		if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
			rss.order = MERIDIAN_FUNCTION_HASH_ORDER_MICROSOFT_MASK;
		qdma_spread(&rss, count);
		meridian_write_function_rss(m, vf->function, &rss);
	}
	meridian_set_queues(m, vf->function, vf->base, count);
}

static void set_switches(void *owner, const struct qdma_vf *vf)
{
	meridian_write_vf_switches(owner, policy_of(owner, vf));
}

static void set_tx(void *owner, u32 queue, bool is_paced, u32 offload)
{
	meridian_set_paced(owner, queue, is_paced);
	meridian_set_tx_offload(owner, queue, offload != MERIDIAN_TX_OFFLOAD_NONE);
	meridian_set_tx_segments(owner, queue, offload == MERIDIAN_TX_OFFLOAD_SEGMENTS);
	meridian_flush(owner);
}

static void set_rx(void *owner, u32 queue, u32 buffer, u32 entry_log2)
{
	meridian_set_buffer_size(owner, queue, buffer);
	meridian_set_entry_size(owner, queue, entry_log2);
	meridian_flush(owner);
}

static void set_rss(void *owner, const struct qdma_vf *vf, const struct qdma_rss *rss)
{
	meridian_write_function_rss(owner, vf->function, rss);
}

static bool is_free(void *owner, const struct qdma_vf *vf, const u8 *address)
{
	return meridian_is_free(owner, policy_of(owner, vf), address);
}

static int add_address(void *owner, const struct qdma_vf *vf, const u8 *address)
{
	return meridian_add_entry(owner, policy_of(owner, vf), address);
}

static void remove_address(void *owner, const struct qdma_vf *vf, const u8 *address)
{
	meridian_remove_entry(owner, policy_of(owner, vf), address);
}

static bool has_queues(void *owner, const struct qdma_vf *vf)
{
	u32 range = meridian_read(owner, MERIDIAN_FUNCTION_BASE(vf->function) +
					 MERIDIAN_FUNCTION_QCONF);

	return FIELD_GET(MERIDIAN_FUNCTION_QCONF_COUNT_MASK, range);
}

static void tell(void *owner, const struct qdma_vf *vf, enum qdma_vf_trouble trouble)
{
	struct device *dev = &((struct meridian *)owner)->pdev->dev;

	switch (trouble) {
	case QDMA_VF_FLOODS:
		dev_warn(dev, "function %u floods its PF with messages\n", vf->function);
		break;
	case QDMA_VF_IS_DEAF:
		dev_warn(dev, "function %u does not take its messages\n", vf->function);
		break;
	case QDMA_VF_HAS_NO_ADDRESS:
		dev_warn(dev, "the card's filter does not take %pM of function %u\n", vf->own,
			 vf->function);
		break;
	case QDMA_VF_LOSES_GROUP:
		dev_warn(dev, "function %u loses a multicast group: another needs its place in the card's filter\n",
			 vf->function);
		break;
	}
}

static const struct qdma_service_ops ops = {
	.set_queues = set_queues,
	.set_switches = set_switches,
	.set_tx = set_tx,
	.set_rx = set_rx,
	.set_rss = set_rss,
	.is_free = is_free,
	.add_address = add_address,
	.remove_address = remove_address,
	.has_queues = has_queues,
	.may_access = meridian_vf_is_master,
	.tell = tell,
};

static u32 base_of(u32 function)
{
	return MERIDIAN_VF_QUEUE_BASE + QDMA_VF_QUEUES * (function - MERIDIAN_FIRST_VF);
}

/* Whether a module at the host reads or writes memory of functions that let it. */
static bool has_commands(struct meridian *m)
{
	u32 status = MERIDIAN_BOX_BASE(MERIDIAN_BOX_AT_HOST) + MERIDIAN_BOX_STATUS;

	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK) &&
	       meridian_read(m, status) & MERIDIAN_BOX_STATUS_DMA_MASK;
}

/**
 * meridian_make_vfs() - serve VFs from now on
 * @m: their PF, which has none
 * @first: number of the first one's function
 * @stride: to that of the next
 * @count: how many
 * @messages: of each a second, before it is slowed
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int meridian_make_vfs(struct meridian *m, u32 first, u32 stride, unsigned int count,
		      unsigned int messages)
{
	struct qdma_vf *vf = kcalloc(count, sizeof(*vf), GFP_KERNEL);
	struct meridian_vf *policy = kcalloc(count, sizeof(*policy), GFP_KERNEL);
	unsigned int i;

	if (!vf || !policy) {
		kfree(vf);
		kfree(policy);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		vf[i].function = first + i * stride;
		vf[i].base = base_of(vf[i].function);
		eth_random_addr(vf[i].own);
		ether_addr_copy(vf[i].first, vf[i].own);
		policy[i].function = vf[i].function;
		INIT_LIST_HEAD(&policy[i].entries);
	}
	mutex_lock(&m->card->lock);
	m->vf = policy;
	m->vfs = count;
	m->vf_service.qdma = &m->qdma;
	m->vf_service.ops = &ops;
	m->vf_service.owner = m;
	m->vf_service.pfs = MERIDIAN_PFS;
	m->vf_service.capabilities = m->capabilities;
	m->vf_service.has_commands = has_commands(m);
	m->vf_service.max_frame = m->max_frame;
	m->vf_service.message_ns = NSEC_PER_SEC / messages;
	m->vf_service.vf = vf;
	m->vf_service.vfs = count;
	m->vf_service.card = &m->card->services;
	m->vf_service.now = ktime_get_ns();
	qdma_service_start(&m->vf_service);
	for (i = 0; i < count; i++)
		meridian_write_vf_policy(m, &policy[i]);
	qdma_mailbox_interrupt(&m->qdma, 0, true);
	mutex_unlock(&m->card->lock);
	meridian_watch_vfs(m);
	return 0;
}

/**
 * meridian_end_vfs() - no VFs any more
 * @m: their PF
 *
 * Context: May sleep.
 */
void meridian_end_vfs(struct meridian *m)
{
	unsigned int i;

	cancel_delayed_work_sync(&m->vf_watch);
	mutex_lock(&m->card->lock);
	qdma_mailbox_interrupt(&m->qdma, 0, false);
	qdma_service_stop(&m->vf_service);
	for (i = 0; i < m->vfs; i++) {
		struct meridian_vf *policy = &m->vf[i];

		meridian_clear_entries(m, policy);
		policy->may_spoof = false;
		policy->vlan = 0;
		policy->min_rate = 0;
		policy->max_rate = 0;
		policy->link_state = 0;
		meridian_write_vf_switches(m, policy);
		meridian_write_vf_policy(m, policy);
		/* All functions are alike after a reset of the card. */
		meridian_reset_rss(m, policy->function);
	}
	meridian_sync_broadcasts(m);
	m->vf_service.vfs = 0;
	kfree(m->vf_service.vf);
	m->vf_service.vf = NULL;
	kfree(m->vf);
	m->vf = NULL;
	m->vfs = 0;
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_suspend_vfs() - a reset of the PF is near
 * @m: the PF, which serves no VFs meanwhile
 *
 * What the administrator and their drivers want of them stays in memory.
 *
 * Context: May sleep.
 */
void meridian_suspend_vfs(struct meridian *m)
{
	unsigned int i;

	mutex_lock(&m->card->lock);
	for (i = 0; i < m->vfs; i++)
		m->vf[i].command = meridian_vf_command(m, &m->vf_service.vf[i]);
	qdma_service_suspend(&m->vf_service);
	for (i = 0; i < m->vfs; i++)
		meridian_clear_entries(m, &m->vf[i]);
	meridian_clear_broadcasts(m);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_resume_vfs() - undo meridian_suspend_vfs() on a card that may know nothing
 * @m: the PF
 *
 * VFs' drivers see that they have no queues, and ask for them.
 *
 * Context: May sleep.
 */
void meridian_resume_vfs(struct meridian *m)
{
	unsigned int i;

	if (!m->vfs)
		return;
	mutex_lock(&m->card->lock);
	qdma_service_resume(&m->vf_service);
	for (i = 0; i < m->vfs; i++) {
		meridian_write_vf_policy(m, &m->vf[i]);
		meridian_restore_vf(m, &m->vf_service.vf[i], m->vf[i].command);
	}
	meridian_sync_broadcasts(m);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_serve_vfs() - answer what VFs have asked
 * @m: their PF
 *
 * May sleep. What is left after some turns, or some waiting for VFs that are slow or flood, is
 * answered when it is called next.
 *
 * Context: May sleep.
 */
void meridian_serve_vfs(struct meridian *m)
{
	unsigned int turn = 0;
	u64 waited, wait;

	for (waited = 0; turn < TURNS && waited < WAIT_NS; waited += wait) {
		bool is_there;

		mutex_lock(&m->card->lock);
		is_there = m->vfs && qdma_service_turn(&m->vf_service, ktime_get_ns());
		wait = m->vfs ? qdma_service_wait(&m->vf_service, ktime_get_ns()) : 0;
		mutex_unlock(&m->card->lock);
		if (!is_there && !wait)
			break;
		turn += is_there;
		/* Others may have asked meanwhile. */
		wait = is_there ? 0 : min_t(u64, wait, NAP_NS);
		if (wait)
			fsleep(DIV_ROUND_UP_ULL(wait, NSEC_PER_USEC));
	}
}
