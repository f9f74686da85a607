// SPDX-License-Identifier: Apache-2.0
#include "wire/make_wire_end.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "wire/capture/capture_end.hpp"
#include "wire/capture/replay_end.hpp"
#include "wire/delay_loss.hpp"
#include "wire/end_kinds.hpp"
#include "wire/mix_end.hpp"
#include "wire/none_end.hpp"
#include "wire/socket/packet_socket_end.hpp"
#include "wire/socket/socket_end.hpp"
#include "wire/socket/tap_end.hpp"
#include "wire/wire_spec.hpp"

namespace meridian {

namespace {

std::unique_ptr<WireEnd> make_none(EndSpec&, const WireSetting&) {
  return std::make_unique<NoneEnd>();
}

std::unique_ptr<WireEnd> make_replay(EndSpec& spec, const WireSetting& wire) {
  ReplaySetting setting;
  setting.file = spec.required_text("file");
  setting.recorded_times = spec.choice("times", {"line", "recorded"}, 0) == 1;
  setting.speed = spec.real("speed", 1, 1e-6, 1e6);
  setting.loops = spec.number("loop", 1, 0, ~std::uint64_t{0});
  setting.pad = spec.flag("pad", true);
  setting.start_ps = spec.duration_ps("start", 0);
  spec.finish();  // before the file is opened
  return std::make_unique<ReplayEnd>(setting, wire);
}

std::unique_ptr<WireEnd> make_socket(EndSpec& spec, const WireSetting&) {
  const std::string path = spec.required_text("path");
  spec.finish();
  return std::make_unique<SocketEnd>(path);
}

DescriptorSetting take_descriptor(EndSpec& spec) {
  DescriptorSetting setting;
  setting.longest = spec.number("longest", setting.longest, 60, 16'384);
  setting.queue = spec.number("queue", setting.queue, 1, 1'000'000);
  return setting;
}

std::unique_ptr<WireEnd> make_tap(EndSpec& spec, const WireSetting&) {
  const std::string name = spec.required_text("name");
  const bool up = spec.flag("up", true);
  const auto setting = take_descriptor(spec);
  spec.finish();
  return std::make_unique<TapEnd>(name, up, setting);
}

std::unique_ptr<WireEnd> make_packet(EndSpec& spec, const WireSetting&) {
  const std::string interface = spec.required_text("interface");
  const auto setting = take_descriptor(spec);
  spec.finish();
  return std::make_unique<PacketSocketEnd>(interface, setting);
}

const EndKind kinds[] = {
    {"none", make_none, "  none              sends nothing, and counts the frames that come\n"},
    {"replay", make_replay,
     R"(  replay            sends a capture file
    file=FILE         pcap or pcapng
    times=line        line: back to back at line rate; recorded: at the recorded times
    speed=1           speed-up of recorded times; 2: twice as fast
    loop=1            number of repetitions; 0: no end
    pad=1             pad short frames to 60 bytes
    start=0           time at which the first frame is sent
)"},
    {"traffic", make_traffic, traffic_help},
    {"ptp", make_ptp, ptp_help},
    {"socket", make_socket,
     R"(  socket            a program sends and receives the frames (src/wire/socket/socket_end.hpp)
    path=PATH         path of a UNIX socket, SOCK_SEQPACKET
)"},
    {"tap", make_tap,
     R"(  tap               a TAP device of Linux
    name=NAME         name of the device, which is created if it does not exist
    up=1              set the device up
    longest=9600 queue=1024   longest frame in bytes without FCS; most frames that wait for the device
)"},
    {"packet", make_packet,
     R"(  packet            an interface of Linux, preferably one end of a veth pair
    interface=NAME
    longest=9600 queue=1024
)"},
};

std::string kind_names() {
  std::string names;
  for (const EndKind& kind : kinds) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

constexpr std::string_view common_help = R"(  Every kind also takes
    delay=0 jitter=0 loss=0 duplicate=0 reorder=0 reorder_by=10us
                      faults of its wire in both directions; with _in only towards the card, with _out only from
                      it. Jitter keeps the order of frames, reorder delays some of them by reorder_by; loss, duplicate
                      and reorder are probabilities, 0.01 or 1%
    capture=FILE      pcapng of the frames at the card's port
    seed=...          seed of its random decisions
)";

WaySetting take_way(EndSpec& spec, const std::string& suffix, const WaySetting& fallback) {
  WaySetting way;
  way.delay_ps = spec.duration_ps("delay" + suffix, fallback.delay_ps);
  way.jitter_ps = spec.duration_ps("jitter" + suffix, fallback.jitter_ps);
  way.loss = spec.share("loss" + suffix, fallback.loss);
  way.duplicate = spec.share("duplicate" + suffix, fallback.duplicate);
  way.reorder = spec.share("reorder" + suffix, fallback.reorder);
  way.reorder_ps = spec.duration_ps("reorder_by" + suffix, fallback.reorder_ps);
  return way;
}

std::unique_ptr<WireEnd> make_one(const std::string& text, const WireSetting& wire) {
  EndSpec spec(text);
  const EndKind* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                     [&](const EndKind& candidate) { return spec.kind() == candidate.name; });
  if (kind == std::end(kinds))
    throw InputError("wire \"" + text + "\": no kind of end is named \"" + spec.kind() + "\", there are " +
                     kind_names());
  const WaySetting both = take_way(spec, "", {});
  DelayLossSetting faults{take_way(spec, "_in", both), take_way(spec, "_out", both),
                          spec.number("seed", wire.seed, 0, ~std::uint64_t{0})};
  const std::string capture = spec.text("capture", "");
  auto end = kind->make(spec, wire);
  spec.finish();
  if (!faults.in.does_nothing() || !faults.out.does_nothing())
    end = std::make_unique<DelayLoss>(std::move(end), faults, wire);
  if (!capture.empty()) {
    const std::vector<CaptureInterface> interfaces{{"wire", wire.gbps * std::uint64_t{1'000'000'000}}};
    end = std::make_unique<CaptureEnd>(std::move(end), std::make_shared<CaptureFile>(capture, interfaces), 0);
  }
  return end;
}

}  // namespace

std::unique_ptr<WireEnd> make_wire_end(std::string_view spec, const WireSetting& wire) {
  const auto parts = split_spec(spec, '+');
  if (parts.size() == 1) return make_one(parts[0], wire);
  std::vector<MixEnd::Named> ends;
  for (const auto& part : parts) ends.emplace_back(EndSpec(part).kind(), make_one(part, wire));
  return std::make_unique<MixEnd>(std::move(ends));
}

std::string wire_help() {
  std::string text =
      "SPEC, the other end of a port, is KIND or KIND:OPTION=VALUE,OPTION=VALUE...; several joined with + share the "
      "port.\n"
      "A backslash takes the next character literally. Units of time are ps, ns, us, ms and s; without one it is ns.\n"
      "Kinds and options with their defaults:\n";
  for (const EndKind& kind : kinds) text += kind.help;
  return text.append(common_help);
}

}  // namespace meridian
