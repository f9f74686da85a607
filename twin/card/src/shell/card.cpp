// SPDX-License-Identifier: Apache-2.0
#include "shell/card.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "shell/card_clocks.hpp"
#include "shell/coverage.hpp"
#include "shell/shell.hpp"
#include "shell/waveform.hpp"

namespace meridian {

namespace {

constexpr unsigned reset_cycles = 32;

constexpr auto no_qdma =
    "this shell was generated with --dma meridian, so its DMA streams are not at its pins: run meridian_card or "
    "qdma_bench, or build "
    "one without that option";

constexpr unsigned clock_count = first_mac_clock + 2 * shell_ports;

std::unique_ptr<VerilatedContext> make_context(const CardSetting& setting) {
  // The clock that is carried to the MACs could not keep up with another frequency than it was made for.
  const unsigned rate = setting.rate == MacRate::gbps25 ? 25 : 10;
  if (rate != shell_line_rate)
    throw InputError("this shell was generated for ports of " + std::to_string(shell_line_rate) + " Gb/s, not " +
                     std::to_string(rate) + ": give --rate " + std::to_string(shell_line_rate) +
                     ", or build one with scripts/build-card --line-rate " + std::to_string(rate));
  if (setting.host_mhz != 0 && setting.host_mhz != shell_host_mhz)
    throw InputError("this shell was generated for a host clock of " + std::to_string(shell_host_mhz) + " MHz, not " +
                     std::to_string(setting.host_mhz) +
                     ": leave --host-mhz out, or build one with scripts/build-card " + "--host-mhz " +
                     std::to_string(setting.host_mhz));
  auto context = std::make_unique<VerilatedContext>();
  // Registers that nobody resets start at random values, as they may in hardware.
  context->randReset(2);
  context->randSeed(static_cast<int>(setting.seed % 0x7fffffffU) + 1);
  if (!setting.trace_file.empty()) Waveform::require_tracing();
#if VM_TRACE
  context->traceEverOn(true);
#endif
  return context;
}

}  // namespace

/// Picoseconds and the femtoseconds above them: a picosecond is too coarse where errors of the clock are told.
struct FineMoment {
  std::uint64_t ps;
  std::uint32_t fs;
  double after_ns(const FineMoment& start) const {
    const double fine = static_cast<double>(fs) - static_cast<double>(start.fs);
    return static_cast<double>(ps - start.ps) / 1e3 + fine / 1e6;
  }
};

struct Card::Parts {
  explicit Parts(const CardSetting& s);
  ~Parts() { write_coverage(*context); }

  void step();
  void reset_host_models();
  void draw_latencies(unsigned port);
  void eval();
  void tick_sample(std::uint32_t rising);
  void tick_drive(std::uint32_t rising);
  void watch_timers(std::uint32_t rising);
  void set_skip(unsigned clock, std::uint32_t cycles);

  CardSetting setting;
  std::unique_ptr<VerilatedContext> context;
  Shell shell;
  std::vector<ShellPort> ports;
  ClockScheduler clocks;
  std::vector<std::uint8_t*> clock_pin;
  std::vector<MacRx> mac_rx;
  std::vector<MacTx> mac_tx;
  std::vector<Transceiver> transceivers;  // of all ports, or none
  Random latency_spread{setting.seed ^ 0x1a};
  std::optional<Qdma> qdma;
  std::optional<AxilMaster> pf_bus;
  std::optional<pcie::Block> pcie;
  std::optional<InnerStreams> inner_streams;
  AxilMaster ps_bus;
  PsMemory ps_memory;
  std::uint32_t in_reset = (std::uint32_t{1} << clock_count) - 1;  // by clock
  std::uint32_t high = 0;                                          // clocks whose pin the shell last saw high
  std::uint32_t skipping = 0;                                      // clocks whose next edge stands for several
  std::uint32_t stopped = 0;                                       // clocks that have no edges
  bool unsettled = false;                                          // an input changed that belongs to no clock edge
  std::uint64_t now_ps = 0;
  std::uint64_t steps = 0;
  std::function<void()> observer;
  std::function<void(std::uint64_t)> host_edge;
  std::function<void(const Card::TimerEdge&)> timer_watch;
  std::function<void(unsigned)> restart_watch;
  std::uint32_t restarting = 0;         // receivers that the shell holds in reset, by port
  std::optional<FineMoment> ptp_start;  // first edge of ps out of reset
  Waveform waveform;
};

Card::Parts::Parts(const CardSetting& s)
    : setting(s),
      context(make_context(s)),
      shell(*context),
      ports(shell.ports()),
      clocks(clock_settings(s, shell_ports, shell_host_mhz), !s.trace_file.empty()),
      ps_bus(shell.ps_bus(), "ps", s.seed ^ 0xf1),
      ps_memory(shell.ps_memory(), s.seed ^ 0xf2),
      waveform(shell.model()) {
  VShell& model = shell.model();
  if (const auto pins = shell.qdma())
    qdma.emplace(QdmaC2h(pins->c2h, pins->completion, pins->c2h_status, pins->tm_status, s.seed ^ 0xc2),
                 QdmaH2c(pins->h2c, s.seed ^ 0x2c), QdmaFlr(pins->flr), QdmaCredit(pins->credit, s.seed ^ 0xcd),
                 QdmaUserInterrupts(shell.user_interrupts(), s.seed ^ 0x0e));
  if (const auto pins = shell.pf_bus()) pf_bus.emplace(*pins, "pf", s.seed ^ 0xf0);
  if (const auto pins = shell.pcie()) pcie.emplace(*pins, s.seed ^ 0x9c);
  if (const auto pins = shell.inner_streams()) inner_streams.emplace(*pins);
  clock_pin = {&model.axi_aclk, &model.ps_clk};
  for (unsigned i = 0; i < shell_ports; ++i) {
    ShellPort& port = ports[i];
    clock_pin.push_back(&port.rx_clk);
    clock_pin.push_back(&port.tx_clk);
    mac_rx.emplace_back(port.rx, static_cast<double>(clocks.setting(rx_clock(i)).period_fs) / 1000.0);
    mac_tx.emplace_back(port.tx, "mac tx " + std::to_string(i),
                        static_cast<double>(clocks.setting(tx_clock(i)).period_fs) / 1000.0);
    draw_latencies(i);
    port.rx_reset = port.tx_reset = 1;
    port.link_up = 1;
    port.rx_skip = port.tx_skip = 1;
    port.rx.tvalid = port.tx.tready = 0;
  }
  for (const TransceiverPins& pins : shell.transceivers())
    transceivers.emplace_back(pins, static_cast<double>(clocks.setting(rx_clock(0)).period_fs) / 1000.0, s.seed ^ 0x67);
  for (auto* pin : clock_pin) *pin = 0;
  model.axi_aresetn = model.ps_resetn = 0;
  model.sim_skip_ps = 1;
  shell.set_host_skip(1);
  model.build_date = setting.build_date;
  model.build_hash = setting.build_hash;
  model.ext_ts_in = 0;
  reset_host_models();
  ps_bus.reset();
  ps_memory.reset();
  if (!setting.trace_file.empty()) waveform.start(setting.trace_file, setting.trace_from_ps, setting.trace_to_ps);
  shell.eval();
}

void Card::Parts::reset_host_models() {
  if (qdma) qdma->reset();
  if (pf_bus) pf_bus->reset();
  if (pcie) pcie->reset();
  if (inner_streams) inner_streams->reset();
}

void Card::Parts::draw_latencies(unsigned port) {
  const auto more = [this] { return latency_spread.below(setting.latency_spread_ns + 1); };
  mac_rx[port].set_timestamp_latency(setting.rx_latency_ns + more());
  mac_tx[port].set_timestamp_latency(setting.tx_latency_ns + more());
}

void Card::Parts::eval() {
  shell.eval();
  waveform.sample(now_ps);
}

void Card::Parts::tick_sample(std::uint32_t rising) {
  const std::uint32_t live = rising & ~in_reset;
  if ((live >> host_clock & 1) != 0) {
    if (qdma) qdma->sample(now_ps);
    if (pf_bus) pf_bus->sample(now_ps);
    if (pcie) pcie->sample();
    if (inner_streams) inner_streams->sample(now_ps);
    if (host_edge) host_edge(now_ps);
  }
  if ((live >> ps_clock & 1) != 0) {
    ps_bus.sample(now_ps);
    ps_memory.sample(now_ps);
    for (unsigned port = 0; port < shell_ports; ++port) {
      const std::uint32_t bit = std::uint32_t{1} << port;
      const bool was = (restarting & bit) != 0;
      restarting = ports[port].rx_restart != 0 ? restarting | bit : restarting & ~bit;
      if (!transceivers.empty()) transceivers[port].sample_ps(now_ps, (restarting & bit) != 0);
      if ((restarting & bit) != 0 && !was && restart_watch) restart_watch(port);
    }
  }
  for (unsigned port = 0; port < shell_ports; ++port) {
    if ((live >> tx_clock(port) & 1) != 0) mac_tx[port].sample(now_ps);
    if (transceivers.empty()) continue;
    if ((live >> rx_clock(port) & 1) != 0) transceivers[port].sample_rx(now_ps);
    if ((live >> tx_clock(port) & 1) != 0) transceivers[port].sample_tx();
  }
}

void Card::Parts::set_skip(unsigned clock, std::uint32_t cycles) {
  if (clock == ps_clock) shell.model().sim_skip_ps = cycles;
  if (clock == host_clock) shell.set_host_skip(cycles);
  if (clock < first_mac_clock) return;
  ShellPort& port = ports[(clock - first_mac_clock) / 2];
  ((clock - first_mac_clock) % 2 == 0 ? port.rx_skip : port.tx_skip) = cycles;
}

void Card::Parts::tick_drive(std::uint32_t rising) {
  const std::uint32_t live = rising & ~in_reset;
  if ((rising & skipping) != 0) {
    for (unsigned i = 0; i < clock_count; ++i)
      if ((rising & skipping & (std::uint32_t{1} << i)) != 0) set_skip(i, 1);
    skipping &= ~rising;
  }
  if ((live >> host_clock & 1) != 0) {
    if (qdma) qdma->drive(now_ps);
    if (pf_bus) pf_bus->drive();
    if (pcie) pcie->drive();
  }
  if ((live >> ps_clock & 1) != 0) {
    ps_bus.drive();
    ps_memory.drive();
    for (Transceiver& transceiver : transceivers) transceiver.drive_ps();
  }
  for (unsigned port = 0; port < shell_ports; ++port) {
    if ((live >> rx_clock(port) & 1) != 0) mac_rx[port].drive(now_ps);
    if ((live >> rx_clock(port) & 1) != 0 && !transceivers.empty()) transceivers[port].drive_rx();
    if ((live >> tx_clock(port) & 1) != 0) mac_tx[port].drive();
  }
}

void Card::Parts::watch_timers(std::uint32_t rising) {
  const std::uint32_t live = rising & ~in_reset;
  const FineMoment now{now_ps, clocks.now_fs_in_ps()};
  if ((in_reset >> ps_clock & 1) != 0)
    ptp_start.reset();
  else if ((live >> ps_clock & 1) != 0 && !ptp_start)
    ptp_start = now;
  if (!timer_watch || !ptp_start) return;
  constexpr double nominal_ns = ps_period_fs / 1e6;
  const double cycle_ns = static_cast<double>(clocks.setting(ps_clock).period_fs) / 1e6;
  for (unsigned port = 0; port < shell_ports; ++port)
    for (const bool receive : {true, false}) {
      if ((live >> (receive ? rx_clock(port) : tx_clock(port)) & 1) == 0) continue;
      const PtpTime time = PtpTime::sample(receive ? ports[port].rx.system_timer : ports[port].tx.system_timer);
      // The first edge out of reset is the first increment.
      const double elapsed_ns = now.after_ns(*ptp_start);
      timer_watch({port, receive, time, nominal_ns * (1 + elapsed_ns / cycle_ns), now.ps - ptp_start->ps});
    }
}

void Card::Parts::step() {
  for (;;) {
    ClockEdge edge = clocks.advance();
    if (stopped != 0) {
      edge.rising &= ~stopped;
      if (edge.rising == 0 && edge.falling == 0) continue;
    }
    // A clock must have been seen low, and the inputs driven at its last edge must have settled, before it rises again.
    // The evaluation of another clock's edge in between does both; without one, it takes an evaluation of its own.
    if (unsettled || (edge.rising & high) != 0) {
      shell.eval();
      high = 0;
      unsettled = false;
    }
    now_ps = clocks.now_ps();
    if (edge.rising == 0) {  // tracing only: the fall is shown where it is
      for (unsigned i = 0; i < clock_count; ++i)
        if ((edge.falling >> i & 1) != 0) *clock_pin[i] = 0;
      eval();
      continue;
    }
    tick_sample(edge.rising);
    for (unsigned i = 0; i < clock_count; ++i)
      if ((edge.rising >> i & 1) != 0) *clock_pin[i] = 1;
    for (unsigned i = 0; i < clock_count; ++i)
      if ((edge.falling >> i & 1) != 0) *clock_pin[i] = 0;
    eval();
    watch_timers(edge.rising);
    tick_drive(edge.rising);
    ++steps;
    if (!setting.trace_file.empty()) return;
    high = edge.rising;
    for (unsigned i = 0; i < clock_count; ++i)
      if ((edge.rising >> i & 1) != 0) *clock_pin[i] = 0;
    return;
  }
}

Card::Card(const CardSetting& setting) : parts_(std::make_unique<Parts>(setting)) {
  const std::uint64_t longest_fs = std::max(host_period_fs(shell_host_mhz), mac_period_fs(setting.rate));
  run_for(reset_cycles * longest_fs / 1000);
  set_reset(Reset::host, false);
  set_reset(Reset::ps, false);
  for (unsigned port = 0; port < shell_ports; ++port) {
    set_reset(Reset::mac_rx, false, port);
    set_reset(Reset::mac_tx, false, port);
  }
  run_for(reset_cycles * longest_fs / 1000);
}

Card::~Card() = default;

unsigned Card::ports() {
  return shell_ports;
}
unsigned Card::host_bytes() {
  return shell_host_bytes;
}
unsigned Card::host_mhz() {
  return shell_host_mhz;
}
std::array<unsigned, 4> Card::vfs() {
  return shell_vfs;
}
std::uint64_t Card::now_ps() const {
  return parts_->now_ps;
}
std::uint64_t Card::steps() const {
  return parts_->steps;
}
void Card::set_observer(std::function<void()> observer) {
  parts_->observer = std::move(observer);
}

void Card::set_timer_watch(std::function<void(const TimerEdge&)> watch) {
  parts_->timer_watch = std::move(watch);
}

void Card::step() {
  parts_->step();
  if (parts_->observer) parts_->observer();
}

void Card::trace(const std::string& file, std::uint64_t for_ps) {
  parts_->waveform.start(file, now_ps(), now_ps() + for_ps);
}

void Card::set_host_edge(std::function<void(std::uint64_t)> edge) {
  parts_->host_edge = std::move(edge);
}

void Card::skip(std::uint64_t ps) {
  Parts& p = *parts_;
  auto left_out = p.clocks.jump(std::min(ps, longest_skip_ps) * 1000);
  for (unsigned i = 0; i < clock_count; ++i) {
    if ((p.stopped >> i & 1) != 0) left_out[i] = 0;
    if (left_out[i] == 0) continue;
    p.set_skip(i, left_out[i] + 1);
    p.skipping |= std::uint32_t{1} << i;
  }
  for (unsigned port = 0; port < shell_ports; ++port) {
    p.mac_rx[port].skip(left_out[rx_clock(port)]);
    p.mac_tx[port].skip(left_out[tx_clock(port)]);
  }
  p.unsettled = true;
  while (p.skipping != 0) step();
}

std::uint64_t Card::quiet_ps() const {
  const auto time = [&](std::uint32_t cycles, unsigned clock) {
    if (cycles == ~std::uint32_t{0}) return ~std::uint64_t{0};
    return cycles * parts_->clocks.setting(clock).period_fs / 1000;
  };
  return std::min(time(parts_->shell.model().sim_quiet_cycles, ps_clock), time(parts_->shell.host_quiet(), host_clock));
}

void Card::run_for(std::uint64_t ps) {
  const std::uint64_t end = parts_->now_ps + ps;
  while (parts_->now_ps < end) step();
}

void Card::run_until(const std::function<bool()>& done, std::uint64_t limit_ps, const std::string& what) {
  const std::uint64_t end = parts_->now_ps + limit_ps;
  while (!done()) {
    if (parts_->now_ps >= end)
      throw HangError("waited " + std::to_string(limit_ps / 1000) + " ns in vain for " + what + ", until " +
                      std::to_string(parts_->now_ps) + " ps");
    step();
  }
}

std::string Card::waits_for() {
  Parts& p = *parts_;
  for (unsigned port = 0; port < shell_ports; ++port) {
    if (!p.mac_rx[port].idle()) return "mac rx " + std::to_string(port) + ": frames still to come in";
    if (!p.mac_tx[port].idle()) return "mac tx " + std::to_string(port) + ": a frame or timestamp still under way";
  }
  const auto of = [](const auto& model) { return model ? model->waits_for() : std::string(); };
  for (const auto& what : {of(p.qdma), of(p.pf_bus), of(p.pcie), p.ps_bus.waits_for(), p.ps_memory.waits_for()})
    if (!what.empty()) return what;
  if (p.setting.use_idle_pin && !idle_pin()) return "the shell's idle pin";
  return {};
}

void Card::drain(std::uint64_t limit_ps, std::uint64_t quiet_ps) {
  Parts& p = *parts_;
  const std::uint64_t end = p.now_ps + limit_ps;
  std::uint64_t quiet_since = p.now_ps;
  std::uint64_t next_look = p.now_ps;
  while (p.now_ps - quiet_since < quiet_ps) {
    step();
    if (p.now_ps < next_look) continue;
    next_look = p.now_ps + 10'000;  // the look is dear beside a step, and 10 ns is fine enough
    const std::string what = waits_for();
    if (what.empty()) continue;
    quiet_since = p.now_ps;
    if (p.now_ps >= end)
      throw HangError("not drained within " + std::to_string(limit_ps / 1000) + " ns, at " + std::to_string(p.now_ps) +
                      " ps: waits for " + what);
  }
}

AxilResult Card::wait_for(AxilMaster& bus, std::uint64_t id) {
  std::optional<AxilResult> result;
  run_until([&] { return (result = bus.pop()).has_value() && result->id == id; }, parts_->setting.hang_ps,
            bus.waits_for());
  return *result;
}

AxilResult Card::write(AxilMaster& bus, std::uint32_t address, std::uint32_t data, unsigned function, unsigned strobe) {
  return wait_for(bus, bus.write(address, data, function, strobe));
}

AxilResult Card::read(AxilMaster& bus, std::uint32_t address, unsigned function) {
  return wait_for(bus, bus.read(address, function));
}

void Card::function_reset(unsigned function) {
  QdmaFlr& flr = qdma().flr;
  flr.request(function);
  std::optional<unsigned> done;
  run_until([&] { return (done = flr.pop()).has_value(); }, parts_->setting.hang_ps,
            "usr_flr_done of function " + std::to_string(function));
}

void Card::set_reset(Reset reset, bool asserted, unsigned port) {
  if (port >= shell_ports) throw InputError("there is no port " + std::to_string(port));
  Parts& p = *parts_;
  VShell& model = p.shell.model();
  unsigned clock = host_clock;
  switch (reset) {
    case Reset::host:
      model.axi_aresetn = !asserted;
      p.reset_host_models();
      break;
    case Reset::ps:
      clock = ps_clock;
      model.ps_resetn = !asserted;
      p.ps_bus.reset();
      p.ps_memory.reset();
      break;
    case Reset::mac_rx:
      clock = rx_clock(port);
      p.ports[port].rx_reset = asserted;
      p.mac_rx[port].reset();
      break;
    case Reset::mac_tx:
      clock = tx_clock(port);
      p.ports[port].tx_reset = asserted;
      p.mac_tx[port].reset();
      break;
  }
  const std::uint32_t bit = std::uint32_t{1} << clock;
  p.in_reset = asserted ? p.in_reset | bit : p.in_reset & ~bit;
  p.unsettled = true;
}

void Card::set_link(unsigned port, bool up) {
  if (up && parts_->ports.at(port).link_up == 0) parts_->draw_latencies(port);
  parts_->ports.at(port).link_up = up;
  parts_->unsettled = true;
}

void Card::stop_mac_clock(unsigned port, bool receive, bool stopped) {
  const std::uint32_t bit = std::uint32_t{1} << (receive ? rx_clock(port) : tx_clock(port));
  parts_->stopped = stopped ? parts_->stopped | bit : parts_->stopped & ~bit;
}

void Card::watch_rx_restarts(std::function<void(unsigned)> watch) {
  parts_->restart_watch = std::move(watch);
}

void Card::set_external_timestamp(bool level) {
  parts_->shell.model().ext_ts_in = level;
  parts_->unsettled = true;
}

bool Card::idle_pin() const {
  return parts_->shell.model().idle != 0;
}
bool Card::ps_irq() const {
  return parts_->shell.model().ps_irq != 0;
}
bool Card::pps() const {
  return parts_->shell.model().pps_out != 0;
}
bool Card::perout() const {
  return parts_->shell.model().perout_out != 0;
}
MacRx& Card::mac_rx(unsigned port) {
  return parts_->mac_rx.at(port);
}
MacTx& Card::mac_tx(unsigned port) {
  return parts_->mac_tx.at(port);
}
Transceiver* Card::transceiver(unsigned port) const {
  return parts_->transceivers.empty() ? nullptr : &parts_->transceivers.at(port);
}
Qdma& Card::qdma() {
  if (!parts_->qdma) throw InputError(no_qdma);
  return *parts_->qdma;
}
AxilMaster& Card::pf_bus() {
  if (!parts_->pf_bus) throw InputError(no_qdma);
  return *parts_->pf_bus;
}
void Card::set_host_tap(HostTap tap) {
  Parts& p = *parts_;
  if (p.inner_streams) return p.inner_streams->set_tap(std::move(tap));
  if (!tap) {
    p.qdma->c2h.set_tap({});
    p.qdma->h2c.set_tap({});
    return;
  }
  p.qdma->c2h.set_tap([tap](const C2hFrame& frame) { tap(true, frame.t_ps, frame.bytes); });
  p.qdma->h2c.set_tap([&p, tap](unsigned, const H2cFrame& frame) { tap(false, p.now_ps, frame.bytes); });
}
pcie::Block* Card::pcie() {
  return parts_->pcie ? &*parts_->pcie : nullptr;
}
AxilMaster& Card::ps_bus() {
  return parts_->ps_bus;
}
PsMemory& Card::ps_memory() {
  return parts_->ps_memory;
}

}  // namespace meridian
