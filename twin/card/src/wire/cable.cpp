// SPDX-License-Identifier: Apache-2.0
#include "wire/cable.hpp"

#include <algorithm>
#include <deque>

namespace meridian {

namespace {

/// One direction of the cable.
struct Lane {
  std::uint64_t delay_ps = 0;
  std::deque<RxFrame> frames;
  std::uint64_t passed = 0;
  std::uint64_t late = 0;
  std::uint64_t latest_ps = 0;
  std::uint64_t overrun = 0;
};

class CableEnd : public WireEnd {
 public:
  CableEnd(std::shared_ptr<Lane> to, std::shared_ptr<Lane> from, const WireSetting& wire)
      : to_(std::move(to)), from_(std::move(from)), wire_(wire) {}

  void receive(const TxFrame& frame) override {
    RxFrame out;
    out.bytes = frame.bytes;
    out.bad = frame.bad;
    const std::uint64_t preamble_ps = wire::preamble * wire_.byte_ps();
    out.at_ps = frame.t_ps + to_->delay_ps - std::min(frame.t_ps, preamble_ps);
    to_->frames.push_back(std::move(out));
  }

  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override {
    std::vector<RxFrame> frames;
    for (; !from_->frames.empty() && from_->frames.front().at_ps <= now_ps + hand_over_ps; from_->frames.pop_front()) {
      if (pending + frames.size() >= most_pending) {
        ++from_->overrun;
        continue;
      }
      ++from_->passed;
      RxFrame& frame = from_->frames.front();
      if (frame.at_ps < now_ps) {
        ++from_->late;
        from_->latest_ps = std::max(from_->latest_ps, now_ps - frame.at_ps);
      }
      frames.push_back(std::move(frame));
    }
    return frames;
  }

  std::uint64_t next_ps() const override {
    if (from_->frames.empty()) return never_ps;
    const std::uint64_t at_ps = from_->frames.front().at_ps;
    return at_ps - std::min(at_ps, hand_over_ps);
  }

  void report(const WireReport& report) const override {
    report("passed", static_cast<double>(from_->passed));
    report("late", static_cast<double>(from_->late));
    report("latest_ns", static_cast<double>(from_->latest_ps) / 1000);
    report("overrun", static_cast<double>(from_->overrun));
  }

 private:
  std::shared_ptr<Lane> to_;
  std::shared_ptr<Lane> from_;
  WireSetting wire_;
};

}  // namespace

std::pair<std::unique_ptr<WireEnd>, std::unique_ptr<WireEnd>> make_cable(const CableSetting& setting,
                                                                         const WireSetting& wire) {
  auto forth = std::make_shared<Lane>();
  auto back = std::make_shared<Lane>();
  forth->delay_ps = setting.forth_ps;
  back->delay_ps = setting.back_ps;
  return {std::make_unique<CableEnd>(forth, back, wire), std::make_unique<CableEnd>(back, forth, wire)};
}

}  // namespace meridian
