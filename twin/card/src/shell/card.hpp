// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mac/mac_rx.hpp"
#include "mac/mac_tx.hpp"
#include "mac/ptp_time.hpp"
#include "pcie/block.hpp"
#include "shell/axil.hpp"
#include "shell/clock.hpp"
#include "shell/ps_memory.hpp"
#include "stream/inner_streams.hpp"
#include "stream/streams.hpp"
#include "transceiver/transceiver.hpp"

namespace meridian {

enum class MacRate { gbps10, gbps25 };

/// How far a clock is from its nominal frequency, and where its first edge lies.
struct ClockOffset {
  double ppm = 0.0;
  std::optional<std::uint64_t> phase_fs;  // default: a different odd phase for each clock
};

struct CardSetting {
  std::uint64_t seed = 1;
  MacRate rate = MacRate::gbps25;
  unsigned host_mhz = 0;                      // clock of the host's side; 0: what the shell was generated for
  std::map<std::string, ClockOffset> clocks;  // by name: host, ps, mac_rx_0, mac_tx_0, ...
  std::uint64_t hang_ps = 100'000'000;        // longest wait for something that must come
  std::string trace_file;                     // FST; none when empty
  std::uint64_t trace_from_ps = 0;
  std::uint64_t trace_to_ps = ~std::uint64_t{0};
  std::uint32_t rx_latency_ns = 0;      // from the connector to where a MAC stamps, so its stamps are later by it
  std::uint32_t tx_latency_ns = 0;      // from there to the connector, so its stamps are earlier
  std::uint32_t latency_spread_ns = 0;  // most that both have more, drawn for each port and way at each link-up
  bool use_idle_pin = false;            // drain() waits for the shell's idle pin too
  std::uint32_t build_date = 0x20260101;
  std::uint32_t build_hash = 0x00c0ffee;
};

enum class Reset { host, ps, mac_rx, mac_tx };

/// The card as a program: the Verilated shell, its clocks, and models of what sits at its pins. Not for several
/// threads.
///
/// Inputs of the shell change right after the rising edge of their own clock, outputs are sampled right before it.
/// Every wait is bounded. Errors: CheckError (a rule at the pins is broken), HangError (no end within the bound).
class Card {
 public:
  /// Resets all of it and comes back when the resets are released.
  explicit Card(const CardSetting& setting);
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  static unsigned ports();
  static unsigned host_bytes();
  static unsigned host_mhz();

  /// VFs of each PF by the making of a shell with its own DMA engine; none: all are PF 0's.
  static std::array<unsigned, 4> vfs();

  std::uint64_t now_ps() const;

  /// Goes to the next moment with a rising clock edge.
  void step();

  /// Lets time pass without simulating it: the next edge of each clock stands for all that are left out, and the
  /// shell's timers land where they would have been. For a card at rest only (waits_for() empty, idle pin high), and
  /// for no longer than quiet_ps(); at most longest_skip_ps.
  void skip(std::uint64_t ps);
  static constexpr std::uint64_t longest_skip_ps = 900'000'000'000;

  /// How long the shell's own timers leave it at rest; all ones: until a pin moves. Right from rest_ps after a skip on.
  std::uint64_t quiet_ps() const;
  static constexpr std::uint64_t rest_ps = 100'000;

  /// Waveforms (FST) of the time to come, instead of those under way. InputError in a build without tracing.
  void trace(const std::string& file, std::uint64_t for_ps);

  /// Called at each rising edge of the host clock, out of reset, when the streams have been sampled and not yet driven.
  void set_host_edge(std::function<void(std::uint64_t now_ps)> edge);

  /// Called after each step, whoever asked for it: the place to fetch and feed frames while something else is waited
  /// for.
  void set_observer(std::function<void()> observer);

  void run_for(std::uint64_t ps);

  /// Until done() holds, asked at each step; HangError, naming what, when it does not within limit_ps.
  void run_until(const std::function<bool()>& done, std::uint64_t limit_ps, const std::string& what);

  /// Until nothing moves: no frame, descriptor message or access under way in the models, the shell's idle pin high,
  /// and so for quiet_ps. HangError, naming what is left, when that takes longer than limit_ps.
  void drain(std::uint64_t limit_ps, std::uint64_t quiet_ps = 2'000'000);

  /// One access, waited for; answers of earlier accesses nobody fetched are dropped. function matters on the PF bus
  /// only.
  AxilResult write(AxilMaster& bus, std::uint32_t address, std::uint32_t data, unsigned function = 0,
                   unsigned strobe = 15);
  AxilResult read(AxilMaster& bus, std::uint32_t address, unsigned function = 0);

  /// Function-level reset, waited for.
  void function_reset(unsigned function);

  /// Holds a part in reset or lets it go; port matters for the MAC's only. What the models at its pins held is lost.
  void set_reset(Reset reset, bool asserted, unsigned port = 0);

  /// A link that comes up has latencies of its own.
  void set_link(unsigned port, bool up);

  /// A clock of a port's MAC stands still, as that of a transceiver without a reference, or goes on.
  void stop_mac_clock(unsigned port, bool receive, bool stopped);

  /// Called when the shell begins to reset the receiver of a port.
  void watch_rx_restarts(std::function<void(unsigned port)> watch);

  void set_external_timestamp(bool level);

  bool idle_pin() const;
  bool ps_irq() const;
  bool pps() const;
  bool perout() const;

  MacRx& mac_rx(unsigned port);
  MacTx& mac_tx(unsigned port);

  /// None in a shell without the self-test.
  Transceiver* transceiver(unsigned port) const;

  /// InputError in a shell with the DMA engine of its own, whose streams are inside.
  Qdma& qdma();
  AxilMaster& pf_bus();

  /// Of either engine; none: nobody looks. It takes the place of taps that the streams of qdma() have.
  void set_host_tap(HostTap tap);

  /// None in a shell for the QDMA IP.
  pcie::Block* pcie();
  AxilMaster& ps_bus();
  PsMemory& ps_memory();

  /// A rising edge of a MAC clock, the time its system timer pins show after it, and the time the PTP clock then has.
  ///
  /// ideal_ns is no measurement: the PTP clock is 0 in reset and grows by its nominal 4 ns a ps cycle, so between two
  /// edges it is a straight line that is known from the first edge out of reset. It holds until software sets, steps
  /// or tunes the clock.
  struct TimerEdge {
    unsigned port;
    bool receive;
    PtpTime time;
    double ideal_ns;
    std::uint64_t since_reset_ps;  // of the ps domain
  };
  void set_timer_watch(std::function<void(const TimerEdge&)> watch);

  /// Moments evaluated so far; a measure of the simulation's own cost.
  std::uint64_t steps() const;

  /// In words, what is under way; empty when nothing is.
  std::string waits_for();

 private:
  AxilResult wait_for(AxilMaster& bus, std::uint64_t id);

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace meridian
