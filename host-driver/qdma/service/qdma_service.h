/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What a PF does for its VFs: hears their messages, the public drivers' and Meridian's, and does
 * what they ask for as far as they may. Who asks is whom the mailbox names; what is asked for is
 * believed in nothing. Nothing here waits for a VF.
 */
#ifndef QDMA_SERVICE_H
#define QDMA_SERVICE_H

#include "../mailbox/qdma_mailbox.h"
#include "qdma_rss.h"

#define QDMA_ADDRESS_BYTES	6
#define QDMA_VF_ADDRESSES	32	/* that a VF receives beside its own */
#define QDMA_VF_QUEUES		8	/* of a VF at most */
#define QDMA_VF_VECTORS		8	/* of a function, as the IP has them */

#define QDMA_VF_TROUBLES	4

/* Of a VF, worth a word to the administrator. */
enum qdma_vf_trouble {
	QDMA_VF_FLOODS,
	QDMA_VF_IS_DEAF,
	QDMA_VF_HAS_NO_ADDRESS,
	QDMA_VF_LOSES_GROUP,	/* that it has joined, as another needs the room */
};

/**
 * struct qdma_vf - a VF as its PF knows it
 * @function: its number within the card
 * @base: first of the queues that are kept for it
 * @count: queues it was given
 * @mapped: queues that frames may go to
 * @h2c: bitmap of its transmit queues that have contexts
 * @c2h: bitmap of its receive queues that have contexts
 * @is_known: it has said hello
 * @is_away: it has no queues that frames may go to, so the card's filter has none of @address
 * @own: its address, which the card's filter has from the service's start to its end
 * @has_own: it has; not if there is no room
 * @first: @own until a driver chooses another, and again when that driver goes
 * @fixed: the administrator's choice, which @own is but while the VF is trusted
 * @is_fixed: there is one
 * @is_trusted: it may ask for all multicast, promiscuous mode and more addresses, and send
 *	frames that control the link
 * @flags: MERIDIAN_FUNCTION_FLAGS_* that it is to have
 * @strip: its frames lose their 802.1Q tag
 * @tx_offload: what its transmit queues ask the card for from their next start on,
 *	MERIDIAN_TX_OFFLOAD_*
 * @address: that it receives beside its own
 * @addresses: how many
 * @lost: of those that it had, since its hello, without being asked
 * @owed: ns at which what its messages are charged is paid
 * @request: its last message, which is not answered yet
 * @is_heard: there is one
 * @is_in_round: it has been heard in this round, while it floods
 * @answer: that it has not taken yet
 * @is_waiting: there is one
 * @patience: ns at which @answer is thrown away
 * @is_deaf: it did not take the last one
 * @told: ns at which the administrator was last told of it, by enum qdma_vf_trouble; 0: never
 */
struct qdma_vf {
	u32 function;
	u32 base;
	u32 count;
	u32 mapped;
	u32 h2c;
	u32 c2h;
	bool is_known;
	bool is_away;
	u8 own[QDMA_ADDRESS_BYTES];
	bool has_own;
	u8 first[QDMA_ADDRESS_BYTES];
	u8 fixed[QDMA_ADDRESS_BYTES];
	bool is_fixed;
	bool is_trusted;
	u32 flags;
	bool strip;
	u32 tx_offload;
	u8 address[QDMA_VF_ADDRESSES][QDMA_ADDRESS_BYTES];
	u32 addresses;
	u32 lost;
	u64 owed;
	struct qdma_message request;
	bool is_heard;
	bool is_in_round;
	struct qdma_message answer;
	bool is_waiting;
	u64 patience;
	bool is_deaf;
	u64 told[QDMA_VF_TROUBLES];
};

/* Whether queues of the VF may access memory still. */
static inline bool qdma_has_queues(const struct qdma_vf *vf)
{
	return vf->h2c || vf->c2h;
}

/**
 * struct qdma_service_ops - the card beside its IP; what is written is in force on return
 * @set_queues: frames may go to so many queues from the VF's first on, spread evenly by a key that
 *	nobody had; 0: none
 * @set_switches: the VF's @flags and @strip, and what @is_trusted lets it send
 * @set_tx: whether a transmit queue is paced, and which requests its descriptors may have,
 *	MERIDIAN_TX_OFFLOAD_*
 * @set_rx: bytes of a receive queue's buffers, and size of its completions
 * @set_rss: as the VF asks
 * @is_free: a unicast address is nobody else's
 * @add_address: the VF receives it; -EADDRINUSE if it is somebody else's, -ENOSPC if there is no
 *	room, or another negative error
 * @remove_address: no longer
 * @has_queues: the VF still has those of @set_queues, which a reset by its mailbox takes
 * @may_access: the VF may access memory, as its Bus Master bit says, which PCIe's reset clears;
 *	true if it cannot be told
 * @tell: a line for the log, once a minute of a VF and a trouble at most
 */
struct qdma_service_ops {
	void (*set_queues)(void *owner, const struct qdma_vf *vf, u32 count);
	void (*set_switches)(void *owner, const struct qdma_vf *vf);
	void (*set_tx)(void *owner, u32 queue, bool is_paced, u32 offload);
	void (*set_rx)(void *owner, u32 queue, u32 buffer, u32 entry_log2);
	void (*set_rss)(void *owner, const struct qdma_vf *vf, const struct qdma_rss *rss);
	bool (*is_free)(void *owner, const struct qdma_vf *vf, const u8 *address);
	int (*add_address)(void *owner, const struct qdma_vf *vf, const u8 *address);
	void (*remove_address)(void *owner, const struct qdma_vf *vf, const u8 *address);
	bool (*has_queues)(void *owner, const struct qdma_vf *vf);
	bool (*may_access)(void *owner, const struct qdma_vf *vf);
	void (*tell)(void *owner, const struct qdma_vf *vf, enum qdma_vf_trouble trouble);
};

/**
 * struct qdma_service - a PF's VFs
 * @qdma: the PF
 * @ops: the card beside its IP
 * @owner: what @ops are given
 * @pfs: of the card
 * @capabilities: MERIDIAN_IDENT_CAPABILITIES_* of the card
 * @has_commands: its own logic reads and writes memory of functions that let it
 * @max_frame: bytes without FCS
 * @message_ns: what a VF is charged for a message
 * @vf: the VFs; function, base and own are set, and what the administrator says of them
 * @vfs: how many
 * @card: the first service of the card's, whose PFs share its groups; NULL if they share none
 * @next: of the card's, from qdma_service_start() to qdma_service_stop()
 * @now: ns of the last turn; until the first of the start, which is not 0
 * @turn: place behind the VF that was answered last
 * @look: place behind the VF that was looked at last
 * @round_end: ns until which a VF that floods is heard once
 * @quiet: ns until which nobody is heard, as one floods
 * @taken: messages out of the mailbox
 * @refused: of those, answered with a reason, overtaken by the VF's next, or of no VF of this PF's
 * @slowed: of those, sent by a VF that floods
 * @untaken: answers that a VF did not take
 * @evicted: addresses that VFs without trust lost, as others needed the room; and those of any VF
 *	that found none as it went back to the VLAN that it was in
 *
 * Calls of one card's services come one at a time, and not beside other users of its PFs' contexts
 * and filter.
 */
struct qdma_service {
	struct qdma_device *qdma;
	const struct qdma_service_ops *ops;
	void *owner;
	u32 pfs;
	u32 capabilities;
	bool has_commands;
	u32 max_frame;
	u32 message_ns;
	struct qdma_vf *vf;
	u32 vfs;
	struct qdma_service **card;
	struct qdma_service *next;
	u64 now;
	u32 turn;
	u32 look;
	u64 round_end;
	u64 quiet;
	u64 taken;
	u64 refused;
	u64 slowed;
	u64 untaken;
	u64 evicted;
};

void qdma_service_start(struct qdma_service *service);
void qdma_service_suspend(struct qdma_service *service);
void qdma_service_resume(struct qdma_service *service);
bool qdma_service_turn(struct qdma_service *service, u64 now);
u64 qdma_service_wait(const struct qdma_service *service, u64 now);
void qdma_service_look(struct qdma_service *service);
void qdma_service_stop(struct qdma_service *service);

/* qdma_trouble.c */
void qdma_service_tell(struct qdma_service *service, struct qdma_vf *vf,
		       enum qdma_vf_trouble trouble);

/* qdma_requests.c */
int qdma_do_request(struct qdma_service *service, struct qdma_vf *vf,
		    const struct qdma_message *request, struct qdma_message *answer);
void qdma_drop_vf(struct qdma_service *service, struct qdma_vf *vf);
void qdma_suspend_vf(struct qdma_service *service, struct qdma_vf *vf);
void qdma_trust_vf(struct qdma_service *service, struct qdma_vf *vf, bool is_trusted);

/* qdma_addresses.c */
bool qdma_is_kept(const struct qdma_service *service, const struct qdma_vf *vf,
		  const u8 *address);
int qdma_set_address(struct qdma_service *service, struct qdma_vf *vf,
		     const struct qdma_message *request);
int qdma_give_address(struct qdma_service *service, struct qdma_vf *vf, const u8 *address);
void qdma_free_address(struct qdma_service *service, struct qdma_vf *vf, const u8 *other);
void qdma_reset_address(struct qdma_service *service, struct qdma_vf *vf);
void qdma_restore_address(struct qdma_service *service, struct qdma_vf *vf);
void qdma_lose_address(struct qdma_service *service, struct qdma_vf *vf, const u8 *address);
void qdma_take_address(struct qdma_service *service, struct qdma_vf *vf, u32 place);
bool qdma_make_room(struct qdma_service *services, bool (*fits)(void *argument), void *argument);
void qdma_add_own(struct qdma_service *service, struct qdma_vf *vf);
void qdma_remove_own(struct qdma_service *service, struct qdma_vf *vf);
void qdma_remove_addresses(struct qdma_service *service, struct qdma_vf *vf);
void qdma_resume_addresses(struct qdma_service *service, struct qdma_vf *vf);

#endif
