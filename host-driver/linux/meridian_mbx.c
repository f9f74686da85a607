// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PF's answers to its VFs, in the messages of the public QDMA drivers and our own. Who asks is
 * whom the mailbox names; what is asked for is believed in nothing.
 */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>

#include "../qdma/qdma_context.h"
#include "compat.h"
#include "meridian.h"

#define ENTRY_LIMIT	32	/* addresses of a trusted VF */
#define STATUS_INTERVAL	3	/* as qdma_write_tables() has it */

/* Of the card's capabilities, those that a VF can make use of. */
#define VF_CAPABILITIES	(MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK)

static void write_function(struct meridian *m, u32 function, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FUNCTION_BASE(function) + offset, value);
}

static u32 base_of(const struct meridian_vf *vf)
{
	return MERIDIAN_VF_QUEUE_BASE + MERIDIAN_QUEUES_OF_VF * (vf->function - MERIDIAN_FIRST_VF);
}

/**
 * meridian_write_vf() - flags of a VF, as they are to be
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 */
void meridian_write_vf(struct meridian *m, struct meridian_vf *vf)
{
	u32 flags = vf->vlan ? 0 : MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK;

	if (vf->is_trusted)
		flags |= vf->flags & (MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK |
				      MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK);
	if (vf->may_spoof)
		flags |= MERIDIAN_FUNCTION_FLAGS_TRUSTED_MASK;
	write_function(m, vf->function, MERIDIAN_FUNCTION_FLAGS, flags);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK)) {
		u32 vlan = vf->strip ? MERIDIAN_FUNCTION_VLAN_STRIP_MASK : 0;

		/* A VF in a VLAN does not see it. */
		if (vf->vlan)
			vlan = vf->vlan | MERIDIAN_FUNCTION_VLAN_STRIP_MASK |
			       MERIDIAN_FUNCTION_VLAN_INSERT_MASK;
		write_function(m, vf->function, MERIDIAN_FUNCTION_VLAN, vlan);
	}
}

/* A VF that says nothing of it has its frames spread evenly, by a key that was no other VF's. */
static void set_range(struct meridian *m, struct meridian_vf *vf, u32 count)
{
	struct meridian_rss rss = {};

	write_function(m, vf->function, MERIDIAN_FUNCTION_PORT, m->port);
	if (count) {
		netdev_rss_key_fill(rss.key, sizeof(rss.key));
		meridian_fill_indirection(&rss, count);
		meridian_write_function_rss(m, vf->function, &rss);
	}
	vf->mapped = count;
	write_function(m, vf->function, MERIDIAN_FUNCTION_QCONF,
		       FIELD_PREP(MERIDIAN_FUNCTION_QCONF_BASE_MASK, count ? base_of(vf) : 0) |
		       FIELD_PREP(MERIDIAN_FUNCTION_QCONF_COUNT_MASK, count));
	meridian_flush(m);
}

/* From its queue of that number on. No frames come any more before queues go. */
static void take_queues(struct meridian *m, struct meridian_vf *vf, u32 first)
{
	u32 i;

	set_range(m, vf, 0);
	for (i = first; i < vf->count; i++) {
		qdma_h2c_stop(&m->qdma, base_of(vf) + i);
		qdma_c2h_stop(&m->qdma, base_of(vf) + i);
		meridian_set_paced(m, base_of(vf) + i, false);
		meridian_set_tx_offload(m, base_of(vf) + i, false);
	}
	qdma_map_function(&m->qdma, vf->function, 0, 0);
	vf->count = first;
}

/**
 * meridian_drop_vf() - take all from a VF that it has asked for
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 */
void meridian_drop_vf(struct meridian *m, struct meridian_vf *vf)
{
	take_queues(m, vf, 0);
	meridian_remove_entries(m, vf);
	vf->flags = 0;
	vf->strip = false;
	vf->tx_offload = false;
	vf->is_known = false;
	meridian_write_vf(m, vf);
}

static int hello(struct meridian *m, struct meridian_vf *vf, struct qdma_message *answer)
{
	const struct qdma_hello hello = { .pfs = MERIDIAN_PFS, .queues = m->qdma.queues };

	meridian_drop_vf(m, vf);
	vf->is_known = true;
	qdma_message_put_hello(answer, &hello);
	return 0;
}

/* Of queues that it gives up none is to run on. */
static int give_queues(struct meridian *m, struct meridian_vf *vf,
		       const struct qdma_message *request, struct qdma_message *answer)
{
	u32 base, count;

	qdma_message_get_range(request, &base, &count);
	count = min_t(u32, count, MERIDIAN_QUEUES_OF_VF);
	if (count < vf->count)
		take_queues(m, vf, count);
	vf->count = count;
	qdma_message_put_range(answer, base_of(vf), vf->count);
	return 0;
}

/* The queues are the VF's, and the shell may send frames to them: that is what FMAP asks for. */
static int map(struct meridian *m, struct meridian_vf *vf, const struct qdma_message *request)
{
	u32 base, count;

	qdma_message_get_range(request, &base, &count);
	if (count > vf->count || (count && base != base_of(vf)))
		return -QDMA_REFUSE_COUNT;
	if (qdma_map_function(&m->qdma, vf->function, base_of(vf), count))
		return -QDMA_REFUSE_BUSY;
	set_range(m, vf, count);
	if (count && meridian_add_entry(m, vf, vf->address))
		dev_warn(&m->pdev->dev, "the card's filter does not take %pM of function %u\n",
			 vf->address, vf->function);
	meridian_write_vf(m, vf);
	meridian_sync_broadcasts(m);
	return 0;
}

static bool owns(const struct meridian_vf *vf, u32 queue)
{
	return queue >= base_of(vf) && queue < base_of(vf) + vf->count;
}

static int write_context(struct meridian *m, struct meridian_vf *vf,
			 const struct qdma_message *message)
{
	struct qdma_queue_request request;
	struct qdma_h2c_setting h2c;
	struct qdma_c2h_setting c2h;
	int error;

	qdma_message_get_queue(message, &request);
	if (!owns(vf, request.queue))
		return -QDMA_REFUSE_QUEUE;
	/* Interrupt rings are not served. */
	if (request.aggregate)
		return -QDMA_REFUSE_UNSUPPORTED;
	request.function = vf->function;
	error = qdma_request_setting(&request, &m->qdma.tables, &h2c, &c2h);
	if (error)
		return error;
	if (!request.is_c2h) {
		meridian_set_paced(m, request.queue, true);
		meridian_set_tx_offload(m, request.queue, vf->tx_offload);
		meridian_flush(m);
		h2c.on_credit = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK);
		return qdma_h2c_start(&m->qdma, &h2c) ? -QDMA_REFUSE_BUSY : 0;
	}
	meridian_set_buffer_size(m, request.queue, request.buffer);
	meridian_set_entry_size(m, request.queue, request.entry_log2);
	meridian_flush(m);
	return qdma_c2h_start(&m->qdma, &c2h) ? -QDMA_REFUSE_BUSY : 0;
}

static int end_context(struct meridian *m, struct meridian_vf *vf,
		       const struct qdma_message *message)
{
	struct qdma_queue_request request;
	int error;

	qdma_message_get_queue(message, &request);
	if (!owns(vf, request.queue))
		return -QDMA_REFUSE_QUEUE;
	error = request.is_c2h ? qdma_c2h_stop(&m->qdma, request.queue) :
				 qdma_h2c_stop(&m->qdma, request.queue);
	return error ? -QDMA_REFUSE_BUSY : 0;
}

static int tell_config(struct meridian *m, struct meridian_vf *vf, struct qdma_message *answer)
{
	memcpy(&answer->byte[MERIDIAN_CONFIG_ADDRESS], vf->address, ETH_ALEN);
	answer->byte[MERIDIAN_CONFIG_TRUSTED] = vf->is_trusted;
	answer->byte[MERIDIAN_CONFIG_VERSION] = MERIDIAN_MAILBOX_VERSION;
	put_unaligned_le32(m->max_frame, &answer->byte[MERIDIAN_CONFIG_MAX_FRAME]);
	put_unaligned_le32(m->capabilities & VF_CAPABILITIES,
			   &answer->byte[MERIDIAN_CONFIG_CAPABILITIES]);
	return 0;
}

static int take_own(struct meridian *m, struct meridian_vf *vf, const u8 *address)
{
	if (ether_addr_equal(address, vf->address))
		return 0;
	if (vf->is_fixed && !vf->is_trusted)
		return -QDMA_REFUSE_PARAMETER;
	if (meridian_add_entry(m, vf, address))
		return -QDMA_REFUSE_PARAMETER;
	meridian_remove_entry(m, vf, vf->address);
	ether_addr_copy(vf->address, address);
	return 0;
}

static unsigned int count(struct list_head *list)
{
	struct list_head *place;
	unsigned int entries = 0;

	list_for_each(place, list)
		entries++;
	return entries;
}

static int set_address(struct meridian *m, struct meridian_vf *vf,
		       const struct qdma_message *request)
{
	const u8 *address = &request->byte[MERIDIAN_ADDRESS_ADDRESS];

	if (!is_multicast_ether_addr(address) && !is_valid_ether_addr(address))
		return -QDMA_REFUSE_PARAMETER;
	if (is_broadcast_ether_addr(address))
		return 0;
	if (request->byte[MERIDIAN_ADDRESS_OWN])
		return is_multicast_ether_addr(address) ? -QDMA_REFUSE_PARAMETER :
							   take_own(m, vf, address);
	if (!request->byte[MERIDIAN_ADDRESS_ADD]) {
		if (!ether_addr_equal(address, vf->address))
			meridian_remove_entry(m, vf, address);
		return 0;
	}
	if (!is_multicast_ether_addr(address) && !vf->is_trusted)
		return -QDMA_REFUSE_PARAMETER;
	if (count(&vf->entries) >= ENTRY_LIMIT)
		return -QDMA_REFUSE_PARAMETER;
	return meridian_add_entry(m, vf, address) ?
	       -QDMA_REFUSE_PARAMETER : 0;
}

static int set_flags(struct meridian *m, struct meridian_vf *vf, const struct qdma_message *request)
{
	u32 flags = get_unaligned_le32(&request->byte[MERIDIAN_FLAGS_FLAGS]);

	if (flags && !vf->is_trusted)
		return -QDMA_REFUSE_PARAMETER;
	vf->flags = flags;
	meridian_write_vf(m, vf);
	return 0;
}

static int set_strip(struct meridian *m, struct meridian_vf *vf, const struct qdma_message *request)
{
	u8 on = request->byte[MERIDIAN_STRIP_ON];

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK))
		return -QDMA_REFUSE_UNSUPPORTED;
	if (on > 1)
		return -QDMA_REFUSE_PARAMETER;
	vf->strip = on;
	meridian_write_vf(m, vf);
	meridian_flush(m);
	return 0;
}

static int set_tx_offload(struct meridian *m, struct meridian_vf *vf,
			  const struct qdma_message *request)
{
	u8 on = request->byte[MERIDIAN_TX_OFFLOAD_ON];

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		return -QDMA_REFUSE_UNSUPPORTED;
	if (on > 1)
		return -QDMA_REFUSE_PARAMETER;
	vf->tx_offload = on;
	return 0;
}

static int set_rss(struct meridian *m, struct meridian_vf *vf, const struct qdma_message *request)
{
	struct meridian_rss rss;

	if (!meridian_get_rss(request, &rss, vf->mapped))
		return -QDMA_REFUSE_PARAMETER;
	if (rss.is_microsoft && !meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		return -QDMA_REFUSE_UNSUPPORTED;
	meridian_write_function_rss(m, vf->function, &rss);
	return 0;
}

/**
 * meridian_answer_vf() - do what a VF asks for, as far as it may
 * @m: its PF, whose card's lock is held
 * @vf: the VF
 * @request: what it says
 * @answer: begun; what it is told beside the status
 *
 * Return: 0 or a negative enum qdma_refusal.
 */
int meridian_answer_vf(struct meridian *m, struct meridian_vf *vf,
		       const struct qdma_message *request, struct qdma_message *answer)
{
	u32 op = qdma_message_op(request);

	if (op == QDMA_OP_HELLO)
		return hello(m, vf, answer);
	if (!vf->is_known)
		return -QDMA_REFUSE_NOT_THERE;
	switch (op) {
	case QDMA_OP_VF_BYE:
	case QDMA_OP_PF_RESET_VF_BYE:
		meridian_drop_vf(m, vf);
		return 0;
	case QDMA_OP_QUEUE_REQUEST:
		return give_queues(m, vf, request, answer);
	case QDMA_OP_FMAP:
		return map(m, vf, request);
	case QDMA_OP_TABLES:
		qdma_message_put_tables(answer, &m->qdma.tables, STATUS_INTERVAL);
		return 0;
	case QDMA_OP_QUEUE_ADD:
	case QDMA_OP_QUEUE_DELETE:
		return 0;
	case QDMA_OP_CONTEXT_WRITE:
		return write_context(m, vf, request);
	case QDMA_OP_CONTEXT_CLEAR:
	case QDMA_OP_CONTEXT_INVALIDATE:
		return end_context(m, vf, request);
	case MERIDIAN_OP_CONFIG:
		return tell_config(m, vf, answer);
	case MERIDIAN_OP_ADDRESS:
		return set_address(m, vf, request);
	case MERIDIAN_OP_FLAGS:
		return set_flags(m, vf, request);
	case MERIDIAN_OP_STRIP:
		return set_strip(m, vf, request);
	case MERIDIAN_OP_TX_OFFLOAD:
		return set_tx_offload(m, vf, request);
	case MERIDIAN_OP_RSS:
		return set_rss(m, vf, request);
	default:
		return -QDMA_REFUSE_UNSUPPORTED;
	}
}
