// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/dma/dma_setting.hpp"
#include "bench/dma/dma_side.hpp"
#include "bench/dma/model_engine.hpp"
#include "bench/dma/stream_pins.hpp"

namespace meridian {

/// No shell: frames begin and end at the pins of the streams, in cycles of 250 MHz.
class PinSide final : public DmaSide {
 public:
  PinSide(const DmaSetting& setting, StreamPins::Source source);

  std::unique_ptr<EnginePort> make_engine(const QdmaSetting& setting, MemoryBus& host) override {
    return std::make_unique<ModelEngine>(setting, streams_, host, nullptr);
  }
  HostFrames& frames() override { return frames_; }
  const char* source() const override { return "stream pins"; }
  void set_tick(Tick tick) override { tick_ = std::move(tick); }
  void step() override;
  std::uint64_t now_ps() const override { return now_ps_; }
  void start() override {}
  Passed c2h() override { return {pins_.c2h().frames, pins_.c2h().bytes}; }
  Passed h2c() override { return {pins_.h2c().frames, pins_.h2c().bytes}; }
  std::optional<std::uint64_t> take_start(unsigned queue) override { return pins_.take_start(queue); }
  void begin(std::uint64_t for_ps) override;
  nlohmann::json end() override;

 private:
  StreamPins pins_;
  Qdma streams_;
  CountedFrames frames_;
  Tick tick_;
  std::uint64_t now_ps_ = 0;
  std::uint64_t from_ps_ = 0;                     // frames that began earlier do not count
  std::vector<std::uint64_t> h2c_ps_, round_ps_;  // latencies
};

}  // namespace meridian
