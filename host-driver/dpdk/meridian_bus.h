/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the driver reaches a card: the one seam between the data path and PCIe, the null card, or a
 * card of another kind. Such a card has a DPDK driver of its own in another shared library, a
 * plug-in, which EAL loads behind this driver's (option -d twice). The plug-in's probe function
 * fills in a struct meridian_bus and calls meridian_attach(), its remove function calls
 * meridian_detach(). These two are all that the driver's library exports, as internal symbols of
 * DPDK.
 */
#ifndef MERIDIAN_BUS_H
#define MERIDIAN_BUS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

struct meridian_bus;
struct rte_device;
struct rte_intr_handle;

/*
 * Version of the two structures below. It changes with them, and with what their members mean. A
 * plug-in of another version is refused in a sentence.
 */
#define MERIDIAN_BUS_VERSION	3

/* Keys of devargs that the driver takes itself, for the list of a bus driver's own. */
#define MERIDIAN_DEVARGS	"queues", "mac", "vfs", "trusted", "vf_mac", "vf_messages", \
				"push"

/* BARs, as PCIe numbers them. */
#define MERIDIAN_BAR_QDMA	0
#define MERIDIAN_BAR_SHELL	2
#define MERIDIAN_BAR_WINDOW	4	/* not on every card */

/**
 * enum meridian_presence - where a function is whose registers give all ones
 * @MERIDIAN_PRESENT: in its place, as its configuration space says: something resets it
 * @MERIDIAN_SILENT: its configuration space gives all ones, too: it may be in a reset, or gone
 * @MERIDIAN_UNPLUGGED: it is not in the machine any more
 */
enum meridian_presence { MERIDIAN_PRESENT, MERIDIAN_SILENT, MERIDIAN_UNPLUGGED };

/**
 * struct meridian_bus_ops - what a kind of card can do
 * @version: MERIDIAN_BUS_VERSION
 * @close: gives back what the bus is made of; the bus itself, too, if it was allocated
 * @read: a register; all ones if the card does not answer
 * @write: a register; ordered behind the writes to memory before it
 * @doorbell: a write to @offset of the doorbells (16 bytes a queue, counted from the function's
 *	first), ordered as @write. NULL if storing to bus->doorbells is all there is to it
 * @push: writes a frame of so many words, at most QDMA_PUSH_BYTES, and its header to the place of a
 *	queue in the window; words are in the order of memory. A doorbell that is rung after it
 *	returns comes behind it. NULL if storing to bus->window is all there is to it
 * @set_master: lets the function access memory, or not, as its Bus Master bit does: 0 if it is so
 *	when this returns, and nothing of before is under way. NULL: cannot be done; then memory of
 *	a queue that the card does not end is lost
 * @vf_is_master: whether a VF, of a PF's first as 0, may access memory, as its Bus Master bit says;
 *	true if it cannot be told. NULL: it never can
 * @presence: where the function is, asked only while its registers give all ones. NULL: it is
 *	always MERIDIAN_SILENT. On PCI it reads sysfs, which Linux holds up while it resets the
 *	function: the thread of EAL's alarms waits so long, and with it the alarms of other ports
 *
 * Control calls of one bus come one at a time; doorbells and frames of different queues come from
 * any thread at any time. All are called in the process that made the bus. In every version @version and
 * @close are the first members, because the driver closes a bus of another version with no more
 * than these.
 */
struct meridian_bus_ops {
	uint32_t version;
	void (*close)(struct meridian_bus *bus);
	uint32_t (*read)(struct meridian_bus *bus, unsigned int bar, uint32_t offset);
	void (*write)(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value);
	void (*doorbell)(struct meridian_bus *bus, uint32_t offset, uint32_t value);
	void (*push)(struct meridian_bus *bus, uint32_t queue, const uint64_t *frame,
		     uint32_t words, uint64_t header);
	int (*set_master)(struct meridian_bus *bus, bool is_master);
	bool (*vf_is_master)(struct meridian_bus *bus, uint32_t vf);
	enum meridian_presence (*presence)(struct meridian_bus *bus);
};

/**
 * struct meridian_bus - a function of a card, as one process reaches it
 * @ops: how; the first member in every version
 * @doorbells: where doorbells begin in memory (in BAR0 0x18000 of a PF, 0x3000 of a VF), if
 *	ops->doorbell is NULL. Secondary processes must have it at the same address
 * @window: where the window for pushed frames begins in memory (BAR4), if ops->push is NULL.
 *	Secondary processes must have it at the same address
 * @window_queues: of the function's first, so many have a place in it; 0: there is no window
 * @interrupt: of the function's MSI-X vectors, NULL: none, then receive queues do not interrupt
 * @vectors: how many it has
 * @card: name of the card, the same for all its functions and no other card's ("0000:03:00")
 * @is_vf: which registers there are
 * @is_loop: what is sent comes back, so loopback mode is what it is in
 * @first_vf: number of a PF's first VF within the card; 0: it has none
 * @vf_stride: from one VF to the next
 *
 * The card is given addresses as the IOVAs of EAL's memory. A card outside PCIe should register its
 * driver with RTE_VDEV_DRV_NEED_IOVA_AS_VA, so that they are addresses of this process.
 */
struct meridian_bus {
	const struct meridian_bus_ops *ops;
	volatile void *doorbells;
	volatile void *window;
	uint32_t window_queues;
	struct rte_intr_handle *interrupt;
	uint32_t vectors;
	char card[64];
	bool is_vf;
	bool is_loop;
	uint32_t first_vf;
	uint32_t vf_stride;
};

/**
 * meridian_attach() - make an Ethernet port of a function
 * @device: EAL's device, which names the port
 * @bus: of this process, in a secondary process, too. From here on the driver closes it: at
 *	meridian_detach(), or at once if this fails
 *
 * Return: 0 or a negative errno; -EPROTO if the bus is of another version; why is in the log.
 */
__rte_internal
int meridian_attach(struct rte_device *device, struct meridian_bus *bus);

/* Stops and closes the port; the bus is closed with it. Return: 0 or a negative errno. */
__rte_internal
int meridian_detach(struct rte_device *device);

#endif
