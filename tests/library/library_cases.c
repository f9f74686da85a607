// SPDX-License-Identifier: Apache-2.0
/* libmeridian against a card of registers alone: each case runs in turn, and the first that fails ends the program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../host-driver/include/meridian_regs.h"
#include "../../host-driver/library/vfio_space.h"
#include "fake_card.h"

#define CHECK(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #what); \
			exit(1); \
		} \
	} while (0)
#define SAYS(text, part)	CHECK(strstr(text, part))
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
	CHECK(fake.closed && !fake.allocated);
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
	CHECK(!meridian_lend(card, &more) && more == queues[4]);
	CHECK(meridian_take_back(card, BASE) == -EINVAL && meridian_take_back(card, 0) == -EINVAL);
	end();
	for (i = 0; i < 2048; i++)
		CHECK(!(fake.contexts[0][i][1] & 1) && !(fake.contexts[1][i][1] & 1));
	fake_begin(&fake);
	fake.status = 0;
	CHECK(!begin() && meridian_lend(card, &more) == -EOPNOTSUPP);
	end();
}

static void a_card_that_goes_is_told(void)
{
	struct meridian_memory memory;
	unsigned int queue;

	fake_begin(&fake);
	CHECK(!begin() && !meridian_allocate(card, 4096, &memory) && !meridian_lend(card, &queue));
	fake.dead = true;
	CHECK(meridian_take_back(card, queue) == -ENODEV);
	SAYS(meridian_error(card), "the card is gone");
	CHECK(meridian_to_card(card, 0, &memory, 0, 1) == -ENODEV);
	end();
}

/* Against a map of which 2 MiB are free. */
static void addresses_of_an_iommu(void)
{
	enum { PLACES = 64 };
	struct vfio_space space = { 0 };
	unsigned char taken[PLACES] = { 0 };
	struct { uint64_t address; unsigned int count; } have[PLACES];
	const uint64_t unit = 2u << 20;
	unsigned int held = 0, i, step;

	CHECK(!vfio_space_add(&space, 32 * unit, 64 * unit) && !vfio_space_add(&space, unit, 20 * unit));
	memset(taken, 1, sizeof(taken));
	memset(taken + 1, 0, 19);
	memset(taken + 32, 0, 32);
	for (step = 0; step < 20000; step++) {
		if (rand() % 2 && held) {
			unsigned int which = (unsigned int)rand() % held;

			vfio_space_give(&space, have[which].address, have[which].count * unit - (unsigned int)rand() % unit);
			memset(taken + have[which].address / unit, 0, have[which].count);
			have[which] = have[--held];
		} else {
			unsigned int count = 1 + (unsigned int)rand() % 8, run = 0, first = PLACES;
			uint64_t address = vfio_space_take(&space, count * unit - (unsigned int)rand() % unit);

			for (i = 0; i < PLACES && first == PLACES; i++) {
				run = taken[i] ? 0 : run + 1;
				if (run == count)
					first = i + 1 - count;
			}
			CHECK(address == (first == PLACES ? VFIO_NO_SPACE : first * unit));
			if (first == PLACES)
				continue;
			memset(taken + first, 1, count);
			have[held].address = address;
			have[held++].count = count;
		}
	}
	vfio_space_end(&space);
}

int main(void)
{
	srand(1);
	what_is_no_card_is_refused();
	bytes_are_those_of_a_memory();
	a_transfer_that_fails_is_told_and_others_go_on();
	queues_are_lent_and_taken_back();
	a_card_that_goes_is_told();
	addresses_of_an_iommu();
	puts("all passed");
	return 0;
}
