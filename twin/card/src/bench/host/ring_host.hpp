// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bench/host/driver_port.hpp"
#include "bench/host/flat_memory.hpp"
#include "bench/host/host_frames.hpp"

namespace meridian {

/// What a host does with its queues: sends back what comes in, only takes, only sends, or both, one apart from the
/// other.
enum class HostRole { forward, take, send, both };

struct HostSetting {
  HostRole role = HostRole::forward;
  unsigned queues = 1;
  bool vf = false;                    // the queues are a VF's, which the PF has made for it
  bool random = false;                // buffers lie at random in 1 GiB, each frame in another
  unsigned bytes = 64;                // of a frame that comes or goes, 1 to 4096
  unsigned burst = 64;                // frames a look, with one doorbell of each kind for them
  std::uint64_t gap_ps = 0;           // from one frame of its own to the next; 0: as many as there is room for
  std::uint64_t poll_ps = 500'000;    // from one look at a queue to the next
  std::uint64_t flight_ps = 400'000;  // one way across the link
  unsigned push = 0;                  // frames of up to so many bytes are pushed if their ring has no others
  std::uint64_t seed = 1;
};

/// A host with the rings of the drivers' library, and a core for each queue that never falls behind, unless the card
/// takes doorbells more slowly than they come. As forward it does what testpmd does: what came in a queue goes out of
/// the queue with the same number from the buffer it is in, and the buffer goes back when it is sent. It checks length
/// and content of each frame that comes.
class RingHost {
 public:
  RingHost(const HostSetting& setting, EnginePort& engine, FlatMemory& memory, HostFrames& frames);

  static std::size_t memory_bytes(const HostSetting& setting);

  /// The queue whose completion entry is at the address; none for anything else.
  std::optional<unsigned> completion_at(std::uint64_t address) const;

  /// Sets queues and tables up, posts all buffers.
  void start();

  /// It makes frames of its own from now on, if it is to.
  void begin(std::uint64_t now_ps) { begin_ps_ = now_ps; }

  /// Goes on to now, behind the memory.
  void run(std::uint64_t now_ps);

  std::uint64_t looks() const { return looks_; }
  std::uint64_t taken() const { return taken_; }

 private:
  struct Queue {
    std::deque<std::uint64_t> posted, sending;    // buffers
    std::deque<std::uint64_t> spare, spare_sent;  // to receive into, to send from
    unsigned c2h_pidx = 0, h2c_pidx = 0, h2c_cidx = 0, completion = 0;
    bool color = true;
  };

  std::uint64_t place(unsigned queue) const;
  bool takes() const { return setting_.role != HostRole::send; }
  bool makes() const { return setting_.role == HostRole::send || setting_.role == HostRole::both; }
  void start_queue(unsigned queue);
  void share_buffers(unsigned queue);
  void look(unsigned queue, std::uint64_t now_ps);
  void take_sent(unsigned queue);
  unsigned take_frames(unsigned queue);
  void check(unsigned queue, std::uint64_t entry, std::uint64_t buffer);
  unsigned make_frames(unsigned queue, std::uint64_t now_ps);
  void send(unsigned queue, std::uint64_t buffer, unsigned length);
  unsigned post(unsigned queue);

  HostSetting setting_;
  FlatMemory& memory_;
  HostFrames& frames_;
  DriverPort pf_;
  std::unique_ptr<DriverPort> vf_;
  DriverPort& port_;  // whose the queues are
  std::vector<Queue> queue_;
  std::uint64_t next_look_ps_ = 0;
  std::uint64_t begin_ps_ = ~std::uint64_t{0};  // of frames of its own
  std::uint64_t looks_ = 0, taken_ = 0, made_ = 0;
};

}  // namespace meridian
