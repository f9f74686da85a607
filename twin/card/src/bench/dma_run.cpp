// SPDX-License-Identifier: Apache-2.0
#include "bench/dma_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

using Json = nlohmann::json;
using Source = StreamPins::Source;

constexpr std::uint64_t period_ps = 4000;
constexpr std::uint64_t window_ps = 200'000'000;  // of settling
// What begins as steady may tip over after a millisecond.
constexpr std::uint64_t settle_least_ps = 2'000'000'000;
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
  return setting;
}

StreamPins::Setting pins_of(const DmaSetting& setting) {
  return {.source = parts_of(setting.mode).source,
          .queues = setting.queues,
          .bytes = setting.bytes,
          .gap_ps = setting.gap_ps,
          .seed = setting.host.seed};
}

Json spread(std::vector<std::uint64_t> ps) {
  std::sort(ps.begin(), ps.end());
  const auto ns = [](std::uint64_t time) { return static_cast<double>(time) / 1000; };
  return {{"median", ns(ps[ps.size() / 2])}, {"min", ns(ps.front())}, {"max", ns(ps.back())}, {"frames", ps.size()}};
}

}  // namespace

std::optional<DmaMode> dma_mode_of(std::string_view name) {
  const auto found =
      std::find_if(all_parts.begin(), all_parts.end(), [&](const Parts& parts) { return parts.name == name; });
  return found == all_parts.end() ? std::nullopt : std::optional(found->mode);
}

DmaRun::DmaRun(const DmaSetting& setting)
    : setting_(complete(setting)),
      pins_(pins_of(setting_)),
      streams_(pins_.make_streams(1)),
      memory_(RingHost::memory_bytes(setting_.host), setting_.host.flight_ps),
      ip_(setting_.qdma, streams_, memory_),
      host_(setting_.host, ip_, memory_),
      measure_from_ps_(setting_.warm_ps) {
  watch_completions();
  if (setting_.mode == DmaMode::round_trip)
    pins_.set_round_trip([this](std::uint64_t ps) {
      if (measured(now_ps_ - ps)) round_ps_.push_back(ps);
    });
  if (setting_.host.role == HostRole::send || setting_.host.role == HostRole::both)
    pins_.set_arrival([this](unsigned queue) {
      const std::uint64_t start_ps = host_.take_start(queue);
      if (measured(start_ps)) h2c_ps_.push_back(now_ps_ - start_ps);
    });
  host_.start();
}

void DmaRun::watch_completions() {
  memory_.set_watch([this](std::uint64_t address) {
    const auto queue = host_.completion_at(address);
    if (!queue) return;
    ++completed_;
    const std::uint64_t start_ps = pins_.take_start(*queue);
    if (measured(start_ps)) c2h_ps_.push_back(now_ps_ - start_ps);
  });
}

void DmaRun::step() {
  now_ps_ += period_ps;
  streams_.c2h.sample(now_ps_);
  streams_.h2c.sample();
  streams_.flr.sample(now_ps_);
  streams_.credit.sample(now_ps_);
  pins_.sample(now_ps_);
  memory_.run(now_ps_);
  ip_.tick(now_ps_);
  host_.run(now_ps_);
  streams_.c2h.drive();
  streams_.h2c.drive(now_ps_);
  streams_.flr.drive();
  streams_.credit.drive();
  pins_.drive(now_ps_);
}

void DmaRun::run_until(std::uint64_t ps) {
  while (now_ps_ < ps) step();
}

DmaRun::Counts DmaRun::counts() const {
  return {now_ps_, pins_.c2h(), pins_.h2c(), completed_, host_.taken(), host_.looks()};
}

Json DmaRun::rates(const Counts& before) const {
  const auto direction = [&](std::uint64_t frames, std::uint64_t pin_bytes) {
    const double mpps = static_cast<double>(frames) * 1e6 / static_cast<double>(now_ps_ - before.t_ps);
    return Json{
        {"frames", frames}, {"bytes_at_pins", pin_bytes}, {"mpps", mpps}, {"gbps", mpps * 8 * setting_.bytes / 1000}};
  };
  return {{"c2h", direction(completed_ - before.completed, pins_.c2h().bytes - before.c2h.bytes)},
          {"h2c", direction(pins_.h2c().frames - before.h2c.frames, pins_.h2c().bytes - before.h2c.bytes)}};
}

void DmaRun::check_moved(const Counts& before) const {
  const Parts& parts = parts_of(setting_.mode);
  if (parts.source != Source::none && completed_ == before.completed) throw HangError("no frame came to the host");
  if (parts.role != HostRole::take && pins_.h2c().frames == before.h2c.frames)
    throw HangError("no frame came from the host");
}

void DmaRun::settle() {
  const std::uint64_t end_ps = now_ps_ + settle_limit_ps;
  run_until(now_ps_ + settle_least_ps);
  for (unsigned steady = 0; steady < 2;) {
    if (now_ps_ >= end_ps) throw HangError("after 20 ms the host's rings still fill or run empty");
    const Counts before = counts();
    run_until(now_ps_ + window_ps);
    check_moved(before);
    const auto came = static_cast<double>(completed_ - before.completed);
    const auto went = static_cast<double>(pins_.h2c().frames - before.h2c.frames);
    steady = std::abs(came - went) <= 8 + 0.01 * came ? steady + 1 : 0;
  }
  measure_from_ps_ = now_ps_;
  c2h_ps_.clear();
  h2c_ps_.clear();
}

Json DmaRun::measure() {
  run_until(setting_.warm_ps);
  if (setting_.mode == DmaMode::forward || setting_.mode == DmaMode::loopback) settle();
  const Counts before = counts();
  run_until(now_ps_ + setting_.measure_ps);
  check_moved(before);
  Json found = rates(before);
  // Of a way there and back, what counts is what has done both.
  const bool ends_at_host = setting_.mode == DmaMode::c2h || setting_.mode == DmaMode::loopback;
  const Json& whole = found[ends_at_host ? "c2h" : "h2c"];
  for (const char* name : {"frames", "mpps", "gbps"}) found[name] = whole[name];
  found["mode"] = parts_of(setting_.mode).name;
  found["source"] = "bench generator";
  found["engine"] = "qdma_model";
  const auto looks = static_cast<double>(std::max<std::uint64_t>(1, host_.looks() - before.looks));
  found["frames_a_burst"] = static_cast<double>(host_.taken() - before.taken) / looks;
  if (!c2h_ps_.empty()) found["latency_ns"] = spread(std::move(c2h_ps_));
  if (!h2c_ps_.empty()) found["h2c_latency_ns"] = spread(std::move(h2c_ps_));
  if (!round_ps_.empty()) found["round_trip_ns"] = spread(std::move(round_ps_));
  return found;
}

}  // namespace meridian
