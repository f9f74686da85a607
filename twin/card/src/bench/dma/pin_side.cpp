// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/pin_side.hpp"

#include <utility>

#include "bench/dma/spread_of.hpp"

namespace meridian {

namespace {

constexpr std::uint64_t period_ps = 4000;

}  // namespace

PinSide::PinSide(const DmaSetting& setting, StreamPins::Source source)
    : pins_({.source = source,
             .queues = setting.queues,
             .bytes = setting.bytes,
             .gap_ps = setting.gap_ps,
             .seed = setting.host.seed}),
      streams_(pins_.make_streams(1)),
      frames_(setting.queues) {
  if (source == StreamPins::Source::one_by_one)
    pins_.set_round_trip([this](std::uint64_t ps) {
      if (now_ps_ - ps >= from_ps_) round_ps_.push_back(ps);
    });
  const HostRole role = setting.host.role;
  if (role == HostRole::send || role == HostRole::both)
    pins_.set_arrival([this](unsigned queue) {
      const std::uint64_t start_ps = frames_.take_start(queue);
      if (start_ps >= from_ps_) h2c_ps_.push_back(now_ps_ - start_ps);
    });
}

void PinSide::step() {
  now_ps_ += period_ps;
  streams_.c2h.sample(now_ps_);
  streams_.h2c.sample();
  streams_.flr.sample(now_ps_);
  streams_.credit.sample(now_ps_);
  pins_.sample(now_ps_);
  if (tick_) tick_(now_ps_);
  streams_.c2h.drive();
  streams_.h2c.drive(now_ps_);
  streams_.flr.drive();
  streams_.credit.drive();
  pins_.drive(now_ps_);
}

void PinSide::begin(std::uint64_t) {
  from_ps_ = now_ps_;
  h2c_ps_.clear();
  round_ps_.clear();
}

nlohmann::json PinSide::end() {
  nlohmann::json found = nlohmann::json::object();
  if (!h2c_ps_.empty()) found["h2c_latency_ns"] = spread_of(std::move(h2c_ps_), 1000);
  if (!round_ps_.empty()) found["round_trip_ns"] = spread_of(std::move(round_ps_), 1000);
  found["timed_by"] = "pins";
  return found;
}

}  // namespace meridian
