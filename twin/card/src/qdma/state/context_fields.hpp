// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace meridian {

/// Bits of a context: which word, lowest bit, how many.
struct Field {
  unsigned word, low, bits;
};

/// A context as the command interface shows it. The words are the only copy: what the IP changes by itself is seen by
/// the next read, and bits that nobody knows come back as written.
template <std::size_t count>
struct Context {
  std::array<std::uint32_t, count> words{};

  static constexpr std::uint32_t mask(Field f) { return f.bits == 32 ? ~0U : (1U << f.bits) - 1; }
  constexpr std::uint32_t get(Field f) const { return (words[f.word] >> f.low) & mask(f); }
  constexpr void set(Field f, std::uint32_t value) {
    words[f.word] = (words[f.word] & ~(mask(f) << f.low)) | ((value & mask(f)) << f.low);
  }
};

using SwContext = Context<8>;
using HwContext = Context<2>;
using CreditContext = Context<1>;
using PrefetchContext = Context<2>;
using CompletionContext = Context<7>;
using CoalesceContext = Context<4>;
using FmapContext = Context<2>;

namespace sw {
constexpr Field pidx{0, 0, 16}, irq_arm{0, 16, 1}, function{0, 17, 12};
constexpr Field enable{1, 0, 1}, credit_enable{1, 1, 1}, ring_index{1, 12, 4}, descriptor_size{1, 16, 2};
constexpr Field status_check{1, 2, 1}, status_interval{1, 3, 1}, bypass{1, 18, 1}, status_enable{1, 20, 1};
constexpr Field irq_enable{1, 21, 1}, error{1, 26, 2}, error_sent{1, 28, 1}, irq_request{1, 29, 1}, memory{1, 31, 1};
constexpr Field vector{4, 0, 11}, aggregate{4, 11, 1}, no_vf_interrupt{4, 12, 1};
constexpr std::uint32_t descriptor_error = 1, dma_error = 2;
inline std::uint64_t base(const SwContext& c) {
  return (std::uint64_t{c.words[3]} << 32) | c.words[2];
}
}  // namespace sw

namespace hw {
constexpr Field cidx{0, 0, 16}, pending{1, 8, 1}, idle{1, 9, 1};
}  // namespace hw

namespace credit {
constexpr Field count{0, 0, 16};
}  // namespace credit

namespace prefetch {
constexpr Field buffer_index{0, 1, 4}, enable{0, 27, 1}, valid{1, 13, 1};
}  // namespace prefetch

namespace cmpt {
constexpr Field status_enable{0, 0, 1}, irq_enable{0, 1, 1}, mode{0, 2, 3}, function{0, 5, 12}, counter{0, 17, 4};
constexpr Field timer{0, 21, 4}, irq_state{0, 25, 2}, color{0, 27, 1}, size_index{0, 28, 4};
constexpr Field entry_size{2, 26, 2}, pidx_low{2, 28, 4}, pidx_high{3, 0, 12}, cidx{3, 12, 16}, valid{3, 28, 1};
constexpr Field error{3, 29, 2}, timer_running{4, 0, 1}, full_update{4, 1, 1}, no_overflow_check{4, 2, 1};
constexpr Field vector{4, 4, 11}, aggregate{4, 15, 1}, no_vf_interrupt{4, 16, 1};
enum IrqState : std::uint32_t { serviced = 0, triggered = 1, armed = 2 };
enum Error : std::uint32_t { bad_cidx = 1, bad_descriptor = 2, overflow = 3 };

inline std::uint16_t pidx(const CompletionContext& c) {
  return static_cast<std::uint16_t>(c.get(pidx_low) | (c.get(pidx_high) << 4));
}
inline void set_pidx(CompletionContext& c, std::uint32_t value) {
  c.set(pidx_low, value);
  c.set(pidx_high, value >> 4);
}
inline std::uint64_t base(const CompletionContext& c) {
  return (std::uint64_t{(c.words[5] >> 14) & 0xf} << 2) | (std::uint64_t{c.words[1]} << 6) |
         (std::uint64_t{c.words[2] & 0x3ffffff} << 38);
}
}  // namespace cmpt

namespace coalesce {
constexpr Field valid{0, 0, 1}, vector{0, 1, 11}, irq_state{0, 13, 1}, color{0, 14, 1}, page_size{2, 3, 3};
constexpr Field pidx{2, 6, 12}, function{3, 18, 12};
inline std::uint64_t base(const CoalesceContext& c) {
  return (std::uint64_t{c.words[0] >> 15} << 12) | (std::uint64_t{c.words[1]} << 29) |
         (std::uint64_t{c.words[2] & 7} << 61);
}
}  // namespace coalesce

namespace fmap {
constexpr Field base{0, 0, 11}, count{1, 0, 12};
}  // namespace fmap

}  // namespace meridian
