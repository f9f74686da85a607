// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "base/frame.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// Called for each frame that a shell gives to its DMA engine, when its last beat and its completion are taken,
/// whatever the engine then does with it; and for each that it gets, with the time of its first beat.
using HostTap = std::function<void(bool to_host, std::uint64_t time_ps, const Bytes& frame)>;

/// Frames between the shell and the DMA engine in it, as who only looks sees them.
class InnerStreams {
 public:
  explicit InnerStreams(const InnerStreamPins& pins) : pins_(pins) {}

  /// Called for each frame that begins from now on; none: nobody looks.
  void set_tap(HostTap tap) { tap_ = std::move(tap); }

  /// Once per rising edge of the host clock, before the shell is evaluated.
  void sample(std::uint64_t now_ps);

  /// The shell and the engine are reset: what is under way is lost.
  void reset();

 private:
  /// A frame of one stream that is under way, or a place for one.
  struct Frame {
    Bytes bytes;
    std::uint64_t begins_ps = 0;
    bool begun = false;    // its first beat is there
    bool watched = false;  // since before that
  };

  void begin(Frame& frame, std::uint64_t now_ps) const;
  static void add(Frame& frame, WidePin data, std::size_t unused);
  void match(std::uint64_t now_ps);

  InnerStreamPins pins_;
  HostTap tap_;
  Frame to_host_, from_host_;
  std::deque<Frame> waiting_;    // for their completion
  std::size_t completions_ = 0;  // that came before their frame
};

}  // namespace meridian
