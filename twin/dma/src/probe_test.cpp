// SPDX-License-Identifier: Apache-2.0
// What the public drivers and ours do at the registers when they probe and when they stop.
#include <gtest/gtest.h>

#include <array>

#include "lockstep.hpp"

namespace meridian {
namespace {

enum Kind : unsigned { sw_c2h, sw_h2c, hw_c2h, hw_h2c, credit_c2h, credit_h2c, completion, prefetch, ring, fmap = 0xc };
enum Operation : unsigned { clear, set, get, invalidate };

using Table = std::array<std::uint32_t, 16>;
constexpr Table xilinx_rings = {2049, 65,   129,  193,  257,  385,  513,   769,
                                1025, 1537, 3073, 4097, 6145, 8193, 12289, 16385};
constexpr Table xilinx_timers = {1, 2, 4, 5, 8, 10, 15, 20, 25, 30, 50, 75, 100, 125, 150, 200};
constexpr Table xilinx_counters = {2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192};
constexpr Table xilinx_buffers = {4096, 256,  512,  1024, 2048, 3968, 4096, 4096,
                                  4096, 4096, 4096, 4096, 4096, 8192, 9018, 16384};
constexpr Table onic_rings = {4096, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 3072, 4096, 6144, 8192, 12288, 16384};
constexpr Table onic_timers = {10, 2, 4, 5, 8, 10, 15, 20, 25, 30, 50, 75, 100, 125, 150, 200};
constexpr Table onic_counters = {64, 2, 4, 8, 16, 24, 32, 48, 80, 96, 112, 128, 144, 160, 176, 192};

class Probe : public testing::Test {
 protected:
  void table(unsigned pf, std::uint32_t at, const Table& values) {
    for (unsigned i = 0; i < values.size(); ++i) b.write(pf, at + 4 * i, values[i]);
  }
  void check_table(unsigned pf, std::uint32_t at, const Table& values) {
    for (unsigned i = 0; i < values.size(); ++i) EXPECT_EQ(b.read(pf, at + 4 * i), values[i]);
  }

  /// As Xilinx's drivers look at a PF.
  void identify(unsigned pf) {
    EXPECT_EQ(b.read(pf, 0x000) >> 16, 0x1fd3U);
    EXPECT_EQ(b.read(pf, 0x134), 0x02200003U);
    EXPECT_EQ(b.read(pf, 0x104), 0x00041041U);
    EXPECT_EQ(b.read(pf, 0x10c), 0x00104104U);
    EXPECT_EQ(b.read(pf, 0x118) >> 16, 3U);
    EXPECT_EQ(b.read(pf, 0x12c), pf);
    EXPECT_EQ(b.read(pf, 0x120), Lockstep::queues);
  }

  void scrub(unsigned pf) {
    for (unsigned queue = 0; queue < Lockstep::queues; ++queue)
      for (unsigned kind = sw_c2h; kind <= prefetch; ++kind) b.command(kind, clear, queue, pf);
    for (unsigned function = 0; function < 4; ++function) b.command(fmap, clear, function, pf);
  }

  void defaults(unsigned pf) {
    table(pf, 0x204, xilinx_rings);
    table(pf, 0xa00, xilinx_timers);
    table(pf, 0xa40, xilinx_counters);
    table(pf, 0xab0, xilinx_buffers);
    b.write(pf, 0xb0c, 25);
    const std::uint32_t depth = b.read(pf, 0xbe0);
    EXPECT_EQ(depth, 64U);
    const std::pair<std::uint32_t, std::uint32_t> settings[] = {{0x250, 5U << 20 | 8 << 10 | 2 << 3 | 5},
                                                                {0x04c, 256U << 8 | 9},
                                                                {0xb08, 0x01000100},
                                                                {0xa80, (depth - 4) << 16 | (depth - 4)},
                                                                {0xa84, 1U << 31 | 1024 << 12 | 15 << 6 | 8},
                                                                {0x147c, 0},
                                                                {0x1484, 0},
                                                                {0x1400, 16U << 10 | 16},
                                                                {0x1404, (depth - 8) << 16 | 96},
                                                                {0x15c, 192U << 19 | 20480},
                                                                {0x160, 0},
                                                                {0xe24, 192U << 19 | 24576},
                                                                {0xe2c, 64U << 19 | 16384}};
    for (const auto& [at, value] : settings) {
      b.write(pf, at, value);
      EXPECT_EQ(b.read(pf, at), value);
    }
    for (const std::uint32_t run : {0x1004U, 0x1204U}) b.write(pf, run, 1);
    check_table(pf, 0x204, xilinx_rings);
    check_table(pf, 0xab0, xilinx_buffers);
  }

  void enable_errors(unsigned pf) {
    const std::pair<std::uint32_t, std::uint32_t> masks[] = {{0x258, 0x01f9037e}, {0x268, 0xb3}, {0xaf4, 0x3f6df},
                                                             {0xafc, 0x1fdf1b},   {0xe04, 0x3f}, {0x0e0, ~0U},
                                                             {0x0e8, ~0U},        {0x0f0, ~0U},  {0x0f8, ~0U}};
    for (const auto& [at, value] : masks) {
      b.write(pf, at, value);
      b.write(pf, 0x24c, b.read(pf, 0x24c) | 0x1ffff);
    }
    EXPECT_EQ(b.read(pf, 0x248), 0U);
  }

  /// A PF's mailbox at start: stale acknowledges and messages go, then the interrupt is enabled.
  void begin_mailbox(unsigned pf) {
    if ((b.read(pf, 0x22400) & 4) != 0)
      for (unsigned i = 0; i < 8; ++i) b.write(pf, 0x22420 + 4 * i, ~0U);
    EXPECT_EQ(b.read(pf, 0x22400) & 1, 0U);
    b.write(pf, 0x22408, 0);
    b.write(pf, 0x22410, 1);
  }

  /// A message with which a VF asks, and the PF's answer, word by word as the drivers have it.
  void exchange(unsigned vf, std::uint32_t seed) {
    const unsigned pf = Lockstep::parent(vf);
    EXPECT_EQ(b.read(vf, 0x5000) & 2, 0U);
    for (unsigned i = 0; i < 32; ++i) b.write(vf, 0x5c00 + 4 * i, seed + i);
    b.write(vf, 0x5004, 1);
    const std::uint32_t status = b.read(pf, 0x22400);
    EXPECT_EQ(status & 1, 1U);
    EXPECT_EQ(status >> 4 & 0xfff, vf);
    b.write(pf, 0x2240c, status >> 4 & 0xfff);
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(b.read(pf, 0x22c00 + 4 * i), seed + i);
    b.write(pf, 0x22404, 2);
    EXPECT_EQ(b.read(pf, 0x22400) & 3, 0U);
    b.write(pf, 0x2240c, vf);
    for (unsigned i = 0; i < 32; ++i) b.write(pf, 0x23000 + 4 * i, ~seed - i);
    b.write(pf, 0x22420 + 4 * (vf / 32), 1U << (vf % 32));
    b.write(pf, 0x22404, 1);
    EXPECT_EQ(b.read(vf, 0x5000) & 1, 1U);
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(b.read(vf, 0x5800 + 4 * i), ~seed - i);
    b.write(vf, 0x5004, 2);
    EXPECT_EQ(b.read(pf, 0x22400) & 4, 4U);
    b.compare();
  }

  Lockstep b;
};

TEST_F(Probe, every_word_of_both_bars_has_the_models_value_after_reset) {
  for (std::uint32_t at = 0; at < 0x2000; at += 64) b.read_row(0, at, 16);
  for (std::uint32_t at = 0x2000; at < 0x40000; at += 0x3fc) b.read(1, at);
  for (std::uint32_t at = 0x22400; at < 0x23600; at += 128) b.read_row(2, at, 32);
  for (std::uint32_t at = 0; at < 0x8000; at += 256) b.read_row(Lockstep::vf(3, 1), at, 64);
}

TEST_F(Probe, the_probe_of_onic_reads_what_the_model_has) {
  b.command(fmap, clear, 0);
  for (unsigned i = 0; i < 8; ++i) {  // each data word with its mask
    b.write(0, 0x804 + 4 * i, i == 1 ? 2 : 0);
    b.write(0, 0x824 + 4 * i, ~0U);
  }
  b.command(fmap, set, 0);
  table(0, 0x204, onic_rings);
  table(0, 0xa00, onic_timers);
  table(0, 0xa40, onic_counters);
  table(0, 0xab0, xilinx_buffers);
  b.write(0, 0x250, 6 << 3);
  b.write(0, 0xb08, b.read(0, 0xbe0) / 2 << 16 | b.read(0, 0xbe0) / 2);
  b.write(0, 0xb0c, 25);
  b.write(0, 0xb50, b.read(0, 0xbe4) << 26 | 25 << 14 | 5 << 2);
  b.write(0, 0xe24, 1 << 18 | 0x4000);
  b.write(0, 0xb04, 9 << 12);
  enable_errors(0);
  b.write(0, 0xb04, 9 << 12 | 1 << 24);
  EXPECT_EQ(b.read(0, 0xb04), 9U << 12 | 1U << 24);
  for (unsigned queue = 0; queue < 2; ++queue) {
    b.command(sw_h2c, clear, queue);
    b.write_context(sw_h2c, queue, {0, 0x00110000d, 0x20000000, 0, 0});
    b.command(hw_h2c, clear, queue);
    b.command(credit_h2c, clear, queue);
    b.write_context(sw_c2h, queue, {0, 0x00108003, 0x20100000, 0, 0});
    for (const unsigned kind : {hw_c2h, credit_c2h, prefetch, completion}) b.command(kind, clear, queue);
    b.write_context(prefetch, queue, {8U << 1 | 1U << 27, 1U << 13});
    b.write_context(completion, queue, {0x88000017, 0x00800000, 0, 1U << 28, queue << 4});
  }
  for (unsigned queue = 0; queue < 2; ++queue)
    for (unsigned kind = sw_c2h; kind <= prefetch; ++kind) {
      b.read_context(kind, queue);
      b.command(kind, invalidate, queue);
      b.read_context(kind, queue);
    }
  b.command(fmap, clear, 0);
  b.read_context(fmap, 0);
  b.compare();
}

TEST_F(Probe, the_probe_of_qdma_pf_reads_what_the_model_has) {
  for (unsigned pf = 0; pf < 4; ++pf) {
    identify(pf);
    if (pf == 0) scrub(pf);
    defaults(pf);
    b.command(ring, clear, pf, pf);
    b.write_context(ring, pf, {1U | 3 << 1 | 1 << 14, 0x10000, 0, pf << 18}, pf);
    b.read_context(ring, pf, pf);
    enable_errors(pf);
    b.write(pf, 0xb04, 1U << 24 | 2 << 12 | pf);
    begin_mailbox(pf);
    b.write_context(fmap, pf, {8 * pf, 8}, pf);
  }
  for (unsigned pf = 0; pf < 4; ++pf) {
    b.write(pf, 0x22410, 0);
    b.command(ring, invalidate, pf, pf);
    b.read_context(ring, pf, pf);
    b.command(fmap, clear, pf, pf);
  }
  b.compare();
}

TEST_F(Probe, the_probe_of_net_qdma_reads_what_the_model_has) {
  identify(0);
  defaults(0);
  scrub(0);
  enable_errors(0);
  b.write_context(fmap, 0, {0, 1});
  for (const std::uint32_t at : {0x204U, 0xab0U, 0xa00U, 0xa40U}) b.read_row(0, at, 16);
  for (const unsigned kind : {sw_h2c, hw_h2c, credit_h2c}) b.command(kind, clear, 0);
  b.write(0, 0x18004, 0);  // its queues are not enabled yet
  for (const unsigned kind : {sw_c2h, hw_c2h, credit_c2h, prefetch, completion}) b.command(kind, clear, 0);
  b.write(0, 0x1800c, 7U << 16 | 10 << 20 | 4 << 24 | 1 << 27);
  b.read(0, 0x1800c);
  b.command(fmap, clear, 0);
  EXPECT_EQ(b.read(0, 0x1800c), 0U);
  b.compare();
}

TEST_F(Probe, the_probe_of_qdma_vf_reads_what_the_model_has) {
  for (unsigned pf = 0; pf < 4; ++pf) begin_mailbox(pf);
  for (unsigned vf = Lockstep::first_vf; vf < Lockstep::functions; ++vf) {
    EXPECT_EQ(b.read(vf, 0x1014), 0U);
    EXPECT_EQ(b.read(vf, 0x5014), 0x1fd30220U);
    EXPECT_EQ(b.read(vf, 0x5018), 0x00104104U);
    b.write(vf, 0x5008, 0);
    b.write(vf, 0x5010, 1);
    for (std::uint32_t message = 0; message < 3; ++message) exchange(vf, 0x1000 * vf + message);
  }
}

}  // namespace
}  // namespace meridian
