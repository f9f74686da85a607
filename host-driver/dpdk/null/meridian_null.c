/* SPDX-License-Identifier: BSD-3-Clause */
/* net_meridian_null: the driver on a card that is a few lines of C, to measure the driver alone. */
#include <stdlib.h>

#include <rte_memzone.h>

#include <bus_vdev_driver.h>
#include <ethdev_driver.h>

#include "meridian_bus.h"
#include "meridian_compat.h"
#include "meridian_log.h"
#include "meridian_null.h"

#define DEFAULT_LENGTH	60	/* of the shortest frame, without FCS */
#define LEAST_LENGTH	60

struct null_bus {
	struct meridian_bus bus;
	struct meridian_null_card *card;
	const struct rte_memzone *zone;
};

static struct meridian_null_card *
card_of(struct meridian_bus *bus)
{
	return ((struct null_bus *)bus)->card;
}

static uint32_t
read_register(struct meridian_bus *bus, unsigned int bar, uint32_t offset)
{
	return meridian_null_read(card_of(bus), bar, offset);
}

static void
write_register(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value)
{
	meridian_null_write(card_of(bus), bar, offset, value);
}

static void
ring_doorbell(struct meridian_bus *bus, uint32_t offset, uint32_t value)
{
	meridian_null_doorbell(card_of(bus), offset, value);
}

static void
close_bus(struct meridian_bus *bus)
{
	struct null_bus *null = (struct null_bus *)bus;

	if (rte_eal_process_type() == RTE_PROC_PRIMARY) {
		if (null->card->capture != NULL)
			fclose(null->card->capture);
		rte_memzone_free(null->zone);
	}
	free(null);
}

/* It has no access under way when a call has returned, so it only has to forget its queues. */
static int
set_master(struct meridian_bus *bus, bool is_master)
{
	struct meridian_null_card *card = card_of(bus);

	if (!is_master)
		memset(card->queue, 0, sizeof(card->queue));
	return 0;
}

static const struct meridian_bus_ops ops = {
	.version = MERIDIAN_BUS_VERSION,
	.close = close_bus,
	.read = read_register,
	.write = write_register,
	.doorbell = ring_doorbell,
	.set_master = set_master,
};

struct number {
	uint32_t least;
	uint32_t most;
	uint32_t *result;
};

static int
take_number(const char *key, const char *value, void *argument)
{
	const struct number *number = argument;
	unsigned long result;
	char *end = NULL;

	result = value != NULL ? strtoul(value, &end, 10) : 0;
	if (value == NULL || *value < '0' || *value > '9' || *end || result < number->least ||
	    result > number->most) {
		MERIDIAN_LOG(ERR, "%s=%s: not a number from %u to %u", key,
			     value != NULL ? value : "", number->least, number->most);
		return -EINVAL;
	}
	*number->result = result;
	return 0;
}

static int
take_version(const char *key, const char *value, void *argument)
{
	struct meridian_null_card *card = argument;
	unsigned int major, minor;
	char more;

	if (value == NULL || sscanf(value, "%u.%u%c", &major, &minor, &more) != 2) {
		MERIDIAN_LOG(ERR, "%s=%s: not a version as 1.0", key, value != NULL ? value : "");
		return -EINVAL;
	}
	card->version = major << 16 | minor;
	return 0;
}

static int
take_capture(const char *key, const char *value, void *argument)
{
	int error = value != NULL ? meridian_null_open_capture(argument, value) : -EINVAL;

	if (error)
		MERIDIAN_LOG(ERR, "%s=%s: %s", key, value != NULL ? value : "", strerror(-error));
	return error;
}

static int
take_keys(struct meridian_null_card *card, const struct rte_kvargs *keys)
{
	struct number length = { LEAST_LENGTH, MERIDIAN_NULL_MAX_FRAME, &card->length };
	struct number receive = { 0, 1, NULL }, fill = { 0, 1, &card->fill };
	struct number loop = { 0, 1, &card->loop }, pieces = { 0, 1, &card->pieces };
	struct number segments = { 0, 1, &card->segments }, classes = { 0, 1, &card->classes };
	uint32_t receives = 1;
	int error;

	receive.result = &receives;
	error = meridian_take_key(keys, "length", take_number, &length);
	if (!error)
		error = meridian_take_key(keys, "receive", take_number, &receive);
	if (!error)
		error = meridian_take_key(keys, "fill", take_number, &fill);
	if (!error)
		error = meridian_take_key(keys, "loop", take_number, &loop);
	if (!error)
		error = meridian_take_key(keys, "pieces", take_number, &pieces);
	if (!error)
		error = meridian_take_key(keys, "segments", take_number, &segments);
	if (!error)
		error = meridian_take_key(keys, "classes", take_number, &classes);
	if (!error)
		error = meridian_take_key(keys, "map", take_version, card);
	if (!error)
		error = meridian_take_key(keys, "capture", take_capture, card);
	if (!receives || card->loop)
		card->length = 0;
	return error;
}

static int
take_args(struct meridian_null_card *card, const char *args)
{
	static const char * const known[] = {
		"length", "receive", "fill", "loop", "pieces", "segments", "classes", "map",
		"capture", MERIDIAN_DEVARGS, NULL
	};
	struct rte_kvargs *keys;
	int error;

	card->length = DEFAULT_LENGTH;
	card->version = MERIDIAN_MAP_MAJOR << 16 | MERIDIAN_MAP_MINOR;
	if (args == NULL || *args == '\0')
		return 0;
	keys = rte_kvargs_parse(args, known);
	if (keys == NULL) {
		MERIDIAN_LOG(ERR, "\"%s\": a null card knows length, receive, fill, loop, pieces, segments, classes, map, capture, queues and mac, as KEY=VALUE",
			     args);
		return -EINVAL;
	}
	error = take_keys(card, keys);
	rte_kvargs_free(keys);
	return error;
}

static int
make_card(struct null_bus *null, struct rte_vdev_device *device)
{
	null->zone = rte_memzone_reserve(null->bus.card, sizeof(*null->card),
					 (int)SOCKET_ID_ANY, 0);
	if (null->zone == NULL)
		return -ENOMEM;
	null->card = null->zone->addr;
	memset(null->card, 0, sizeof(*null->card));
	return take_args(null->card, rte_vdev_device_args(device));
}

static int
find_card(struct null_bus *null)
{
	null->zone = rte_memzone_lookup(null->bus.card);
	if (null->zone == NULL)
		return -ENODEV;
	null->card = null->zone->addr;
	return 0;
}

static int
probe(struct rte_vdev_device *device)
{
	bool is_primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	struct null_bus *null = calloc(1, sizeof(*null));
	int error;

	if (null == NULL)
		return -ENOMEM;
	null->bus.ops = &ops;
	snprintf(null->bus.card, RTE_MEMZONE_NAMESIZE, "%s", rte_vdev_device_name(device));
	error = is_primary ? make_card(null, device) : find_card(null);
	if (error) {
		if (null->zone != NULL && is_primary)
			close_bus(&null->bus);
		else
			free(null);
		return error;
	}
	null->bus.is_loop = null->card->loop;
	if (is_primary)
		meridian_null_begin(null->card);
	return meridian_attach(&device->device, &null->bus);
}

static int
remove_port(struct rte_vdev_device *device)
{
	return meridian_detach(&device->device);
}

static struct rte_vdev_driver meridian_null_driver = {
	.probe = probe,
	.remove = remove_port,
	.drv_flags = RTE_VDEV_DRV_NEED_IOVA_AS_VA,
};

RTE_PMD_REGISTER_VDEV(net_meridian_null, meridian_null_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_meridian_null,
			      "length=<60-9600> receive=<0|1> fill=<0|1> loop=<0|1> "
			      "pieces=<0|1> segments=<0|1> classes=<0|1> map=<major.minor> capture=<file> queues=<1-256> mac=<address>");
