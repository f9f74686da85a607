// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "interrupt_rings.hpp"

namespace meridian {

/// C2H queues in lockstep: a script posts buffers, sends frames and rings
/// doorbells; buffers, completion rings, contexts, interrupts, messages of
/// tm_dsc_sts and axis_c2h_status of the RTL have to be those of the model.
/// Each write of the RTL is looked at when it is made: no completion is ahead
/// of its payload, no interrupt ahead of its status entry, and no write is
/// where no frame was sent to.
class C2hBench : public InterruptRings {
 public:
  static constexpr unsigned queues_of_a_function = 6;
  enum Mode : unsigned { disabled = 0, every = 1, user_count = 2, user = 3, user_timer = 4, user_timer_count = 5 };

  struct Setting {
    unsigned mode = every;
    unsigned size_index = 0, buffer_index = 0, counter = 0, timer = 0;
    unsigned entry = 0;  // of completions: 8 bytes times two to the power of it
    bool interrupt = false, full_update = false, prefetch = false;
    bool no_overflow_check = false;
    bool buffer_interrupt = false;  // the ring of buffers has an interrupt for its error
    bool aggregate = false;         // interrupts go through the function's interrupt ring
    bool lost = false;              // the ring of buffers is where no memory is
  };

  explicit C2hBench(std::uint64_t seed = 1);

  /// Contexts of a queue are written; nothing of it may be under way.
  void begin(unsigned queue, const Setting& setting);
  void begin(unsigned queue) { begin(queue, Setting{}); }
  /// Its rings end, whatever is under way; what has arrived until then is not
  /// compared.
  void invalidate(unsigned queue);

  /// Buffers that the ring has room for.
  unsigned room(unsigned queue) const;
  /// Buffers at any address, and the doorbell.
  void post(unsigned queue, unsigned count);
  void doorbell(unsigned queue, unsigned pidx);

  /// Sends a frame if the engine has told of buffers for it, and the completion
  /// ring has room.
  bool send(unsigned queue, unsigned length);
  /// The same without the shell's rules.
  void send_anyway(unsigned queue, unsigned length);
  /// Until the engine has told of as many.
  void wait_for_credit(unsigned queue, unsigned count);
  unsigned credit(unsigned queue) const { return ring_[queue].available[0] - ring_[queue].used_buffers; }

  /// Software has read so many more completions; which it does only when both
  /// have written the same.
  void read_completions(unsigned queue, unsigned count, bool arms = true);
  void completion_doorbell(unsigned queue, std::uint32_t value);
  unsigned unread(unsigned queue) const;

  /// Both come to rest, and everything is compared.
  void compare_all();
  /// The queue has failed: its frames are those that arrived in both.
  void compare_failed(unsigned queue);
  /// A frame of the queue was refused: the RTL tells of its buffers again, and
  /// the model does not.
  void compare_refused(unsigned queue);
  /// Both come to rest, and what axis_c2h_status has said of the queue is
  /// forgotten.
  void drop(unsigned queue);

  static unsigned function(unsigned queue) { return queue / queues_of_a_function; }
  unsigned entries(unsigned queue) const { return sizes[ring_[queue].setting.size_index] - 1; }
  unsigned buffer_bytes(unsigned queue) const { return buffers[ring_[queue].setting.buffer_index]; }
  unsigned need(unsigned queue, unsigned length) const;
  unsigned pidx(unsigned queue) const { return ring_[queue].pidx; }
  bool is_used(unsigned queue) const { return ring_[queue].used; }
  const Setting& setting(unsigned queue) const { return ring_[queue].setting; }
  unsigned cidx(unsigned queue) const { return ring_[queue].cidx; }
  std::uint64_t ring_address(unsigned queue) const {
    return (ring_[queue].setting.lost ? nowhere : 0x1'0000'0000) + 0x1'0000 * std::uint64_t{queue} + 72;
  }
  static std::uint64_t completions(unsigned queue) { return completions_at + completion_room * queue + 64 * queue; }
  std::uint64_t entry_address(unsigned queue, unsigned index) const {
    return completions(queue) + (std::uint64_t{8} << ring_[queue].setting.entry) * index;
  }
  std::uint64_t status_address(unsigned queue) const { return entry_address(queue, entries(queue)); }
  static bool is_timed(unsigned mode) { return mode == user_timer || mode == user_timer_count; }

  /// With the status entry; by their index in the table, as the others.
  static constexpr std::array<unsigned, 4> sizes = {17, 64, 9, 130}, buffers = {2048, 256, 4096, 1000};
  static constexpr std::array<unsigned, 4> thresholds = {1, 3, 7, 5}, timers = {20, 40, 60, 80};
  static constexpr unsigned tick = 5, longest_timer = 400;          // cycles
  static constexpr std::uint64_t nowhere = std::uint64_t{1} << 40;  // no memory from here on
  static constexpr std::uint64_t completions_at = 0x3'0000'0000, completion_room = 0x2'0000;
  static constexpr unsigned buffer_vector = 7;  // of rings of buffers; those of completions have their number
  static constexpr std::uint64_t buffers_at = 0x20'0000'0000;

 private:
  struct Frame {
    Bytes bytes;
    std::vector<std::uint64_t> buffers;  // none if it is not to arrive
  };
  struct Ring {
    Setting setting;
    unsigned pidx = 0, cidx = 0;  // of buffers, of completions
    bool used = false;
    std::vector<std::uint64_t> posted;  // buffers
    std::size_t given = 0;              // of those, to frames
    unsigned used_buffers = 0;          // of the frames that were sent
    std::vector<Frame> frames;
    std::size_t arrived = 0;  // completions that the RTL has written
    std::size_t compared = 0;
    std::size_t statuses = 0,
                interrupts = 0;      // status entries that the RTL has written, and
                                     // interrupts behind them
    unsigned available[2] = {0, 0};  // by tm_dsc_sts, of the RTL and of the model
    std::vector<C2hShell::Status> status[2];
    bool failed = false, refused = false;
  };

  void write_contexts(unsigned queue);
  void sort_out();
  void compare_queue(unsigned queue);
  void compare_arrived(unsigned queue);
  void written(unsigned function, std::uint64_t address, unsigned bytes);
  void written_completion(unsigned queue, std::uint64_t address, unsigned bytes);
  void interrupted(const Engine::Interrupt& interrupt);
  void told_by_entry(unsigned function, std::uint64_t address);
  void interrupted(unsigned queue);

  std::vector<Ring> ring_;
  std::map<std::pair<unsigned, std::uint64_t>, unsigned> expected_;  // bytes of frames at addresses of functions
  Random random_;
  std::uint64_t next_buffer_ = buffers_at;
};

}  // namespace meridian
