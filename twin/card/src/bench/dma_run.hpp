// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/flat_memory.hpp"
#include "bench/ring_host.hpp"
#include "bench/stream_pins.hpp"
#include "qdma/qdma_ip.hpp"

namespace meridian {

enum class DmaMode { idle, forward, c2h, h2c, both, loopback, round_trip };

std::optional<DmaMode> dma_mode_of(std::string_view name);

struct DmaSetting {
  DmaMode mode = DmaMode::forward;
  unsigned queues = 1;
  unsigned bytes = 64;
  std::uint64_t gap_ps = 0;  // between frames of whoever makes them
  HostSetting host;          // what it shares with the above is set from that
  QdmaSetting qdma;
  std::uint64_t warm_ps = 50'000'000;
  std::uint64_t measure_ps = 200'000'000;
};

/// The model of the QDMA IP between a host with rings and its own streams, cycle by cycle of 250 MHz.
class DmaRun {
 public:
  explicit DmaRun(const DmaSetting& setting);

  void step();
  void run_until(std::uint64_t ps);
  std::uint64_t now_ps() const { return now_ps_; }
  QdmaIp& ip() { return ip_; }

  /// What has moved so far, in frames and bytes.
  struct Counts {
    std::uint64_t t_ps = 0;
    StreamPins::Passed c2h, h2c;         // at the pins
    std::uint64_t completed = 0;         // frames whose completion is in host memory
    std::uint64_t taken = 0, looks = 0;  // by the host
  };
  Counts counts() const;

  /// Rates of both directions since then.
  nlohmann::json rates(const Counts& before) const;

  /// HangError when nothing has moved since then that should.
  void check_moved(const Counts& before) const;

  /// Goes through warm-up, settling and measurement, and says what came of it. HangError as by check_moved() and
  /// settle().
  nlohmann::json measure();

 private:
  void watch_completions();

  /// Where frames go there and back: until as many go as come. Before that, rings of the host fill, which lets through
  /// more of one direction than can last.
  void settle();
  bool measured(std::uint64_t start_ps) const { return start_ps >= measure_from_ps_; }

  DmaSetting setting_;
  StreamPins pins_;
  Qdma streams_;
  FlatMemory memory_;
  QdmaIp ip_;
  RingHost host_;
  std::uint64_t now_ps_ = 0;
  std::uint64_t measure_from_ps_;
  std::uint64_t completed_ = 0;
  std::vector<std::uint64_t> c2h_ps_, h2c_ps_, round_ps_;  // latencies
};

}  // namespace meridian
