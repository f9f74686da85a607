// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "pcie/access_queue.hpp"
#include "pcie/completion_queue.hpp"
#include "pcie/packet.hpp"
#include "pcie/steady_beat.hpp"
#include "shell/pins.hpp"

namespace meridian::pcie {

/// A model of the integrated block for PCIe (PG213) at its pins: four streams, and what configuration space tells. It
/// holds the shell against the rules of packets and streams (CheckError); what packets mean is somebody else's. In some
/// cycles it has no beat, or takes none. PG213 promises that it has no gap within a packet; this model has some.
///
/// A request that it has taken stays within it for some cycles, and for as long as the link takes none; completions
/// pass it meanwhile. With its sequence number the block tells when that ends (PG213, "Transmit Transaction Ordering").
class Block {
 public:
  Block(const PciePins& pins, std::uint64_t seed);

  /// What the shell sends: sample() calls on_answer, and on_taken of each request; drive() calls on_request when the
  /// block passes it on.
  std::function<void(const AccessAnswer&)> on_answer;
  std::function<void(const Request&)> on_taken;
  std::function<void(Request)> on_request;

  void access(const Access& access) { accesses_.add(access); }
  std::size_t accesses() const { return accesses_.size(); }  // that the shell has not taken
  bool writes() const { return accesses_.has_write(); }      // there is a write among them
  void complete(const Completion& completion) { completions_.add(completion, accesses_.writes_added()); }
  bool completes(std::uint8_t tag) const { return completions_.has(tag); }  // what has come for it is not all taken
  std::size_t completions(std::uint8_t tag) const { return completions_.packets(tag); }  // of these

  /// For benches: it takes answers and requests in every cycle, shows what it has without a gap, and passes requests on
  /// at once. Else there are cycles at random in which it does not.
  void set_steady() { steady_ = true; }

  /// Writes of the shell that the block has taken, and that it has passed on.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t passed() const { return passed_; }

  /// The link takes no requests of the shell: they wait, also those that the block has taken, unless it is steady.
  void hold_requests(bool hold) { hold_ = hold; }

  void set_sizes(unsigned max_payload, unsigned max_read_request);
  void set_vf_enable(unsigned vf, bool enabled);
  void set_master(unsigned function, bool enabled);
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
  void pass_requests();
  bool gap() { return !steady_ && random_.below(16) == 0; }

  PciePins pins_;
  Random random_;
  bool hold_ = false, steady_ = false;
  bool access_shown_ = false, completion_shown_ = false;
  AccessQueue accesses_;
  CompletionQueue completions_;
  SteadyBeat steady_answer_{"s_axis_cc"}, steady_request_{"s_axis_rq"};
  std::vector<std::uint32_t> answer_, request_;  // what has come of a packet
  std::uint64_t request_user_ = 0;
  struct Inside {
    Request request;
    std::uint64_t until;  // the cycle in which it passes
    unsigned number;
  };
  std::deque<Inside> inside_;
  std::uint64_t cycle_ = 0, taken_ = 0, passed_ = 0;  // writes
  struct Beginning {
    unsigned function, cycles;
  };
  std::vector<Beginning> resets_to_begin_;
  std::vector<unsigned> resets_;
  struct Done {
    unsigned function;
    std::uint64_t behind;  // so many writes
  };
  std::deque<Done> resets_done_;
};

}  // namespace meridian::pcie
