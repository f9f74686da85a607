// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/memory_bus.hpp"
#include "qdma/qdma_ip.hpp"

namespace meridian {

/// Flat memory from address 0 on; nothing answers beyond it.
class FlatMemory final : public MemoryBus {
 public:
  explicit FlatMemory(std::size_t bytes) : bytes_(bytes) {}

  void read(unsigned, std::uint64_t address, std::uint32_t bytes, ReadDone done) override;
  void write(unsigned, std::uint64_t address, std::span<const std::uint8_t> data) override;
  void interrupt(unsigned, unsigned) override {}

  std::uint64_t word(std::uint64_t address) const;
  void set_word(std::uint64_t address, std::uint64_t value);

  /// Called for each write with its address.
  void set_watch(std::function<void(std::uint64_t address)> watch) { watch_ = std::move(watch); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::function<void(std::uint64_t)> watch_;
};

struct ForwardSetting {
  unsigned queues = 1;
  unsigned burst = 64;                // frames a look, with one doorbell of each kind for them
  std::uint64_t poll_ps = 500'000;    // from one look at a queue to the next
  std::uint64_t flight_ps = 400'000;  // of a doorbell to the IP
};

/// A host that forwards as testpmd does, each queue by a core of its own that never falls behind: what came in a queue
/// goes out of the queue with the same number from the buffer it is in, and the buffer goes back when it is sent.
class ForwardHost {
 public:
  ForwardHost(const ForwardSetting& setting, QdmaIp& ip, FlatMemory& memory);

  static std::size_t memory_bytes(unsigned queues);

  /// The queue whose completion entry is at the address; none for anything else.
  static std::optional<unsigned> completion_at(std::uint64_t address, unsigned queues);

  /// Sets queues and tables up, posts all buffers.
  void start();

  void tick(std::uint64_t now_ps);

  std::uint64_t looks() const { return looks_; }
  std::uint64_t forwarded() const { return forwarded_; }

 private:
  struct Queue {
    std::deque<std::uint64_t> posted, sending, spare;  // buffers
    unsigned c2h_pidx = 0, h2c_pidx = 0, h2c_cidx = 0, completion = 0;
    bool color = true;
  };
  struct Doorbell {
    std::uint64_t at_ps;
    std::uint32_t offset, value;
  };

  void start_queue(unsigned queue);
  void context(unsigned kind, unsigned queue, std::span<const std::uint32_t> words);
  void look(unsigned queue, std::uint64_t now_ps);
  void take_sent(unsigned queue);
  unsigned take_frames(unsigned queue);
  unsigned post(unsigned queue);
  void ring(unsigned queue, std::uint32_t which, std::uint32_t value, std::uint64_t now_ps);

  ForwardSetting setting_;
  QdmaIp& ip_;
  FlatMemory& memory_;
  std::vector<Queue> queue_;
  std::deque<Doorbell> doorbells_;
  std::uint64_t next_look_ps_ = 0;
  std::uint64_t looks_ = 0, forwarded_ = 0;
};

}  // namespace meridian
