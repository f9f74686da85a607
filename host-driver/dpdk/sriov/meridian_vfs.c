/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VFs of a PF. What they ask for is heard and done by the library (qdma_service.h), a few
 * hundred times a second, whether the port is started or not; here is what the card does of it.
 */
#include <stdlib.h>
#include <time.h>

#include <rte_alarm.h>

#include "meridian_vfs.h"

#define PERIOD_US	2000
#define LOOK_NS		40000000ull	/* between looks for VFs in a reset, which takes 100 ms */
#define TURNS		16		/* messages of one period */
#define BOX_AT_HOST	4u		/* behind those of the ports */

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void
write_vf(struct meridian *m, const struct qdma_vf *vf, uint32_t offset, uint32_t value)
{
	meridian_write(m, MERIDIAN_FUNCTION_BASE(vf->function) + offset, value);
}

static uint32_t
queues_of(struct meridian *m, const struct qdma_vf *vf)
{
	return meridian_read(m, MERIDIAN_FUNCTION_BASE(vf->function) + MERIDIAN_FUNCTION_QCONF) &
	       MERIDIAN_FUNCTION_QCONF_COUNT_MASK;
}

static void
set_queues(void *owner, const struct qdma_vf *vf, u32 count)
{
	struct meridian *m = owner;
	struct qdma_rss rss = { 0 };

	write_vf(m, vf, MERIDIAN_FUNCTION_PORT, m->port);
	if (count) {
		meridian_draw_key(m, vf->function, &rss);
		qdma_spread(&rss, count);
		meridian_write_function_rss(m, vf->function, &rss);
	}
	meridian_set_queues(m, vf->function, vf->base, count);
}

static void
set_switches(void *owner, const struct qdma_vf *vf)
{
	struct meridian *m = owner;

	write_vf(m, vf, MERIDIAN_FUNCTION_FLAGS,
		 vf->flags | (vf->is_trusted ? MERIDIAN_FUNCTION_FLAGS_CONTROL_FRAMES_MASK : 0));
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK))
		write_vf(m, vf, MERIDIAN_FUNCTION_VLAN,
			 vf->strip ? MERIDIAN_FUNCTION_VLAN_STRIP_MASK : 0);
	meridian_flush(m);
}

static void
set_tx(void *owner, u32 queue, bool is_paced, u32 offload)
{
	meridian_set_tx(owner, queue, is_paced, offload);
}

static void
set_rx(void *owner, u32 queue, u32 buffer, u32 entry_log2)
{
	meridian_set_rx(owner, queue, buffer, entry_log2);
}

static void
set_rss(void *owner, const struct qdma_vf *vf, const struct qdma_rss *rss)
{
	meridian_write_function_rss(owner, vf->function, rss);
}

static bool
is_free(void *owner, const struct qdma_vf *vf, const u8 *address)
{
	return meridian_claim(owner, vf->function, (const struct rte_ether_addr *)address) == 0;
}

static int
add_address(void *owner, const struct qdma_vf *vf, const u8 *bytes)
{
	const struct rte_ether_addr *address = (const struct rte_ether_addr *)bytes;
	struct meridian *m = owner;
	int error;

	if (rte_is_multicast_ether_addr(address))
		return meridian_join_group(m, vf->function, address, MERIDIAN_ANY_VLAN);
	error = meridian_claim(m, vf->function, address);
	return error ? error : meridian_mac_add(m, address, MERIDIAN_ANY_VLAN, vf->function);
}

static void
remove_address(void *owner, const struct qdma_vf *vf, const u8 *bytes)
{
	const struct rte_ether_addr *address = (const struct rte_ether_addr *)bytes;

	if (rte_is_multicast_ether_addr(address))
		meridian_leave_group(owner, vf->function, address, MERIDIAN_ANY_VLAN);
	else
		meridian_mac_remove(owner, address, MERIDIAN_ANY_VLAN, vf->function);
}

static bool
has_queues(void *owner, const struct qdma_vf *vf)
{
	return queues_of(owner, vf) != 0;
}

static bool
may_access(void *owner, const struct qdma_vf *vf)
{
	struct meridian *m = owner;

	return m->bus->ops->vf_is_master == NULL ||
	       m->bus->ops->vf_is_master(m->bus, vf - m->vfs->vf);
}

static void
tell(void *owner, const struct qdma_vf *vf, enum qdma_vf_trouble trouble)
{
	static const char * const sentences[QDMA_VF_TROUBLES] = {
		[QDMA_VF_FLOODS] = "floods its PF with messages, and is slowed",
		[QDMA_VF_IS_DEAF] = "does not take its answers",
		[QDMA_VF_HAS_NO_ADDRESS] = "gets no frames: the card's filter does not take its address",
		[QDMA_VF_LOSES_GROUP] = "loses a multicast group: another needs its place in the card's filter",
	};
	struct meridian *m = owner;
	uint32_t index = vf - m->vfs->vf;

	MERIDIAN_LOG(WARNING, "%s: VF %u (function %u) %s", m->data->name, index, vf->function,
		     sentences[trouble]);
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
	.may_access = may_access,
	.tell = tell,
};

static void
serve(void *argument)
{
	struct meridian *m = argument;
	struct meridian_vfs *vfs = m->vfs;
	uint64_t now = now_ns();
	unsigned int turns = 0;

	pthread_mutex_lock(&m->card->lock);
	while (turns < TURNS && qdma_service_turn(&vfs->service, now_ns()))
		turns++;
	if (now - vfs->looked >= LOOK_NS) {
		qdma_service_look(&vfs->service);
		vfs->looked = now;
	}
	pthread_mutex_unlock(&m->card->lock);
	rte_eal_alarm_set(PERIOD_US, serve, m);
}

/* The addresses of the administrator's choice begin at the first. */
static void
choose_address(struct qdma_vf *vf, uint32_t index, const struct rte_ether_addr *first)
{
	uint64_t number = 0;
	int i;

	if (rte_is_zero_ether_addr(first)) {
		rte_eth_random_addr(vf->own);
		memcpy(vf->first, vf->own, sizeof(vf->first));
		return;
	}
	for (i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		number = number << 8 | first->addr_bytes[i];
	number += index;
	for (i = RTE_ETHER_ADDR_LEN - 1; i >= 0; i--, number >>= 8)
		vf->own[i] = (uint8_t)number;
	memcpy(vf->first, vf->own, sizeof(vf->first));
	memcpy(vf->fixed, vf->own, sizeof(vf->fixed));
	vf->is_fixed = true;
}

static int
check(struct meridian *m, const struct meridian_options *options, uint32_t first_queue)
{
	const struct meridian_bus *bus = m->bus;
	uint32_t functions = (meridian_read(m, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_GEOMETRY) &
			      MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_MASK) >>
			     MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_SHIFT;
	uint32_t last = bus->first_vf + (options->vfs - 1) * bus->vf_stride;

	if (!m->qdma.has_mailbox || !bus->first_vf) {
		MERIDIAN_LOG(ERR, "%s: vfs=%u: the function has no VFs", m->data->name,
			     options->vfs);
		return -ENOTSUP;
	}
	if (last < functions &&
	    first_queue + MERIDIAN_QUEUES_OF_VF * (last + 1 - MERIDIAN_PFS) <= m->qdma.queues)
		return 0;
	MERIDIAN_LOG(ERR, "%s: vfs=%u: the card has %u functions and %u queues: no room for function %u",
		     m->data->name, options->vfs, functions, m->qdma.queues, last);
	return -ENOSPC;
}

/* Other PFs of the card look at it. */
static void
show_vfs(struct meridian *m, struct meridian_vfs *vfs)
{
	pthread_mutex_lock(&m->card->lock);
	m->vfs = vfs;
	pthread_mutex_unlock(&m->card->lock);
}

/* Of devargs, which may give one address twice, or run into multicast, or be another PF's. */
static int
check_addresses(const struct meridian *m)
{
	uint32_t i;

	for (i = 0; i < m->vfs->service.vfs; i++) {
		const struct qdma_vf *vf = &m->vfs->vf[i];
		const struct rte_ether_addr *own = (const struct rte_ether_addr *)vf->own;
		bool is_anothers;

		pthread_mutex_lock(&m->card->lock);
		is_anothers = meridian_is_anothers(m, vf->function, own);
		pthread_mutex_unlock(&m->card->lock);
		if (rte_is_unicast_ether_addr(own) && !is_anothers)
			continue;
		MERIDIAN_LOG(ERR, "%s: " RTE_ETHER_ADDR_PRT_FMT " cannot be VF %u's",
			     m->data->name, RTE_ETHER_ADDR_BYTES(own), i);
		return -EINVAL;
	}
	return 0;
}

/* Whether a module at the host reads or writes memory of functions that let it. */
static bool
has_commands(struct meridian *m)
{
	uint32_t status = MERIDIAN_BOX_BASE(BOX_AT_HOST) + MERIDIAN_BOX_STATUS;

	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK) &&
	       (meridian_read(m, status) & MERIDIAN_BOX_STATUS_DMA_MASK) != 0;
}

/**
 * meridian_start_vfs() - serve VFs from now on
 * @m: a PF that is identified
 * @options: how many, and what may they
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_start_vfs(struct meridian *m, const struct meridian_options *options)
{
	uint32_t first_queue = MERIDIAN_PFS * options->queues, i;
	int error = check(m, options, first_queue);
	struct meridian_vfs *vfs;

	if (error)
		return error;
	vfs = calloc(1, sizeof(*vfs));
	if (vfs == NULL)
		return -ENOMEM;
	for (i = 0; i < options->vfs; i++) {
		struct qdma_vf *vf = &vfs->vf[i];

		vf->function = m->bus->first_vf + i * m->bus->vf_stride;
		vf->base = first_queue + MERIDIAN_QUEUES_OF_VF * (vf->function - MERIDIAN_PFS);
		vf->is_trusted = options->trusted >> i & 1;
		choose_address(vf, i, &options->vf_address);
	}
	vfs->service = (struct qdma_service){
		.qdma = &m->qdma,
		.ops = &ops,
		.owner = m,
		.pfs = MERIDIAN_PFS,
		.capabilities = m->capabilities,
		.has_commands = has_commands(m),
		.max_frame = m->max_frame,
		.message_ns = 1000000000 / options->vf_messages,
		.vf = vfs->vf,
		.vfs = options->vfs,
		.card = &m->card->services,
		.now = now_ns(),
	};
	show_vfs(m, vfs);
	error = check_addresses(m);
	if (error) {
		show_vfs(m, NULL);
		free(vfs);
		return error;
	}
	meridian_restart_vfs(m);
	rte_eal_alarm_set(PERIOD_US, serve, m);
	return 0;
}

/* VFs begin anew, as after a reset of their PF. */
void
meridian_restart_vfs(struct meridian *m)
{
	if (m->vfs == NULL)
		return;
	pthread_mutex_lock(&m->card->lock);
	qdma_service_start(&m->vfs->service);
	pthread_mutex_unlock(&m->card->lock);
}

/* When it returns, no VF has anything of the card. */
void
meridian_stop_vfs(struct meridian *m)
{
	struct meridian_vfs *vfs;

	if (m->vfs == NULL)
		return;
	rte_eal_alarm_cancel(serve, m);
	pthread_mutex_lock(&m->card->lock);
	vfs = m->vfs;
	qdma_service_stop(&vfs->service);
	m->vfs = NULL;
	pthread_mutex_unlock(&m->card->lock);
	free(vfs);
}

/* What VFs have asked: taken to evicted of struct qdma_service; NULL: there are no VFs. */
uint64_t *
meridian_vf_counts(struct meridian *m)
{
	static_assert(offsetof(struct qdma_service, evicted) ==
		      offsetof(struct qdma_service, taken) + 4 * sizeof(uint64_t),
		      "the counts stand together");
	return m->vfs != NULL ? &m->vfs->service.taken : NULL;
}
