// SPDX-License-Identifier: GPL-2.0-only
/* What a PF does by itself. */
#include <linux/bitfield.h>

#include "qdma/qdma_context.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_classes.h"
#include "meridian_function.h"
#include "meridian_hw.h"
#include "meridian_pf_filter.h"
#include "meridian_rss.h"

static int map_queues(struct meridian *m, u32 count)
{
	int error;

	mutex_lock(&m->card->lock);
	error = qdma_map_function(&m->qdma, m->function, m->queue_base, count);
	/* Before any doorbell: descriptors of a paced queue that is nobody's are forgotten. */
	meridian_set_queues(m, m->function, m->queue_base, count);
	mutex_unlock(&m->card->lock);
	return error;
}

static int start_tx(struct meridian *m, const struct qdma_h2c_setting *setting)
{
	struct qdma_h2c_setting mine = *setting;
	int error;

	mutex_lock(&m->card->lock);
	mine.on_credit = meridian_is_paced(m) &&
			 meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK);
	meridian_set_paced(m, setting->queue, meridian_is_paced(m));
	meridian_set_tx_offload(m, setting->queue, true);
	meridian_set_tx_segments(m, setting->queue, setting->pieces_log2);
	meridian_flush(m);
	error = qdma_h2c_start(&m->qdma, &mine);
	mutex_unlock(&m->card->lock);
	return error;
}

static int start_rx(struct meridian *m, const struct qdma_c2h_setting *setting)
{
	int error;

	mutex_lock(&m->card->lock);
	meridian_set_buffer_size(m, setting->queue, MERIDIAN_RX_BUFFER);
	meridian_set_entry_size(m, setting->queue, setting->entry_log2);
	meridian_flush(m);
	error = qdma_c2h_start(&m->qdma, setting);
	mutex_unlock(&m->card->lock);
	return error;
}

static int stop_tx(struct meridian *m, u32 queue)
{
	int error;

	mutex_lock(&m->card->lock);
	error = qdma_h2c_stop(&m->qdma, queue);
	meridian_set_paced(m, queue, false);
	meridian_set_tx_offload(m, queue, false);
	meridian_set_tx_segments(m, queue, false);
	mutex_unlock(&m->card->lock);
	return error;
}

static int stop_rx(struct meridian *m, u32 queue)
{
	int error;

	mutex_lock(&m->card->lock);
	error = qdma_c2h_stop(&m->qdma, queue);
	meridian_set_entry_size(m, queue, 0);
	meridian_set_buffer_size(m, queue, 0);
	mutex_unlock(&m->card->lock);
	return error;
}

static int end_queues(struct meridian *m)
{
	int error;

	mutex_lock(&m->card->lock);
	error = qdma_take_function(&m->qdma, m->queue_base, m->queue_limit);
	if (!error)
		meridian_restore_pf(m);
	mutex_unlock(&m->card->lock);
	return error;
}

static void close_queues(struct meridian *m)
{
	meridian_set_queues(m, m->function, 0, 0);
}

static int set_strip(struct meridian *m, bool on)
{
	meridian_write_function(m, MERIDIAN_FUNCTION_VLAN,
				on ? MERIDIAN_FUNCTION_VLAN_STRIP_MASK : 0);
	meridian_flush(m);
	return 0;
}

/**
 * meridian_start_function() - begin without queues, on a card that may know nothing
 * @m: an identified PF
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_start_function(struct meridian *m)
{
	int error;

	mutex_lock(&m->card->lock);
	meridian_set_queues(m, m->function, 0, 0);
	error = qdma_take_function(&m->qdma, m->queue_base, m->queue_limit);
	if (error) {
		mutex_unlock(&m->card->lock);
		dev_err(&m->pdev->dev, "the queues of a driver before do not end: %d\n", error);
		return error;
	}
	/* Not before: queues of a driver before write to memory of its choice. */
	pci_set_master(m->pdev);
	qdma_write_tables(&m->qdma, &qdma_default_tables);
	error = qdma_check_tables(&m->qdma);
	if (!error)
		meridian_draw_hash(m);
	mutex_unlock(&m->card->lock);
	if (error)
		dev_err(&m->pdev->dev, "the card does not keep its tables: %d\n", error);
	return error;
}

/**
 * meridian_restore_pf() - bring back what a reset takes of a PF beside its queues
 * @m: a PF; under the card's lock
 *
 * Context: Does not sleep.
 */
void meridian_restore_pf(struct meridian *m)
{
	qdma_write_tables(&m->qdma, &qdma_default_tables);
	meridian_enforce_credit(m);
	if (m->card->error_function == m)
		qdma_enable_errors(&m->qdma, 0);
	if (m->vfs)
		qdma_mailbox_interrupt(&m->qdma, 0, true);
}

/**
 * meridian_leave_function() - have the function's switches as a reset of the card leaves them
 * @m: a PF without queues
 *
 * The next driver may know nothing of them.
 *
 * Context: Does not sleep.
 */
void meridian_leave_function(struct meridian *m)
{
	meridian_write_function(m, MERIDIAN_FUNCTION_FLAGS,
				MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK |
				MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK |
				MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK |
				MERIDIAN_FUNCTION_FLAGS_TRUSTED_MASK);
	meridian_write_function(m, MERIDIAN_FUNCTION_VLAN, 0);
	meridian_reset_rss(m, m->function);
}

const struct meridian_ops meridian_pf_ops = {
	.link_up = meridian_link_up,
	.map_queues = map_queues,
	.close_queues = close_queues,
	.start_tx = start_tx,
	.start_rx = start_rx,
	.stop_tx = stop_tx,
	.stop_rx = stop_rx,
	.end_queues = end_queues,
	.write_rss = meridian_write_rss,
	.set_strip = set_strip,
	.sync_filter = meridian_sync_filter,
	.read_missed = meridian_read_missed,
};
