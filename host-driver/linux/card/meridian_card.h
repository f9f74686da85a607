/* SPDX-License-Identifier: GPL-2.0-only */
/* What the PFs of one card share. */
#ifndef MERIDIAN_CARD_H
#define MERIDIAN_CARD_H

#include "meridian.h"

/* Whether a module is ready, and whether the log has said that it is not */
enum meridian_box_state { MERIDIAN_BOX_READY, MERIDIAN_BOX_STARTING, MERIDIAN_BOX_UNREADY };

/**
 * struct meridian_box - the user's module of a port, as it was seen last
 * @state: whether it is ready, as of the last look
 * @since: in jiffies, when it was first seen so
 * @hung: what of it hung, MERIDIAN_BOX_STATUS_*, and has been reported
 * @pause: jiffies between its last two resets at least; 0: it was not reset
 * @next: when it may be reported again
 * @refused: frames to the host and to the wire that the card has refused, as of the last look
 * @is_counted: @refused is known
 * @broken: frames of each direction that were refused since the module was last well
 * @broke_at: in jiffies, when that was last seen
 * @is_breaking: it has been reported
 * @listener: the PF that its interrupts are for, or NULL
 */
struct meridian_box {
	enum meridian_box_state state;
	unsigned long since;
	u32 hung;
	unsigned long pause;
	unsigned long next;
	u64 refused[2];
	bool is_counted;
	u64 broken[2];
	unsigned long broke_at;
	bool is_breaking;
	struct meridian *listener;
};

/* So long may a port's partner stop it, unless the administrator chooses another time. */
#define MERIDIAN_PAUSE_MSECS	100

/**
 * struct meridian_pause - flow control of a port: PAUSE for all frames, or PFC for priorities
 * @is_obeyed: PAUSE is to be obeyed
 * @is_sent: PAUSE is to be sent
 * @pfc: bitmap of priorities of which PFC is to be obeyed and sent; not together with PAUSE
 * @is_written: the card has been told so
 * @delay: bits on the line that a cable may hold both ways; 0: those of 100 m of fibre
 * @msecs: for how long a port, or its partner, may be stopped without a break; 0: for ever
 * @told: when the log said last that one was stopped for longer; 0: never
 */
struct meridian_pause {
	bool is_obeyed;
	bool is_sent;
	u8 pfc;
	bool is_written;
	u16 delay;
	u16 msecs;
	unsigned long told;
};

/* Traffic classes of a port, and priorities */
#define MERIDIAN_CLASSES	8

/**
 * struct meridian_marks - when the card marks frames of a class as having met congestion
 * @min: cells below which it marks none
 * @max: cells from which on it marks all; 0: it marks none
 * @slope: in between, 2^-21 of them for each cell above @min
 */
struct meridian_marks {
	u16 min;
	u16 max;
	u32 slope;
};

/**
 * struct meridian_classes - how the traffic classes of a port are set
 * @of_priority: the class of each priority
 * @strict: bitmap of classes that go before all lower ones, and before those that are not strict
 * @weight: of each of the others; 0: what they leave
 * @max_kbits: kbit/s on the line that a class does not exceed; 0: none
 * @marks: of frames of a class
 */
struct meridian_classes {
	u8 of_priority[MERIDIAN_CLASSES];
	u8 strict;
	u8 weight[MERIDIAN_CLASSES];
	u64 max_kbits[MERIDIAN_CLASSES];
	struct meridian_marks marks[MERIDIAN_CLASSES];
};

/**
 * struct meridian_card - what the PFs of one card share
 * @list: in the list of cards
 * @users: PFs that are bound
 * @domain: of the card on PCIe
 * @bus: of the card on PCIe
 * @slot: of the card on PCIe
 * @lock: one at a time gives commands to contexts and filters
 * @port_users: bound PFs by port
 * @tested: bitmap of ports that a test has to itself: the host's frames are kept from them;
 *	under @lock
 * @looped: bitmap of ports that a test could not put back, as the card did not answer; under @lock
 * @is_vepa: by port: the administrator wants all frames to go to the switch outside
 * @pause: by port; under @lock
 * @classes: by port, if @classes_chosen; under @lock
 * @classes_chosen: by port: the administrator has set them; under @lock
 * @classes_written: by port: the card has been told so; under @lock
 * @error_function: the one of @pfs that takes the interrupt for errors
 * @errors: that the IP had last
 * @errors_told: lines about them: of those that are not fatal, and of those that are; under @lock
 * @errors_untold: bits that the next line of each kind has to tell; under @lock
 * @box: by port, and that at the host; under @lock
 * @services: of its PFs that have VFs
 * @pfs: those that are bound and have an address and their interrupt, the first to come first;
 *	under @lock
 * @mac_entries: that the filter's table holds
 * @groups: how many the card has
 * @group: those in use
 */
struct meridian_card {
	struct list_head list;
	unsigned int users;
	int domain;
	u8 bus;
	u8 slot;
	struct mutex lock; /* commands */
	unsigned int port_users[MERIDIAN_PORTS];
	unsigned long tested;
	unsigned long looped;
	bool is_vepa[MERIDIAN_PORTS];
	struct meridian_pause pause[MERIDIAN_PORTS];
	struct meridian_classes classes[MERIDIAN_PORTS];
	bool classes_chosen[MERIDIAN_PORTS];
	bool classes_written[MERIDIAN_PORTS];
	struct meridian *error_function;
	struct qdma_errors errors;
	struct meridian_told errors_told[2];
	struct qdma_errors errors_untold[2];
	struct meridian_box box[MERIDIAN_BOX_MAX];
	struct qdma_service *services;
	struct list_head pfs;
	unsigned int mac_entries;
	unsigned int groups;
	struct qdma_group group[MERIDIAN_GROUPS];
};

/* meridian_card.c */
struct meridian_card *meridian_card_get(struct pci_dev *pdev);
void meridian_card_put(struct meridian_card *card);
void meridian_forget_broken(struct meridian_box *box);
void meridian_card_join(struct meridian *m);
void meridian_card_leave(struct meridian *m);

#endif
