/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* A function of the QDMA IP: who it is, the tables that its queues choose from, its errors. */
#ifndef QDMA_DEVICE_H
#define QDMA_DEVICE_H

#include "qdma_os.h"
#include "qdma_regs.h"

#define QDMA_SILENCES	4	/* looks of qdma_watch() without an answer give a card up */

enum qdma_ip {
	QDMA_IP_SOFT_3 = 0,
	QDMA_IP_EQDMA_4 = 1,
	QDMA_IP_EQDMA_5 = 2,
};

/**
 * struct qdma_tables - what contexts choose from by index
 * @rings: entries of a ring, with the one for status
 * @timers: ticks of 1 us
 * @counters: completions
 * @buffers: bytes of a receive buffer
 */
struct qdma_tables {
	u32 rings[QDMA_TABLE_ENTRIES];
	u32 timers[QDMA_TABLE_ENTRIES];
	u32 counters[QDMA_TABLE_ENTRIES];
	u32 buffers[QDMA_TABLE_ENTRIES];
};

/**
 * struct qdma_device - one PCIe function
 * @bar: BAR0
 * @is_vf: a VF has no CSRs, no contexts and doorbells of its own place
 * @gone: qdma_watch() has given the card up; nothing is asked of it any more
 * @silences: how often in a row qdma_watch() has got no answer
 * @doorbells: where they begin
 * @mailbox: where it begins
 * @ip: which IP (enum qdma_ip), of a PF
 * @function: number of the function within the IP, of a PF
 * @queues: how many the IP has, of a PF
 * @user_mhz: clock of the streams, which timers count; of a PF, whose driver sets it, as the IP
 *	does not tell it
 * @has_mailbox: of a PF
 * @has_flr: of a PF
 * @tables: of a PF, as written by qdma_write_tables()
 */
struct qdma_device {
	void __iomem *bar;
	bool is_vf;
	bool gone;
	u32 silences;
	u32 doorbells;
	u32 mailbox;
	u32 ip;
	u32 function;
	u32 queues;
	u32 user_mhz;
	bool has_mailbox;
	bool has_flr;
	struct qdma_tables tables;
};

/**
 * struct qdma_errors - what the IP says has gone wrong since it was last asked
 * @summary: a bit for each leaf, 0: nothing
 * @descriptor: descriptor engine
 * @doorbell: doorbells and registers
 * @c2h: receive streams
 * @c2h_fatal: receive streams, beyond recovery
 * @h2c: transmit streams
 */
struct qdma_errors {
	u32 summary;
	u32 descriptor;
	u32 doorbell;
	u32 c2h;
	u32 c2h_fatal;
	u32 h2c;
};

/* Without a reset nothing goes on: receive streams have ended, or memory of the IP is wrong. */
static inline bool qdma_errors_fatal(const struct qdma_errors *errors)
{
	return errors->c2h_fatal || errors->summary & 1u << 1;
}

extern const struct qdma_tables qdma_default_tables;

static inline u32 qdma_read(struct qdma_device *qdma, u32 offset)
{
	return qdma_os_read(qdma->bar, offset);
}

bool qdma_answers(struct qdma_device *qdma);
bool qdma_present(struct qdma_device *qdma);
int qdma_watch(struct qdma_device *qdma);
void qdma_watch_anew(struct qdma_device *qdma);
int qdma_identify(struct qdma_device *qdma, void __iomem *bar);
int qdma_identify_vf(struct qdma_device *qdma, void __iomem *bar);
void qdma_write_tables(struct qdma_device *qdma, const struct qdma_tables *tables);
int qdma_check_tables(struct qdma_device *qdma);
int qdma_find(const u32 table[QDMA_TABLE_ENTRIES], u32 value);
int qdma_nearest(const u32 table[QDMA_TABLE_ENTRIES], u32 value);

void qdma_enable_errors(struct qdma_device *qdma, u32 vector);
void qdma_disable_errors(struct qdma_device *qdma);
void qdma_take_errors(struct qdma_device *qdma, struct qdma_errors *errors);

#endif
