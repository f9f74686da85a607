// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/random.hpp"
#include "shell/pins.hpp"

namespace meridian {

/// What an AXI4-Lite access came to.
struct AxilResult {
  std::uint64_t id = 0;
  bool write = false;
  std::uint32_t address = 0;
  std::uint32_t data = 0;     // read
  std::uint8_t response = 0;  // 0 OKAY, 2 SLVERR, 3 DECERR
  std::uint64_t t_ps = 0;
};

/// AXI4-Lite master: one access at a time, in order. With skew, address and data of a write come some cycles apart and
/// the response waits for its ready, by seed.
class AxilMaster {
 public:
  AxilMaster(AxilPins pins, std::string name, std::uint64_t seed)
      : pins_(pins), name_(std::move(name)), random_(seed) {}

  /// Queues an access and returns its id. function goes to awuser[7:0] where the bus has it.
  std::uint64_t write(std::uint32_t address, std::uint32_t data, unsigned function = 0, unsigned strobe = 15);
  std::uint64_t read(std::uint32_t address, unsigned function = 0);

  void set_skew(bool skew) { skew_ = skew; }

  std::optional<AxilResult> pop();
  bool has_result() const { return !done_.empty(); }
  bool idle() const { return queue_.empty(); }

  /// In words, the access that waits for an answer; empty when idle.
  std::string waits_for() const;

  /// Once per rising edge of the bus clock: sample before the shell is evaluated, drive after.
  void sample(std::uint64_t now_ps);
  void drive();
  void reset();

 private:
  struct Access {
    std::uint64_t id;
    bool write;
    std::uint32_t address;
    std::uint32_t data;
    std::uint8_t function;
    std::uint8_t strobe;
  };

  void finish(std::uint8_t response, std::uint32_t data, std::uint64_t now_ps);

  AxilPins pins_;
  std::string name_;
  Random random_;
  std::deque<Access> queue_;
  std::deque<AxilResult> done_;
  std::uint64_t next_id_ = 1;
  unsigned address_delay_ = 0;
  unsigned data_delay_ = 0;
  bool open_ = false;  // queue_.front() is at the pins
  bool address_taken_ = false;
  bool data_taken_ = false;
  bool skew_ = false;
};

}  // namespace meridian
