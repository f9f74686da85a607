// SPDX-License-Identifier: GPL-2.0-only
/* What the self-test's pattern has shown, in sentences that say what to do. */
#include "meridian_selftest.h"

#define COUNTER(name, counter) { name, MERIDIAN_SELF_TEST_COUNTER_##counter }

/* What devlink's reporter tells of a failure. */
const struct meridian_pattern_counter meridian_pattern_counters[MERIDIAN_CHECKS] = {
	COUNTER("sent_frames", SENT_FRAMES),
	COUNTER("sent_denied", SENT_DENIED),
	COUNTER("checked_frames", CHECKED_FRAMES),
	COUNTER("checked_marked", CHECKED_MARKED),
	COUNTER("checked_damaged", CHECKED_DAMAGED),
	COUNTER("checked_bit_errors", CHECKED_BIT_ERRORS),
	COUNTER("checked_too_short", CHECKED_TOO_SHORT),
	COUNTER("checked_foreign", CHECKED_FOREIGN),
	COUNTER("checked_late", CHECKED_LATE),
	COUNTER("checked_skipped", CHECKED_SKIPPED),
};

/**
 * meridian_pattern_note() - keep the counters of a batch that has failed
 * @p: the test, whose block still counts
 *
 * Context: Does not sleep.
 */
void meridian_pattern_note(const struct meridian_pattern *p)
{
	struct meridian_selftest *selftest = &p->m->faults->selftest;
	unsigned int i;

	selftest->has_counters = meridian_present(p->m);
	selftest->batch = p->batch;
	for (i = 0; i < MERIDIAN_CHECKS && selftest->has_counters; i++)
		selftest->counter[i] = pattern_count(p, meridian_pattern_counters[i].offset);
}

static const char *why_refused(u32 refusal)
{
	static const char * const reasons[] = {
		[MERIDIAN_SELF_TEST_REFUSAL_RUNNING] = "another test runs: end it, then try again",
		[MERIDIAN_SELF_TEST_REFUSAL_NO_FUNCTION] =
			"the function is not enabled or is being reset: try again",
		[MERIDIAN_SELF_TEST_REFUSAL_CREDIT] =
			"the card does not count receive buffers: load the driver again",
		[MERIDIAN_SELF_TEST_REFUSAL_QUEUES] =
			"the card gives the queues to another function: load the driver again",
		[MERIDIAN_SELF_TEST_REFUSAL_WINDOW] =
			"its window of latency has no cycles: write some to window_low",
	};

	if (refusal < ARRAY_SIZE(reasons) && reasons[refusal])
		return reasons[refusal];
	return "it does not take the settings: take driver and bitstream of one commit";
}

/**
 * meridian_pattern_refused() - tell why the card has not begun the test
 * @p: the test
 * @refusal: MERIDIAN_SELF_TEST_REFUSAL_*
 *
 * Context: Does not sleep.
 * Return: -EBUSY if it may begin later; -EPROTO if the card and the driver do not agree.
 */
int meridian_pattern_refused(const struct meridian_pattern *p, u32 refusal)
{
	netdev_err(p->m->netdev, "self-test: the card refuses the pattern (%u): %s\n", refusal,
		   why_refused(refusal));
	switch (refusal) {
	case MERIDIAN_SELF_TEST_REFUSAL_RUNNING:
	case MERIDIAN_SELF_TEST_REFUSAL_NO_FUNCTION:
	case MERIDIAN_SELF_TEST_REFUSAL_STOPPED:
		return -EBUSY;
	default:
		return -EPROTO;
	}
}

/**
 * meridian_pattern_is_fault() - whether an end of the test is a fault of the card
 * @error: how it has ended
 *
 * Context: Does not sleep.
 * Return: false if somebody has only kept it from its end.
 */
bool meridian_pattern_is_fault(int error)
{
	return error < 0 && error != -ENETDOWN && error != -EBUSY && error != -EINTR &&
	       error != -ECANCELED;
}

/* What may be wrong with frames that have come back, the gravest first. */
static const struct fault {
	u32 counter;
	int error;
	const char *is;
} faults[] = {
	{ MERIDIAN_SELF_TEST_COUNTER_CHECKED_MARKED, -EIO,
	  "were marked bad by the DMA engine: look at PCIe's errors by 'lspci -vv'" },
	{ MERIDIAN_SELF_TEST_COUNTER_CHECKED_DAMAGED, -EBADMSG,
	  "were damaged: look at PCIe's errors by 'lspci -vv', test memory, reseat the card" },
	{ MERIDIAN_SELF_TEST_COUNTER_CHECKED_TOO_SHORT, -EBADMSG,
	  "were cut short: look at PCIe's errors by 'lspci -vv', and reseat the card" },
	{ MERIDIAN_SELF_TEST_COUNTER_CHECKED_FOREIGN, -EPROTO,
	  "were not of this test: end who else sends by this interface" },
	{ MERIDIAN_SELF_TEST_COUNTER_CHECKED_LATE, -EILSEQ,
	  "came late or twice: take driver and bitstream of one commit, and send us this line" },
	{ MERIDIAN_SELF_TEST_COUNTER_CHECKED_SKIPPED, -ENODATA,
	  "were skipped: look at rx_no_memory, tx_dropped and card_rx_queue_full by 'ethtool -S'" },
};

/**
 * meridian_pattern_judge() - tell what the checker has found in a batch
 * @p: the test, whose batch is over
 *
 * Context: Does not sleep.
 * Return: 0 if all frames are good; a negative error, of the gravest fault.
 */
int meridian_pattern_judge(const struct meridian_pattern *p)
{
	const struct fault *fault;
	unsigned int i;
	u64 frames;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		fault = &faults[i];
		frames = pattern_count(p, fault->counter);
		if (!frames)
			continue;
		if (fault->counter == MERIDIAN_SELF_TEST_COUNTER_CHECKED_DAMAGED)
			netdev_err(p->m->netdev, "self-test: %llu of %u frames (%llu bit errors) %s\n",
				   frames, p->batch,
				   pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_CHECKED_BIT_ERRORS),
				   fault->is);
		else
			netdev_err(p->m->netdev, "self-test: %llu of %u frames %s\n", frames,
				   p->batch, fault->is);
		return fault->error;
	}
	return 0;
}

/**
 * meridian_pattern_timed_out() - tell what of a batch has not come
 * @p: the test
 *
 * Context: Does not sleep.
 * Return: a negative error: that of meridian_pattern_judge(), or -ETIMEDOUT.
 */
int meridian_pattern_timed_out(const struct meridian_pattern *p)
{
	u64 sent = pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_SENT_FRAMES);
	u64 back = pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_CHECKED_FRAMES);
	u64 denied = pattern_count(p, MERIDIAN_SELF_TEST_COUNTER_SENT_DENIED);
	int error = meridian_pattern_judge(p);

	if (error)
		return error;
	if (sent < p->batch)
		netdev_err(p->m->netdev, "self-test: time-out: the card sends only %llu of %u frames (%llu times it had no receive buffer): look at rx_no_memory by 'ethtool -S', and whether the queues' interrupts come\n",
			   sent, p->batch, denied);
	else
		netdev_err(p->m->netdev, "self-test: time-out: %llu of %llu frames are not back: look at rx_no_memory and tx_dropped by 'ethtool -S', and whether the queues' interrupts come\n",
			   sent - back, sent);
	return -ETIMEDOUT;
}

/**
 * meridian_pattern_ended() - tell what has ended a batch early
 * @p: the test
 * @end: MERIDIAN_SELF_TEST_END_*
 *
 * Context: Does not sleep.
 * Return: -ECANCELED.
 */
int meridian_pattern_ended(const struct meridian_pattern *p, u32 end)
{
	static const char * const by[] = {
		[MERIDIAN_SELF_TEST_END_COMMAND] = "by a command of somebody else",
		[MERIDIAN_SELF_TEST_END_FUNCTION_RESET] = "by a reset of the function",
		[MERIDIAN_SELF_TEST_END_QUEUES_CHANGED] = "as its queues were changed",
		[MERIDIAN_SELF_TEST_END_CREDIT_OFF] = "as receive buffers are not counted any more",
	};

	netdev_err(p->m->netdev, "self-test: the pattern has ended %s: try again\n",
		   end < ARRAY_SIZE(by) && by[end] ? by[end] : "for no known reason");
	return -ECANCELED;
}
