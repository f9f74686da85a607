// SPDX-License-Identifier: Apache-2.0
#include "wire/traffic/traffic_end.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "wire/frame/octets.hpp"

namespace meridian {

namespace {

constexpr std::size_t longest = 16384;  // with FCS
constexpr double made_up_for_ps = 1e9;

/// The address, as a number, plus n.
template <std::size_t Size>
std::array<std::uint8_t, Size> plus(std::array<std::uint8_t, Size> address, std::uint32_t n) {
  const auto low = std::span(address).template last<4>();
  put_be(low, 0, get_be<std::uint32_t>(low, 0) + n);
  return address;
}

/// Shares of the simple IMIX: 7 of 64, 4 of 594, 1 of 1518 bytes.
constexpr std::size_t imix[] = {64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518};

}  // namespace

TrafficEnd::TrafficEnd(const TrafficSetting& setting, const WireSetting& wire)
    : setting_(setting),
      wire_(wire),
      ahead_(wire),
      random_(setting.seed),
      slot_ps_(static_cast<double>(setting.start_ps)),
      burst_ps_(slot_ps_),
      next_ps_(setting.send ? setting.start_ps : never_ps) {
  const auto& s = setting_;
  if (s.flows == 0 || s.flows > 65536) throw InputError("traffic: 1 to 65536 flows");
  if (std::min({s.destinations, s.sources, s.vlans, s.source_ips, s.destination_ips, s.source_ports,
                s.destination_ports}) == 0)
    throw InputError("traffic: a field has at least one variant");
  if (!(s.pps >= 0) || !(s.line_share > 0 && s.line_share <= 1))
    throw InputError("traffic: the rate is above 0 and not above 100% of the line");
  if (s.burst == 0) throw InputError("traffic: a burst has at least one frame");
  if (s.lengths.empty() || (s.sizes == TrafficSetting::Sizes::range && s.lengths.size() != 2))
    throw InputError("traffic: give sizes");
  const std::size_t shortest = traffic_shortest(s.first) + wire::fcs;
  for (std::size_t& length : setting_.lengths) {
    if (s.sizes == TrafficSetting::Sizes::imix) break;
    if (length < shortest || length > longest)
      throw InputError("traffic: a size of " + std::to_string(length) + " is not within " + std::to_string(shortest) +
                       " (headers, the test's own 18 bytes, FCS) and " + std::to_string(longest));
  }
  if (s.sizes == TrafficSetting::Sizes::range && s.lengths[0] > s.lengths[1])
    throw InputError("traffic: the range of sizes is empty");
  if (!s.send) return;
  flows_.reserve(s.flows);
  for (std::uint32_t i = 0; i < s.flows; ++i) {
    TrafficFlow flow = s.first;
    flow.destination = plus(flow.destination, i % s.destinations);
    flow.source = plus(flow.source, i % s.sources);
    if (flow.vlan) flow.vlan = static_cast<std::uint16_t>(*flow.vlan + i % s.vlans);
    flow.source_ip = plus(flow.source_ip, i % s.source_ips);
    flow.destination_ip = plus(flow.destination_ip, i % s.destination_ips);
    flow.source_port = static_cast<std::uint16_t>(flow.source_port + i % s.source_ports);
    flow.destination_port = static_cast<std::uint16_t>(flow.destination_port + i % s.destination_ports);
    flows_.push_back(flow);
  }
  sequences_.resize(s.flows);
}

std::size_t TrafficEnd::next_length() {
  const auto& lengths = setting_.lengths;
  switch (setting_.sizes) {
    case TrafficSetting::Sizes::range:
      return lengths[0] + random_.below(static_cast<std::uint32_t>(lengths[1] - lengths[0] + 1)) - wire::fcs;
    case TrafficSetting::Sizes::imix:
      return std::max(imix[random_.below(static_cast<std::uint32_t>(std::size(imix)))] - wire::fcs,
                      traffic_shortest(setting_.first));
    case TrafficSetting::Sizes::list:
      break;
  }
  return lengths[made_ % lengths.size()] - wire::fcs;
}

RxFrame TrafficEnd::make() {
  const std::size_t length = next_length();
  const auto index = static_cast<std::uint16_t>(made_ % flows_.size());
  const TrafficFlow& flow = flows_[index];
  RxFrame frame;
  frame.bytes = traffic_frame(flow, {setting_.generator, index, sequences_[index]++, 0}, length);
  frame.on_start = [sent = sent_, offset = traffic_header(flow), protocol = flow.protocol](Bytes& bytes,
                                                                                           std::uint64_t sfd_ps) {
    traffic_stamp(bytes, offset, protocol, sfd_ps);
    ++*sent;
  };
  if (paced()) {
    if (made_ % setting_.burst == 0) burst_ps_ = slot_ps_;
    frame.at_ps = static_cast<std::uint64_t>(burst_ps_);
    const auto line_ps = static_cast<double>(wire_.frame_ps(length));
    slot_ps_ += setting_.pps > 0 ? 1e12 / setting_.pps : line_ps / setting_.line_share;
  }
  ++made_;
  return frame;
}

std::vector<RxFrame> TrafficEnd::poll(std::uint64_t now_ps, std::size_t pending) {
  std::vector<RxFrame> frames;
  if (!more()) {
    next_ps_ = never_ps;
    return frames;
  }
  if (now_ps < setting_.start_ps) return frames;
  ahead_.update(pending);
  const auto now = static_cast<double>(now_ps);
  if (!paced()) {
    while (more() && !ahead_.full()) {
      frames.push_back(make());
      ahead_.add(frames.back().bytes.size());
    }
    next_ps_ = more() ? ahead_.again_ps(now_ps) : never_ps;
    return frames;
  }
  if (slot_ps_ < now - made_up_for_ps) slot_ps_ = now;
  constexpr auto ahead = static_cast<double>(hand_over_ps);
  const auto due_ps = [&] { return made_ % setting_.burst == 0 ? slot_ps_ : burst_ps_; };
  while (more() && due_ps() <= now + ahead && pending + frames.size() < most_pending) frames.push_back(make());
  const auto due = static_cast<std::uint64_t>(std::max(due_ps() - ahead, 0.0));
  next_ps_ = more() ? std::max(due + 1, now_ps + hand_over_ps / 4) : never_ps;
  return frames;
}

void TrafficEnd::report(const WireReport& report) const {
  report("sent", static_cast<double>(sent()));
  const std::uint64_t own = sink_.received_from(setting_.generator);
  if (own != 0) report("own_missing", static_cast<double>(sent()) - static_cast<double>(own));
  sink_.report(report);
}

}  // namespace meridian
