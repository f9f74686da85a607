// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/dma/dma_setting.hpp"
#include "bench/dma/dma_side.hpp"
#include "bench/host/flat_memory.hpp"
#include "bench/host/ring_host.hpp"

namespace meridian {

std::optional<DmaMode> dma_mode_of(std::string_view name);

/// A DMA engine between a host with rings and what is behind its streams, cycle by cycle of 250 MHz.
class DmaRun {
 public:
  explicit DmaRun(const DmaSetting& setting);

  void run_until(std::uint64_t ps);
  std::uint64_t now_ps() const { return side_->now_ps(); }
  EnginePort& engine() { return *engine_; }
  DmaSide& side() { return *side_; }

  /// What has moved so far, in frames and bytes.
  struct Counts {
    std::uint64_t t_ps = 0;
    DmaSide::Passed c2h, h2c;            // by whoever is behind the streams
    std::uint64_t completed = 0;         // frames whose completion is in host memory
    std::uint64_t taken = 0, looks = 0;  // by the host
  };
  Counts counts();

  /// Rates of both directions between two counts.
  nlohmann::json rates(const Counts& before, const Counts& after) const;

  /// HangError when nothing has moved between two counts that should.
  void check_moved(const Counts& before, const Counts& after) const;

  /// Goes through warm-up, settling and measurement, and says what came of it. HangError as by check_moved() and
  /// settle().
  nlohmann::json measure();

 private:
  void watch_completions();

  /// Where frames go there and back: until as many go as come. Before that, rings of the host fill, which lets through
  /// more of one direction than can last.
  void settle();

  DmaSetting setting_;
  std::unique_ptr<DmaSide> side_;
  FlatMemory memory_;
  std::unique_ptr<EnginePort> engine_;
  std::unique_ptr<RingHost> host_;
  std::uint64_t measure_from_ps_ = 0;
  std::uint64_t completed_ = 0;
  std::vector<std::uint64_t> c2h_ps_;  // latencies
};

}  // namespace meridian
