// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/frame.hpp"
#include "base/random.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// A completion entry as the shell makes it: without colour and error, which the IP adds.
struct CompletionEntry {
  std::array<std::uint64_t, 2> words{};
  unsigned bytes = 8;  // 8 or 16

  bool operator==(const CompletionEntry&) const = default;
};

/// A frame the card delivered to a host queue.
struct C2hFrame {
  Bytes bytes;
  std::uint16_t queue = 0;
  std::uint16_t packet_id = 0;
  CompletionEntry completion;
  std::uint64_t t_first_ps = 0;  // first beat taken
  std::uint64_t t_ps = 0;        // delivered: last beat and completion taken
};

/// What tm_dsc_sts says of a queue: descriptors that came, or that there are none any more.
struct DescriptorMessage {
  std::uint16_t qid, avl, pidx;
  bool c2h, qen, qinv;
  bool error = false;
};

/// C2H side of the QDMA IP at its stream pins: takes frames and completions, tells of free buffers and of what it did.
///
/// Rules held against the shell, from PG302: ctrl_* constant over a frame, ctrl_len its exact bytes, mty of the last
/// beat; nothing changes while valid waits for ready; exactly one completion a frame, for its queue, with the running
/// number of the frame (first 1, 16 bit), odd parity over each 32 bits that count.
class QdmaC2h {
 public:
  static constexpr unsigned queues = 2048;

  /// What the IP does with a frame whose queue has too few buffers. The shell's credit is there so that it never
  /// happens; the real IP drops or stalls, by configuration.
  enum class NoBuffer { fail, drop, stall };

  /// Frames are only taken and handed out; buffers, messages and status are the affair of who pops them, who says of
  /// each frame by report() what became of it.
  void set_raw(bool raw) { raw_ = raw; }
  void tell(const DescriptorMessage& message) { messages_.push_back(message); }
  std::size_t messages() const { return messages_.size(); }
  void report(unsigned queue, bool drop, bool error);

  QdmaC2h(C2hPins data, CmptPins completion, C2hStatusPins status, TmStatusPins tm, std::uint64_t seed);

  /// The host adds count buffers to a queue (a write of its PIDX).
  void post(unsigned queue, unsigned count);

  /// The queue is invalidated: it holds no buffer any more, and what still arrives for it is dropped.
  void stop(unsigned queue);

  /// Bytes of a buffer of the queue; 0: a frame takes one buffer whatever its length.
  void set_buffer_size(unsigned queue, unsigned bytes);

  /// A tm_dsc_sts message of the other direction: the host wrote the PIDX of an H2C queue.
  void tell_h2c(unsigned queue, unsigned count);

  /// Delivered frames need no posted buffers and none are counted; for benchmarks of the data path alone.
  void set_unlimited(bool unlimited) { unlimited_ = unlimited; }
  void set_no_buffer(NoBuffer choice) { no_buffer_ = choice; }
  void set_ready_percent(unsigned data, unsigned completion);
  void set_stall(bool stall) { stall_ = stall; }

  /// Called for each frame that is delivered.
  void set_tap(std::function<void(const C2hFrame&)> tap) { tap_ = std::move(tap); }

  std::optional<C2hFrame> pop();
  bool has_frame() const { return !done_.empty(); }
  const C2hFrame& front() const { return done_.front(); }
  bool idle() const { return !in_frame_ && waiting_.empty() && early_.empty() && messages_.empty() && status_.empty(); }
  unsigned buffers(unsigned queue) const { return queue_.at(queue).free; }

  /// In words, what it waits for; empty when idle.
  std::string waits_for() const;

  struct Statistics {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t dropped = 0;
    std::uint64_t beats = 0;
    std::uint64_t stalled = 0;  // cycles in which the shell offered a beat that was not taken
    std::uint64_t last_ps = 0;
  };
  const Statistics& statistics() const { return statistics_; }

  /// Once per rising edge of the host clock: sample before the shell is evaluated, drive after.
  void sample(std::uint64_t now_ps);
  void drive();

  /// The IP and the shell are reset together: all queues are gone, the packet number starts again.
  void reset();

 private:
  struct Queue {
    unsigned free = 0;
    unsigned size = 0;
    std::uint16_t pidx = 0;
    bool enabled = false;
  };
  struct Control {
    std::uint8_t marker, port_id, has_cmpt;
    std::uint16_t len, qid;
    bool operator==(const Control&) const = default;
  };
  struct Completion {
    std::uint16_t qid, packet_id;
    CompletionEntry entry;
  };
  struct Status {
    std::uint16_t qid;
    bool drop, error;
  };

  Control control() const;
  void check_held(std::uint64_t now_ps);
  void take_beat(std::uint64_t now_ps);
  void take_completion(std::uint64_t now_ps);
  void match(std::uint64_t now_ps);
  [[noreturn]] void fail(const std::string& what, std::uint64_t now_ps) const;

  C2hPins data_;
  CmptPins completion_;
  C2hStatusPins status_pins_;
  TmStatusPins tm_;
  Random random_;
  std::function<void(const C2hFrame&)> tap_;
  std::vector<Queue> queue_;
  std::deque<C2hFrame> done_;
  std::deque<C2hFrame> waiting_;  // for their completion
  std::deque<Completion> early_;  // completions that came before their frame
  std::deque<DescriptorMessage> messages_;
  std::deque<Status> status_;
  Statistics statistics_;
  C2hFrame frame_;
  Control control_{};
  Control held_control_{};
  std::vector<std::uint32_t> held_data_;
  std::array<std::uint32_t, 4> held_entry_{};
  std::uint16_t packet_id_ = 0;
  std::uint16_t completion_id_ = 0;
  unsigned data_ready_ = 100;
  unsigned completion_ready_ = 100;
  NoBuffer no_buffer_ = NoBuffer::fail;
  bool unlimited_ = false;
  bool raw_ = false;
  bool stall_ = false;
  bool in_frame_ = false;
  bool starved_ = false;
  bool held_ = false;
  bool completion_held_ = false;
  std::uint8_t held_mty_ = 0;
  std::uint8_t held_last_ = 0;
};

}  // namespace meridian
