// SPDX-License-Identifier: Apache-2.0
#include "wire/capture/replay_end.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace meridian {

namespace {

std::uint64_t scaled_ps(std::uint64_t ns, double speed) {
  constexpr double longest = 9e18;
  return static_cast<std::uint64_t>(std::min(static_cast<double>(ns) * 1000 / speed, longest));
}

}  // namespace

ReplayEnd::ReplayEnd(const ReplaySetting& setting, const WireSetting& wire)
    : setting_(setting), ahead_(wire), next_ps_(setting.start_ps) {
  if (!(setting_.speed > 0) || !std::isfinite(setting_.speed)) throw InputError("replay: the speed must be above 0");
  scan();
  read();
}

void ReplayEnd::scan() {
  PcapReader reader(setting_.file);
  std::uint64_t last_ns = 0;
  while (reader.next()) {
    if (reader.count() == 1) first_ns_ = last_ns = reader.time_ns();
    last_ns = std::max(last_ns, reader.time_ns());
  }
  statistics_.left_out = reader.left_out();
  statistics_.broken_off = !reader.broken().empty();
  const std::uint64_t span_ns = last_ns - first_ns_;
  loop_ns_ = span_ns + span_ns / std::max<std::uint64_t>(1, reader.count() - 1);
}

void ReplayEnd::read() {
  if (reader_) frame_ = reader_->next();
  if (!frame_ && (setting_.loops == 0 || statistics_.loops < setting_.loops)) {
    reader_.emplace(setting_.file);
    frame_ = reader_->next();
    if (!frame_) throw InputError("capture " + setting_.file + " lost its frames since the start");
    frame_ps_ = 0;
    if (start_ps_) *start_ps_ += scaled_ps(loop_ns_, setting_.speed);
    ++statistics_.loops;
  }
  if (!frame_) return;
  if (setting_.pad && frame_->size() < 60) frame_->resize(60);
  const std::uint64_t since_ns = std::max(reader_->time_ns(), first_ns_) - first_ns_;
  frame_ps_ = std::max(frame_ps_, scaled_ps(since_ns, setting_.speed));
}

void ReplayEnd::receive(const TxFrame&) {
  ++statistics_.received;
}

std::vector<RxFrame> ReplayEnd::poll(std::uint64_t now_ps, std::size_t pending) {
  std::vector<RxFrame> frames;
  if (now_ps < setting_.start_ps) return frames;
  if (!start_ps_) start_ps_ = now_ps;
  ahead_.update(pending);
  const auto wanted = [&] {
    if (!setting_.recorded_times) return !ahead_.full();
    return *start_ps_ + frame_ps_ <= now_ps + hand_over_ps && pending + frames.size() < most_pending;
  };
  while (frame_ && wanted()) {
    ahead_.add(frame_->size());
    RxFrame frame;
    frame.bytes = std::move(*frame_);
    if (setting_.recorded_times) frame.at_ps = *start_ps_ + frame_ps_;
    frames.push_back(std::move(frame));
    ++statistics_.sent;
    read();
  }
  if (!frame_) {
    next_ps_ = never_ps;
  } else if (setting_.recorded_times) {
    const std::uint64_t due_ps = *start_ps_ + frame_ps_;
    next_ps_ = std::max(due_ps - std::min(due_ps, hand_over_ps), now_ps + hand_over_ps / 4);
  } else {
    next_ps_ = ahead_.again_ps(now_ps);
  }
  return frames;
}

}  // namespace meridian
