// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"

#include <cmath>
#include <utility>

#include "error.hpp"
#include "random.hpp"
#include "wire.hpp"

namespace meridian {

namespace {

using Json = nlohmann::json;

constexpr MacAddress ptp_multicast = {0x01, 0x1b, 0x19, 0x00, 0x00, 0x00};  // IEEE 1588 Annex E
constexpr MacAddress broadcast = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
constexpr MacAddress peer = {0x02, 0x00, 0x00, 0x00, 0x00, 0x99};
constexpr MacAddress host_address(unsigned port) {
  return {0x02, 0xaa, 0xbb, 0xcc, 0xdd, static_cast<std::uint8_t>(port)};
}
constexpr MacAddress ps_address(unsigned port) {
  return {0x02, 0x50, 0x53, 0x00, 0x00, static_cast<std::uint8_t>(port)};
}

constexpr std::uint64_t drain_limit_ps = 200'000'000;
constexpr std::uint32_t warm_up = 64;   // frames before a rate is taken
constexpr std::size_t ptp_length = 68;  // Sync with its Ethernet header, padded
/// Rates are told to a hundredth: the clock in which a frame is seen to end does not allow for more.
double hundredths(double value) {
  return std::round(100 * value) / 100;
}

constexpr unsigned ahead = 256;  // frames queued in the models

}  // namespace

Bench::Bench(const CardSetting& setting, std::uint32_t frames, Report report)
    : setting_(setting), frames_(frames), report_(std::move(report)) {
  if (frames < 2 * warm_up) throw InputError("--frames: choose 128 or more");
}

void Bench::fresh() {
  card_.reset();  // one model at a time
  card_ = std::make_unique<Card>(setting_);
  Card& card = *card_;
  for (unsigned port = 0; port < Card::ports(); ++port) {
    set_queues(card, port, port, 1);
    add_mac(card, port, host_address(port), port);
    enable_host(card, port);
    listen(card, port, 0, ps_address(port));
    listen(card, port, 1, ptp_multicast);
  }
  enforce_credit(card, false);
  card.qdma().c2h.set_unlimited(true);
  card.run_for(2'000'000);  // what crosses clocks has arrived
}

double Bench::wire_ps(std::size_t length) const {
  const double byte_ps = setting_.rate == MacRate::gbps25 ? 320 : 800;
  return static_cast<double>(wire::cost(length)) * byte_ps;
}

Json Bench::point(std::size_t length) const {
  return {{"bytes", length + wire::fcs},
          {"ports", Card::ports()},
          {"host_bits", 8 * Card::host_bytes()},
          {"gbps", setting_.rate == MacRate::gbps25 ? 25 : 10}};
}

void Bench::figure(const std::string& id, Json with, double value, const std::string& unit, std::uint64_t runs) {
  report_({{"id", id}, {"with", std::move(with)}, {"value", value}, {"unit", unit}, {"runs", runs}});
}

void Bench::figure(const std::string& id, Json with, const Spread& spread, const std::string& unit) {
  report_({{"id", id},
           {"with", std::move(with)},
           {"value", spread.mean()},
           {"unit", unit},
           {"runs", spread.count()},
           {"min", spread.least()},
           {"max", spread.most()}});
}

void Bench::line_rate_rx(std::size_t length) {
  fresh();
  Card& card = *card_;
  const unsigned ports = Card::ports();
  std::vector<std::uint32_t> sent(ports, 0), got(ports, 0);
  std::vector<std::uint64_t> first(ports, 0), last(ports, 0);
  const auto frames = [&](unsigned port) { return NumberedFrames(host_address(port), peer, length); };
  const auto feed = [&] {
    for (unsigned port = 0; port < ports; ++port)
      while (sent[port] < frames_ && card.mac_rx(port).pending() < ahead)
        card.mac_rx(port).send({frames(port).make(sent[port]++), 0, false, 0});
    while (const auto frame = card.qdma().c2h.pop()) {
      if (frame->queue >= ports) throw CheckError("a frame for queue " + std::to_string(frame->queue));
      const unsigned port = frame->queue;
      // Frames may be lost when the card cannot keep up, but never altered, doubled or out of order.
      const std::uint32_t number = NumberedFrames::number_of(frame->bytes);
      frames(port).check(frame->bytes, number, "rx");
      if (got[port] != 0 && number < got[port]) throw CheckError("rx: frames out of order");
      if (++got[port] == warm_up) first[port] = frame->t_ps;
      last[port] = frame->t_ps;
    }
  };
  card.set_observer(feed);
  feed();
  card.drain(drain_limit_ps + static_cast<std::uint64_t>(wire_ps(length)) * frames_);
  double slowest = std::numeric_limits<double>::max();
  std::uint64_t delivered = 0;
  double mpps = 0;
  for (unsigned port = 0; port < ports; ++port) {
    delivered += got[port];
    if (got[port] <= warm_up) throw CheckError("rx: port " + std::to_string(port) + " delivered almost nothing");
    const double period = static_cast<double>(last[port] - first[port]) / (got[port] - warm_up);
    slowest = std::min(slowest, 100 * wire_ps(length) / period);
    mpps += 1e6 / period;
  }
  const std::uint64_t offered = std::uint64_t{frames_} * ports;
  figure("rx_line_rate", point(length), hundredths(slowest), "% of line rate, slowest port", offered);
  figure("rx_rate", point(length), mpps, "Mpps, all ports", offered);
  figure("rx_loss", point(length), 100.0 * static_cast<double>(offered - delivered) / static_cast<double>(offered), "%",
         offered);
}

void Bench::line_rate_tx(std::size_t length) {
  fresh();
  Card& card = *card_;
  const unsigned ports = Card::ports();
  std::vector<std::uint32_t> got(ports, 0);
  std::vector<std::uint64_t> first(ports, 0), last(ports, 0);
  std::uint32_t sent = 0;
  const auto frames = [&](unsigned port) { return NumberedFrames(peer, host_address(port), length); };
  const auto feed = [&] {
    for (; sent < frames_ && card.qdma().h2c.pending() < ahead; ++sent)
      for (unsigned port = 0; port < ports; ++port) card.qdma().h2c.send(port, {frames(port).make(sent), false});
    for (unsigned port = 0; port < ports; ++port)
      while (const auto frame = card.mac_tx(port).pop()) {
        frames(port).check(frame->bytes, got[port], "tx");
        if (++got[port] == warm_up) first[port] = frame->t_ps;
        last[port] = frame->t_ps;
      }
  };
  card.set_observer(feed);
  feed();
  card.drain(drain_limit_ps + 2 * static_cast<std::uint64_t>(wire_ps(length)) * frames_);
  double slowest = std::numeric_limits<double>::max();
  double mpps = 0;
  for (unsigned port = 0; port < ports; ++port) {
    if (got[port] != frames_) throw CheckError("tx: " + std::to_string(frames_ - got[port]) + " frames are lost");
    const double period = static_cast<double>(last[port] - first[port]) / (got[port] - warm_up);
    slowest = std::min(slowest, 100 * wire_ps(length) / period);
    mpps += 1e6 / period;
  }
  const std::uint64_t offered = std::uint64_t{frames_} * ports;
  figure("tx_line_rate", point(length), hundredths(slowest), "% of line rate, slowest port", offered);
  figure("tx_rate", point(length), mpps, "Mpps, all ports", offered);
}

void Bench::latency_rx(std::size_t length) {
  fresh();
  Card& card = *card_;
  Random random(setting_.seed);
  Spread to_first, to_last;
  const NumberedFrames frames(host_address(0), peer, length);
  for (std::uint32_t number = 0; number < 100; ++number) {
    card.run_for(100'000 + random.below(10'000));
    card.mac_rx(0).send({frames.make(number), 0, false, 0});
    card.run_until([&] { return card.qdma().c2h.has_frame(); }, drain_limit_ps, "a received frame");
    const auto frame = card.qdma().c2h.pop();
    frames.check(frame->bytes, number, "rx");
    const auto start = static_cast<double>(card.mac_rx(0).statistics().last_start_ps);
    to_first.add((static_cast<double>(frame->t_first_ps) - start) / 1000);
    to_last.add((static_cast<double>(frame->t_ps) - start) / 1000);
  }
  figure("rx_latency_first", point(length), to_first, "ns, first beat of the MAC to first beat of C2H");
  figure("rx_latency_last", point(length), to_last, "ns, first beat of the MAC to C2H with completion");
}

void Bench::latency_tx(std::size_t length) {
  fresh();
  Card& card = *card_;
  Random random(setting_.seed);
  Spread spread;
  const NumberedFrames frames(peer, host_address(0), length);
  for (std::uint32_t number = 0; number < 100; ++number) {
    card.run_for(100'000 + random.below(10'000));
    card.qdma().h2c.send(0, {frames.make(number), false});
    card.run_until([&] { return card.mac_tx(0).has_frame(); }, drain_limit_ps, "a transmitted frame");
    const auto frame = card.mac_tx(0).pop();
    frames.check(frame->bytes, number, "tx");
    // The MAC model's own latency is no part of the card's: its store puts the delimiter at a fixed distance.
    spread.add((static_cast<double>(frame->t_ps) - static_cast<double>(card.qdma().h2c.statistics().last_start_ps)) /
               1000);
  }
  figure("tx_latency", point(length), spread, "ns, first beat of H2C to the frame's first byte on the wire");
}

void Bench::keep_sending(const NumberedFrames& frames, std::uint32_t& number) {
  while (card_->qdma().h2c.pending() < 64) card_->qdma().h2c.send(0, {frames.make(number++), false});
}

Spread Bench::ps_waits(std::size_t host_length) {
  fresh();
  Card& card = *card_;
  PsRings rings(card, 0);
  rings.start();
  Random random(setting_.seed);
  const NumberedFrames from_ps(peer, ps_address(0), ptp_length);
  const NumberedFrames from_host(peer, host_address(0), std::max<std::size_t>(host_length, 60));
  std::uint32_t host_sent = 0, host_got = 0, ps_got = 0;
  std::uint64_t ps_time = 0;
  card.set_observer([&] {
    if (host_length != 0) keep_sending(from_host, host_sent);
    while (const auto frame = card.mac_tx(0).pop()) {
      if (frame->bytes == from_ps.make(ps_got)) {
        ps_time = frame->t_ps;
        ++ps_got;
      } else {
        from_host.check(frame->bytes, host_got++, "tx beside the PS");
      }
    }
  });
  card.run_for(20'000'000);
  Spread spread;
  for (std::uint32_t number = 0; number < 100; ++number) {
    card.run_for(1'000'000 + random.below(3'000'000));
    const std::uint64_t posted = card.now_ps();
    if (!rings.send(from_ps.make(number))) throw CheckError("the transmit ring of the PS is full");
    card.run_until([&] { return ps_got > number; }, drain_limit_ps, "a frame of the PS");
    spread.add(static_cast<double>(ps_time - posted) / 1000);
  }
  card.set_observer({});
  return spread;
}

void Bench::ps_priority(const std::vector<std::size_t>& host_lengths) {
  const Spread alone = ps_waits(0);
  figure("ps_tx_latency_silent", point(ptp_length), alone, "ns, doorbell to wire, host silent");
  for (const std::size_t length : host_lengths) {
    const Spread loaded = ps_waits(length);
    figure("ps_tx_latency", point(length), loaded, "ns, doorbell to wire, host at line rate");
    const double longest = loaded.most() - alone.least();
    figure("ps_tx_wait", point(length), longest, "ns, longest", loaded.count());
    figure("ps_tx_wait_frames", point(length), longest * 1000 / wire_ps(length), "host frames, longest",
           loaded.count());
  }
}

void Bench::storm() {
  fresh();
  Card& card = *card_;
  PsRings rings(card, 0);
  rings.start();
  const NumberedFrames noise(broadcast, peer, 60);
  const NumberedFrames ptp(ptp_multicast, peer, ptp_length);
  const NumberedFrames unicast(host_address(0), peer, 60);
  constexpr std::uint32_t ptp_every = 1024, unicast_every = 4;
  std::uint32_t sent = 0, ptp_sent = 0, unicast_sent = 0, ptp_got = 0, unicast_got = 0, noise_to_host = 0,
                noise_to_ps = 0;
  std::uint64_t next_look = 0;
  card.set_observer([&] {
    for (; sent < frames_ && card.mac_rx(0).pending() < ahead; ++sent) {
      if (sent % ptp_every == ptp_every / 2)
        card.mac_rx(0).send({ptp.make(ptp_sent++), 0, false, 0});
      else if (sent % unicast_every == 1)
        card.mac_rx(0).send({unicast.make(unicast_sent++), 0, false, 0});
      else
        card.mac_rx(0).send({noise.make(sent), 0, false, 0});
    }
    while (const auto frame = card.qdma().c2h.pop()) {
      const std::uint32_t number = NumberedFrames::number_of(frame->bytes);
      if (frame->bytes == unicast.make(number))
        ++unicast_got;
      else
        ++noise_to_host;
    }
    if (card.now_ps() < next_look) return;
    next_look = card.now_ps() + 200'000;
    while (const auto frame = rings.receive()) {
      if (frame->bytes == ptp.make(ptp_got))
        ++ptp_got;
      else
        ++noise_to_ps;
    }
  });
  card.drain(drain_limit_ps + static_cast<std::uint64_t>(wire_ps(60)) * frames_, 20'000'000);
  card.set_observer({});
  const auto loss = [](std::uint32_t offered, std::uint32_t got) {
    return offered == 0 ? 0 : 100.0 * (static_cast<double>(offered) - got) / offered;
  };
  figure("storm_ptp_loss", point(60), loss(ptp_sent, ptp_got), "% of the PS's PTP frames", ptp_sent);
  figure("storm_unicast_loss", point(60), loss(unicast_sent, unicast_got), "% of the host's unicast frames",
         unicast_sent);
  figure("storm_broadcasts_to_host", point(60), noise_to_host, "frames", sent);
  figure("storm_broadcasts_to_ps", point(60), noise_to_ps, "frames", sent);
}

void Bench::ptp_error() {
  fresh();
  Card& card = *card_;
  PsRings rings(card, 0);
  rings.start();
  const NumberedFrames ptp(ptp_multicast, peer, ptp_length);
  const NumberedFrames answer(peer, ps_address(0), ptp_length);
  const NumberedFrames load(peer, host_address(0), 1514);
  std::uint32_t load_sent = 0;
  std::optional<TxFrame> stamped;
  card.set_observer([&] {
    keep_sending(load, load_sent);
    while (auto frame = card.mac_tx(0).pop())
      if (frame->ptp_op != 0) stamped = std::move(frame);
    while (card.qdma().c2h.pop()) continue;
  });
  Spread receive, transmit, offset;
  const auto difference = [](const PtpTime& time, std::uint64_t ps) {
    return static_cast<double>(time.seconds) * 1e9 + time.nanoseconds - static_cast<double>(ps) / 1000;
  };
  Random random(setting_.seed);
  std::vector<double> received, sent;
  PtpTime before;
  for (std::uint32_t number = 0; number < 200; ++number) {
    card.run_for(1'000'000 + random.below(3'000'000));
    card.mac_rx(0).send({ptp.make(number), 0, false, 0});
    std::optional<PsFrame> frame;
    std::uint64_t next_look = 0;
    card.run_until(
        [&] {
          if (card.now_ps() < next_look) return false;
          next_look = card.now_ps() + 100'000;
          return (frame = rings.receive()).has_value();
        },
        drain_limit_ps, "a PTP frame at the PS");
    ptp.check(frame->bytes, number, "ps rx");
    if (!frame->timestamp_valid) throw CheckError("ps rx: a frame without a timestamp");
    if (number != 0 && frame->timestamp == before) throw CheckError("ps rx: the PTP clock stands still");
    before = frame->timestamp;
    received.push_back(difference(frame->timestamp, card.mac_rx(0).statistics().last_start_ps));

    stamped.reset();
    if (!rings.send(answer.make(number), static_cast<std::uint16_t>(number)))
      throw CheckError("the transmit ring of the PS is full");
    const PtpTime time = rings.transmit_timestamp();
    if (!stamped) throw CheckError("a transmit timestamp of no frame");
    answer.check(stamped->bytes, number, "ps tx");
    sent.push_back(difference(time, stamped->t_ps));
  }
  card.set_observer({});
  // The clock started at some moment; what counts is how far stamps scatter around one common offset.
  for (const double value : received) offset.add(value);
  for (const double value : sent) offset.add(value);
  for (const double value : received) receive.add(value - offset.mean());
  for (const double value : sent) transmit.add(value - offset.mean());
  figure("ptp_rx_error", point(ptp_length), receive, "ns, host sending at line rate");
  figure("ptp_tx_error", point(ptp_length), transmit, "ns, host sending at line rate");
}

}  // namespace meridian
