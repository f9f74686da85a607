// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/memory_bus.hpp"
#include "bench/host/engine_port.hpp"
#include "bench/host/host_frames.hpp"
#include "qdma/qdma_ip.hpp"

namespace meridian {

/// What is behind the streams of a DMA engine: it makes the frames that come by C2H, and takes those that go by H2C.
class DmaSide {
 public:
  struct Passed {
    std::uint64_t frames = 0, bytes = 0;
  };
  using Tick = std::function<void(std::uint64_t now_ps)>;

  virtual ~DmaSide() = default;

  /// The DMA engine that its streams belong to, in front of the host's memory. Made once; lives no longer than this.
  virtual std::unique_ptr<EnginePort> make_engine(const QdmaSetting& setting, MemoryBus& host) = 0;

  /// Registers of the shell are set, before the host sets its rings up.
  virtual void prepare() {}

  virtual HostFrames& frames() = 0;
  virtual const char* source() const = 0;

  /// Called once a cycle of the streams, when they have been sampled and not yet driven.
  virtual void set_tick(Tick tick) = 0;

  /// Goes on by a clock edge.
  virtual void step() = 0;
  virtual std::uint64_t now_ps() const = 0;

  /// Frames come from now on; the host has its queues.
  virtual void start() = 0;

  /// What has passed in a direction so far. It may take some cycles to ask.
  virtual Passed c2h() = 0;
  virtual Passed h2c() = 0;

  /// When the oldest C2H frame of the queue that this was not asked of began; none if its streams are not to be seen.
  virtual std::optional<std::uint64_t> take_start(unsigned queue) = 0;

  /// A measurement begins, and lasts so long.
  virtual void begin(std::uint64_t for_ps) = 0;

  /// It has ended: latencies that it measured itself, as "h2c_latency_ns" or "round_trip_ns". CheckError when a frame
  /// was not as it should be.
  virtual nlohmann::json end() = 0;
};

}  // namespace meridian
