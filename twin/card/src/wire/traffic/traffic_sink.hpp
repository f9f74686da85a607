// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>

#include "mac/mac_tx.hpp"
#include "wire/traffic/latency_histogram.hpp"
#include "wire/traffic/traffic_frame.hpp"
#include "wire/wire_end.hpp"

namespace meridian {

/// Judges the test frames of any generators that arrive. A flow's frames are told apart within the last 4096 sequence
/// numbers; older ones count as reordered.
class TrafficSink {
 public:
  void receive(const TxFrame& frame);

  struct Statistics {
    std::uint64_t received = 0;  // test frames, each once
    std::uint64_t bytes = 0;     // of these, without FCS
    std::uint64_t duplicates = 0;
    std::uint64_t reordered = 0;  // came behind one that was sent later
    std::uint64_t corrupt = 0;    // payload
    std::uint64_t bad_checksum = 0;
    std::uint64_t bad_fcs = 0;
    std::uint64_t foreign = 0;
    std::uint64_t first_ps = 0;  // start-of-frame delimiter of the first test frame and of the last
    std::uint64_t last_ps = 0;
  };
  const Statistics& statistics() const { return statistics_; }
  const LatencyHistogram& latency() const { return latency_; }

  /// Frames missing below the highest sequence number of their flow; what a generator sent last may be missing too.
  std::uint64_t lost() const;

  /// Test frames of one generator, each once.
  std::uint64_t received_from(std::uint8_t generator) const;

  void report(const WireReport& report) const;

 private:
  static constexpr std::size_t window = 4096;
  struct Flow {
    std::uint64_t received = 0;
    std::uint64_t next = 0;  // above the highest sequence number
    std::bitset<window> seen;
  };

  std::unordered_map<std::uint32_t, Flow> flows_;  // by generator and flow
  LatencyHistogram latency_;
  Statistics statistics_;
};

}  // namespace meridian
