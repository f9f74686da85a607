// SPDX-License-Identifier: GPL-2.0-only
/* Registers of the shell in BAR2. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_classes.h"
#include "meridian_filter.h"
#include "meridian_hw.h"
#include "meridian_pause.h"

/*
 * The MAC clocks see a switch some cycles after it was written; a read of their block takes longer.
 */
#define CROSSING_READS	2

#define PORT_IS_OPEN	(MERIDIAN_PORT_HOST_ENABLE_RX_MASK | MERIDIAN_PORT_HOST_ENABLE_TX_MASK)

/* The PS writes addresses as its driver is loaded, and not again. */
#define ADDRESS_TRIES	8

u32 meridian_read(struct meridian *m, u32 offset)
{
	return readl(m->shell + offset);
}

void meridian_write(struct meridian *m, u32 offset, u32 value)
{
	writel(value, m->shell + offset);
}

u32 meridian_read_function(struct meridian *m, u32 offset)
{
	return meridian_read(m, MERIDIAN_FUNCTION_BASE(m->function) + offset);
}

void meridian_write_function(struct meridian *m, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FUNCTION_BASE(m->function) + offset, value);
}

static u32 read_ident(struct meridian *m, u32 offset)
{
	return meridian_read(m, MERIDIAN_IDENT_BASE + offset);
}

/**
 * meridian_present() - look whether the card answers and has not been given up
 * @m: the function
 *
 * Context: Does not sleep.
 * Return: whether it does; false while a reset is under way that was announced.
 */
bool meridian_present(struct meridian *m)
{
	return !test_bit(MERIDIAN_FLAG_RESET, &m->flags) && qdma_present(&m->qdma);
}

/**
 * meridian_check_magic() - look whether this is a card, or a VF of one
 * @m: a function whose BARs are mapped
 *
 * Says in a sentence why not. Does nothing but read.
 *
 * Context: Does not sleep.
 * Return: 0 or -ENODEV.
 */
int meridian_check_magic(struct meridian *m)
{
	u32 magic = meridian_is_vf(m->pdev) ? meridian_read(m, MERIDIAN_VF_MAGIC) :
					      read_ident(m, MERIDIAN_IDENT_MAGIC);
	struct device *dev = &m->pdev->dev;

	if (magic == MERIDIAN_MAGIC)
		return 0;
	if (magic == QDMA_ALL_ONES)
		dev_err(dev, "the card does not answer: every read gives all ones\n");
	else
		dev_info(dev, "this is no Meridian card: its magic is %#010x, not %#010x\n",
			 magic, MERIDIAN_MAGIC);
	return -ENODEV;
}

/**
 * meridian_identify() - look whether this is a card that the driver knows, and what it has
 * @m: a PF with the magic
 *
 * Says in a sentence why not.
 *
 * Context: Does not sleep.
 * Return: 0 or a negative error.
 */
int meridian_identify(struct meridian *m)
{
	u32 version = read_ident(m, MERIDIAN_IDENT_VERSION);
	u32 major = FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version);
	u32 minor = FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version);
	struct device *dev = &m->pdev->dev;
	u32 geometry, queues;
	int error;

	if (major != MERIDIAN_MAP_MAJOR || minor < MERIDIAN_MAP_MINOR) {
		dev_err(dev, "the card's register map is version %u.%u, this driver knows %u.%u: take the driver that came with the card's image\n",
			major, minor, MERIDIAN_MAP_MAJOR, MERIDIAN_MAP_MINOR);
		return -ENODEV;
	}
	error = qdma_identify(&m->qdma, m->qdma.bar);
	if (error) {
		dev_err(dev, "BAR 0 is not that of a QDMA with streams: %d\n", error);
		return error;
	}
	m->function = m->qdma.function;
	if (m->function >= MERIDIAN_PFS) {
		dev_err(dev, "the card says this is function %u, which is no PF\n", m->function);
		return -ENODEV;
	}
	geometry = read_ident(m, MERIDIAN_IDENT_GEOMETRY);
	m->ports = FIELD_GET(MERIDIAN_IDENT_GEOMETRY_PORTS_MASK, geometry);
	m->functions = FIELD_GET(MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_MASK, geometry);
	m->card->groups = min_t(u32, MERIDIAN_GROUPS,
				FIELD_GET(MERIDIAN_IDENT_QUEUES_GROUPS_MASK,
					  read_ident(m, MERIDIAN_IDENT_QUEUES)));
	m->card->mac_entries = FIELD_GET(MERIDIAN_IDENT_TABLES_MAC_ENTRIES_MASK,
					 read_ident(m, MERIDIAN_IDENT_TABLES));
	m->vlan_entries = meridian_vlan_entries(m);
	m->max_frame = read_ident(m, MERIDIAN_IDENT_MAX_FRAME);
	m->qdma.user_mhz = FIELD_GET(MERIDIAN_IDENT_CLOCKS_HOST_MHZ_MASK,
				     read_ident(m, MERIDIAN_IDENT_CLOCKS));
	m->capabilities = read_ident(m, MERIDIAN_IDENT_CAPABILITIES);
	m->port = FIELD_GET(MERIDIAN_FUNCTION_PORT_PORT_MASK,
			    meridian_read_function(m, MERIDIAN_FUNCTION_PORT));
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK))
		m->gigabits = FIELD_GET(MERIDIAN_PORT_LINK_STATUS_GIGABITS_MASK,
					meridian_read(m, MERIDIAN_PORT_BASE(m->port) +
						      MERIDIAN_PORT_LINK_STATUS));
	m->queue_base = MERIDIAN_QUEUES * m->function;
	queues = min_t(u32, m->qdma.queues, FIELD_GET(MERIDIAN_IDENT_QUEUES_QUEUES_MASK,
						      read_ident(m, MERIDIAN_IDENT_QUEUES)));
	m->queue_limit = min(MERIDIAN_QUEUES, (int)queues - (int)m->queue_base);
	if ((int)m->queue_limit < 1 || m->ports > MERIDIAN_PORTS || m->port >= m->ports) {
		dev_err(dev, "the card has %u queues and %u ports: none is left for function %u\n",
			queues, m->ports, m->function);
		return -ENODEV;
	}
	return 0;
}

/* Both registers of one address: the PS may write another meanwhile. Returns the second. */
static u32 read_address(struct meridian *m, u32 low, u32 high, u32 *first)
{
	u32 end = meridian_read(m, high), before;
	unsigned int tries = ADDRESS_TRIES;

	do {
		before = end;
		*first = meridian_read(m, low);
		end = meridian_read(m, high);
	} while (end != before && --tries);
	return end;
}

/**
 * meridian_have_address() - have the address that the card has for a PF on its port
 * @m: a PF whose interface is not registered
 *
 * The card's PS knows it of the board. If the card has none, it keeps one by chance from now on,
 * for any driver of the PF, until its power goes.
 *
 * Context: Does not sleep.
 */
void meridian_have_address(struct meridian *m)
{
	u32 low = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ADDRESS_LOW(m->function);
	u32 high = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ADDRESS_HIGH(m->function);
	u8 address[ETH_ALEN];
	u32 first, end;

	end = read_address(m, low, high, &first);
	put_unaligned_le32(first, address);
	put_unaligned_le16(FIELD_GET(MERIDIAN_PORT_HOST_ADDRESS_HIGH_ADDRESS_MASK, end),
			   &address[4]);
	if (end & MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK && is_valid_ether_addr(address)) {
		meridian_take_address(m->netdev, address);
		return;
	}
	eth_hw_addr_random(m->netdev);
	ether_addr_copy(address, m->netdev->dev_addr);
	meridian_write(m, low, get_unaligned_le32(address));
	meridian_write(m, high, MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK |
				get_unaligned_le16(&address[4]));
	dev_notice(&m->pdev->dev,
		   "the card has no address for the PF: %pM by chance, until the card's power goes\n",
		   address);
}

/**
 * meridian_flush() - wait until what was written is in force
 * @m: the function
 *
 * Writes are posted, and a doorbell may overtake one to BAR2.
 *
 * Context: Does not sleep.
 */
void meridian_flush(struct meridian *m)
{
	int i;

	for (i = 0; i < CROSSING_READS; i++)
		meridian_read(m, MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ENABLE);
}

static u32 switching_register(u32 port)
{
	return MERIDIAN_HOST_PORT_BASE + MERIDIAN_HOST_PORT_SWITCHING(port);
}

static void set_switching(struct meridian *m, u32 port, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VEB_MASK))
		meridian_write(m, switching_register(port),
			       on ? MERIDIAN_HOST_PORT_SWITCHING_VEB_MASK : 0);
}

/* Whether frames of a port would come back: the card's ARM side tests it, or a program does. */
static bool is_looped(struct meridian *m, u32 port)
{
	u32 loopback;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK))
		return false;
	loopback = meridian_read(m, MERIDIAN_TRANSCEIVER_BASE(port) +
				    MERIDIAN_TRANSCEIVER_LOOPBACK);
	return loopback && loopback != QDMA_ALL_ONES;
}

static void write_port(struct meridian *m, u32 port)
{
	bool has_users = m->card->port_users[port];
	bool is_open = has_users && !test_bit(port, &m->card->tested);

	if (is_open && is_looped(m, port)) {
		netdev_notice(m->netdev,
			      "port %u is closed to the host while somebody has its loopback on\n",
			      port);
		is_open = false;
	}

	meridian_write(m, MERIDIAN_PORT_BASE(port) + MERIDIAN_PORT_HOST_ENABLE,
		       is_open ? PORT_IS_OPEN : 0);
	set_switching(m, port, has_users && !m->card->is_vepa[port]);
	meridian_write_pause(m, port, is_open);
	meridian_write_classes(m, port, is_open);
	meridian_flush(m);
}

/**
 * meridian_enable_port() - open or close the function's port for the host
 * @m: the function
 * @on: the last one to close it closes it, with frames inside the card as after a reset: none
 *
 * Context: May sleep.
 */
void meridian_enable_port(struct meridian *m, bool on)
{
	mutex_lock(&m->card->lock);
	m->card->port_users[m->port] += on ? 1 : -1;
	write_port(m, m->port);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_open_port() - have the port as it was before the card, or its ARM, was reset
 * @m: a PF that has opened it
 *
 * Context: May sleep.
 */
void meridian_open_port(struct meridian *m)
{
	mutex_lock(&m->card->lock);
	write_port(m, m->port);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_port_is_of_others() - whether a driver that shares nothing with this one has a port open
 * @m: a PF, of whatever port
 * @port: of the same card
 *
 * A PF of the port may be bound to another driver, or be in a virtual machine.
 *
 * Context: May sleep.
 * Return: whether one has.
 */
bool meridian_port_is_of_others(struct meridian *m, u32 port)
{
	u32 enable = meridian_read(m, MERIDIAN_PORT_BASE(port) + MERIDIAN_PORT_HOST_ENABLE);
	bool is_ours;

	mutex_lock(&m->card->lock);
	is_ours = m->card->port_users[port];
	mutex_unlock(&m->card->lock);
	return !is_ours && enable && enable != QDMA_ALL_ONES;
}

/**
 * meridian_reserve_port() - keep the host's frames from a port, for a test of it
 * @m: a PF, of whatever port
 * @port: of the same card
 * @on: until the next call; frames from function to function pass meanwhile
 *
 * Context: May sleep.
 */
void meridian_reserve_port(struct meridian *m, u32 port, bool on)
{
	mutex_lock(&m->card->lock);
	if (on)
		__set_bit(port, &m->card->tested);
	else
		__clear_bit(port, &m->card->tested);
	write_port(m, port);
	mutex_unlock(&m->card->lock);
}

static bool is_port_open(struct meridian *m)
{
	u32 offset = MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ENABLE;

	return (meridian_read(m, offset) & PORT_IS_OPEN) == PORT_IS_OPEN;
}

/**
 * meridian_look_after_port() - open the port again if somebody has closed it
 * @m: a PF that has opened it
 *
 * It is the one setting of the host's that a reset of the card's ARM takes. A card that does not
 * answer, or whose ARM is in reset, reads as if the port were open. A port whose frames would come
 * back stays closed.
 *
 * Context: May sleep.
 */
void meridian_look_after_port(struct meridian *m)
{
	bool is_opened = false;

	mutex_lock(&m->card->lock);
	if (m->card->port_users[m->port] && !test_bit(m->port, &m->card->tested) &&
	    !is_port_open(m) && !is_looped(m, m->port)) {
		write_port(m, m->port);
		/* While the ARM is in reset, its registers cannot be written. */
		is_opened = is_port_open(m);
	}
	mutex_unlock(&m->card->lock);
	if (is_opened)
		netdev_notice(m->netdev,
			      "port %u was closed to the host, by a reset of the card's ARM or a test there: it is open again\n",
			      m->port);
}

/**
 * meridian_enforce_credit() - have frames whose queue has too few buffers dropped and counted
 * @m: a PF
 *
 * Context: Does not sleep.
 */
void meridian_enforce_credit(struct meridian *m)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT,
		       MERIDIAN_FILTER_CREDIT_ENFORCE_MASK);
}

/**
 * meridian_set_queues() - say which queues the frames of a function may go to
 * @m: a PF
 * @function: it, or one of its VFs
 * @base: the first
 * @count: from there on; 0 switches the function off
 *
 * In force when it returns, as is meridian_enforce_credit().
 *
 * Context: Does not sleep.
 */
void meridian_set_queues(struct meridian *m, u32 function, u32 base, u32 count)
{
	if (count)
		meridian_enforce_credit(m);
	meridian_write(m, MERIDIAN_FUNCTION_BASE(function) + MERIDIAN_FUNCTION_QCONF,
		       FIELD_PREP(MERIDIAN_FUNCTION_QCONF_BASE_MASK, count ? base : 0) |
		       FIELD_PREP(MERIDIAN_FUNCTION_QCONF_COUNT_MASK, count));
	/* Another driver may have gone meanwhile: see meridian_release_credit(). */
	if (count)
		meridian_enforce_credit(m);
	meridian_flush(m);
}

/* Whether frames may go to queues of any of the card's functions; true if it does not answer. */
static bool has_queues(struct meridian *m)
{
	u32 function, queues = 0;

	for (function = 0; function < m->functions && !queues; function++)
		queues = FIELD_GET(MERIDIAN_FUNCTION_QCONF_COUNT_MASK,
				   meridian_read(m, MERIDIAN_FUNCTION_BASE(function) +
						    MERIDIAN_FUNCTION_QCONF));
	return queues;
}

/**
 * meridian_release_credit() - have frames whose queue has too few buffers wait, as after a reset
 * @m: a PF without queues
 *
 * Then all frames that follow wait, too, so it does nothing while another function has queues. PFs
 * may have drivers that share nothing with this one. Each of them has such frames dropped before
 * and after it gives a function queues, and this one looks for queues before and after its write.
 *
 * Context: Does not sleep.
 */
void meridian_release_credit(struct meridian *m)
{
	if (has_queues(m))
		return;
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT, 0);
	if (has_queues(m))
		meridian_enforce_credit(m);
}

/**
 * meridian_set_buffer_size() - say how large a queue's receive buffers are
 * @m: a function
 * @queue: absolute
 * @bytes: of a buffer
 *
 * The shell counts buffers by it. To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_buffer_size(struct meridian *m, u32 queue, u32 bytes)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_BUFFER_SIZE,
		       FIELD_PREP(MERIDIAN_FILTER_BUFFER_SIZE_BYTES_MASK, bytes) |
		       FIELD_PREP(MERIDIAN_FILTER_BUFFER_SIZE_QUEUE_MASK, queue));
}

static void set_switch(struct meridian *m, u32 queue, u32 mask, bool on)
{
	u32 offset = MERIDIAN_QUEUE_BASE + MERIDIAN_QUEUE_SWITCHES(queue);
	u32 value = meridian_read(m, offset);

	meridian_write(m, offset, on ? value | mask : value & ~mask);
}

/**
 * meridian_set_entry_size() - say how much a queue's completions tell
 * @m: a function
 * @queue: absolute
 * @entry_log2: they have 8 << entry_log2 bytes
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_entry_size(struct meridian *m, u32 queue, u32 entry_log2)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_COMPLETION16_MASK, entry_log2);
}

/**
 * meridian_set_paced() - hold a transmit queue to the rates of its function, or no longer
 * @m: a function
 * @queue: absolute
 * @on: its context must fetch descriptors on credit
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_paced(struct meridian *m, u32 queue, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_PACED_MASK, on);
}

/**
 * meridian_set_tx_offload() - take a transmit queue's metadata as requests, or as nothing
 * @m: a function
 * @queue: absolute
 * @on: see @m
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_tx_offload(struct meridian *m, u32 queue, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_MASK, on);
}

/**
 * meridian_set_tx_segments() - whether metadata of a transmit queue may ask for segments
 * @m: a function
 * @queue: absolute
 * @on: see @m
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_tx_segments(struct meridian *m, u32 queue, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_TRANSMIT_SEGMENTS_MASK, on);
}

/**
 * meridian_set_vepa() - let frames between the port's functions leave the card, or stay inside
 * @m: a function of the port
 * @is_vepa: all go to the switch outside, until the last PF of the card loses its driver
 *
 * Context: May sleep.
 */
void meridian_set_vepa(struct meridian *m, bool is_vepa)
{
	mutex_lock(&m->card->lock);
	m->card->is_vepa[m->port] = is_vepa;
	set_switching(m, m->port, !is_vepa);
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_switching() - whether frames between the port's functions stay inside the card
 * @m: a function of the port
 *
 * Context: Does not sleep.
 * Return: whether they do.
 */
bool meridian_switching(struct meridian *m)
{
	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_VEB_MASK) &&
	       meridian_read(m, switching_register(m->port)) &
		       MERIDIAN_HOST_PORT_SWITCHING_VEB_MASK;
}

/**
 * meridian_can() - look what the card has
 * @m: the function
 * @capability: MERIDIAN_IDENT_CAPABILITIES_*_MASK
 *
 * Context: Does not sleep.
 * Return: whether it has it for this function.
 */
bool meridian_can(const struct meridian *m, u32 capability)
{
	return m->capabilities & capability;
}

/**
 * meridian_link_up() - the link of the function's port
 * @m: the function
 *
 * Context: Does not sleep.
 * Return: whether it is up; false if the card does not answer.
 */
bool meridian_link_up(struct meridian *m)
{
	u32 status = meridian_read_function(m, MERIDIAN_FUNCTION_STATUS);

	return status != QDMA_ALL_ONES && (status & MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK);
}
