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

#include "bench/bench_frames.hpp"
#include "bench/shell_setup.hpp"
#include "shell/card.hpp"

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

/// Of frames the PS sends, in ns: from the doorbell to the wire; from the last beat read out of PS memory to the first
/// beat at the pins of the MAC, which the MAC model's own store has no part in.
struct PsWaits {
  Spread to_wire, to_pins;
};

/// Measurements of a shell that is set up for each of them anew. Every frame's bytes are checked on its way out.
///
/// Port i belongs to PF i: MAC address host_address(i), queue i for both directions. The PS listens to ps_address(i)
/// and to the PTP multicast address.
class Bench {
 public:
  using Json = nlohmann::json;
  using Report = std::function<void(const Json&)>;

  /// frames 0: as many as a measurement needs. Each figure goes to report as {"id", "with", "value", "unit", "runs",
  /// "min", "max"}.
  Bench(const CardSetting& setting, std::uint32_t frames, Report report);

  void line_rate_rx(std::size_t length);
  void line_rate_tx(std::size_t length);
  void latency_rx(std::size_t length);
  void latency_tx(std::size_t length);

  /// How much longer a frame of the PS waits for the wire while the host sends frames of these lengths at line rate.
  /// What stands in the MAC's own store, MacTx::store_beats at most, is part of it.
  void ps_priority(const std::vector<std::size_t>& host_lengths);

  /// Broadcasts at line rate to so many functions, with PTP multicasts and unicasts for each of them in between.
  void storm(unsigned functions);

  /// Both directions of all ports at once; the sum of what comes through against what wires and streams allow.
  void duplex(std::size_t length);

  /// Frames of the PS that are lost while the host takes nothing: its stream stopped, or its queues without buffers.
  void ps_loss(const std::vector<std::size_t>& host_lengths);

  /// Error of the system timer at every MAC clock edge, against the PTP clock at that very instant.
  void timer_error();

  /// Error of receive and transmit timestamps of PTP frames against the time on the wire, while the host is loaded.
  void ptp_error();

 private:
  void fresh();
  Json point(std::size_t length) const;
  void figure(const std::string& id, Json with, double value, const std::string& unit, std::uint64_t runs);
  void figure(const std::string& id, Json with, const Spread& spread, const std::string& unit);
  double wire_ps(std::size_t length) const;
  PsWaits ps_waits(std::size_t host_length);
  /// Of a measurement: those asked for, or as many as make a rate exact.
  std::uint32_t frames_of(std::size_t length) const;
  double byte_ps() const { return setting_.rate == MacRate::gbps25 ? 320 : 800; }
  double mac_cycle_ps() const { return 8 * byte_ps(); }
  void lost_beside(const std::string& load, std::size_t length);
  void keep_sending(const NumberedFrames& frames, std::uint32_t& number);

  CardSetting setting_;
  std::uint32_t frames_;
  Report report_;
  std::unique_ptr<Card> card_;
};

}  // namespace meridian
