// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Offsets in BAR0, in bytes; names as in the public drivers of the IP. A PF sees all of it, a VF its own small map.
namespace meridian::reg {

// A PF's BAR0.
constexpr std::uint32_t csr_end = 0x2000;
constexpr std::uint32_t identifier = 0x000;
constexpr std::uint32_t glbl2_identifier = 0x100;
constexpr std::uint32_t pf_barlite_int = 0x104;
constexpr std::uint32_t pf_vf_barlite_int = 0x108;
constexpr std::uint32_t pf_barlite_ext = 0x10c;
constexpr std::uint32_t pf_vf_barlite_ext = 0x110;
constexpr std::uint32_t channel_inst = 0x114;
constexpr std::uint32_t channel_mdma = 0x118;
constexpr std::uint32_t channel_strm = 0x11c;
constexpr std::uint32_t channel_cap = 0x120;
constexpr std::uint32_t pasid_cap = 0x128;
constexpr std::uint32_t function_number = 0x12c;
constexpr std::uint32_t system_id = 0x130;
constexpr std::uint32_t misc_cap = 0x134;
constexpr std::uint32_t ring_size = 0x204;  // 16 entries
constexpr std::uint32_t error_status = 0x248;
constexpr std::uint32_t error_mask = 0x24c;
constexpr std::uint32_t descriptor_config = 0x250;
constexpr std::uint32_t dsc_error_log0 = 0x25c;
constexpr std::uint32_t dsc_error_log1 = 0x260;
constexpr std::uint32_t dsc_error_log2 = 0x27c;
constexpr std::uint32_t trq_error_log = 0x26c;
constexpr std::uint32_t context_data = 0x804;  // 8 words
constexpr std::uint32_t context_mask = 0x824;  // 8 words
constexpr std::uint32_t context_command = 0x844;
constexpr std::uint32_t timer_count = 0xa00;      // 16 entries
constexpr std::uint32_t count_threshold = 0xa40;  // 16 entries
constexpr std::uint32_t buffer_size = 0xab0;      // 16 entries
constexpr std::uint32_t error_interrupt = 0xb04;
constexpr std::uint32_t timer_tick = 0xb0c;
constexpr std::uint32_t completion_format = 0xbc4;
constexpr std::uint32_t prefetch_cache_depth = 0xbe0;
constexpr std::uint32_t write_back_buffer_depth = 0xbe4;
constexpr std::uint32_t c2h_mm_status = 0x1040;
constexpr std::uint32_t h2c_mm_status = 0x1240;
constexpr std::uint32_t old_vf_version = 0x1014;

constexpr std::uint32_t pf_doorbells = 0x18000;
constexpr std::uint32_t pf_doorbells_end = 0x20000;
constexpr std::uint32_t pf_mailbox = 0x22400;

// A VF's BAR0.
constexpr std::uint32_t vf_doorbells = 0x3000;
constexpr std::uint32_t vf_doorbells_end = 0x4000;
constexpr std::uint32_t vf_mailbox = 0x5000;

// In a queue's 16 bytes of doorbells.
constexpr std::uint32_t doorbell_stride = 16;
constexpr std::uint32_t interrupt_cidx = 0x0;
constexpr std::uint32_t h2c_pidx = 0x4;
constexpr std::uint32_t c2h_pidx = 0x8;
constexpr std::uint32_t completion_cidx = 0xc;

// In the mailbox.
constexpr std::uint32_t mailbox_status = 0x00;
constexpr std::uint32_t mailbox_command = 0x04;
constexpr std::uint32_t mailbox_vector = 0x08;
constexpr std::uint32_t mailbox_target = 0x0c;
constexpr std::uint32_t mailbox_interrupt_enable = 0x10;
constexpr std::uint32_t mailbox_version = 0x14;
constexpr std::uint32_t mailbox_user_bar = 0x18;
constexpr std::uint32_t mailbox_ack = 0x20;  // 8 words
constexpr std::uint32_t mailbox_reset = 0x100;
constexpr std::uint32_t mailbox_in = 0x800;   // 32 words
constexpr std::uint32_t mailbox_out = 0xc00;  // 32 words
constexpr std::uint32_t vf_mailbox_end = 0xc80;
constexpr std::uint32_t mailbox_map = 0xd00;  // a word for each of 256 functions (PG347 "FMAP Programming")
constexpr std::uint32_t pf_mailbox_end = 0x1100;

}  // namespace meridian::reg
