// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/dma_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "bench/dma/block_side.hpp"
#include "bench/dma/pin_side.hpp"
#include "bench/dma/spread_of.hpp"

namespace meridian {

namespace {

using Json = nlohmann::json;
using Source = StreamPins::Source;

// What begins as steady may tip over after a millisecond. Rings are then looked at so many windows long.
constexpr std::uint64_t settle_least_ps = 1'000'000'000;
constexpr std::uint64_t window_ps = 200'000'000;
constexpr std::ptrdiff_t windows = 10;
constexpr std::uint64_t settle_limit_ps = 20'000'000'000;

struct Parts {
  std::string_view name;
  DmaMode mode;
  Source source;
  HostRole role;
};

constexpr std::array<Parts, 7> all_parts{{
    {"idle", DmaMode::idle, Source::none, HostRole::take},
    {"forward", DmaMode::forward, Source::generator, HostRole::forward},
    {"c2h", DmaMode::c2h, Source::generator, HostRole::take},
    {"h2c", DmaMode::h2c, Source::none, HostRole::send},
    {"both", DmaMode::both, Source::generator, HostRole::both},
    {"loopback", DmaMode::loopback, Source::loop, HostRole::both},
    {"round-trip", DmaMode::round_trip, Source::one_by_one, HostRole::forward},
}};

const Parts& parts_of(DmaMode mode) {
  return *std::find_if(all_parts.begin(), all_parts.end(), [&](const Parts& parts) { return parts.mode == mode; });
}

/// What its parts share is said once.
DmaSetting complete(DmaSetting setting) {
  setting.host.role = parts_of(setting.mode).role;
  setting.host.queues = setting.queues;
  setting.host.bytes = setting.bytes;
  setting.host.gap_ps = setting.gap_ps;
  // One way only: neither a doorbell nor a write to memory has an answer.
  setting.host.flight_ps = setting.qdma.pcie.unlimited ? 0 : 500ULL * setting.qdma.pcie.round_trip_ns;
  if (setting.source == DmaSource::pins) return setting;
  if (setting.mode == DmaMode::loopback)
    throw InputError(
        "--mode loopback: the self-test block sends and checks, and sends nothing back; choose --source pins");
  // The block's cycle is found by a frame that it sends.
  if (setting.host.role == HostRole::send) setting.host.role = HostRole::both;
  return setting;
}

std::unique_ptr<DmaSide> make_side(const DmaSetting& setting) {
  if (setting.source == DmaSource::pins) return std::make_unique<PinSide>(setting, parts_of(setting.mode).source);
  return std::make_unique<BlockSide>(setting);
}

}  // namespace

std::optional<DmaMode> dma_mode_of(std::string_view name) {
  const auto found =
      std::find_if(all_parts.begin(), all_parts.end(), [&](const Parts& parts) { return parts.name == name; });
  return found == all_parts.end() ? std::nullopt : std::optional(found->mode);
}

DmaRun::DmaRun(const DmaSetting& setting)
    : setting_(complete(setting)),
      side_(make_side(setting_)),
      memory_(RingHost::memory_bytes(setting_.host), setting_.host.flight_ps),
      engine_(side_->make_engine(setting_.qdma, memory_)) {
  side_->set_tick([this](std::uint64_t now_ps) {
    memory_.run(now_ps);
    engine_->tick(now_ps);
    if (host_) host_->run(now_ps);
  });
  side_->prepare();
  host_ = std::make_unique<RingHost>(setting_.host, *engine_, memory_, side_->frames());
  watch_completions();
  host_->start();
  side_->start();
  host_->begin(now_ps());
}

void DmaRun::watch_completions() {
  memory_.set_watch([this](std::uint64_t address) {
    const auto queue = host_->completion_at(address);
    if (!queue) return;
    ++completed_;
    const auto start_ps = side_->take_start(*queue);
    if (start_ps && *start_ps >= measure_from_ps_) c2h_ps_.push_back(now_ps() - *start_ps);
  });
}

void DmaRun::run_until(std::uint64_t ps) {
  while (now_ps() < ps) side_->step();
}

DmaRun::Counts DmaRun::counts() {
  return {now_ps(), side_->c2h(), side_->h2c(), completed_, host_->taken(), host_->looks()};
}

Json DmaRun::rates(const Counts& before, const Counts& after) const {
  const auto direction = [&](std::uint64_t frames, std::uint64_t bytes) {
    const double mpps = static_cast<double>(frames) * 1e6 / static_cast<double>(after.t_ps - before.t_ps);
    return Json{
        {"frames", frames}, {"bytes_at_pins", bytes}, {"mpps", mpps}, {"gbps", mpps * 8 * setting_.bytes / 1000}};
  };
  return {{"c2h", direction(after.completed - before.completed, after.c2h.bytes - before.c2h.bytes)},
          {"h2c", direction(after.h2c.frames - before.h2c.frames, after.h2c.bytes - before.h2c.bytes)}};
}

void DmaRun::check_moved(const Counts& before, const Counts& after) const {
  const Parts& parts = parts_of(setting_.mode);
  if (parts.source != Source::none && after.completed == before.completed) throw HangError("no frame came to the host");
  if (parts.role != HostRole::take && after.h2c.frames == before.h2c.frames)
    throw HangError("no frame came from the host");
}

void DmaRun::settle() {
  const std::uint64_t end_ps = now_ps() + settle_limit_ps;
  run_until(now_ps() + settle_least_ps);
  const Counts first = counts();
  Counts before = first;
  std::deque<double> more;  // frames that are in the host at the end of each window, and were not at the beginning
  for (bool steady = false; !steady;) {
    if (now_ps() >= end_ps) throw HangError("after 20 ms the host's rings still fill or run empty");
    run_until(now_ps() + window_ps);
    const Counts after = counts();
    check_moved(before, after);
    const auto came = static_cast<double>(after.completed - before.completed);
    more.push_back(static_cast<double>(after.completed - first.completed) -
                   static_cast<double>(after.h2c.frames - first.h2c.frames));
    before = after;
    if (more.size() < windows) continue;
    // The card tells the host of 64 frames of a queue at a time, so the rings go up and down; what counts is their
    // mean.
    const auto half = more.begin() + windows / 2;
    const double risen = std::accumulate(half, more.end(), 0.0) - std::accumulate(more.begin(), half, 0.0);
    steady = std::abs(risen) / (windows / 2) <= 8 + 0.01 * came * (windows / 2);
    more.pop_front();
  }
}

Json DmaRun::measure() {
  run_until(now_ps() + setting_.warm_ps);
  if (setting_.mode == DmaMode::forward || setting_.mode == DmaMode::loopback) settle();
  side_->begin(setting_.measure_ps);
  measure_from_ps_ = now_ps();
  c2h_ps_.clear();
  const Counts before = counts();
  run_until(before.t_ps + setting_.measure_ps);
  const Counts after = counts();
  check_moved(before, after);
  Json found = rates(before, after);
  if (!c2h_ps_.empty()) found["latency_ns"] = spread_of(std::move(c2h_ps_), 1000);
  found.update(side_->end());
  // Of a way there and back, what counts is what has done both.
  const bool ends_at_host = setting_.mode == DmaMode::c2h || setting_.mode == DmaMode::loopback;
  const Json& whole = found[ends_at_host ? "c2h" : "h2c"];
  for (const char* name : {"frames", "mpps", "gbps"}) found[name] = whole[name];
  found["mode"] = parts_of(setting_.mode).name;
  found["source"] = side_->source();
  found["engine"] = engine_->name();
  const auto looks = static_cast<double>(std::max<std::uint64_t>(1, after.looks - before.looks));
  found["frames_a_burst"] = static_cast<double>(after.taken - before.taken) / looks;
  return found;
}

}  // namespace meridian
