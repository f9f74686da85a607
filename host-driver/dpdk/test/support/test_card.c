/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <bus_vdev_driver.h>

#include "qdma/qdma_regs.h"
#include "test_card.h"

#define BUSY		1	/* of QDMA_CONTEXT_COMMAND */
#define MAILBOX		1	/* of QDMA_MISC_CAPABILITY */
#define FIRST_VF	4
#define LENGTH		60
#define SLOW_FRAMES	32
#define PORT		MERIDIAN_PORT_BASE(test_card_port)
#define ADDRESS_LOW	(PORT + MERIDIAN_PORT_HOST_ADDRESS_LOW(0))
#define ADDRESS_HIGH	(PORT + MERIDIAN_PORT_HOST_ADDRESS_HIGH(0))

struct test_card *test_card;
uint32_t test_card_port;
bool test_card_has_no_fence;
bool test_card_has_a_vf;
uint32_t test_card_address[2][2];
uint32_t test_card_capabilities;
bool test_card_has_no_rates;
uint32_t test_card_places;
bool test_card_window_is_memory;
bool test_card_is_of_another_version;

static bool
is_open(const struct test_card *card)
{
	return card->null->shell[(PORT + MERIDIAN_PORT_HOST_ENABLE) / 4] &
	       MERIDIAN_PORT_HOST_ENABLE_TX_MASK;
}

/* Takes frames of a queue up to an index, and counts them. */
static void
take_frames(struct test_card *card, uint32_t queue, uint32_t index)
{
	struct meridian_null_queue *null = &card->null->queue[queue];
	uint32_t slots = null->h2c_slots, frames;

	if (null->h2c == NULL || index >= slots)
		return;
	frames = (index + slots - null->h2c_cidx) % slots;
	*(is_open(card) ? &card->sent : &card->lost) += frames;
	meridian_null_doorbell(card->null, 16 * queue + QDMA_DOORBELL_H2C_PIDX, index);
}

static void
serve_slowly(struct test_card *card)
{
	uint32_t queue;

	for (queue = 0; queue < MERIDIAN_NULL_QUEUES; queue++) {
		const struct meridian_null_queue *null = &card->null->queue[queue];
		uint32_t waiting;

		if (null->h2c == NULL)
			continue;
		waiting = (card->told[queue] + null->h2c_slots - null->h2c_cidx) % null->h2c_slots;
		if (waiting)
			take_frames(card, queue, (null->h2c_cidx + RTE_MIN(waiting, SLOW_FRAMES)) %
						 null->h2c_slots);
	}
}

static bool
is_counter(unsigned int bar, uint32_t offset)
{
	const uint32_t first = MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_DELIVERED;

	return bar == MERIDIAN_BAR_SHELL && offset >= first &&
	       offset <= MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_TX_COPIES_PS_FULL + 4;
}

/* As the card's PS does. */
static void
write_address(struct test_card *card, const uint32_t *address)
{
	card->null->shell[ADDRESS_LOW / 4] = address[0];
	card->null->shell[ADDRESS_HIGH / 4] = address[1];
}

static uint32_t
read_register(struct meridian_bus *bus, unsigned int bar, uint32_t offset)
{
	struct test_card *card = (struct test_card *)bus;

	if (card->is_silent)
		return QDMA_ALL_ONES;
	if (card->is_slow)
		serve_slowly(card);
	if (bar == MERIDIAN_BAR_SHELL && (offset == ADDRESS_LOW || offset == ADDRESS_HIGH)) {
		uint32_t word = meridian_null_read(card->null, bar, offset);

		if (test_card_address[1][1])
			write_address(card, test_card_address[1]);
		return word;
	}
	if (!is_counter(bar, offset))
		return meridian_null_read(card->null, bar, offset);
	if (offset % 8)
		return card->latched;
	card->latched = meridian_null_read(card->null, bar, offset + 4);
	/* Threads are to meet between the halves. */
	if (card->latched)
		sched_yield();
	return meridian_null_read(card->null, bar, offset);
}

static void
write_register(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value)
{
	struct test_card *card = (struct test_card *)bus;
	/* Such a command is under way until the next. */
	bool is_command = bar == MERIDIAN_BAR_QDMA && offset == QDMA_CONTEXT_COMMAND;
	bool is_failing = is_command && card->failing && --card->failing == 0;
	bool is_held = is_command &&
		       (card->is_frozen || is_failing ||
			(card->is_stuck && (value >> 5 & 3) == QDMA_CONTEXT_INVALIDATE));

	if (card->is_silent)
		return;
	if (is_command)
		card->null->registers[offset / 4] = is_held ? value | BUSY : 0;
	if (bar == MERIDIAN_BAR_QDMA &&
	    (offset == QDMA_C2H_FATAL || offset == 0x0fc || offset == 0x0ec))
		card->null->registers[offset / 4] &= ~value;
	else if (!is_held)
		meridian_null_write(card->null, bar, offset, value);
}

static void
ring_doorbell(struct meridian_bus *bus, uint32_t offset, uint32_t value)
{
	struct test_card *card = (struct test_card *)bus;
	uint32_t queue = offset / 16 % MERIDIAN_NULL_QUEUES;

	if (card->is_silent || !card->is_master)
		return;
	if (offset % 16 != QDMA_DOORBELL_H2C_PIDX) {
		meridian_null_doorbell(card->null, offset, value);
		return;
	}
	if (queue < TEST_CARD_PLACES)
		card->header = card->window[queue][QDMA_WINDOW_HEADER / sizeof(uint64_t)];
	if (card->is_deaf)
		return;
	card->told[queue] = value & 0xffff;
	if (!card->is_slow)
		take_frames(card, queue, value & 0xffff);
}

static void
push_frame(struct meridian_bus *bus, uint32_t queue, const uint64_t *frame, uint32_t words,
	   uint64_t header)
{
	uint64_t *place = ((struct test_card *)bus)->window[queue];

	memcpy(place, frame, words * sizeof(*frame));
	place[QDMA_WINDOW_HEADER / sizeof(*place)] = header;
}

static void
close_bus(struct meridian_bus *bus)
{
	struct test_card *card = (struct test_card *)bus;

	test_card = NULL;
	free(card->null);
	free(card);
}

static int
set_master(struct meridian_bus *bus, bool is_master)
{
	((struct test_card *)bus)->is_master = is_master;
	return 0;
}

static enum meridian_presence
presence(struct meridian_bus *bus)
{
	return ((struct test_card *)bus)->presence;
}

static const struct meridian_bus_ops other_ops = {
	.version = MERIDIAN_BUS_VERSION + 1,
	.close = close_bus,
};

static const struct meridian_bus_ops unfenced_ops = {
	.version = MERIDIAN_BUS_VERSION,
	.close = close_bus,
	.read = read_register,
	.write = write_register,
	.doorbell = ring_doorbell,
};

static const struct meridian_bus_ops pushing_ops = {
	.version = MERIDIAN_BUS_VERSION,
	.close = close_bus,
	.read = read_register,
	.write = write_register,
	.doorbell = ring_doorbell,
	.push = push_frame,
	.set_master = set_master,
	.presence = presence,
};

static const struct meridian_bus_ops ops = {
	.version = MERIDIAN_BUS_VERSION,
	.close = close_bus,
	.read = read_register,
	.write = write_register,
	.doorbell = ring_doorbell,
	.set_master = set_master,
	.presence = presence,
};

/* As at power on: no queue, no table, no counts. */
void
test_card_reset(struct test_card *card)
{
	struct meridian_null_card *null = card->null;
	uint32_t length = null->length, fill = null->fill, loop = null->loop;
	uint32_t pieces = null->pieces, segments = null->segments, classes = null->classes;

	memset(null, 0, sizeof(*null));
	null->length = length;
	null->fill = fill;
	null->loop = loop;
	null->pieces = pieces;
	null->segments = segments;
	null->classes = classes;
	null->version = MERIDIAN_MAP_MAJOR << 16 | MERIDIAN_MAP_MINOR;
	meridian_null_begin(null);
	null->shell[(MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_GEOMETRY) / 4] +=
		test_card_port << MERIDIAN_IDENT_GEOMETRY_PORTS_SHIFT;
	if (test_card_has_no_rates)
		null->shell[(MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_RATE_UNIT) / 4] = 0;
	null->shell[(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_PORT) / 4] =
		test_card_port << MERIDIAN_FUNCTION_PORT_PORT_SHIFT;
}

/* What has it is in no register: nobody drives it. */
static void
add_vf(struct test_card *card)
{
	card->bus.first_vf = FIRST_VF;
	card->bus.vf_stride = 1;
	card->null->registers[QDMA_MISC_CAPABILITY / 4] |= MAILBOX;
	card->null->shell[(MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_GEOMETRY) / 4] +=
		FIRST_VF << MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_SHIFT;
}

/* Frames for a queue, in all buffers that the card believes to have. */
void
test_card_receive(struct test_card *card, uint32_t queue)
{
	if (card->is_master)
		meridian_null_doorbell(card->null, 16 * queue + QDMA_DOORBELL_CMPT_CIDX,
				       card->null->queue[queue].cidx);
}

static int
probe(struct rte_vdev_device *device)
{
	struct test_card *card = calloc(1, sizeof(*card));
	const char *arguments = rte_vdev_device_args(device);

	if (card == NULL)
		return -ENOMEM;
	card->null = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*card->null));
	if (card->null == NULL) {
		free(card);
		return -ENOMEM;
	}
	memset(card->null, 0, sizeof(*card->null));
	card->null->length = LENGTH;
	card->null->fill = 1;
	if (arguments != NULL && strstr(arguments, "loop=1") != NULL) {
		card->null->length = 0;
		card->null->loop = 1;
	}
	card->null->pieces = arguments != NULL && strstr(arguments, "pieces=1") != NULL;
	card->null->segments = arguments != NULL && strstr(arguments, "segments=1") != NULL;
	card->null->classes = arguments != NULL && strstr(arguments, "classes=1") != NULL;
	test_card_reset(card);
	if (test_card_has_a_vf)
		add_vf(card);
	write_address(card, test_card_address[0]);
	card->null->shell[(MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CAPABILITIES) / 4] |=
		test_card_capabilities;
	card->bus.ops = test_card_has_no_fence ? &unfenced_ops : &ops;
	if (test_card_places && !test_card_window_is_memory)
		card->bus.ops = &pushing_ops;
	card->bus.window = test_card_window_is_memory ? card->window : NULL;
	card->bus.window_queues = test_card_places;
	if (test_card_is_of_another_version)
		card->bus.ops = &other_ops;
	card->bus.is_loop = card->null->loop;
	card->is_master = true;
	snprintf(card->bus.card, sizeof(card->bus.card), "%s", rte_vdev_device_name(device));
	test_card = card;
	return meridian_attach(&device->device, &card->bus);
}

static int
remove_port(struct rte_vdev_device *device)
{
	return meridian_detach(&device->device);
}

static struct rte_vdev_driver test_driver = {
	.probe = probe,
	.remove = remove_port,
	.drv_flags = RTE_VDEV_DRV_NEED_IOVA_AS_VA,
};

RTE_PMD_REGISTER_VDEV(net_meridian_test, test_driver);
