// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace meridian {

/// Times in picoseconds: least, mean and most exactly, percentiles to 1/64 (buckets of that relative width).
class LatencyHistogram {
 public:
  void add(std::uint64_t ps) {
    least_ = count_ == 0 || ps < least_ ? ps : least_;
    most_ = ps > most_ ? ps : most_;
    sum_ += static_cast<double>(ps);
    ++count_;
    ++buckets_[bucket(ps)];
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t least() const { return least_; }
  std::uint64_t most() const { return most_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  /// The time that this share (0 to 1) of all does not exceed.
  std::uint64_t percentile(double share) const;

 private:
  static constexpr unsigned fine_bits = 6;
  static constexpr unsigned fine = 1U << fine_bits;

  /// Below 64 each time has its bucket; above, the six bits behind the leading one choose among 64 of each octave.
  static std::size_t bucket(std::uint64_t ps) {
    if (ps < fine) return ps;
    const auto octave = static_cast<unsigned>(std::bit_width(ps)) - fine_bits - 1;
    return (octave + 1) * fine + ((ps >> octave) & (fine - 1));
  }

  std::array<std::uint64_t, (64 - fine_bits + 1) * fine> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t most_ = 0;
  double sum_ = 0;
};

}  // namespace meridian
