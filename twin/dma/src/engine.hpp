// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c2h/shell.hpp"
#include "requester_host.hpp"
#include "stream/qdma_c2h.hpp"

class VDmaEngine;
class VerilatedContext;

namespace meridian {

/// The compiled RTL of the engine, with what is around it: the integrated block for PCIe at its streams and
/// configuration pins (PG213), the host's memory, and a shell that takes frames and answers function level resets.
///
/// Each access goes over the streams and is waited for; an answer that breaks a rule of PCIe is a failure.
class Engine {
 public:
  using Interrupt = std::pair<unsigned, unsigned>;  // function, vector

  explicit Engine(std::uint64_t seed);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// words of a function's BAR0 from offset on, in one request.
  std::vector<std::uint32_t> read(unsigned function, std::uint32_t offset, unsigned words, unsigned bar = 0);
  /// Words from offset on, in one request.
  void write(unsigned function, std::uint32_t offset, const std::vector<std::uint32_t>& words, unsigned bar = 0);
  void write(unsigned function, std::uint32_t offset, std::uint32_t value) {
    write(function, offset, std::vector{value});
  }

  /// The function may access memory: its bus master bit. The VF Enable bit of a VF's PF is set.
  void enable_function(unsigned function, bool enabled);
  void set_enables(unsigned function, bool bus_master, bool vf_enable);
  /// The function's bits in its MSI-X capability.
  void set_msix(unsigned function, bool enabled, bool masked);

  /// PCIe's function level reset is in process or not, and the block was told in the last cycle that it is done.
  void set_in_process(unsigned function, bool in_process);
  bool is_done(unsigned function) const;
  bool waits_for_done(unsigned function, unsigned limit);

  /// Whatever is under way inside ends, if it needs not more than so many cycles.
  void run(unsigned cycles);
  /// Until nothing happens at the streams any more.
  void settle();
  std::uint64_t cycles() const { return cycles_; }
  /// In which the engine said that it is idle. It is an error if something comes out of it then.
  std::uint64_t idle_cycles = 0;
  std::uint64_t skips = 0;  // edges that stood for several cycles

  /// The largest read request that the host allows, which the seed chooses.
  static constexpr unsigned max_read_encoding(std::uint64_t seed) { return static_cast<unsigned>(seed % 4); }
  /// And the largest write.
  static constexpr unsigned max_payload_encoding(std::uint64_t seed) { return static_cast<unsigned>(seed / 4 % 3); }

  /// The shell lets a queue fetch count descriptors.
  void grant(unsigned queue, unsigned count) { grants_.emplace_back(queue, count); }

  struct Frame {
    unsigned queue;
    Bytes bytes;
    std::uint32_t metadata;
    bool error;
    Bytes rest{};  // of its last beat, behind its end
  };

  RequesterHost host;
  C2hShell c2h;                             // the shell's way to the host
  std::vector<Frame> frames;                // that the shell has taken
  std::vector<DescriptorMessage> messages;  // that the shell has taken
  bool takes_frames = true, takes_requests = true;
  unsigned hold_requests = 0;  // cycles in which RQ takes nothing

  std::vector<Interrupt> interrupts;  // vectors, in the order in which they were asked for
  std::function<void(const Interrupt&)> on_interrupt;
  std::vector<unsigned> resets;     // functions the shell was told of
  std::vector<unsigned> doorbells;  // their queues
  bool answers_resets = true;
  bool answers_now = false;  // the next answer comes in the next cycle

 private:
  std::uint32_t skipped() const;
  void tick();
  void offer(unsigned function, unsigned bar, std::uint32_t offset, unsigned words,
             const std::vector<std::uint32_t>& payload);
  void take_completion();
  void take_frame_beat();
  bool drive_streams();
  void pass_request();
  void sample_streams(bool completion);

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<VDmaEngine> top_;
  std::vector<unsigned> to_answer_;
  std::vector<std::uint32_t> arriving_;              // of a completion
  std::vector<std::vector<std::uint32_t>> arrived_;  // completions
  std::deque<std::pair<unsigned, unsigned>> grants_;
  struct Inside {
    std::uint64_t until;  // the cycle in which it passes
    unsigned number;
  };
  std::deque<Inside> inside_;             // requests that the block has taken and not passed on
  std::uint64_t taken_ = 0, passed_ = 0;  // writes
  bool writes_ = false;                   // a write of the host waits for the engine, or is taken
  bool completes_ = false;                // a completion has begun
  Bytes arriving_frame_;
  bool frame_waits_ = false;  // a beat of this queue is offered to the shell
  unsigned waiting_queue_ = 0;
  std::uint64_t last_event_ = 0;  // at the streams, a cycle
  std::uint64_t since_skip_ = 0;  // edges; what is quiet is told of the cycle before
  std::uint8_t tag_ = 0;
  std::uint64_t cycles_ = 0;
  std::uint64_t random_;
};

}  // namespace meridian
