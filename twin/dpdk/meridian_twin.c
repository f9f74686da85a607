/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_meridian_twin: the driver on a function of the twin, the card as a program, without a
 * machine around it. Descriptors, data and doorbells are in shared memory, registers go by
 * messages.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include <bus_vdev_driver.h>

#include "../../host-driver/dpdk/meridian_compat.h"
#include "meridian_twin.h"

#define FIRST_VF	4
#define FUNCTIONS	256
#define MOST_VFS	32	/* that a PF serves */
#define UNTOLD		FUNCTIONS	/* no number of a PF */

RTE_LOG_REGISTER_SUFFIX(meridian_twin_logtype, twin, NOTICE);

struct options {
	char *socket;
	unsigned long function;
	unsigned long pf;
	unsigned long vfs;	/* that a PF is to serve */
};

static uint32_t
read_register(struct meridian_bus *bus, unsigned int bar, uint32_t offset)
{
	struct meridian_twin *twin = (struct meridian_twin *)bus;
	struct meridian_link_header header = {
		.type = MERIDIAN_LINK_BAR_READ,
		.function = twin->function,
		.bar = bar,
		.width = 4,
		.address = offset,
	};

	return meridian_twin_ask(twin, &header, NULL, 0, -1) ? UINT32_MAX : header.value;
}

static void
write_register(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value)
{
	struct meridian_twin *twin = (struct meridian_twin *)bus;
	struct meridian_link_header header = {
		.type = MERIDIAN_LINK_BAR_WRITE,
		.function = twin->function,
		.bar = bar,
		.width = 4,
		.address = offset,
		.value = value,
	};

	meridian_twin_send(twin, &header, NULL, 0, -1);
}

static void
close_bus(struct meridian_bus *bus)
{
	struct meridian_twin *twin = (struct meridian_twin *)bus;

	TWIN_LOG(INFO, "%s: %" PRIu64 " accesses to memory went by messages", bus->card,
		 twin->dma_messages);
	meridian_twin_disconnect(twin);
	meridian_twin_forget_doorbells(twin);
	free(twin);
}

/* As bus mastering does. A card that has gone has let go of all memory. */
static int
set_master(struct meridian_bus *bus, bool is_master)
{
	struct meridian_twin *twin = (struct meridian_twin *)bus;
	struct meridian_link_header header = {
		.type = MERIDIAN_LINK_FUNCTION,
		.function = twin->function,
		.bar = twin->pf,
		.value = is_master,
	};
	int error = meridian_twin_ask(twin, &header, NULL, 0, -1);

	return error && !is_master && twin->is_gone ? 0 : error;
}

/* A card refuses for a VF of another PF, which is said once for each. */
static bool
vf_is_master(struct meridian_bus *bus, uint32_t vf)
{
	struct meridian_twin *twin = (struct meridian_twin *)bus;
	struct meridian_link_header header = {
		.type = MERIDIAN_LINK_FUNCTION_STATE,
		.function = bus->first_vf + vf * bus->vf_stride,
	};
	int error;

	if (twin->refused & RTE_BIT32(vf))
		return true;
	error = meridian_twin_ask(twin, &header, NULL, 0, -1);
	if (error == -EINVAL)
		twin->refused |= RTE_BIT32(vf);
	return error || header.value;
}

/* The card process answers while it is there, and nothing of it comes back. */
static enum meridian_presence
presence(struct meridian_bus *bus)
{
	return ((struct meridian_twin *)bus)->is_gone ? MERIDIAN_UNPLUGGED : MERIDIAN_PRESENT;
}

static const struct meridian_bus_ops ops = {
	.version = MERIDIAN_BUS_VERSION,
	.close = close_bus,
	.read = read_register,
	.write = write_register,
	.doorbell = meridian_twin_doorbell,
	.push = meridian_twin_push,
	.set_master = set_master,
	.vf_is_master = vf_is_master,
	.presence = presence,
};

static int
take_socket(const char *key __rte_unused, const char *value, void *argument)
{
	struct options *options = argument;

	free(options->socket);
	options->socket = value != NULL ? strdup(value) : NULL;
	return options->socket != NULL ? 0 : -EINVAL;
}

static int
take_number(const char *key, const char *value, void *argument)
{
	unsigned long *number = argument;
	unsigned long most = *number;
	char *end = NULL;

	if (value != NULL)
		*number = strtoul(value, &end, 10);
	if (end != NULL && end != value && *end == '\0' && *number <= most)
		return 0;
	TWIN_LOG(ERR, "%s=%s: give a number of 0 to %lu", key, value != NULL ? value : "",
		 most);
	return -EINVAL;
}

/* The driver takes the same key, and refuses in its own words what is no number of VFs. */
static int
take_vfs(const char *key __rte_unused, const char *value, void *argument)
{
	unsigned long *vfs = argument;

	*vfs = value != NULL ? strtoul(value, NULL, 10) : 0;
	if (*vfs > MOST_VFS)
		*vfs = 0;
	return 0;
}

static int
take_options(const char *arguments, struct options *options)
{
	static const char * const keys[] = { "socket", "function", "pf", MERIDIAN_DEVARGS, NULL };
	struct rte_kvargs *given = rte_kvargs_parse(arguments != NULL ? arguments : "", keys);
	int error;

	if (given == NULL) {
		TWIN_LOG(ERR, "\"%s\": give socket=PATH, and function=N, pf=N, or what all devices take",
			 arguments);
		return -EINVAL;
	}
	options->function = FUNCTIONS - 1;
	options->pf = FIRST_VF - 1;
	error = meridian_take_key(given, "socket", take_socket, options);
	if (rte_kvargs_count(given, "function") == 0)
		options->function = 0;
	else if (!error)
		error = meridian_take_key(given, "function", take_number, &options->function);
	if (rte_kvargs_count(given, "pf") == 0)
		options->pf = UNTOLD;
	else if (!error)
		error = meridian_take_key(given, "pf", take_number, &options->pf);
	options->vfs = 0;
	if (!error && rte_kvargs_count(given, "vfs") != 0)
		error = meridian_take_key(given, "vfs", take_vfs, &options->vfs);
	rte_kvargs_free(given);
	if (!error && options->socket == NULL) {
		TWIN_LOG(ERR, "socket=PATH says where the card process listens");
		error = -EINVAL;
	}
	return error;
}

/* Behind the PFs come the VFs of each in turn; a card may also leave to its hosts whose they are. */
static int
place_function(struct meridian_twin *twin, const struct options *options)
{
	const uint8_t *vfs = twin->welcome.vfs;
	unsigned int first[FIRST_VF + 1] = { FIRST_VF };
	bool is_told;
	unsigned int i;

	for (i = 0; i < FIRST_VF; i++)
		first[i + 1] = first[i] + vfs[i];
	is_told = first[FIRST_VF] > FIRST_VF;
	if (twin->bus.is_vf) {
		for (i = FIRST_VF - 1; i > 0 && twin->function < first[i]; i--)
			;
		twin->pf = options->pf != UNTOLD ? options->pf : is_told ? i : 0;
		return 0;
	}
	twin->pf = twin->function;
	if (is_told && options->vfs > vfs[twin->pf]) {
		TWIN_LOG(ERR, "%s: PF %u has %u VFs in this card, not %lu", twin->bus.card,
			 twin->pf, vfs[twin->pf], options->vfs);
		return -EINVAL;
	}
	twin->bus.first_vf = is_told && !vfs[twin->pf] ? 0 : first[twin->pf];
	return 0;
}

static struct meridian_twin *
open_twin(const struct options *options)
{
	struct meridian_twin *twin = calloc(1, sizeof(*twin));
	size_t length = strlen(options->socket);

	if (twin == NULL)
		return NULL;
	/* The end of a path is what differs. */
	snprintf(twin->bus.card, sizeof(twin->bus.card), "%s",
		 options->socket + (length < sizeof(twin->bus.card) ? 0 :
				    length - sizeof(twin->bus.card) + 1));
	twin->bus.ops = &ops;
	twin->bus.is_vf = options->function >= FIRST_VF;
	twin->bus.vf_stride = 1;
	twin->function = options->function;
	if (meridian_twin_connect(twin, options->socket)) {
		free(twin);
		return NULL;
	}
	if (place_function(twin, options)) {
		meridian_twin_disconnect(twin);
		free(twin);
		return NULL;
	}
	meridian_twin_find_window(twin);
	meridian_twin_share_memory(twin);
	if (meridian_twin_share_doorbells(twin))
		TWIN_LOG(WARNING, "%s: doorbells go by messages", twin->bus.card);
	return twin;
}

static int
attach(struct rte_device *device, struct meridian_twin *twin)
{
	/* This tells whose VF it is; what a driver before has left still may not write. */
	int error = set_master(&twin->bus, false);

	if (error) {
		close_bus(&twin->bus);
		return error;
	}
	error = meridian_attach(device, &twin->bus);
	if (error)
		return error;
	error = set_master(&twin->bus, true);
	if (error)
		meridian_detach(device);
	return error;
}

static int
probe(struct rte_vdev_device *device)
{
	struct options options = { 0 };
	struct meridian_twin *twin;
	int error;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		TWIN_LOG(ERR, "%s: a function of the twin has one process",
			 rte_vdev_device_name(device));
		return -ENOTSUP;
	}
	error = take_options(rte_vdev_device_args(device), &options);
	twin = error ? NULL : open_twin(&options);
	free(options.socket);
	if (twin == NULL)
		return error ? error : -EIO;
	return attach(&device->device, twin);
}

static int
remove_port(struct rte_vdev_device *device)
{
	return meridian_detach(&device->device);
}

static struct rte_vdev_driver meridian_twin_driver = {
	.probe = probe,
	.remove = remove_port,
	.drv_flags = RTE_VDEV_DRV_NEED_IOVA_AS_VA,
};

RTE_PMD_REGISTER_VDEV(net_meridian_twin, meridian_twin_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_meridian_twin,
			      "socket=<path> function=<0-255> pf=<0-3> queues=<1-256> mac=<address> "
			      "vfs=<0-32> trusted=<bitmap> vf_mac=<address> vf_messages=<1-100000> "
			      "push=<0-256>");
