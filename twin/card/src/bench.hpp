// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_frames.hpp"
#include "card.hpp"
#include "shell_setup.hpp"

namespace meridian {

/// Smallest, mean and largest of some values.
class Spread {
 public:
  void add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    sum_ += value;
    ++count_;
  }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  double least() const { return least_; }
  double most() const { return most_; }
  std::uint64_t count() const { return count_; }

 private:
  double least_ = std::numeric_limits<double>::max();
  double most_ = std::numeric_limits<double>::lowest();
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

/// Measurements of a shell that is set up for each of them anew. Every frame's bytes are checked on its way out.
///
/// Port i belongs to PF i: MAC address host_address(i), queue i for both directions. The PS listens to ps_address(i)
/// and to the PTP multicast address.
class Bench {
 public:
  using Json = nlohmann::json;
  using Report = std::function<void(const Json&)>;

  /// Each figure goes to report as {"id", "with", "value", "unit", "runs", "min", "max"}.
  Bench(const CardSetting& setting, std::uint32_t frames, Report report);

  void line_rate_rx(std::size_t length);
  void line_rate_tx(std::size_t length);
  void latency_rx(std::size_t length);
  void latency_tx(std::size_t length);

  /// How much longer a frame of the PS waits for the wire while the host sends frames of these lengths at line rate.
  /// What stands in the MAC's own store, MacTx::store_beats at most, is part of it.
  void ps_priority(const std::vector<std::size_t>& host_lengths);

  /// Broadcasts at line rate with PTP multicasts and host unicasts between them.
  void storm();

  /// Error of receive and transmit timestamps of PTP frames against the time on the wire, while the host is loaded.
  void ptp_error();

 private:
  void fresh();
  Json point(std::size_t length) const;
  void figure(const std::string& id, Json with, double value, const std::string& unit, std::uint64_t runs);
  void figure(const std::string& id, Json with, const Spread& spread, const std::string& unit);
  double wire_ps(std::size_t length) const;
  Spread ps_waits(std::size_t host_length);
  void keep_sending(const NumberedFrames& frames, std::uint32_t& number);

  CardSetting setting_;
  std::uint32_t frames_;
  Report report_;
  std::unique_ptr<Card> card_;
};

}  // namespace meridian
