// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "twin/card_node.hpp"

namespace meridian {

enum class TwinTime {
  wall,     // follows the wall clock while the simulation keeps up
  free,     // as fast as it can be simulated; idle time takes none
  lockstep  // stands still but for what a client asks for
};

/// Cards that share one time, and the loop that makes it pass.
///
/// While anything moves every card runs edge by edge, the one that is behind first, so that none is ever more than a
/// clock edge ahead of another. While nothing moves time jumps to shortly before the next event, or to the wall
/// clock's.
class Twin final : public TimeKeeper {
 public:
  explicit Twin(TwinTime time, std::uint64_t end_ps = never_ps)
      : mode_(time), end_ps_(end_ps), lockstep_(time == TwinTime::lockstep) {}

  /// Before run().
  CardNode& add(const CardNodeSetting& setting, std::vector<std::unique_ptr<WireEnd>> ends);

  /// Runs until stop is set or the end is reached.
  void run(const std::atomic<bool>& stop);

  std::uint64_t now_ps() const;

  void catch_up() override;

  /// With one card only: time stands still but for advance() and accesses that wait for an answer.
  void set_lockstep(bool on) override;
  void advance(std::uint64_t ps, LinkCard::Done done) override;

 private:
  using WallClock = std::chrono::steady_clock;

  void step();
  void steps();
  bool owes() const;
  bool pass_lockstep();
  bool busy();
  std::uint64_t next_event_ps() const;
  std::uint64_t limit_ps() const;
  bool pass_time();
  bool rests();
  void poll(int timeout_ms);
  int patience_ms() const;

  TwinTime mode_;
  std::uint64_t end_ps_;
  std::vector<std::unique_ptr<CardNode>> cards_;
  WallClock::time_point started_ = WallClock::now();
  std::uint64_t started_ps_ = 0;
  std::uint64_t advance_to_ps_ = 0;
  LinkCard::Done advanced_;
  bool lockstep_;
};

}  // namespace meridian
