// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/frame.hpp"
#include "base/memory_bus.hpp"
#include "base/random.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// Memory of the PS as the card's AXI4 master sees it: 40-bit addresses, 64-bit data. Its own, with pages made when
/// first written, or another's that is attached.
///
/// Reads answer in order, each after its latency, then a beat a cycle; several of both kinds may be open. Checked: only
/// INCR bursts that keep inside 4 KB, wlast where it belongs, valid that stays until ready.
class PsMemory {
 public:
  struct Timing {
    unsigned read_latency = 40;   // cycles from araddr taken to the first beat
    unsigned write_latency = 20;  // cycles from wlast taken to the response
    unsigned open_reads = 16;
    unsigned open_writes = 16;
    unsigned ready_percent = 100;  // of cycles in which awready, wready and arready may be high
    unsigned valid_percent = 100;  // of cycles in which a read beat that is due comes
  };

  PsMemory(AxiPins pins, std::uint64_t seed) : pins_(pins), random_(seed) {}

  void set_timing(const Timing& timing) { timing_ = timing; }

  /// Bursts go to this memory instead of the pages here; nullptr: back again. What nobody takes or answers is a DECERR.
  void attach(AxiMemoryBus* memory) { attached_ = memory; }

  /// Access to the pages from the PS side, at once.
  void load(std::uint64_t address, std::span<const std::uint8_t> bytes);
  Bytes store(std::uint64_t address, std::size_t length) const;

  bool idle() const { return reads_.empty() && writes_.empty(); }
  std::string waits_for() const;

  struct Statistics {
    std::uint64_t reads = 0, writes = 0;  // bursts
    std::uint64_t read_beats = 0, write_beats = 0;
    std::uint64_t last_read_ps = 0;  // last beat of the last read burst taken
  };
  const Statistics& statistics() const { return statistics_; }

  /// Once per rising edge of the PS clock: sample before the shell is evaluated, drive after.
  void sample(std::uint64_t now_ps);
  void drive();
  void reset();

 private:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t page_limit = std::size_t{1} << 17;  // 512 MB: a runaway DMA ends there
  using Page = std::array<std::uint8_t, page_bytes>;

  /// What the memory said to a burst, which may outlive it.
  struct Answer {
    unsigned awaited = 0;  // answers that have not come
    bool failed = false;
    Bytes data = {};  // of a read
  };
  struct Burst {
    std::uint64_t address;
    unsigned beats;  // in all
    unsigned size;   // log2 of bytes a beat
    std::uint8_t id;
    std::uint64_t due;  // cycle; of a write once its last beat is taken
    unsigned done = 0;
    bool complete = false;
    Bytes data = {};                 // of a write, from its first 8-byte word on
    std::vector<bool> written = {};  // which of these bytes
    std::shared_ptr<Answer> answer = std::make_shared<Answer>();
  };
  /// What was offered and not taken, which must not change.
  struct Held {
    bool valid = false;
    std::uint64_t value = 0;
    std::uint64_t more = 0;
  };

  Burst check_burst(std::uint64_t address, unsigned length, unsigned size, unsigned kind, std::uint8_t id,
                    std::uint64_t now_ps) const;
  void check_held(Held& held, bool valid, bool ready, std::uint64_t value, std::uint64_t more, const char* channel,
                  std::uint64_t now_ps) const;
  void take_write_beat(std::uint64_t now_ps);
  void read_beat();
  void start_read(Burst& burst);
  void finish_write(const Burst& burst);
  std::uint8_t* byte_at(std::uint64_t address);
  [[noreturn]] void fail(const std::string& what, std::uint64_t now_ps) const;

  AxiPins pins_;
  AxiMemoryBus* attached_ = nullptr;
  Random random_;
  Timing timing_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::deque<Burst> reads_;
  std::deque<Burst> writes_;
  Held held_aw_, held_w_, held_ar_;
  Statistics statistics_;
  std::uint64_t cycle_ = 0;
  bool read_offered_ = false;
  bool response_offered_ = false;
};

}  // namespace meridian
