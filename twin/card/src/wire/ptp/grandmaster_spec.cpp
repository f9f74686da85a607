// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "wire/clock_spec.hpp"
#include "wire/end_kinds.hpp"
#include "wire/frame/ip_frame.hpp"
#include "wire/ptp/grandmaster.hpp"
#include "wire/wire_spec.hpp"

namespace meridian {

const std::string_view ptp_help = R"(  ptp               a PTP grandmaster; its clock runs on twin time
    transport=udp4    udp4, udp6 or ethernet
    vlan=... svlan=...   VLAN of an 802.1Q tag in its frames, and of a service tag (0x88A8) before it; 0 to 4094
    two_step=1        0: one-step
    profile=default   default (IEEE 1588) or gptp (IEEE 802.1AS: Ethernet, two-step)
    domain=0 sdo=0    sdo: majorSdoId (transportSpecific)
    priority1=128 priority2=128 class=6 accuracy=32 variance=20061 time_source=32 steps_removed=0
    timescale=ptp     ptp (TAI) or arb
    utc_offset=37 utc_offset_valid=1 traceable=1
    leap=none         none, 61 or 59: how many seconds the last minute of the day has
    log_announce=1 log_sync=0 log_delay_req=0   base 2 logarithms of the intervals in s, -10 to 10
    offset_ns=0       offset of its clock from twin time, at the start
    drift_ppb=0       frequency error of its clock
    wander_ns=0 wander_ppb=0 seed=...   bounds of a random walk of its clock: time, frequency
    link_delay=0      mean delay of both directions; it appears as the path delay
    asymmetry_ns=0    how much longer than the mean the direction to the card is (delayAsymmetry)
    turnaround=10us   time from a request to its answer
    follow_up=20us    time from a two-step message to its follow-up
    mac=02:00:5e:15:88:01 ip=192.168.42.1 ip6=fe80::5eff:fe15:8801
    start=0           time at which it begins
)";

std::unique_ptr<WireEnd> make_ptp(EndSpec& spec, const WireSetting& wire) {
  const auto octet = [&](const char* name, std::uint8_t fallback) {
    return static_cast<std::uint8_t>(spec.number(name, fallback, 0, 255));
  };
  const auto log = [&](const char* name, std::int8_t fallback) {
    return static_cast<std::int8_t>(spec.integer(name, fallback, -10, 10));
  };
  GrandmasterSetting s;
  s.transport = static_cast<PtpTransport>(spec.choice("transport", {"udp4", "udp6", "ethernet"}, 0));
  s.two_step = spec.flag("two_step", s.two_step);
  s.gptp = spec.choice("profile", {"default", "gptp"}, 0) == 1;
  if (s.gptp && spec.has("transport") && s.transport != PtpTransport::ethernet)
    spec.refuse("transport", "ethernet only with profile=gptp");
  if (s.gptp && !s.two_step) spec.refuse("two_step", "1 only with profile=gptp");
  std::vector<VlanTag> tags;
  for (const auto& [name, type] : {std::pair{"svlan", layout::type_service_vlan}, {"vlan", layout::type_vlan}})
    if (spec.has(name)) tags.push_back({type, static_cast<std::uint16_t>(spec.number(name, 0, 0, 4094))});
  s.tags = VlanTags(std::move(tags));
  s.domain = octet("domain", s.domain);
  s.major_sdo = static_cast<std::uint8_t>(spec.number("sdo", s.gptp ? 1 : 0, 0, 15));
  s.priority1 = octet("priority1", s.priority1);
  s.priority2 = octet("priority2", s.priority2);
  s.clock_class = octet("class", s.clock_class);
  s.clock_accuracy = octet("accuracy", s.clock_accuracy);
  s.variance = static_cast<std::uint16_t>(spec.number("variance", s.variance, 0, 65535));
  s.time_source = octet("time_source", s.time_source);
  s.steps_removed = static_cast<std::uint16_t>(spec.number("steps_removed", s.steps_removed, 0, 65535));
  s.ptp_timescale = spec.choice("timescale", {"ptp", "arb"}, 0) == 0;
  s.utc_offset = static_cast<std::int16_t>(spec.integer("utc_offset", s.utc_offset, -32768, 32767));
  s.utc_offset_valid = spec.flag("utc_offset_valid", s.utc_offset_valid);
  s.traceable = spec.flag("traceable", s.traceable);
  s.leap = static_cast<PtpLeap>(spec.choice("leap", {"none", "61", "59"}, 0));
  s.log_announce = log("log_announce", s.log_announce);
  s.log_sync = log("log_sync", s.log_sync);
  s.log_delay_req = log("log_delay_req", s.log_delay_req);
  s.clock = take_clock(spec, wire.seed);
  constexpr std::uint64_t longest_ps = 1'000'000'000'000;
  const auto way = [&](const char* name, std::uint64_t fallback) {
    const std::uint64_t ps = spec.duration_ps(name, fallback);
    if (ps > longest_ps) spec.refuse(name, "at most 1s");
    return ps;
  };
  s.delay_ps = way("link_delay", 0);
  s.asymmetry_ps = 1000 * spec.integer("asymmetry_ns", 0, -1'000'000'000, 1'000'000'000);
  s.turnaround_ps = way("turnaround", s.turnaround_ps);
  s.follow_up_ps = way("follow_up", s.follow_up_ps);
  if (spec.has("mac")) {
    const auto mac = parse_mac(spec.text("mac", ""));
    if (!mac || (mac->front() & 1) != 0) spec.refuse("mac", "a unicast address like 02:00:00:00:00:01");
    s.address.mac = *mac;
  }
  if (spec.has("ip")) {
    const auto ip = parse_ip4(spec.text("ip", ""));
    if (!ip) spec.refuse("ip", "an address like 192.168.42.1");
    s.address.ip4 = *ip;
  }
  if (spec.has("ip6")) {
    const auto ip = parse_ip6(spec.text("ip6", ""));
    if (!ip) spec.refuse("ip6", "an address like fe80::1");
    s.address.ip6 = *ip;
  }
  s.start_ps = spec.duration_ps("start", 0);
  spec.finish();
  if (s.asymmetry_ps > static_cast<std::int64_t>(s.delay_ps) || -s.asymmetry_ps > static_cast<std::int64_t>(s.delay_ps))
    spec.refuse("asymmetry_ns", "at most link_delay, either way");
  return std::make_unique<Grandmaster>(s, wire);
}

}  // namespace meridian
