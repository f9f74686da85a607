// SPDX-License-Identifier: Apache-2.0
/* libmeridian against a card of registers alone: each case runs in turn, and the first that fails ends the program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../host-driver/include/meridian_regs.h"
#include "../../host-driver/qdma/qdma_context.h"
#include "cases.h"
#include "fake_card.h"

#define BASE			128u	/* the first queue of PF 1 */

static struct fake fake;
static struct meridian *card;

static int begin(void)
{
	card = NULL;
	return meridian_attach(&fake.bus, "card", &card);
}

static void end(void)
{
	meridian_close(card);
	CHECK(fake.stopped && fake.closed && !fake.allocated);
}

static void refused(int error, const char *said)
{
	CHECK(begin() == error);
	SAYS(meridian_error(NULL), said);
	CHECK(fake.closed && !card && !fake.allocated);
}

static void what_is_no_card_is_refused(void)
{
	fake_begin(&fake);
	fake.dead = true;
	refused(-ENODEV, "does not answer");
	fake_begin(&fake);
	fake.identifier = 0x12340000;
	refused(-ENXIO, "no card with a DMA engine");
	fake_begin(&fake);
	fake.magic = 0;
	refused(-ENXIO, "no Meridian card");
	fake_begin(&fake);
	fake.version = (MERIDIAN_MAP_MAJOR + 1) << 16 | 3;
	refused(-EPROTO, "register map 2.3, and this libmeridian is for 1");
	fake_begin(&fake);
	fake.keeps_nothing = true;
	refused(-EIO, "does not keep its tables");
	fake_begin(&fake);
	fake.busy = true;
	refused(-EBUSY, "does not end a command");
}

static void bytes_are_those_of_a_memory(void)
{
	static uint8_t model[FAKE_MEMORY];
	struct meridian_memory memory;
	int i;

	fake_begin(&fake);
	CHECK(!begin() && !meridian_error(card)[0]);
	CHECK(!meridian_allocate(card, FAKE_MEMORY, &memory));
	for (i = 0; i < 500; i++) {
		size_t bytes = (size_t)rand() % 5000, at = (size_t)rand() % (FAKE_MEMORY - 5000);
		size_t place = (size_t)rand() % (FAKE_MEMORY - 5000), byte;
		uint8_t *host = (uint8_t *)memory.bytes + at;

		if (rand() % 2) {
			for (byte = 0; byte < bytes; byte++)
				model[place + byte] = host[byte] = (uint8_t)rand();
			CHECK(!meridian_to_card(card, place, &memory, at, bytes));
		} else {
			CHECK(!meridian_from_card(card, place, &memory, at, bytes));
			CHECK(!memcmp(host, model + place, bytes));
		}
	}
	CHECK(!memcmp(model, fake.memory, FAKE_MEMORY));
	CHECK(meridian_to_card(card, 0, &memory, 1, FAKE_MEMORY) == -EINVAL);
	CHECK(meridian_to_card(card, 0, &memory, FAKE_MEMORY + 1, 0) == -EINVAL);
	CHECK(meridian_from_card(card, 0, &memory, SIZE_MAX, 2) == -EINVAL);
	end();
}

static void a_transfer_that_fails_is_told_and_others_go_on(void)
{
	static const struct {
		uint32_t bits, errors;
		const char *said;
	} cases[] = {
		{ 1, 1u << 4, "malformed" }, { 1, 1u << 21 | 4, "descriptor could not be read" },
		{ 2, 1u << 20 | 4, "memory of the host could not be read" },
		{ 2, 1u << 20, "refuses the address" }, { 2, 0, "has stopped the queue" },
	};
	struct meridian_memory memory;
	size_t i;

	fake_begin(&fake);
	CHECK(!begin() && !meridian_allocate(card, 4096, &memory));
	for (i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		int (*move)(struct meridian *, uint64_t, const struct meridian_memory *, size_t, size_t) =
			i % 2 ? meridian_to_card : meridian_from_card;

		fake.error = cases[i / 2].bits;
		fake.error_register = cases[i / 2].errors;
		CHECK(move(card, 0, &memory, 0, 100) == -EIO);
		SAYS(meridian_error(card), cases[i / 2].said);
		fake.error = 0;
		CHECK(!fake.registers[0x254 / 4] && !move(card, 0, &memory, 0, 100));
	}
	/* What another queue has done is left to its driver. */
	fake.error = 2;
	fake.error_register = 1u << 4;
	fake.error_queue = BASE + 1;
	CHECK(meridian_to_card(card, 0, &memory, 0, 100) == -EIO);
	SAYS(meridian_error(card), "has stopped the queue");
	CHECK(fake.registers[0x254 / 4] == 1u << 4);
	fake.error = 0;
	fake.error_queue = BASE;
	fake.silent = true;
	meridian_set_patience(card, 30);
	CHECK(meridian_to_card(card, 0, &memory, 0, 100) == -ETIMEDOUT);
	SAYS(meridian_error(card), "has not ended in 30 ms");
	CHECK(!(fake.contexts[1][BASE][1] & 1));
	fake.silent = false;
	CHECK(!meridian_to_card(card, 0, &memory, 0, 100));
	fake.no_memory = true;
	CHECK(meridian_allocate(card, 4096, &memory) == -ENOMEM);
	SAYS(meridian_error(card), "card: there is none");
	CHECK(meridian_allocate(card, 0, &memory) == -EINVAL);
	end();
	fake_begin(&fake);
	fake.memory_mapped = false;
	CHECK(!begin() && !meridian_allocate(card, 4096, &memory));
	CHECK(meridian_to_card(card, 0, &memory, 0, 1) == -EOPNOTSUPP);
	fake.dead = true;
	end();
}

static void queues_are_lent_and_taken_back(void)
{
	unsigned int queues[15], i, more;

	fake_begin(&fake);
	CHECK(!begin());
	for (i = 0; i < 15; i++) {
		const uint32_t *h2c, *c2h;

		CHECK(!meridian_lend(card, &queues[i]) && queues[i] == BASE + 1 + i);
		h2c = fake.contexts[1][queues[i]];
		c2h = fake.contexts[0][queues[i]];
		/* Function 1, enabled, bypass, and nothing else. */
		CHECK(h2c[0] == 1u << 17 && h2c[1] == (1u | 1u << 18) && !h2c[2] && !h2c[3]);
		CHECK(!memcmp(h2c, c2h, 16));
	}
	CHECK(meridian_lend(card, &more) == -EBUSY);
	CHECK(!meridian_take_back(card, queues[4]) && meridian_take_back(card, queues[4]) == -EINVAL);
	CHECK(!(fake.contexts[0][queues[4]][1] & 1) && !(fake.contexts[1][queues[4]][1] & 1));
	fake.contexts[QDMA_SELECT_HW_H2C][queues[4]][0] = 5;
	CHECK(!meridian_lend(card, &more) && more == queues[4]);
	CHECK(!fake.contexts[QDMA_SELECT_HW_H2C][queues[4]][0]);
	CHECK(meridian_take_back(card, BASE) == -EINVAL && meridian_take_back(card, 0) == -EINVAL);
	end();
	for (i = 0; i < 2048; i++)
		CHECK(!(fake.contexts[0][i][1] & 1) && !(fake.contexts[1][i][1] & 1));
	fake_begin(&fake);
	fake.status = 0;
	CHECK(!begin() && meridian_lend(card, &more) == -EOPNOTSUPP);
	end();
}

/* Each of its commands would take half a second, and VFIO resets the function in the end. */
static void a_card_that_hangs_is_left_at_once(void)
{
	unsigned int queue, i, commands;

	fake_begin(&fake);
	CHECK(!begin());
	for (i = 0; i < 15; i++)
		CHECK(!meridian_lend(card, &queue));
	fake.busy = true;
	commands = fake.commands;
	end();
	CHECK(fake.commands - commands < 12);
}

static void a_card_that_goes_is_told(void)
{
	struct meridian_memory memory;
	unsigned int queue;
	uint32_t word;

	fake_begin(&fake);
	CHECK(!begin() && !meridian_allocate(card, 4096, &memory) && !meridian_lend(card, &queue));
	fake.dead = true;
	CHECK(meridian_take_back(card, queue) == -ENODEV);
	SAYS(meridian_error(card), "the card is gone");
	CHECK(meridian_to_card(card, 0, &memory, 0, 1) == -ENODEV);
	CHECK(meridian_read32(card, 0, &word) == -ENODEV);
	SAYS(meridian_error(card), "the card is gone");
	end();
	fake_begin(&fake);
	CHECK(!begin() && !meridian_allocate(card, 4096, &memory));
	CHECK(!meridian_write32(card, 0x4000, 1) && !meridian_read32(card, 0x4000, &word));
	meridian_set_patience(card, 30);
	fake.dies = true;
	CHECK(meridian_to_card(card, 0, &memory, 0, 1) == -ENODEV);
	SAYS(meridian_error(card), "the card is gone");
	end();
}

static void what_begins_with_a_card_ends_with_it(void)
{
	const uint32_t last_clear = (BASE + 15) << 7 | QDMA_SELECT_COMPLETION << 1;
	uint32_t ticks;

	fake_begin(&fake);
	fake.registers[0x254 / 4] = 1u << 21;
	CHECK(!begin() && !fake.registers[0x254 / 4]);
	ticks = fake.registers[0xb0c / 4];
	CHECK(ticks == 125);
	CHECK(fake.contexts[QDMA_SELECT_FMAP][1][0] == BASE && fake.contexts[QDMA_SELECT_FMAP][1][1] == 16);
	end();
	CHECK(!fake.contexts[QDMA_SELECT_FMAP][1][1]);
	fake_begin(&fake);
	fake.fails_at = last_clear;
	refused(-EBUSY, "does not end a command");
	CHECK(!fake.contexts[QDMA_SELECT_FMAP][1][1]);
}

static void a_module_is_where_the_card_has_one(void)
{
	uint32_t word;

	fake_begin(&fake);
	fake.capabilities |= MERIDIAN_IDENT_CAPABILITIES_USER_BOX_MASK;
	CHECK(!begin());
	CHECK(!meridian_box_read(card, MERIDIAN_BOX_AT_WIRE(1), 4, &word) && word == MERIDIAN_BOX_WINDOW_BASE(1) + 4);
	CHECK(!meridian_box_read(card, MERIDIAN_BOX_AT_HOST, 0, &word));
	CHECK(meridian_box_read(card, MERIDIAN_BOX_AT_WIRE(2), 0, &word) == -ENODEV);
	SAYS(meridian_error(card), "the card has no port 2");
	CHECK(meridian_box_write(card, MERIDIAN_BOX_AT_WIRE(3), 0, 0) == -ENODEV);
	end();
}

static void memory_that_the_card_does_not_have_is_refused(void)
{
	struct meridian_memory memory, other;
	uint8_t bytes[64];

	fake_begin(&fake);
	CHECK(!begin() && !meridian_allocate(card, 4096, &memory));
	other = memory;
	other.bytes = bytes;
	CHECK(meridian_to_card(card, 0, &other, 0, 64) == -EINVAL);
	SAYS(meridian_error(card), "not of this card");
	other = memory;
	other.address += 4096;
	CHECK(meridian_from_card(card, 0, &other, 0, 64) == -EINVAL);
	CHECK(!meridian_to_card(card, 0, &memory, 0, 64));
	other = memory;
	meridian_free(card, &memory);
	CHECK(meridian_to_card(card, 0, &other, 0, 64) == -EINVAL);
	SAYS(meridian_error(card), "given back");
	end();
}

static void a_child_leaves_the_card_to_its_parent(void)
{
	unsigned int queue;
	int status;
	pid_t child;

	fake_begin(&fake);
	CHECK(!begin() && !meridian_lend(card, &queue));
	child = fork();
	if (!child) {
		meridian_close(card);
		_exit(fake.closed || fake.stopped || !(fake.contexts[QDMA_SELECT_SW_H2C][queue][1] & 1));
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(!meridian_take_back(card, queue));
	end();
}

/* More than a ring has, in more descriptors than a ring takes at once. */
static void large_transfers_are_cut(void)
{
	const uint64_t sizes[] = { 1, (1ull << 28) - 1, 1ull << 28, (10ull << 30) + 5 };
	struct meridian_memory memory;
	unsigned int i, way;

	fake_begin(&fake);
	fake.moves_nothing = true;
	CHECK(!begin() && !meridian_allocate(card, 1, &memory));
	memory.size = 1ull << 36;	/* as nothing is moved */
	for (i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		way = i % 2;
		fake.total = 0;
		fake.next = memory.address + 7;
		CHECK(!(way ? meridian_to_card : meridian_from_card)(card, 0, &memory, 7, sizes[i / 2]));
		CHECK(fake.total == sizes[i / 2] && fake.in_order);
	}
	CHECK(fake.largest > 1u << 20 && fake.largest < 1u << 28);
	end();
}

int main(void)
{
	srand(1);
	what_is_no_card_is_refused();
	bytes_are_those_of_a_memory();
	a_transfer_that_fails_is_told_and_others_go_on();
	queues_are_lent_and_taken_back();
	a_card_that_hangs_is_left_at_once();
	a_card_that_goes_is_told();
	what_begins_with_a_card_ends_with_it();
	a_module_is_where_the_card_has_one();
	memory_that_the_card_does_not_have_is_refused();
	a_child_leaves_the_card_to_its_parent();
	large_transfers_are_cut();
	addresses_of_an_iommu();
	a_function_of_vfio_is_taken_and_given_back();
	memory_is_in_pages_of_either_size();
	puts("all passed");
	return 0;
}
