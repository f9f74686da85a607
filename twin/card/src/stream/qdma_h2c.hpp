// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/frame.hpp"
#include "base/random.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// A frame from a host queue. No bytes: the beat the IP sends for a descriptor of length 0.
struct H2cFrame {
  Bytes bytes;
  bool error = false;                                    // tuser_err
  std::optional<std::uint32_t> metadata = std::nullopt;  // tuser_mdata; random without
  std::uint64_t tag = 0;                                 // comes back when the frame is sent
};

/// H2C side of the QDMA IP at its stream pins: frames of each queue in order, queues round robin, a frame never mixed
/// with another. What the host may put into tuser_mdata is random unless given, since the shell must not trust it.
class QdmaH2c {
 public:
  static constexpr unsigned queues = 2048;

  QdmaH2c(H2cPins pins, std::uint64_t seed) : pins_(pins), random_(seed) {}

  void send(unsigned queue, H2cFrame frame);

  /// Drops the frames of the queue that have not begun.
  void cancel(unsigned queue);

  /// Whose last beat was taken, in order; kept only when asked for.
  struct Sent {
    unsigned queue;
    std::uint64_t tag;
  };
  void set_keep_sent(bool keep) { keep_sent_ = keep; }
  std::optional<Sent> pop_sent();

  /// Percentage of cycles in which a beat is offered, when there is one.
  void set_valid_percent(unsigned percent);

  /// Called for each frame when its first beat is offered.
  void set_tap(std::function<void(unsigned queue, const H2cFrame&)> tap) { tap_ = std::move(tap); }

  std::uint64_t pending() const { return pending_; }
  bool idle() const { return pending_ == 0; }
  std::string waits_for() const { return idle() ? std::string() : "m_axis_h2c_tready"; }

  struct Statistics {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t stalled = 0;        // cycles in which a beat was offered and not taken
    std::uint64_t last_start_ps = 0;  // first beat of the last frame offered
    std::uint64_t last_end_ps = 0;    // last beat of the last frame taken
  };
  const Statistics& statistics() const { return statistics_; }

  /// Once per rising edge of the host clock: sample before the shell is evaluated, drive after.
  void sample();
  void drive(std::uint64_t now_ps);

  /// Drops what is queued.
  void reset();

 private:
  void offer(std::uint64_t now_ps);

  H2cPins pins_;
  Random random_;
  std::function<void(unsigned, const H2cFrame&)> tap_;
  std::map<unsigned, std::deque<H2cFrame>> queue_;  // only queues that have a frame
  unsigned current_ = 0;
  H2cFrame frame_;
  std::size_t offset_ = 0;
  std::uint32_t metadata_ = 0;
  std::uint64_t pending_ = 0;
  unsigned valid_percent_ = 100;
  bool in_frame_ = false;
  bool offered_ = false;
  bool keep_sent_ = false;
  std::deque<Sent> sent_;
  bool ended_ = false;  // the edge under way took the last beat of a frame
  Statistics statistics_;
};

}  // namespace meridian
