// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "bench/bench.hpp"
#include "bench/bench_addresses.hpp"
#include "mac/wire_cursor.hpp"

/// Measurements of one direction or one user beside the load of another.
namespace meridian {

namespace {

constexpr std::uint64_t look_ps = 200'000;  // between looks into the receive ring of the PS

constexpr MacAddress function_address(unsigned function) {
  return {0x02, 0xaa, 0xbb, 0xcc, 0xee, static_cast<std::uint8_t>(function)};
}

/// Of frames at one place, in the order of time.
class Rate {
 public:
  void add(std::uint64_t t_ps) {
    if (count_++ == 0) first_ = t_ps;
    last_ = t_ps;
  }
  double mpps(const char* what) const {
    if (count_ < 8) throw CheckError(std::string("duplex: hardly any frames come out, ") + what);
    return 1e6 * static_cast<double>(count_ - 1) / static_cast<double>(last_ - first_);
  }

 private:
  std::uint64_t count_ = 0, first_ = 0, last_ = 0;
};

}  // namespace

void Bench::duplex(std::size_t length) {
  fresh();
  Card& card = *card_;
  const unsigned ports = Card::ports();
  std::vector<std::uint32_t> rx_sent(ports, 0), rx_next(ports, 0), tx_got(ports, 0);
  std::vector<Rate> rx(ports), tx(ports);
  std::uint32_t tx_sent = 0;
  bool counts = false;
  const auto inward = [&](unsigned port) { return NumberedFrames(host_address(port), peer, length); };
  const auto outward = [&](unsigned port) { return NumberedFrames(peer, host_address(port), length); };
  card.set_observer([&] {
    for (unsigned port = 0; port < ports; ++port)
      while (card.mac_rx(port).pending() < 8) card.mac_rx(port).send({inward(port).make(rx_sent[port]++), 0, false, 0});
    for (; card.qdma().h2c.pending() < std::uint64_t{8} * ports; ++tx_sent)
      for (unsigned port = 0; port < ports; ++port) card.qdma().h2c.send(port, {outward(port).make(tx_sent), false});
    while (const auto frame = card.qdma().c2h.pop()) {
      // Where the stream is narrower than the wires frames are lost, but never altered or out of order.
      const std::uint32_t number = NumberedFrames::number_of(frame->bytes);
      if (frame->queue >= ports || number < rx_next[frame->queue]) throw CheckError("duplex rx: a frame goes astray");
      inward(frame->queue).check(frame->bytes, number, "duplex rx");
      rx_next[frame->queue] = number + 1;
      if (counts) rx[frame->queue].add(frame->t_ps);
    }
    for (unsigned port = 0; port < ports; ++port)
      while (const auto frame = card.mac_tx(port).pop()) {
        outward(port).check(frame->bytes, tx_got[port]++, "duplex tx");
        if (counts) tx[port].add(frame->t_ps);
      }
  });
  const auto frame_ps = static_cast<std::uint64_t>(wire_ps(length));
  card.run_for(std::max<std::uint64_t>(10'000'000, 6 * frame_ps));  // buffers have filled
  counts = true;
  card.run_for(std::max<std::uint64_t>(40'000'000, 24 * frame_ps));
  card.set_observer({});
  double achieved = 0;
  for (unsigned port = 0; port < ports; ++port) achieved += rx[port].mpps("rx") + tx[port].mpps("tx");
  const auto beats = static_cast<double>((length + Card::host_bytes() - 1) / Card::host_bytes());
  const double ceiling = 2 * std::min(ports * 1e6 / wire_ps(length), Card::host_mhz() / beats);
  Json with = point(length);
  with["ceiling_mpps"] = ceiling;
  // Beyond the ceiling is only what a frame more or less at the ends of the run makes.
  figure("duplex_ceiling", with, std::min(100.0, std::round(1e4 * achieved / ceiling) / 100), "% of the ceiling", 1);
  figure("duplex_rate", with, achieved, "Mpps, both directions of all ports", 1);
}

void Bench::lost_beside(const std::string& load, std::size_t length) {
  fresh();
  Card& card = *card_;
  PsRings rings(card, 0);
  rings.start();
  if (load == "host_stalled") {
    card.qdma().c2h.set_stall(true);
  } else {
    card.qdma().c2h.set_unlimited(false);
    enforce_credit(card, true);
    card.run_for(2'000'000);
  }
  const NumberedFrames host(host_address(0), peer, length);
  const NumberedFrames to_ps[] = {{ptp_multicast, peer, ptp_length}, {ps_address(0), peer, ptp_length}};
  const std::uint32_t ps_every = length < 512 ? 32 : 4;
  const std::uint32_t count = std::max(frames_of(length), 200 * ps_every);
  std::uint32_t sent = 0, ps_sent = 0, ps_got = 0;
  std::uint64_t next_look = 0;
  const auto look = [&] {
    for (; sent < count && card.mac_rx(0).pending() < ahead; ++sent) {
      const bool for_ps = sent % ps_every == ps_every / 2;
      card.mac_rx(0).send({for_ps ? to_ps[ps_sent % 2].make(ps_sent) : host.make(sent), 0, false, 0});
      ps_sent += for_ps;
    }
    if (card.now_ps() < next_look) return;
    next_look = card.now_ps() + look_ps;
    while (const auto frame = rings.receive()) {
      const std::uint32_t number = NumberedFrames::number_of(frame->bytes);
      to_ps[number % 2].check(frame->bytes, number, "ps rx beside a host that takes nothing");
      ++ps_got;
    }
  };
  card.set_observer(look);
  look();
  const auto wire = static_cast<std::uint64_t>(wire_ps(length)) * count;
  card.run_until([&] { return sent == count && card.mac_rx(0).idle(); }, drain_limit_ps + 2 * wire, "the last frame");
  card.run_for(20'000'000);  // what is on its way to the PS arrives
  card.set_observer({});
  const auto& host_side = card.qdma().c2h.statistics();
  if (host_side.frames != 0) throw CheckError("the host took frames that it had no room for");
  if (load == "host_stalled" && host_side.stalled == 0) throw CheckError("the host's stream was never stopped");
  Json with = point(length);
  with["load"] = load;
  figure("ps_rx_lost", with, static_cast<double>(ps_sent) - ps_got, "frames", ps_sent);
}

void Bench::ps_loss(const std::vector<std::size_t>& host_lengths) {
  for (const std::size_t length : host_lengths)
    for (const char* load : {"host_stalled", "no_buffers"}) lost_beside(load, length);
}

void Bench::storm(unsigned functions) {
  fresh();
  Card& card = *card_;
  PsRings rings(card, 0);
  rings.start();
  constexpr unsigned pfs = 4;
  std::vector<MacAddress> listeners = {host_address(0)};
  for (unsigned function = pfs; function < functions; ++function) {
    set_queues(card, function, function, 1);
    add_mac(card, 0, function_address(function), function);
    listeners.push_back(function_address(function));
  }
  card.run_for(2'000'000);
  const std::uint32_t count = frames_ == 0 ? 4000 : frames_;
  const NumberedFrames noise(broadcast, peer, 60);
  const NumberedFrames ptp(ptp_multicast, peer, ptp_length);
  const auto unicast = [&](std::uint32_t number) {
    return NumberedFrames(listeners[number % listeners.size()], peer, 60);
  };
  constexpr std::uint32_t ptp_every = 1024, unicast_every = 4;
  std::uint32_t sent = 0, ptp_sent = 0, unicast_sent = 0, ptp_got = 0, unicast_got = 0, noise_to_host = 0,
                noise_to_ps = 0;
  std::uint64_t next_look = 0;
  card.set_observer([&] {
    for (; sent < count && card.mac_rx(0).pending() < ahead; ++sent) {
      if (sent % ptp_every == ptp_every / 2) {
        card.mac_rx(0).send({ptp.make(ptp_sent++), 0, false, 0});
      } else if (sent % unicast_every == 1) {
        card.mac_rx(0).send({unicast(unicast_sent).make(unicast_sent), 0, false, 0});
        ++unicast_sent;
      } else {
        card.mac_rx(0).send({noise.make(sent), 0, false, 0});
      }
    }
    while (const auto frame = card.qdma().c2h.pop()) {
      const std::uint32_t number = NumberedFrames::number_of(frame->bytes);
      if (frame->bytes == unicast(number).make(number)) {
        const auto listener = static_cast<unsigned>(number % listeners.size());
        if (frame->queue != (listener == 0 ? 0 : listener + pfs - 1)) throw CheckError("storm: a wrong queue");
        ++unicast_got;
      } else {
        ++noise_to_host;
      }
    }
    if (card.now_ps() < next_look) return;
    next_look = card.now_ps() + look_ps;
    while (const auto frame = rings.receive()) {
      if (frame->bytes == ptp.make(ptp_got))
        ++ptp_got;
      else
        ++noise_to_ps;
    }
  });
  card.drain(10 * drain_limit_ps + static_cast<std::uint64_t>(wire_ps(60)) * count, 20'000'000);
  card.set_observer({});
  const auto loss = [](std::uint32_t offered, std::uint32_t got) {
    return offered == 0 ? 0 : 100.0 * (static_cast<double>(offered) - got) / offered;
  };
  Json with = point(60);
  with["functions"] = listeners.size();
  figure("storm_ptp_loss", with, loss(ptp_sent, ptp_got), "% of the PS's PTP frames", ptp_sent);
  figure("storm_unicast_loss", with, loss(unicast_sent, unicast_got), "% of the host's unicast frames", unicast_sent);
  figure("storm_broadcasts_to_host", with, noise_to_host, "frames", sent);
  figure("storm_broadcasts_to_ps", with, noise_to_ps, "frames", sent);
}

void Bench::timer_error() {
  constexpr std::uint64_t lock_ps = 5'000'000;  // 32 samples of 124 ns, the first of them and the way
  constexpr std::uint64_t measured_ps = 100'000'000;
  struct Errors {
    double squares = 0, peak = 0, sum = 0;
    std::uint64_t count = 0;
  };
  Errors errors[2];
  card_.reset();
  // How the MAC's edges lie to those of the PTP clock decides the noise of the samples: four ways of it.
  for (unsigned phase = 0; phase < 4; ++phase) {
    CardSetting setting = setting_;
    for (unsigned port = 0; port < Card::ports(); ++port)
      for (const char* direction : {"mac_rx_", "mac_tx_"})
        setting.clocks[direction + std::to_string(port)].phase_fs =
            1'300'001 + 641'003 * phase + 97'003 * port + (direction[4] == 't' ? 331'003 : 0);
    Card card(setting);
    card.set_timer_watch([&](const Card::TimerEdge& edge) {
      if (edge.since_reset_ps < lock_ps) return;
      const double error = static_cast<double>(edge.time.seconds) * 1e9 + edge.time.nanoseconds - edge.ideal_ns;
      Errors& e = errors[edge.receive ? 0 : 1];
      e.squares += error * error;
      e.sum += error;
      e.peak = std::max(e.peak, std::abs(error));
      ++e.count;
    });
    card.run_for(lock_ps + measured_ps);
  }
  for (unsigned direction = 0; direction < 2; ++direction) {
    const Errors& e = errors[direction];
    if (e.count == 0) throw CheckError("timer: no edge of a MAC clock was seen");
    Json with = point(ptp_length);
    with.erase("bytes");
    with["direction"] = direction == 0 ? "rx" : "tx";
    const auto count = static_cast<double>(e.count);
    figure("phc_error_rms", with, std::sqrt(e.squares / count), "ns, system timer to PTP clock", e.count);
    figure("phc_error_mean", with, e.sum / count, "ns, system timer to PTP clock", e.count);
    figure("phc_error_peak", with, e.peak, "ns, system timer to PTP clock", e.count);
  }
}

}  // namespace meridian
