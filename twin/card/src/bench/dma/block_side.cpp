// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/block_side.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "bench/dma/block_engine.hpp"
#include "bench/dma/model_engine.hpp"
#include "bench/dma/spread_of.hpp"
#include "bench/host/driver_port.hpp"
#include "bench/shell_setup.hpp"
#include "meridian_regs.h"

namespace meridian {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t period_ps = TestFrames::period_ps;
constexpr std::uint64_t limit_ps = 100'000'000;
// From the cycle of the stamp to the edge that takes the first beat at the pins, and from the edge that offers the
// first beat of H2C to the cycle in which the checker sees it (SelfTest.scala).
constexpr std::uint64_t to_pins_ps = 4 * period_ps, from_pins_ps = period_ps;

CardSetting card_setting(const DmaSetting& setting) {
  CardSetting card;
  card.seed = setting.host.seed;
  card.host_mhz = 250;
  return card;
}

}  // namespace

BlockSide::BlockSide(const DmaSetting& setting)
    : setting_(setting),
      card_(card_setting(setting)),
      sees_streams_(card_.pcie() == nullptr),
      frames_(setting.queues),
      starts_(setting.queues),
      under_way_(setting.queues) {
  if (!sees_streams_) return;
  card_.qdma().c2h.set_tap([this](const C2hFrame& frame) { came(frame); });
  card_.qdma().h2c.set_tap([this](unsigned queue, const H2cFrame&) { goes(queue); });
}

std::unique_ptr<EnginePort> BlockSide::make_engine(const QdmaSetting& setting, MemoryBus& host) {
  std::unique_ptr<EnginePort> engine;
  if (sees_streams_)
    engine = std::make_unique<ModelEngine>(setting, card_.qdma(), host, &card_);
  else
    engine = std::make_unique<BlockEngine>(setting, card_, host);
  engine_ = engine.get();
  return engine;
}

void BlockSide::prepare() {
  block_.emplace(card_, *engine_);
  const RegisterWrite write = [this](std::uint32_t address, std::uint32_t value) {
    engine_->write_register(address, value);
  };
  set_queues(write, setting_.host.vf ? DriverPort::first_vf : 0, 0, setting_.queues);
  enforce_credit(write, true);
  for (unsigned queue = 0; queue < setting_.queues; ++queue)
    write(static_cast<std::uint32_t>(MERIDIAN_QUEUE_BASE + MERIDIAN_QUEUE_SWITCHES(queue)),
          MERIDIAN_QUEUE_SWITCHES_COMPLETION16_MASK);
}

bool BlockSide::generates() const {
  return setting_.mode != DmaMode::idle && setting_.mode != DmaMode::h2c;
}

bool BlockSide::checks() const {
  return setting_.mode != DmaMode::idle && setting_.mode != DmaMode::c2h;
}

/// Of round trips: so long that a frame is back before the next one goes, and at any phase of the host's looks.
std::uint32_t BlockSide::interval() const {
  const std::uint64_t flights_ps = 6 * setting_.host.flight_ps + 2 * setting_.host.poll_ps;
  const std::uint64_t least_ps = setting_.mode == DmaMode::round_trip ? flights_ps + 1'600'000 : 0;
  return static_cast<std::uint32_t>((std::max(setting_.gap_ps, least_ps)) / period_ps) + (least_ps != 0 ? 7 : 0);
}

/// A single frame tells the block's cycle: nothing waits in front of it.
void BlockSide::find_zero() {
  const bool returns = setting_.host.role == HostRole::forward;
  SelfTestBlock::Test test{.generate = true, .check = true, .queues = setting_.queues, .frames = 1};
  test.function = setting_.host.vf ? DriverPort::first_vf : 0;
  begin_run(1, test);
  card_.run_until([this] { return frames_.checked() == 1; }, limit_ps, "the first frame of the self-test");
  // At the latest; later than it was, so that no stamp of the host's frames is in the block's future.
  if (!sees_streams_) zero_ps_ = card_.now_ps() - period_ps * frames_.stamp();
  if (!returns) return;
  const std::uint64_t end_ps = card_.now_ps() + limit_ps;
  while (block_->counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_FRAMES) == 0)
    if (card_.now_ps() > end_ps) throw HangError("the first frame of the self-test does not come back");
}

void BlockSide::start() {
  if (setting_.mode == DmaMode::idle) return;
  find_zero();
  for (auto& starts : starts_) starts.clear();
  frames_.set_zero(zero_ps_);
  SelfTestBlock::Test test{.generate = generates(), .check = checks(), .queues = setting_.queues};
  test.function = setting_.host.vf ? DriverPort::first_vf : 0;
  test.bytes = setting_.bytes;
  test.interval = interval();
  begin_run(2, test);
}

/// Frames may come before the answer does.
void BlockSide::begin_run(unsigned number, const SelfTestBlock::Test& test) {
  frames_.begin(number);
  const unsigned run = block_->start(test);
  if (run != number)
    throw CheckError("run " + std::to_string(number) + " of the self-test says it is " + std::to_string(run));
}

void BlockSide::came(const C2hFrame& frame) {
  const std::uint64_t first_ps = frame.t_first_ps - to_pins_ps;
  const bool stamped = frame.bytes.size() >= TestFrames::header_bytes;
  const std::uint64_t stamp_ps = period_ps * TestFrames::stamp_of(frame.bytes);
  if (zero_ps_ == 0) zero_ps_ = first_ps - stamp_ps;
  starts_.at(frame.queue).push_back(stamped ? zero_ps_ + stamp_ps : first_ps);
  if (stamped && zero_ps_ + stamp_ps > first_ps)
    throw CheckError("a frame was at the pins before the self-test made it");
  if (measures_ && setting_.mode == DmaMode::round_trip) under_way_.at(frame.queue).push_back(first_ps);
}

void BlockSide::goes(unsigned queue) {
  auto& starts = under_way_.at(queue);
  if (starts.empty()) return;
  round_ps_.push_back(card_.now_ps() + from_pins_ps - starts.front());
  starts.pop_front();
}

std::optional<std::uint64_t> BlockSide::take_start(unsigned queue) {
  if (!sees_streams_) return std::nullopt;
  auto& starts = starts_.at(queue);
  if (starts.empty()) throw CheckError("queue " + std::to_string(queue) + " has a completion without a frame");
  const std::uint64_t start = starts.front();
  starts.pop_front();
  return start;
}

DmaSide::Passed BlockSide::c2h() {
  return {block_->counter(MERIDIAN_SELF_TEST_COUNTER_SENT_FRAMES),
          block_->counter(MERIDIAN_SELF_TEST_COUNTER_SENT_BYTES)};
}

DmaSide::Passed BlockSide::h2c() {
  return {block_->counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_FRAMES),
          block_->counter(MERIDIAN_SELF_TEST_COUNTER_CHECKED_BYTES)};
}

void BlockSide::begin(std::uint64_t for_ps) {
  measures_ = true;
  block_->open_window(for_ps / period_ps);
}

Json BlockSide::end() {
  Json found = Json::object();
  if (setting_.mode == DmaMode::idle) return found;
  const bool stamped = setting_.bytes >= TestFrames::header_bytes;
  const SelfTestBlock::Counters now = block_->counters();
  const std::uint64_t bad = now.damaged + now.foreign + now.marked + now.skipped + now.late;
  if (bad != 0 || (stamped && now.too_short != 0))
    throw CheckError("the self-test found frames that are not as they were sent: " + std::to_string(now.damaged) +
                     " damaged, " + std::to_string(now.foreign) + " foreign, " + std::to_string(now.marked) +
                     " marked, " + std::to_string(now.skipped) + " skipped, " + std::to_string(now.late) + " late");
  if (!checks()) return found;
  // Of frames that the host sends back the stamp is the block's, of its own the cycle of their doorbell.
  const bool own = setting_.host.role == HostRole::both;
  if (own && !sees_streams_) return found;
  const char* name = own ? "h2c_latency_ns" : "round_trip_ns";
  if (const Json times = block_->window(); stamped && !times.is_null()) found[name] = times;
  found["timed_by"] = stamped ? "window" : "pins";
  if (round_ps_.empty()) return found;
  const Json at_pins = spread_of(std::move(round_ps_), 1000);
  found[stamped ? "round_trip_at_pins_ns" : name] = at_pins;
  return found;
}

}  // namespace meridian
