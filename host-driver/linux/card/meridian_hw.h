/* SPDX-License-Identifier: GPL-2.0-only */
/* The shell's registers. */
#ifndef MERIDIAN_HW_H
#define MERIDIAN_HW_H

#include "meridian.h"

/* meridian_hw.c */
u32 meridian_read(struct meridian *m, u32 offset);
void meridian_write(struct meridian *m, u32 offset, u32 value);
u32 meridian_read_function(struct meridian *m, u32 offset);
void meridian_write_function(struct meridian *m, u32 offset, u32 value);
void meridian_flush(struct meridian *m);
bool meridian_present(struct meridian *m);
void meridian_set_queues(struct meridian *m, u32 function, u32 base, u32 count);
void meridian_set_buffer_size(struct meridian *m, u32 queue, u32 bytes);
void meridian_set_paced(struct meridian *m, u32 queue, bool on);
void meridian_set_tx_offload(struct meridian *m, u32 queue, bool on);
void meridian_set_tx_segments(struct meridian *m, u32 queue, bool on);
void meridian_enforce_credit(struct meridian *m);
void meridian_release_credit(struct meridian *m);
void meridian_set_entry_size(struct meridian *m, u32 queue, u32 entry_log2);
bool meridian_can(const struct meridian *m, u32 capability);
bool meridian_link_up(struct meridian *m);

/* meridian_identify.c */
int meridian_check_magic(struct meridian *m);
int meridian_identify(struct meridian *m);
void meridian_have_address(struct meridian *m);

/* meridian_port.c */
void meridian_enable_port(struct meridian *m, bool on);
bool meridian_port_is_of_others(struct meridian *m, u32 port);
void meridian_reserve_port(struct meridian *m, u32 port, bool on);
void meridian_open_port(struct meridian *m);
void meridian_look_after_port(struct meridian *m);
void meridian_set_vepa(struct meridian *m, bool is_vepa);
bool meridian_switching(struct meridian *m);

/* meridian_counters.c */
u64 meridian_read_counter(struct meridian *m, u32 offset);
u64 meridian_read_function_counter(struct meridian *m, u32 offset);
u64 meridian_read_port_counter(struct meridian *m, u32 offset);
void meridian_read_missed(struct meridian *m);

#endif
