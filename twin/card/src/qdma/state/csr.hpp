// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "qdma/state/registers.hpp"

namespace meridian {

struct QdmaSetting;

/// The control registers that PFs share: identity and capabilities, which cannot be written, the tables that queues
/// choose from, and tuning, which is only kept. Error registers and the context command are others' work.
class Csr {
 public:
  explicit Csr(const QdmaSetting& setting);

  /// offset below reg::csr_end, a multiple of 4.
  std::uint32_t read(std::uint32_t offset) const { return words_[offset / 4]; }
  void write(std::uint32_t offset, std::uint32_t value);

  /// What the IP itself changes, read-only or not.
  void set(std::uint32_t offset, std::uint32_t value) { words_[offset / 4] = value; }

  /// As after power-on.
  void reset();

  /// Entries of a ring with its status entry; index 0 to 15, as in the next three.
  std::uint32_t ring_size(unsigned index) const { return read(reg::ring_size + 4 * index) & 0xffff; }
  std::uint32_t buffer_size(unsigned index) const { return read(reg::buffer_size + 4 * index); }
  std::uint32_t count_threshold(unsigned index) const { return read(reg::count_threshold + 4 * index) & 0xffff; }
  std::uint64_t timer_ps(unsigned index) const;

  /// Completed descriptors between two write-backs of a ring that is not drained.
  unsigned status_interval() const { return 4U << (read(reg::descriptor_config) & 7); }

  std::span<std::uint32_t, 8> context_data() { return words<8>(reg::context_data); }
  std::span<const std::uint32_t, 8> context_mask() { return words<8>(reg::context_mask); }

  /// What a VF reads of itself in its mailbox window.
  std::uint32_t vf_version() const { return vf_version_; }
  static constexpr std::uint32_t vf_user_bar = 0x00104104;  // BAR2 whoever the parent is

 private:
  template <std::size_t count>
  std::span<std::uint32_t, count> words(std::uint32_t offset) {
    return std::span<std::uint32_t, count>(words_.data() + offset / 4, count);
  }

  std::array<std::uint32_t, reg::csr_end / 4> words_{};
  std::uint32_t misc_cap_, vf_version_, pf_bars_int_, pf_bars_ext_, queues_;
  std::uint64_t cycle_ps_;
};

}  // namespace meridian
