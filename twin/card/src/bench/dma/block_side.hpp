// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "bench/dma/dma_setting.hpp"
#include "bench/dma/dma_side.hpp"
#include "bench/dma/self_test_block.hpp"
#include "bench/dma/test_frames.hpp"
#include "shell/card.hpp"

namespace meridian {

/// The shell with its self-test block, which makes the C2H frames and checks the H2C frames. Frames and bytes of both
/// directions come from the block's counters. Latencies from a time stamp to the checker come from its latency window.
/// The block writes the time stamp, or, in frames that the host makes, the host writes the cycle of their doorbell.
///
/// With our own DMA engine the streams are internal, so one-way latency cannot be measured, and round trips only by the
/// block's latency window.
class BlockSide final : public DmaSide {
 public:
  explicit BlockSide(const DmaSetting& setting);

  std::unique_ptr<EnginePort> make_engine(const QdmaSetting& setting, MemoryBus& host) override;
  void prepare() override;
  HostFrames& frames() override { return frames_; }
  const char* source() const override { return "self-test block"; }
  void set_tick(Tick tick) override { card_.set_host_edge(std::move(tick)); }
  void step() override { card_.step(); }
  std::uint64_t now_ps() const override { return card_.now_ps(); }
  void start() override;
  Passed c2h() override;
  Passed h2c() override;
  std::optional<std::uint64_t> take_start(unsigned queue) override;
  void begin(std::uint64_t for_ps) override;
  nlohmann::json end() override;

 private:
  bool generates() const;
  bool checks() const;
  std::uint32_t interval() const;
  void find_zero();
  void begin_run(unsigned number, const SelfTestBlock::Test& test);
  void came(const C2hFrame& frame);
  void goes(unsigned queue);

  DmaSetting setting_;
  Card card_;
  bool sees_streams_;
  EnginePort* engine_ = nullptr;
  std::optional<SelfTestBlock> block_;
  TestFrames frames_;
  std::uint64_t zero_ps_ = 0;  // when the block's count of cycles was 0
  bool measures_ = false;
  std::vector<std::deque<std::uint64_t>> starts_;     // of C2H frames, by queue
  std::vector<std::deque<std::uint64_t>> under_way_;  // of round trips at the pins
  std::vector<std::uint64_t> round_ps_;               // of these, the time
};

}  // namespace meridian
