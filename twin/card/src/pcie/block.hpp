// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "pcie/packet.hpp"
#include "shell/pins.hpp"

namespace meridian::pcie {

/// A model of the integrated block for PCIe (PG213) at its pins: four streams, and what configuration space tells. It
/// holds the shell against the rules of a packet (CheckError); what packets mean is somebody else's.
class Block {
 public:
  Block(const PciePins& pins, std::uint64_t seed);

  /// What the shell sends, called by sample().
  std::function<void(const AccessAnswer&)> on_answer;
  std::function<void(Request)> on_request;

  void access(const Access& access);
  std::size_t accesses() const { return accesses_.size(); }  // beats that the shell has not taken
  void complete(const Completion& completion);

  /// It takes answers and requests in every cycle. Else there are cycles at random in which it takes none.
  void set_steady() { steady_ = true; }

  /// Requests of the shell wait.
  void hold_requests(bool hold) { hold_ = hold; }

  void set_sizes(unsigned max_payload, unsigned max_read_request);
  void set_enabled(unsigned function, bool enabled);  // bus master; of a VF VF Enable, too
  void set_msix(unsigned function, bool enabled);

  /// A function level reset, which lasts until the shell says that it is done. It begins some cycles later, so that the
  /// shell has seen the end of one before.
  void begin_reset(unsigned function);
  static constexpr unsigned reset_delay = 16;  // cycles
  std::optional<unsigned> pop_reset();

  bool idle() const;
  std::string waits_for() const;

  /// Once per rising edge of the user clock: sample before the shell is evaluated, drive after.
  void sample();
  void drive();

  /// All functions are as after power-on; nothing is under way.
  void reset();

 private:
  void sample_answers();
  void sample_requests();
  void drive_accesses();
  void drive_completions();

  PciePins pins_;
  Random random_;
  bool hold_ = false, steady_ = false;
  bool access_shown_ = false, completion_shown_ = false;
  std::deque<Beat> accesses_, completions_;
  std::vector<std::uint32_t> answer_, request_;  // what has come of a packet
  std::uint64_t request_user_ = 0;
  struct Beginning {
    unsigned function, cycles;
  };
  std::vector<Beginning> resets_to_begin_;
  std::vector<unsigned> resets_;
  std::deque<unsigned> resets_done_;
};

}  // namespace meridian::pcie
