/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_tm's profiles of private shapers: a class has a peak rate, which it does not exceed, and may
 * have a committed one, below which it goes before all that have theirs. The card counts a frame
 * as long as it is on the line.
 */
#include "meridian.h"

#define INVALID(type, why)	meridian_tm_refuse(error, EINVAL, RTE_TM_ERROR_TYPE_ ## type, why)

#define BURST_BYTES	64
#define BURST_MAX	UINT16_MAX
#define BURST		256		/* of a size of 0: 16 KiB, more than the longest frame */

/* Return: the profile, NULL if the application has added none of this number. */
const struct meridian_profile *
meridian_tm_profile(const struct meridian *m, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < MERIDIAN_PROFILES; i++) {
		const struct meridian_profile *profile = &m->hierarchy.profiles[i];

		if (profile->is_there && profile->id == id)
			return profile;
	}
	return NULL;
}

static int
check_rate(const struct meridian *m, uint64_t rate, enum rte_tm_error_type type,
	   struct rte_tm_error *error)
{
	if (rate < meridian_tm_lowest_rate(m))
		return meridian_tm_refuse(error, EINVAL, type,
					  "the rate is below the lowest one of the card: its capabilities say shaper_private_rate_min");
	if (rate > meridian_tm_highest_rate(m))
		return meridian_tm_refuse(error, EINVAL, type,
					  "the rate is above the highest one of the card: its capabilities say shaper_private_rate_max");
	return 0;
}

static int
check_size(uint64_t size, enum rte_tm_error_type type, struct rte_tm_error *error)
{
	if (size && size < BURST_BYTES)
		return meridian_tm_refuse(error, EINVAL, type,
					  "the card's buckets hold 64 bytes at least; with a size of 0 the driver chooses");
	if (size / BURST_BYTES > BURST_MAX)
		return meridian_tm_refuse(error, EINVAL, type,
					  "the card's buckets hold at most 4194303 bytes");
	return 0;
}

static int
check_peak(const struct meridian *m, const struct rte_tm_token_bucket *peak,
	   struct rte_tm_error *error)
{
	int result = check_rate(m, peak->rate, RTE_TM_ERROR_TYPE_SHAPER_PROFILE_PEAK_RATE, error);

	if (!result)
		result = check_size(peak->size, RTE_TM_ERROR_TYPE_SHAPER_PROFILE_PEAK_SIZE, error);
	return result;
}

/* A rate of 0: there is no such bucket. */
static int
check_committed(const struct meridian *m, const struct rte_tm_shaper_params *params,
		struct rte_tm_error *error)
{
	const struct rte_tm_token_bucket *committed = &params->committed;
	int result;

	if (!committed->rate)
		return 0;
	if (committed->rate > params->peak.rate)
		return INVALID(SHAPER_PROFILE_COMMITTED_RATE,
			       "the committed rate is above the peak rate");
	result = check_rate(m, committed->rate, RTE_TM_ERROR_TYPE_SHAPER_PROFILE_COMMITTED_RATE,
			    error);
	if (!result)
		result = check_size(committed->size,
				    RTE_TM_ERROR_TYPE_SHAPER_PROFILE_COMMITTED_SIZE, error);
	return result;
}

static int
check_profile(const struct meridian *m, uint32_t id, const struct rte_tm_shaper_params *params,
	      struct rte_tm_error *error)
{
	int result;

	if (!m->rate_unit)
		return INVALID(SHAPER_PROFILE, "the card has no shapers of traffic classes");
	if (params == NULL)
		return INVALID(SHAPER_PROFILE, "there are no parameters");
	if (id == RTE_TM_SHAPER_PROFILE_ID_NONE)
		return INVALID(SHAPER_PROFILE_ID, "this is the number of no profile");
	if (meridian_tm_profile(m, id) != NULL)
		return INVALID(SHAPER_PROFILE_ID, "there is a profile of this number already");
	if (params->packet_mode)
		return INVALID(SHAPER_PROFILE_PACKET_MODE,
			       "the card's rates are of bytes, and not of frames");
	if (params->pkt_length_adjust != RTE_TM_ETH_FRAMING_OVERHEAD_FCS)
		return INVALID(SHAPER_PROFILE_PKT_ADJUST_LEN,
			       "the card counts a frame with 24 bytes of preamble, FCS and gap, so the length is adjusted by 24");
	result = check_peak(m, &params->peak, error);
	if (!result)
		result = check_committed(m, params, error);
	return result;
}

/* What it has beyond whole units does not count. */
static struct meridian_bucket
bucket_of(const struct meridian *m, const struct rte_tm_token_bucket *bucket)
{
	return (struct meridian_bucket){
		.rate = 8 * bucket->rate / m->rate_unit,
		.burst = bucket->size ? bucket->size / BURST_BYTES : BURST,
	};
}

static struct meridian_profile
profile_of(const struct meridian *m, uint32_t id, const struct rte_tm_shaper_params *params)
{
	struct meridian_profile profile = {
		.id = id, .most = bucket_of(m, &params->peak), .is_there = true,
	};

	if (params->committed.rate)
		profile.least = bucket_of(m, &params->committed);
	return profile;
}

int
meridian_tm_add_profile(struct rte_eth_dev *dev, uint32_t id, MERIDIAN_TM_SHAPER params,
			struct rte_tm_error *error)
{
	struct meridian *m = meridian_of(dev);
	int result = check_profile(m, id, params, error);
	uint32_t i;

	if (result)
		return result;
	for (i = 0; i < MERIDIAN_PROFILES; i++) {
		if (m->hierarchy.profiles[i].is_there)
			continue;
		m->hierarchy.profiles[i] = profile_of(m, id, params);
		return 0;
	}
	return meridian_tm_refuse(error, ENOSPC, RTE_TM_ERROR_TYPE_SHAPER_PROFILE_ID,
				  "there are 16 profiles, two for each class: delete one first");
}

/* What a commit has written does not depend on it. */
int
meridian_tm_delete_profile(struct rte_eth_dev *dev, uint32_t id, struct rte_tm_error *error)
{
	struct meridian_hierarchy *hierarchy = &meridian_of(dev)->hierarchy;
	const struct meridian_profile *profile = meridian_tm_profile(meridian_of(dev), id);
	uint32_t i;

	if (profile == NULL)
		return INVALID(SHAPER_PROFILE_ID, "there is no profile of this number");
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		const struct meridian_node *node = &hierarchy->classes[i];

		if (node->is_there && node->profile == id)
			return meridian_tm_refuse(error, EBUSY,
						  RTE_TM_ERROR_TYPE_SHAPER_PROFILE_ID,
						  "a node has this profile: delete it, or give it another one first");
	}
	hierarchy->profiles[profile - hierarchy->profiles].is_there = false;
	return 0;
}

int
meridian_tm_add_shared(struct rte_eth_dev *dev __rte_unused, uint32_t id __rte_unused,
		       uint32_t profile __rte_unused, struct rte_tm_error *error)
{
	return INVALID(SHARED_SHAPER_ID, "no traffic classes of the card share a shaper");
}

/**
 * meridian_tm_check_shaper() - look at what a node is to be shaped by
 * @m: a PF
 * @profile: number of the shaper's
 * @is_port: the node is the port's
 * @error: gets the reason
 *
 * Return: 0 or a negative errno.
 */
int
meridian_tm_check_shaper(const struct meridian *m, uint32_t profile, bool is_port,
			 struct rte_tm_error *error)
{
	if (profile == RTE_TM_SHAPER_PROFILE_ID_NONE)
		return 0;
	if (!m->rate_unit)
		return INVALID(NODE_PARAMS_SHAPER_PROFILE_ID,
			       "the card has no shapers of traffic classes");
	if (is_port)
		return INVALID(NODE_PARAMS_SHAPER_PROFILE_ID,
			       "the card holds traffic classes to rates, and not the port");
	if (meridian_tm_profile(m, profile) == NULL)
		return INVALID(NODE_PARAMS_SHAPER_PROFILE_ID, "there is no profile of this number");
	return 0;
}

/* Among classes that are below their committed rates, the card serves the highest only. */
int
meridian_tm_check_committed(const struct meridian *m, const struct meridian_classes *shares,
			    struct rte_tm_error *error)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < MERIDIAN_CLASSES; i++)
		sum += shares->least[i].rate;
	if (m->gigabits && sum * m->rate_unit > m->gigabits * UINT64_C(1000000000))
		return INVALID(NODE_PARAMS_SHAPER_PROFILE_ID,
			       "the committed rates of all classes are more than the port's line has");
	return 0;
}

/**
 * meridian_tm_shape() - give a class the rates of its node's profile
 * @m: a PF
 * @number: of the class
 * @profile: number of the node's
 * @shares: gets the rates
 */
void
meridian_tm_shape(const struct meridian *m, uint32_t number, uint32_t profile,
		  struct meridian_classes *shares)
{
	const struct meridian_profile *found = meridian_tm_profile(m, profile);
	const struct meridian_bucket none = { 0 };

	shares->most[number] = found != NULL ? found->most : none;
	shares->least[number] = found != NULL ? found->least : none;
}

/* A node that counts since the last commit has other rates at once. */
static int
shape_now(struct meridian *m, uint32_t number, uint32_t profile, struct rte_tm_error *error)
{
	struct meridian_classes shares = { 0 };
	int result = meridian_get_classes(m, &shares);

	if (result)
		return meridian_tm_refuse(error, -result, RTE_TM_ERROR_TYPE_UNSPECIFIED,
					  "the card does not answer");
	meridian_tm_shape(m, number, profile, &shares);
	result = meridian_tm_check_committed(m, &shares, error);
	if (!result)
		meridian_choose_rates(m, number, &shares);
	return result;
}

int
meridian_tm_update_shaper(struct rte_eth_dev *dev, uint32_t id, uint32_t profile,
			  struct rte_tm_error *error)
{
	struct meridian *m = meridian_of(dev);
	const struct meridian_node *node = meridian_tm_find(m, id);
	bool is_port = node == &m->hierarchy.port;
	uint32_t number = id % MERIDIAN_CLASSES;
	int result;

	if (node == NULL)
		return INVALID(NODE_ID, "the hierarchy has no node of this number");
	result = meridian_tm_check_shaper(m, profile, is_port, error);
	if (result || is_port)
		return result;
	if (node->is_committed)
		result = shape_now(m, number, profile, error);
	if (!result)
		m->hierarchy.classes[number].profile = profile;
	return result;
}
