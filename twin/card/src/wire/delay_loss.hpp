// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "base/random.hpp"
#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

/// What a way does to frames. Shares are probabilities, 0 to 1.
struct WaySetting {
  std::uint64_t delay_ps = 0;
  std::uint64_t jitter_ps = 0;  // 0 to this much more, evenly; the order is kept
  double loss = 0;
  double duplicate = 0;                   // comes twice, the second time right behind
  double reorder = 0;                     // is held back and so overtaken
  std::uint64_t reorder_ps = 10'000'000;  // by that much

  bool does_nothing() const { return delay_ps == 0 && jitter_ps == 0 && loss == 0 && duplicate == 0 && reorder == 0; }
};

struct DelayLossSetting {
  WaySetting in;   // to the card
  WaySetting out;  // from the card
  std::uint64_t seed = 1;
};

/// A wire with faults between the card and another end.
///
/// The other end's frames leave it at line rate, each at its time, and arrive later by the delay drawn for it, or
/// later still if the card's MAC is busy then. The other end's on_start gets the moment of departure that belongs to
/// the frame's arrival, so that delays are exact; a lost frame departs too. A frame that is held back departs when it
/// is taken, so that one that overtakes it may tell when that was. What the card's MAC does not take, with 1024 frames
/// waiting, is dropped.
class DelayLoss : public WireEnd {
 public:
  DelayLoss(std::unique_ptr<WireEnd> inner, const DelayLossSetting& setting, const WireSetting& wire);

  void receive(const TxFrame& frame) override;
  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override;
  std::uint64_t next_ps() const override;
  std::optional<int> descriptor() const override { return inner_->descriptor(); }
  bool tend() override { return inner_->tend(); }
  void report(const WireReport& report) const override;
  bool done() const override { return inner_->done() && inward_.empty() && outward_.empty(); }

  struct Counts {
    std::uint64_t frames = 0, lost = 0, duplicated = 0, reordered = 0;
  };
  struct Statistics {
    Counts in, out;
    std::uint64_t overrun = 0;  // frames that the card's MAC did not take
  };
  const Statistics& statistics() const { return statistics_; }

 private:
  /// One way's dice and the order it keeps.
  struct Way {
    Way(const WaySetting& s, std::uint64_t seed) : setting(s), random(seed) {}

    struct Arrival {
      std::uint64_t ps;
      bool held_back;
    };

    bool happens(double probability) { return probability > 0 && random.fraction() < probability; }
    Arrival arrival(std::uint64_t departure_ps, Counts& counts);

    WaySetting setting;
    Random random;
    std::uint64_t last_ps = 0;  // arrival of the latest frame in order
  };

  void take(RxFrame frame, std::uint64_t now_ps);

  std::unique_ptr<WireEnd> inner_;
  WireSetting wire_;
  Way in_;
  Way out_;
  std::uint64_t free_ps_ = 0;                      // when the other end's wire is
  std::deque<std::uint64_t> departures_;           // yet to come
  std::multimap<std::uint64_t, RxFrame> inward_;   // by arrival
  std::multimap<std::uint64_t, TxFrame> outward_;  // by the arrival of the last bit
  Statistics statistics_;
};

}  // namespace meridian
