// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "wire/end_kinds.hpp"
#include "wire/traffic/traffic_end.hpp"
#include "wire/wire_spec.hpp"

namespace meridian {

const std::string_view traffic_help =
    R"(  traffic           a tester's port: sends numbered frames with timestamps, and checks test frames that come
    size=64           frame size with FCS: one, a list 64/128/1518 (in turn), a range 64-1518 (at random), or imix
                      (7:4:1 of 64, 594, 1518)
    rate=100%         share of the line rate, or frames a second: 1000pps, 1.5Mpps
    burst=1           frames back to back, then a pause that restores the rate
    count=0           number of frames; 0: no end
    start=0 seed=... id=0    id, 0 to 255, marks its frames among those of other testers
    send=1            0: only receive
    flows=1           flow i has each field below plus i modulo its number of variants; flows take turns
    dmac=02:00:00:00:00:01 dmacs=1   smac=02:00:00:00:00:02 smacs=1   vlan=... vlans=1 priority=0
    proto=udp         udp, tcp or ethernet (type 0x88b5)
    sip=10.0.0.2 sips=1   dip=10.0.0.1 dips=1   sport=49152 sports=65536   dport=9 dports=1
)";

namespace {

void take_sizes(EndSpec& spec, TrafficSetting& setting) {
  constexpr const char* takes = "64, 64/128/1518, 64-1518 or imix, each 64 to 16384";
  const auto one = [&](const std::string& text) {
    std::size_t size = 0;
    if (!parse_number(text, size) || size < 64 || size > 16384) spec.refuse("size", takes);
    return size;
  };
  const auto parts = spec.list("size");
  if (parts.empty()) return;
  setting.lengths.clear();
  const auto dash = parts[0].find('-');
  if (parts.size() == 1 && parts[0] == "imix") {
    setting.sizes = TrafficSetting::Sizes::imix;
    setting.lengths = {64, 594, 1518};
  } else if (parts.size() == 1 && dash != std::string::npos) {
    setting.sizes = TrafficSetting::Sizes::range;
    setting.lengths = {one(parts[0].substr(0, dash)), one(parts[0].substr(dash + 1))};
    if (setting.lengths[0] > setting.lengths[1]) spec.refuse("size", takes);
  } else {
    for (const auto& part : parts) setting.lengths.push_back(one(part));
  }
}

void take_rate(EndSpec& spec, TrafficSetting& setting) {
  if (!spec.has("rate")) return;
  std::string text = spec.text("rate", "");
  constexpr const char* takes = "a share of the line like 50%, or frames a second like 1000pps or 1.5Mpps";
  double number = 0;
  for (const auto& [unit, scale] : {std::pair{"Mpps", 1e6}, {"kpps", 1e3}, {"pps", 1.0}, {"%", 0.01}}) {
    if (!text.ends_with(unit)) continue;
    text.resize(text.size() - std::string_view(unit).size());
    if (!parse_number(text, number) || !(number * scale > 1e-6 && number * scale <= 1e9)) spec.refuse("rate", takes);
    if (scale >= 1) {
      setting.pps = number * scale;
    } else {
      if (number > 100) spec.refuse("rate", takes);
      setting.line_share = number / 100;
    }
    return;
  }
  spec.refuse("rate", takes);
}

MacAddress take_mac(EndSpec& spec, const char* name, const MacAddress& fallback) {
  if (!spec.has(name)) return fallback;
  const auto mac = parse_mac(spec.text(name, ""));
  if (!mac) spec.refuse(name, "an address like 02:00:00:00:00:01");
  return *mac;
}

Ip4Address take_ip(EndSpec& spec, const char* name, const Ip4Address& fallback) {
  if (!spec.has(name)) return fallback;
  const auto ip = parse_ip4(spec.text(name, ""));
  if (!ip) spec.refuse(name, "an address like 10.0.0.1");
  return *ip;
}

}  // namespace

std::unique_ptr<WireEnd> make_traffic(EndSpec& spec, const WireSetting& wire) {
  TrafficSetting s;
  take_sizes(spec, s);
  take_rate(spec, s);
  s.burst = spec.number("burst", 1, 1, 1'000'000);
  s.count = spec.number("count", 0, 0, ~std::uint64_t{0});
  s.start_ps = spec.duration_ps("start", 0);
  s.seed = spec.number("seed", wire.seed, 0, ~std::uint64_t{0});
  s.generator = static_cast<std::uint8_t>(spec.number("id", 0, 0, 255));
  s.send = spec.flag("send", true);
  const auto variants = [&](const char* name, std::uint32_t fallback) {
    return static_cast<std::uint32_t>(spec.number(name, fallback, 1, 65536));
  };
  const auto port = [&](const char* name, std::uint16_t fallback) {
    return static_cast<std::uint16_t>(spec.number(name, fallback, 0, 65535));
  };
  s.flows = variants("flows", 1);
  s.first.destination = take_mac(spec, "dmac", s.first.destination);
  s.destinations = variants("dmacs", s.destinations);
  s.first.source = take_mac(spec, "smac", s.first.source);
  s.sources = variants("smacs", s.sources);
  const auto priority = spec.number("priority", 0, 0, 7);
  if (spec.has("vlan")) s.first.vlan = static_cast<std::uint16_t>(priority << 13 | spec.number("vlan", 0, 0, 4095));
  s.vlans = static_cast<std::uint32_t>(spec.number("vlans", 1, 1, 4096));
  if (s.first.vlan && (*s.first.vlan & 0xfffU) + s.vlans > 4096)
    spec.refuse("vlans", "no more than vlan leaves to 4095");
  s.first.protocol = static_cast<TrafficProtocol>(spec.choice("proto", {"udp", "tcp", "ethernet"}, 0));
  s.first.source_ip = take_ip(spec, "sip", s.first.source_ip);
  s.source_ips = variants("sips", s.source_ips);
  s.first.destination_ip = take_ip(spec, "dip", s.first.destination_ip);
  s.destination_ips = variants("dips", s.destination_ips);
  s.first.source_port = port("sport", s.first.source_port);
  s.source_ports = variants("sports", s.source_ports);
  s.first.destination_port = port("dport", s.first.destination_port);
  s.destination_ports = variants("dports", s.destination_ports);
  spec.finish();
  return std::make_unique<TrafficEnd>(s, wire);
}

}  // namespace meridian
