/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* What has become of a batch of a port's run, in a sentence, for both of Linux's drivers. */
#ifndef MERIDIAN_PORT_VERDICT_H
#define MERIDIAN_PORT_VERDICT_H

#include "meridian_port_run.h"

/**
 * meridian_port_inspect() - whether a batch goes on
 * @run: the run
 * @end: one of its ports
 * @status: what its register MERIDIAN_PORT_TEST_STATUS has
 * @named: what its register MERIDIAN_PORT_TEST_RUN has
 * @is_linked: whether it has a link
 *
 * Says in a sentence what has ended it, but for the link.
 *
 * Return: 0 if it is complete; -EINPROGRESS if it goes on; -ENOLINK if the port has lost its link;
 * another negative error.
 */
static inline int meridian_port_inspect(const struct meridian_port_run *run,
					const struct meridian_port_end *end, u32 status, u32 named,
					bool is_linked)
{
	u32 refusal = FIELD_GET(MERIDIAN_PORT_TEST_STATUS_REFUSAL_MASK, status);

	if (FIELD_GET(MERIDIAN_PORT_TEST_RUN_LABEL_MASK, named) != run->label) {
		netdev_err(end->netdev, "self-test: port loops: %s was reset, which has ended them: try again\n",
			   end->resets);
		return -ECANCELED;
	}
	if (refusal) {
		netdev_err(end->netdev, "self-test: port loops: the card refuses a test of port %u (%u): take driver and bitstream of one commit\n",
			   end->port, refusal);
		return -EPROTO;
	}
	if (!is_linked)
		return -ENOLINK;
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_STATE_MASK, status))
		return -EINPROGRESS;
	if (FIELD_GET(MERIDIAN_PORT_TEST_STATUS_END_MASK, status) ==
	    MERIDIAN_PORT_TEST_END_COMPLETE)
		return 0;
	netdev_err(end->netdev, "self-test: port loops: a command of somebody else, or a reset of the MAC, has ended the test of port %u: try again\n",
		   end->port);
	return -ECANCELED;
}

/**
 * meridian_port_timed_out() - say that a batch does not end
 * @run: the run
 * @end: the port whose batch does not end
 *
 * Return: the error that this is.
 */
static inline int meridian_port_timed_out(const struct meridian_port_run *run,
					  const struct meridian_port_end *end)
{
	netdev_err(end->netdev, "self-test: port loops: time-out: port %u has sent %llu of %u frames and does not end: load the bitstream again\n",
		   end->port, meridian_port_count(end, MERIDIAN_PORT_TEST_COUNTER_SENT),
		   run->batch);
	return -ETIMEDOUT;
}

/**
 * meridian_port_lost_link() - say that a port has lost its link in the middle
 * @end: the port
 * @loop: by which frames came
 * @where: the same in words
 * @remedy: what to do
 *
 * Return: the error that this is.
 */
static inline int meridian_port_lost_link(const struct meridian_port_end *end,
					  const struct meridian_port_loop *loop,
					  const char *where, const char *remedy)
{
	netdev_err(end->netdev, "self-test: port loops: port %u has lost its link in %s: %s, and measure the eye by meridian-eye\n",
		   end->port, where, remedy);
	return loop->mode ? -EIO : -ENOLINK;
}

/**
 * meridian_port_judge() - what the checker of a port has found in a batch that is complete
 * @run: the run
 * @sender: the port that has sent the frames
 * @end: the port that they came to
 * @where: by which way, in words
 * @remedy: what may be the cause if they do not come as they were sent
 *
 * Says in a sentence what is wrong.
 *
 * Return: 0; -EINPROGRESS if the card does not answer; another negative error.
 */
static inline int meridian_port_judge(const struct meridian_port_run *run,
				      const struct meridian_port_end *sender,
				      const struct meridian_port_end *end, const char *where,
				      const char *remedy)
{
	static const struct {
		u32 counter;
		int error;
		const char *is;
	} faults[] = {
		{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_FCS, -EBADMSG, "had a wrong FCS" },
		{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_LENGTH, -EBADMSG, "had another length" },
		{ MERIDIAN_PORT_TEST_COUNTER_DAMAGED_PATTERN, -EBADMSG, "had wrong bits" },
		{ MERIDIAN_PORT_TEST_COUNTER_LATE, -EILSEQ, "came late or twice" },
		{ MERIDIAN_PORT_TEST_COUNTER_REPEATED, -EILSEQ, "came twice" },
		{ MERIDIAN_PORT_TEST_COUNTER_SKIPPED, -ENODATA, "were lost" },
	};
	u64 sent = meridian_port_count(sender, MERIDIAN_PORT_TEST_COUNTER_SENT);
	u64 good = meridian_port_count(end, MERIDIAN_PORT_TEST_COUNTER_GOOD);
	u64 bits = meridian_port_count(end, MERIDIAN_PORT_TEST_COUNTER_BIT_ERRORS);
	u64 frames[ARRAY_SIZE(faults)];
	char differ[48] = "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		frames[i] = meridian_port_count(end, faults[i].counter);
	/* All ones are no counters. */
	if (!end->is_present(end->card))
		return -EINPROGRESS;
	if (bits)
		snprintf(differ, sizeof(differ), "; %llu of their bits differ", bits);
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!frames[i])
			continue;
		netdev_err(end->netdev, "self-test: port loops: %llu of %llu frames in %s %s: %s, and measure the eye by meridian-eye%s\n",
			   frames[i], sent, where, faults[i].is, remedy,
			   faults[i].error == -EBADMSG ? differ : "");
		return faults[i].error;
	}
	if (sent == run->batch && good == sent)
		return 0;
	netdev_err(end->netdev, "self-test: port loops: %llu of %u frames were sent and %llu came back in %s: %s, and measure the eye by meridian-eye\n",
		   sent, run->batch, good, where, remedy);
	return -ENODATA;
}

#endif
