// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "link/host_port.hpp"
#include "link/link_server.hpp"
#include "qdma/qdma_ip.hpp"
#include "shell/card.hpp"
#include "twin/control.hpp"
#include "twin/port_wire.hpp"
#include "twin/ps_tap.hpp"
#include "twin/register_port.hpp"
#include "twin/taps.hpp"
#include "wire/pulse_source.hpp"

namespace meridian {

/// Who has the say over time.
class TimeKeeper {
 public:
  virtual ~TimeKeeper() = default;

  /// Something came from outside: it must meet the card at the time it has come.
  virtual void catch_up() = 0;

  virtual void set_lockstep(bool on) = 0;
  virtual void advance(std::uint64_t ps, LinkCard::Done done) = 0;
};

struct CardNodeSetting {
  CardSetting card;
  QdmaSetting qdma;
  std::filesystem::path socket;
  std::filesystem::path control;  // none when empty
  std::filesystem::path capture;  // likewise
  std::filesystem::path log;      // likewise
  std::string ext_ts;             // what drives the pin for external timestamps (pulse_help); likewise
};

/// One card with all that is around it: shell, QDMA model or block for PCIe, MACs, wire, the link to its machines.
class CardNode final : public LinkCard {
 public:
  /// ends: one for each port.
  CardNode(const CardNodeSetting& setting, std::vector<std::unique_ptr<WireEnd>> ends, TimeKeeper& time);

  Card& card() { return card_; }
  std::uint64_t now_ps() const { return card_.now_ps(); }

  /// To the next clock edge.
  void step();

  /// Something moves in the shell or at its pins; not: something will at a known time.
  bool busy();

  /// When something will move, if nothing comes from outside; never_ps if nothing will.
  std::uint64_t next_event_ps() const;

  /// Not while busy, and not to next_event_ps() or beyond.
  void skip_to(std::uint64_t ps);

  /// Carries out what has come from outside, and waits for it up to timeout_ms (0: not at all).
  void poll(int timeout_ms);

  /// A machine has to answer before time may go on.
  bool waits() const { return server_.waits(); }

  /// Captures of what passes at its borders.
  Taps& taps() { return taps_; }

  /// A machine waits for an answer that needs time, or has to wait until it may ask more.
  bool owes() const {
    return host_->reads() + ps_registers_.reads() + resets_ != 0 || !takes_access(MERIDIAN_LINK_PCIE) ||
           !takes_access(MERIDIAN_LINK_AXI);
  }

  /// Both the MAC and the shell's pin. With until_reset there is a signal, and the receiver finds no lock in it before
  /// the shell has reset it: the link comes up then. A later call overrides that.
  void set_link(unsigned port, bool up, bool until_reset = false);

  /// What the transceiver of a port meets from now on. InputError in a shell without the self-test.
  void set_transceiver(unsigned port, const TransceiverSetting& setting);

  /// The pin for external timestamps.
  void set_external_timestamp(bool level);

  /// Of the wire of a port, see PortWire.
  void cut_wire(unsigned port, bool on);

  nlohmann::json statistics();

  meridian_link_welcome welcome() const override;
  bool takes_access(meridian_link_role role) const override;
  void bar_read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) override;
  void bar_write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) override;
  void doorbell(unsigned function, unsigned index, std::uint32_t value) override;
  void enable_function(unsigned function, bool enabled, unsigned parent) override;
  std::optional<unsigned> parent(unsigned function) const override { return host_->parent(function); }
  void reset_function(unsigned function, Done done) override;
  void reset_host() override;
  void ps_read(std::uint64_t offset, unsigned width, Read done) override;
  void ps_write(std::uint64_t offset, unsigned width, std::uint64_t value) override;
  void reset_ps() override;
  void set_lockstep(bool on) override { time_.set_lockstep(on); }
  void advance(std::uint64_t ps, Done done) override;

 private:
  void wake_wires();
  unsigned functions_of_shell();
  void receiver_reset(unsigned port);
  void apply_link(unsigned port, bool up);
  void watch_transceivers();

  /// Something to be told to whoever follows, and to the log.
  void event(const char* what, nlohmann::json fields);
  std::vector<int> descriptors() const;

  CardNodeSetting setting_;
  TimeKeeper& time_;
  Card card_;
  LinkServer server_;
  std::unique_ptr<HostPort> host_;
  PsTap ps_tap_;
  RegisterPort ps_registers_;
  std::vector<PortWire> wires_;
  Taps taps_;
  std::optional<Control> control_;
  std::optional<PulseSource> pulse_;
  std::ofstream log_;
  std::uint64_t rest_since_ps_ = 0;  // the card has been at rest since then
  std::uint64_t skipped_ps_ = 0;
  unsigned functions_ = 0;                      // that PCIe offers
  unsigned resets_ = 0;                         // of functions, under way
  std::uint32_t deaf_ = 0;                      // ports whose receiver wants a reset before it locks
  std::vector<std::uint64_t> receiver_resets_;  // by port
  bool interrupt_level_ = false;
  bool pps_level_ = false;
  bool perout_level_ = false;
};

}  // namespace meridian
