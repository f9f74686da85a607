/* SPDX-License-Identifier: BSD-3-Clause */
/* What devargs say of a port. */
#include <stdlib.h>


#include "meridian.h"

/* Returns whether it is a number of least to most. */
static bool
take_number(const char *value, int base, unsigned long least, unsigned long most, uint32_t *result)
{
	char *end = NULL;
	unsigned long number = value != NULL ? strtoul(value, &end, base) : 0;

	if (end == NULL || end == value || *end || number < least || number > most)
		return false;
	*result = number;
	return true;
}

static int
take_queues(const char *key, const char *value, void *result)
{
	struct meridian_options *options = result;

	if (take_number(value, 10, 1, MERIDIAN_QUEUES_MAX, &options->queues))
		return 0;
	MERIDIAN_LOG(ERR, "%s=%s: a function has 1 to %u queues", key, value != NULL ? value : "",
		     MERIDIAN_QUEUES_MAX);
	return -EINVAL;
}

static int
take_vfs(const char *key, const char *value, void *result)
{
	struct meridian_options *options = result;

	if (take_number(value, 10, 0, MERIDIAN_VFS, &options->vfs))
		return 0;
	MERIDIAN_LOG(ERR, "%s=%s: a PF serves 0 to %u VFs", key, value != NULL ? value : "",
		     MERIDIAN_VFS);
	return -EINVAL;
}

static int
take_messages(const char *key, const char *value, void *result)
{
	struct meridian_options *options = result;

	if (take_number(value, 10, 1, MERIDIAN_VF_MESSAGES_MAX, &options->vf_messages))
		return 0;
	MERIDIAN_LOG(ERR, "%s=%s: a VF that floods is heard 1 to %u times a second", key,
		     value != NULL ? value : "", MERIDIAN_VF_MESSAGES_MAX);
	return -EINVAL;
}

static int
take_push(const char *key, const char *value, void *result)
{
	struct meridian_options *options = result;

	if (take_number(value, 10, 0, QDMA_PUSH_BYTES, &options->push))
		return 0;
	MERIDIAN_LOG(ERR, "%s=%s: give the longest frame that is to be pushed, 0 to %u bytes", key,
		     value != NULL ? value : "", QDMA_PUSH_BYTES);
	return -EINVAL;
}

static int
take_trusted(const char *key, const char *value, void *result)
{
	struct meridian_options *options = result;

	if (take_number(value, 16, 0, UINT32_MAX, &options->trusted))
		return 0;
	MERIDIAN_LOG(ERR, "%s=%s: give a bitmap of VFs, as 0x5 for the first and the third", key,
		     value != NULL ? value : "");
	return -EINVAL;
}

static int
take_address(const char *key, const char *value, void *result)
{
	struct rte_ether_addr *address = result;

	if (value != NULL && !rte_ether_unformat_addr(value, address) &&
	    rte_is_valid_assigned_ether_addr(address))
		return 0;
	MERIDIAN_LOG(ERR, "%s=%s: that is no unicast address", key, value != NULL ? value : "");
	return -EINVAL;
}

/**
 * meridian_take_options() - read devargs
 * @devargs: of the device, or NULL; keys of the bus are the bus driver's to check
 * @options: result
 *
 * Return: 0 or -EINVAL, then the log says why.
 */
int
meridian_take_options(const struct rte_devargs *devargs, struct meridian_options *options)
{
	struct rte_kvargs *keys;
	int error;

	*options = (struct meridian_options){
		.queues = MERIDIAN_QUEUES, .vf_messages = MERIDIAN_VF_MESSAGES,
	};
	if (devargs == NULL || devargs->args == NULL || *devargs->args == '\0')
		return 0;
	keys = rte_kvargs_parse(devargs->args, NULL);
	if (keys == NULL) {
		MERIDIAN_LOG(ERR, "\"%s\" is no list of KEY=VALUE", devargs->args);
		return -EINVAL;
	}
	error = meridian_take_key(keys, "queues", take_queues, options);
	if (!error)
		error = meridian_take_key(keys, "mac", take_address, &options->address);
	if (!error)
		error = meridian_take_key(keys, "vfs", take_vfs, options);
	if (!error)
		error = meridian_take_key(keys, "trusted", take_trusted, options);
	if (!error)
		error = meridian_take_key(keys, "vf_mac", take_address, &options->vf_address);
	if (!error)
		error = meridian_take_key(keys, "vf_messages", take_messages, options);
	if (!error)
		error = meridian_take_key(keys, "push", take_push, options);
	rte_kvargs_free(keys);
	return error;
}
