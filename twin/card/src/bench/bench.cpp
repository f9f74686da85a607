// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.hpp"

#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "bench/bench_addresses.hpp"
#include "mac/wire_cursor.hpp"

namespace meridian {

namespace {

using Json = nlohmann::json;

/// Rates are told to a hundredth: the clock in which a frame is seen to end does not allow for more.
double hundredths(double value) {
  return std::round(100 * value) / 100;
}

/// Of a rate, where no number of frames is asked for: what is known of its ends is 0.04 percent of it at most.
constexpr std::uint64_t span_ps = 25'000'000;
constexpr double host_cycle_ps = 4000;
constexpr double idle_bytes = 3;       // of the deficit idle count
constexpr unsigned ps_send_reads = 2;  // bursts: a descriptor, a frame
constexpr std::uint32_t least_frames = 60;

/// Frames before a rate is taken.
std::uint32_t warm_up_of(std::uint32_t frames) {
  return std::min<std::uint32_t>(64, frames / 4);
}

}  // namespace

Bench::Bench(const CardSetting& setting, std::uint32_t frames, Report report)
    : setting_(setting), frames_(frames), report_(std::move(report)) {
  if (frames != 0 && frames < least_frames) throw InputError("--frames: choose 60 or more");
}

std::uint32_t Bench::frames_of(std::size_t length) const {
  if (frames_ != 0) return frames_;
  return std::max(least_frames, static_cast<std::uint32_t>(static_cast<double>(span_ps) / wire_ps(length)));
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
  return static_cast<double>(wire::cost(length)) * byte_ps();
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
  const std::uint32_t count = frames_of(length), warm_up = warm_up_of(count);
  Card& card = *card_;
  const unsigned ports = Card::ports();
  std::vector<std::uint32_t> sent(ports, 0), got(ports, 0);
  std::vector<std::uint64_t> first(ports, 0), last(ports, 0);
  const auto frames = [&](unsigned port) { return NumberedFrames(host_address(port), peer, length); };
  const auto feed = [&] {
    for (unsigned port = 0; port < ports; ++port)
      while (sent[port] < count && card.mac_rx(port).pending() < ahead)
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
  card.drain(drain_limit_ps + static_cast<std::uint64_t>(wire_ps(length)) * count);
  double slowest = std::numeric_limits<double>::max();
  std::uint64_t delivered = 0;
  double mpps = 0;
  for (unsigned port = 0; port < ports; ++port) {
    delivered += got[port];
    if (got[port] <= warm_up) throw CheckError("rx: port " + std::to_string(port) + " delivered almost nothing");
    // A frame comes in a whole cycle of the MAC, up to three bytes early or late as idle is counted, and its end at
    // C2H is known to a host cycle: by so much a run at exactly line rate may seem longer. Nor does a wire carry more
    // than all of its rate.
    const double blur = host_cycle_ps + mac_cycle_ps() + idle_bytes * byte_ps();
    const double span = static_cast<double>(last[port] - first[port]) - blur;
    const double period = std::max(span / (got[port] - warm_up), wire_ps(length));
    slowest = std::min(slowest, 100 * wire_ps(length) / period);
    mpps += 1e6 / period;
  }
  const std::uint64_t offered = std::uint64_t{count} * ports;
  figure("rx_line_rate", point(length), hundredths(slowest), "% of line rate, slowest port", offered);
  figure("rx_rate", point(length), mpps, "Mpps, all ports", offered);
  figure("rx_loss", point(length), 100.0 * static_cast<double>(offered - delivered) / static_cast<double>(offered), "%",
         offered);
}

void Bench::line_rate_tx(std::size_t length) {
  fresh();
  const std::uint32_t count = frames_of(length), warm_up = warm_up_of(count);
  Card& card = *card_;
  const unsigned ports = Card::ports();
  std::vector<std::uint32_t> got(ports, 0);
  std::vector<std::uint64_t> first(ports, 0), last(ports, 0);
  std::uint32_t sent = 0;
  const auto frames = [&](unsigned port) { return NumberedFrames(peer, host_address(port), length); };
  const auto feed = [&] {
    for (; sent < count && card.qdma().h2c.pending() < ahead; ++sent)
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
  card.drain(drain_limit_ps + 2 * static_cast<std::uint64_t>(wire_ps(length)) * count);
  double slowest = std::numeric_limits<double>::max();
  double mpps = 0;
  for (unsigned port = 0; port < ports; ++port) {
    if (got[port] != count) throw CheckError("tx: " + std::to_string(count - got[port]) + " frames are lost");
    // The place on the wire is exact, but for the three bytes by which a single gap may be longer than the mean.
    const double span = static_cast<double>(last[port] - first[port]) - idle_bytes * byte_ps();
    const double period = std::max(span / (got[port] - warm_up), wire_ps(length));
    slowest = std::min(slowest, 100 * wire_ps(length) / period);
    mpps += 1e6 / period;
  }
  const std::uint64_t offered = std::uint64_t{count} * ports;
  figure("tx_line_rate", point(length), hundredths(slowest), "% of line rate, slowest port", offered);
  figure("tx_rate", point(length), mpps, "Mpps, all ports", offered);
}

void Bench::latency_rx(std::size_t length) {
  fresh();
  Card& card = *card_;
  Random random(setting_.seed);
  Spread to_first, to_last, store_to_first;
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
    // The shell takes a beat one MAC cycle after it came to the pins.
    const double taken = static_cast<double>(card.mac_rx(0).statistics().last_end_ps) + mac_cycle_ps();
    store_to_first.add((static_cast<double>(frame->t_first_ps) - taken) / 1000);
  }
  figure("rx_latency_first", point(length), to_first, "ns, first beat of the MAC to first beat of C2H");
  figure("rx_latency_end", point(length), store_to_first, "ns, last beat taken of the MAC to first beat taken of C2H");
  figure("rx_latency_last", point(length), to_last, "ns, first beat of the MAC to C2H with completion");
}

void Bench::latency_tx(std::size_t length) {
  fresh();
  Card& card = *card_;
  Random random(setting_.seed);
  Spread spread, store_to_first;
  const NumberedFrames frames(peer, host_address(0), length);
  for (std::uint32_t number = 0; number < 100; ++number) {
    card.run_for(100'000 + random.below(10'000));
    card.qdma().h2c.send(0, {frames.make(number), false});
    card.run_until([&] { return card.mac_tx(0).has_frame(); }, drain_limit_ps, "a transmitted frame");
    const auto frame = card.mac_tx(0).pop();
    frames.check(frame->bytes, number, "tx");
    const auto taken = static_cast<double>(card.qdma().h2c.statistics().last_end_ps);
    store_to_first.add((static_cast<double>(frame->t_first_ps) - taken) / 1000);
    // The MAC model's own latency is no part of the card's: its store puts the delimiter at a fixed distance.
    spread.add((static_cast<double>(frame->t_ps) - static_cast<double>(card.qdma().h2c.statistics().last_start_ps)) /
               1000);
  }
  figure("tx_latency_end", point(length), store_to_first, "ns, last beat taken of H2C to first beat taken by the MAC");
  figure("tx_latency", point(length), spread, "ns, first beat of H2C to the frame's first byte on the wire");
}

void Bench::keep_sending(const NumberedFrames& frames, std::uint32_t& number) {
  while (card_->qdma().h2c.pending() < 64) card_->qdma().h2c.send(0, {frames.make(number++), false});
}

PsWaits Bench::ps_waits(std::size_t host_length) {
  fresh();
  Card& card = *card_;
  PsRings rings(card, 0);
  rings.start();
  Random random(setting_.seed);
  const NumberedFrames from_ps(peer, ps_address(0), ptp_length);
  const NumberedFrames from_host(peer, host_address(0), std::max<std::size_t>(host_length, 60));
  std::uint32_t host_sent = 0, host_got = 0, ps_got = 0;
  std::uint64_t ps_time = 0, ps_stored = 0, ps_offered = 0;
  card.set_observer([&] {
    if (host_length != 0) keep_sending(from_host, host_sent);
    while (const auto frame = card.mac_tx(0).pop()) {
      if (frame->bytes == from_ps.make(ps_got)) {
        ps_time = frame->t_ps;
        ps_offered = frame->t_offered_ps;
        ++ps_got;
      } else {
        from_host.check(frame->bytes, host_got++, "tx beside the PS");
      }
    }
  });
  card.run_for(20'000'000);
  PsWaits waits;
  for (std::uint32_t number = 0; number < 100; ++number) {
    card.run_for(1'000'000 + random.below(3'000'000));
    const std::uint64_t posted = card.now_ps();
    if (!rings.send(from_ps.make(number))) throw CheckError("the transmit ring of the PS is full");
    const std::uint64_t reads = card.ps_memory().statistics().reads;
    const auto sent = [&] {
      // The PS reads the descriptor and then the frame, nothing else: with the second burst the frame is stored.
      const auto& statistics = card.ps_memory().statistics();
      if (statistics.reads == reads + ps_send_reads) ps_stored = statistics.last_read_ps;
      return ps_got > number;
    };
    card.run_until(sent, drain_limit_ps, "a frame of the PS");
    if (card.ps_memory().statistics().reads != reads + ps_send_reads)
      throw CheckError("the PS port read " + std::to_string(card.ps_memory().statistics().reads - reads) +
                       " bursts for a frame");
    waits.to_wire.add(static_cast<double>(ps_time - posted) / 1000);
    waits.to_pins.add((static_cast<double>(ps_offered) - static_cast<double>(ps_stored)) / 1000);
  }
  card.set_observer({});
  return waits;
}

void Bench::ps_priority(const std::vector<std::size_t>& host_lengths) {
  const PsWaits alone = ps_waits(0);
  figure("ps_tx_latency_silent", point(ptp_length), alone.to_wire, "ns, doorbell to wire, host silent");
  figure("ps_tx_stored_silent", point(ptp_length), alone.to_pins, "ns, frame read to first beat, host silent");
  for (const std::size_t length : host_lengths) {
    const PsWaits loaded = ps_waits(length);
    figure("ps_tx_latency", point(length), loaded.to_wire, "ns, doorbell to wire, host at line rate");
    figure("ps_tx_stored", point(length), loaded.to_pins, "ns, frame read to first beat, host at line rate");
    // Worst against worst: how the crossing into the MAC's clock falls is no wait.
    const double at_pins = loaded.to_pins.most() - alone.to_pins.most();
    figure("ps_tx_pins_wait_frames", point(length), at_pins * 1000 / wire_ps(length),
           "host frames, longest, at the pins", loaded.to_pins.count());
    const double longest = loaded.to_wire.most() - alone.to_wire.least();
    figure("ps_tx_wait", point(length), longest, "ns, longest", loaded.to_wire.count());
    figure("ps_tx_wait_frames", point(length), longest * 1000 / wire_ps(length), "host frames, longest",
           loaded.to_wire.count());
  }
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
    received.push_back(difference(frame->timestamp, card.mac_rx(0).statistics().last_sfd_ps));

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
