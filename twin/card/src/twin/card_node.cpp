// SPDX-License-Identifier: Apache-2.0
#include "twin/card_node.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "meridian_regs.h"
#include "pcie/block_port.hpp"
#include "qdma/state/registers.hpp"
#include "twin/qdma_port.hpp"

namespace meridian {

namespace {

constexpr std::uint64_t ps_bytes = 0x100000;
constexpr std::uint64_t longest_access_ps = 1'000'000;  // of a register in the shell
constexpr std::size_t open_accesses = 64;               // on a register bus, before its client has to wait

std::unique_ptr<HostPort> make_host_port(const CardNodeSetting& setting, Card& card, MemoryBus& host) {
  if (card.pcie() != nullptr) return std::make_unique<BlockPort>(setting.qdma, *card.pcie(), host, Card::vfs());
  return std::make_unique<QdmaPort>(setting.qdma, card, host);
}

}  // namespace

CardNode::CardNode(const CardNodeSetting& setting, std::vector<std::unique_ptr<WireEnd>> ends, TimeKeeper& time)
    : setting_(setting),
      time_(time),
      card_(setting.card),
      server_(setting.socket, *this),
      host_(make_host_port(setting, card_, server_.host())),
      ps_tap_(server_.ps()),
      ps_registers_(card_.ps_bus(), ps_bytes),
      taps_(card_, wires_, ps_tap_) {
  if (ends.size() != Card::ports()) throw InputError("one end for each port: " + std::to_string(Card::ports()));
  for (unsigned port = 0; port < Card::ports(); ++port) {
    wires_.emplace_back(card_.mac_rx(port), card_.mac_tx(port), std::move(ends[port]));
    wires_.back().set_transceiver(card_.transceiver(port));
  }
  if (!setting_.log.empty()) {
    log_.open(setting_.log);
    if (!log_) throw InputError("cannot write " + setting_.log.string());
  }
  if (!setting_.capture.empty()) taps_.start(setting_.capture);
  if (!setting_.ext_ts.empty()) pulse_.emplace(setting_.ext_ts, setting_.card.seed);
  if (!setting_.control.empty()) control_.emplace(setting_.control, *this);
  card_.ps_memory().attach(&ps_tap_);
  card_.set_host_edge([this](std::uint64_t now_ps) { host_->tick(now_ps); });
  receiver_resets_.assign(Card::ports(), 0);
  card_.watch_rx_restarts([this](unsigned port) { receiver_reset(port); });
  functions_ = functions_of_shell();
  host_->set_functions(functions_);
  if (setting_.qdma.functions != 0) functions_ = setting_.qdma.functions;
}

unsigned CardNode::functions_of_shell() {
  std::optional<std::uint32_t> geometry;
  host_->read(0, 2, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_GEOMETRY, 4,
              [&](meridian_link_status, std::uint64_t value) { geometry = static_cast<std::uint32_t>(value); });
  const auto is_there = [&] {
    host_->collect();
    return geometry.has_value();
  };
  card_.run_until(is_there, longest_access_ps, "the shell's register GEOMETRY");
  return (*geometry & MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_MASK) >> MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_SHIFT;
}

meridian_link_welcome CardNode::welcome() const {
  meridian_link_welcome welcome{};
  welcome.magic = MERIDIAN_LINK_MAGIC;
  welcome.version = MERIDIAN_LINK_VERSION;
  welcome.ports = static_cast<std::uint8_t>(Card::ports());
  welcome.pfs = static_cast<std::uint8_t>(setting_.qdma.pfs);
  welcome.functions = static_cast<std::uint16_t>(functions_);
  welcome.queues = static_cast<std::uint16_t>(setting_.qdma.queues);
  welcome.build_hash = setting_.card.build_hash;
  welcome.build_date = setting_.card.build_date;
  welcome.bar0_bytes = host_->bytes(0, 0);
  welcome.bar2_bytes = host_->bytes(0, 2);
  welcome.bar4_bytes = host_->bytes(0, 4);
  welcome.vf_bar0_bytes = host_->bytes(HostPort::first_vf, 0);
  welcome.vf_bar2_bytes = host_->bytes(HostPort::first_vf, 2);
  welcome.vf_bar4_bytes = host_->bytes(HostPort::first_vf, 4);
  welcome.device_id = 0x903f;
  welcome.vf_device_id = 0xa03f;
  welcome.time_ps = card_.now_ps();
  for (unsigned function = HostPort::first_vf; function < functions_; ++function)
    if (const auto pf = host_->parent(function)) ++welcome.vfs[*pf];
  return welcome;
}

bool CardNode::takes_access(meridian_link_role role) const {
  return (role == MERIDIAN_LINK_AXI ? ps_registers_.pending() : host_->pending()) < open_accesses;
}

void CardNode::bar_read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) {
  time_.catch_up();
  host_->read(function, bar, offset, width, std::move(done));
}

void CardNode::bar_write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) {
  time_.catch_up();
  host_->write(function, bar, offset, width, value);
}

void CardNode::doorbell(unsigned function, unsigned index, std::uint32_t value) {
  const bool pf = function < HostPort::first_vf;
  const std::uint32_t first = pf ? reg::pf_doorbells : reg::vf_doorbells;
  const std::uint32_t end = pf ? reg::pf_doorbells_end : reg::vf_doorbells_end;
  if (index >= (end - first) / 4) return;
  time_.catch_up();
  host_->doorbell(function, first + 4 * index, value);
}

void CardNode::event(const char* what, nlohmann::json fields) {
  if (!log_.is_open() && !(control_ && control_->followed())) return;
  fields["ev"] = what;
  fields["t_ps"] = card_.now_ps();
  const std::string line = fields.dump();
  if (log_.is_open()) log_ << line << '\n' << std::flush;
  if (control_) control_->publish(line);
}

void CardNode::enable_function(unsigned function, bool enabled, unsigned parent) {
  event("function", {{"function", function}, {"enabled", enabled}, {"parent", parent}});
  host_->enable_function(function, enabled, parent);
}

void CardNode::reset_function(unsigned function, Done done) {
  time_.catch_up();
  event("reset_function", {{"function", function}});
  ++resets_;
  host_->reset_function(function, [this, function, done = std::move(done)] {
    --resets_;
    event("reset_function_done", {{"function", function}});
    done(MERIDIAN_LINK_OK);
  });
}

void CardNode::reset_host() {
  event("reset_host", {});
  // Writes that were posted before the reset take effect.
  for (const auto end = card_.now_ps() + longest_access_ps * open_accesses;
       host_->pending() != 0 && card_.now_ps() < end; host_->collect())
    card_.step();
  card_.set_reset(Reset::host, true);
  host_->reset();
  card_.run_for(1'000'000);
  card_.set_reset(Reset::host, false);
}

void CardNode::ps_read(std::uint64_t offset, unsigned width, Read done) {
  time_.catch_up();
  ps_registers_.read(0, offset, width, std::move(done));
}

void CardNode::ps_write(std::uint64_t offset, unsigned width, std::uint64_t value) {
  time_.catch_up();
  ps_tap_.register_write(offset, static_cast<std::uint32_t>(value));
  ps_registers_.write(0, offset, width, value);
}

void CardNode::reset_ps() {
  event("reset_ps", {});
  card_.set_reset(Reset::ps, true);
  ps_registers_.reset();
  card_.run_for(1'000'000);
  card_.set_reset(Reset::ps, false);
}

void CardNode::step() {
  card_.step();
  const std::uint64_t now = card_.now_ps();
  // A short frame may be through the MAC, and not yet seen by the shell's idle, when busy() looks the next time.
  for (PortWire& wire : wires_)
    if (wire.step(now)) rest_since_ps_ = now;
  if (card_.transceiver(0) != nullptr) watch_transceivers();
  if (host_->pending() != 0) host_->collect();
  if (ps_registers_.pending() != 0) ps_registers_.collect();
  if (card_.ps_irq() != interrupt_level_) {
    interrupt_level_ = card_.ps_irq();
    event("ps_irq", {{"level", interrupt_level_}});
    server_.ps().interrupt(0, interrupt_level_ ? 1 : 0);
  }
  if (card_.pps() != pps_level_) {
    pps_level_ = card_.pps();
    event("pps", {{"level", pps_level_}});
    if (pulse_ && pulse_->loops(PulseSource::Output::pps)) set_external_timestamp(pps_level_);
  }
  if (card_.perout() != perout_level_) {
    perout_level_ = card_.perout();
    event("perout", {{"level", perout_level_}});
    if (pulse_ && pulse_->loops(PulseSource::Output::perout)) set_external_timestamp(perout_level_);
  }
  if (pulse_ && pulse_->next_ps() <= now) set_external_timestamp(pulse_->advance());
}

bool CardNode::busy() {
  const std::uint64_t now = card_.now_ps();
  const bool moves = !card_.idle_pin() || !host_->idle() || host_->pending() != 0 || ps_registers_.pending() != 0 ||
                     !card_.waits_for().empty();
  if (moves) rest_since_ps_ = now;
  return moves || now - rest_since_ps_ < Card::rest_ps;
}

std::uint64_t CardNode::next_event_ps() const {
  const std::uint64_t quiet = card_.quiet_ps();
  std::uint64_t next = quiet == never_ps ? never_ps : card_.now_ps() + quiet;
  for (const PortWire& wire : wires_) next = std::min(next, wire.next_ps());
  if (pulse_) next = std::min(next, pulse_->next_ps());
  for (unsigned port = 0; port < Card::ports(); ++port)
    if (const Transceiver* transceiver = card_.transceiver(port))
      if (transceiver->lock_ps() > card_.now_ps()) next = std::min(next, transceiver->lock_ps());
  return std::min(next, host_->next_ps());
}

std::vector<int> CardNode::descriptors() const {
  std::vector<int> result;
  for (const PortWire& wire : wires_)
    if (const auto descriptor = wire.end().descriptor()) result.push_back(*descriptor);
  if (control_) control_->add_descriptors(result);
  return result;
}

void CardNode::set_link(unsigned port, bool up, bool until_reset) {
  const std::uint32_t bit = std::uint32_t{1} << port;
  deaf_ = up && until_reset ? deaf_ | bit : deaf_ & ~bit;
  up = up && !until_reset;
  if (Transceiver* transceiver = card_.transceiver(port)) {
    transceiver->set_signal(up);
    up = transceiver->link(card_.now_ps());
  }
  apply_link(port, up);
}

void CardNode::apply_link(unsigned port, bool up) {
  event("link", {{"port", port}, {"up", up}});
  card_.mac_rx(port).set_link(up);
  card_.mac_tx(port).set_link(up);
  card_.set_link(port, up);
}

void CardNode::receiver_reset(unsigned port) {
  event("rx_reset", {{"port", port}});
  ++receiver_resets_.at(port);
  if ((deaf_ >> port & 1) != 0) set_link(port, true);
}

/// The link follows the transceiver: its loopback, its patterns, and the lock of the receiver.
void CardNode::watch_transceivers() {
  for (unsigned port = 0; port < Card::ports(); ++port) {
    const bool up = card_.transceiver(port)->link(card_.now_ps());
    if (up != card_.mac_rx(port).link()) apply_link(port, up);
  }
}

void CardNode::set_transceiver(unsigned port, const TransceiverSetting& setting) {
  Transceiver* transceiver = card_.transceiver(port);
  if (transceiver == nullptr)
    throw InputError(
        "this shell has no self-test, and so no pins to its transceivers: build one with --self-test true");
  transceiver->set(setting);
}

void CardNode::set_external_timestamp(bool level) {
  event("ext_ts", {{"level", level}});
  card_.set_external_timestamp(level);
  rest_since_ps_ = card_.now_ps();  // no time is left out before it is stamped
}

void CardNode::cut_wire(unsigned port, bool on) {
  event("cut", {{"port", port}, {"on", on}});
  wires_.at(port).cut(on);
}

nlohmann::json CardNode::statistics() {
  nlohmann::json result;
  const auto counters = [](const MacCounters& mac) {
    nlohmann::json names;
    mac.each([&](std::string_view name, std::uint64_t value) { names[std::string(name)] = value; });
    return names;
  };
  for (unsigned port = 0; port < Card::ports(); ++port)
    result["ports"].push_back({{"rx", counters(card_.mac_rx(port).statistics())},
                               {"tx", counters(card_.mac_tx(port).statistics())},
                               {"link_up", card_.mac_rx(port).link()},
                               {"rx_resets", receiver_resets_[port]},
                               {"cut", wires_[port].lost()}});
  for (unsigned port = 0; port < Card::ports(); ++port)
    if (Transceiver* transceiver = card_.transceiver(port))
      result["ports"][port]["transceiver"] = {{"loopback", static_cast<unsigned>(transceiver->loopback())},
                                              {"errors", transceiver->errors(card_.now_ps())}};
  const LinkServer::Statistics& link = server_.statistics();
  result["link"] = {{"host", server_.has_host()},
                    {"ps", server_.has_ps()},
                    {"connections", link.connections},
                    {"refused", link.refused},
                    {"dropped", link.dropped},
                    {"timeouts", link.timeouts},
                    {"messages", link.messages},
                    {"doorbells", link.doorbells},
                    {"dma_reads", link.dma_reads},
                    {"dma_writes", link.dma_writes},
                    {"interrupts", link.interrupts},
                    {"shared_bytes", link.shared_bytes},
                    {"message_bytes", link.message_bytes},
                    {"unsupported", link.unsupported}};
  result["simulation"] = {
      {"steps", card_.steps()}, {"skipped_ps", skipped_ps_}, {"busy", busy()}, {"waits_for", card_.waits_for()}};
  return result;
}

void CardNode::wake_wires() {
  for (PortWire& wire : wires_) {
    const auto descriptor = wire.end().descriptor();
    if (!descriptor) continue;
    pollfd entry{*descriptor, POLLIN, 0};
    if (!wire.end().tend() && ::poll(&entry, 1, 0) <= 0) continue;
    time_.catch_up();
    wire.wake();
  }
}

void CardNode::skip_to(std::uint64_t ps) {
  const std::uint64_t before = card_.now_ps();
  if (ps <= before) return;
  card_.skip(ps - before);
  skipped_ps_ += ps - before;
  rest_since_ps_ = card_.now_ps();
}

void CardNode::advance(std::uint64_t ps, Done done) {
  // What was sent to the wire before has to be there when time goes on.
  wake_wires();
  time_.advance(ps, std::move(done));
}

void CardNode::poll(int timeout_ms) {
  wake_wires();
  if (control_) control_->poll();
  server_.poll(timeout_ms, timeout_ms == 0 ? std::vector<int>{} : descriptors());
}

}  // namespace meridian
