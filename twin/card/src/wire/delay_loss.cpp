// SPDX-License-Identifier: Apache-2.0
#include "wire/delay_loss.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

void check(const WaySetting& way) {
  for (const double share : {way.loss, way.duplicate, way.reorder})
    if (!(share >= 0 && share <= 1)) throw InputError("wire: a probability is 0 to 1");
}

}  // namespace

DelayLoss::DelayLoss(std::unique_ptr<WireEnd> inner, const DelayLossSetting& setting, const WireSetting& wire)
    : inner_(std::move(inner)),
      wire_(wire),
      in_(setting.in, setting.seed ^ 0x1d),
      out_(setting.out, setting.seed ^ 0xd1) {
  check(setting.in);
  check(setting.out);
}

DelayLoss::Way::Arrival DelayLoss::Way::arrival(std::uint64_t departure_ps, Counts& counts) {
  const auto jitter = static_cast<std::uint64_t>(random.fraction() * static_cast<double>(setting.jitter_ps));
  const std::uint64_t arrival_ps = std::max(departure_ps + setting.delay_ps + jitter, last_ps);
  if (happens(setting.reorder)) {
    ++counts.reordered;
    return {arrival_ps + setting.reorder_ps, true};
  }
  return {last_ps = arrival_ps, false};
}

void DelayLoss::take(RxFrame frame, std::uint64_t now_ps) {
  const std::uint64_t start_ps = std::max({frame.at_ps, now_ps, free_ps_ + frame.gap * wire_.byte_ps()});
  const std::uint64_t length_ps = wire_.frame_ps(frame.bytes.size());
  free_ps_ = start_ps + length_ps;
  departures_.push_back(start_ps);
  const auto depart = [&] {
    if (auto hook = std::exchange(frame.on_start, {})) hook(frame.bytes, start_ps + wire::preamble * wire_.byte_ps());
  };
  ++statistics_.in.frames;
  if (in_.happens(in_.setting.loss)) {
    ++statistics_.in.lost;
    return depart();
  }
  const auto [arrival_ps, held_back] = in_.arrival(start_ps, statistics_.in);
  if (held_back) depart();
  const bool twice = in_.happens(in_.setting.duplicate);
  // The frame as it left; what it was to be, if the card's MAC drops the first.
  const auto copy = std::make_shared<Bytes>(frame.bytes);
  RxFrame out;
  out.bytes = frame.bytes;
  out.bad = frame.bad;
  out.at_ps = arrival_ps;
  if (frame.on_start || twice) {
    out.on_start = [hook = std::move(frame.on_start), late_ps = arrival_ps - start_ps, copy, twice](
                       Bytes& bytes, std::uint64_t sfd_ps) {
      if (hook) hook(bytes, sfd_ps - late_ps);
      if (twice) *copy = bytes;
    };
  }
  inward_.emplace(arrival_ps, std::move(out));
  if (!twice) return;
  ++statistics_.in.duplicated;
  RxFrame second;
  second.bytes = std::move(frame.bytes);
  second.bad = frame.bad;
  second.at_ps = arrival_ps + length_ps;
  second.on_start = [copy](Bytes& bytes, std::uint64_t) { bytes = *copy; };
  inward_.emplace(second.at_ps, std::move(second));
}

void DelayLoss::receive(const TxFrame& frame) {
  ++statistics_.out.frames;
  if (out_.happens(out_.setting.loss)) {
    ++statistics_.out.lost;
    return;
  }
  const std::uint64_t late_ps = out_.arrival(frame.t_end_ps, statistics_.out).ps - frame.t_end_ps;
  TxFrame out = frame;
  out.t_ps += late_ps;
  out.t_end_ps += late_ps;
  if (out_.happens(out_.setting.duplicate)) {
    ++statistics_.out.duplicated;
    TxFrame second = out;
    second.t_ps += wire_.frame_ps(frame.bytes.size());
    second.t_end_ps += wire_.frame_ps(frame.bytes.size());
    outward_.emplace(second.t_end_ps, std::move(second));
  }
  outward_.emplace(out.t_end_ps, std::move(out));
}

std::vector<RxFrame> DelayLoss::poll(std::uint64_t now_ps, std::size_t pending) {
  while (!outward_.empty() && outward_.begin()->first <= now_ps) {
    const TxFrame frame = std::move(outward_.begin()->second);
    outward_.erase(outward_.begin());
    inner_->receive(frame);
  }
  while (!departures_.empty() && departures_.front() <= now_ps) departures_.pop_front();
  for (auto& frame : inner_->poll(now_ps, departures_.size())) take(std::move(frame), now_ps);
  std::vector<RxFrame> frames;
  for (; !inward_.empty() && inward_.begin()->first <= now_ps + hand_over_ps; inward_.erase(inward_.begin())) {
    if (pending + frames.size() >= most_pending) {
      ++statistics_.overrun;
      continue;
    }
    frames.push_back(std::move(inward_.begin()->second));
  }
  return frames;
}

std::uint64_t DelayLoss::next_ps() const {
  std::uint64_t next = inner_->next_ps();
  if (!outward_.empty()) next = std::min(next, outward_.begin()->first);
  if (!inward_.empty()) next = std::min(next, inward_.begin()->first - std::min(inward_.begin()->first, hand_over_ps));
  return next;
}

void DelayLoss::report(const WireReport& report) const {
  const auto way = [&](const std::string& name, const WaySetting& setting, const Counts& counts) {
    if (setting.does_nothing()) return;
    report("wire_" + name + "_lost", static_cast<double>(counts.lost));
    report("wire_" + name + "_duplicated", static_cast<double>(counts.duplicated));
    report("wire_" + name + "_reordered", static_cast<double>(counts.reordered));
  };
  inner_->report(report);
  way("in", in_.setting, statistics_.in);
  way("out", out_.setting, statistics_.out);
  report("wire_overrun", static_cast<double>(statistics_.overrun));
}

}  // namespace meridian
