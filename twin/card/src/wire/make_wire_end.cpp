// SPDX-License-Identifier: Apache-2.0
#include "wire/make_wire_end.hpp"

#include <string>

#include "base/error.hpp"
#include "wire/end_kinds.hpp"
#include "wire/none_end.hpp"
#include "wire/replay_end.hpp"
#include "wire/socket_end.hpp"
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
  spec.finish();
  return std::make_unique<ReplayEnd>(setting, wire);
}

std::unique_ptr<WireEnd> make_socket(EndSpec& spec, const WireSetting&) {
  const std::string path = spec.required_text("path");
  spec.finish();
  return std::make_unique<SocketEnd>(path);
}

const EndKind kinds[] = {
    {"none", make_none, "  none              sends nothing, counts what comes\n"},
    {"replay", make_replay,
     R"(  replay            sends a capture file
    file=FILE         pcap or pcapng
    times=line        line: back to back at line rate; recorded: at the recorded times
    speed=1           of recorded times, 2 is twice as fast
    loop=1            how often, 0 is for ever
    pad=1             short frames to 60 bytes
    start=0           when the first one goes
)"},
    {"traffic", make_traffic, traffic_help},
    {"ptp", make_ptp, ptp_help},
    {"socket", make_socket,
     R"(  socket            the wire in a program's hands (src/wire/socket_end.hpp)
    path=PATH         of a UNIX socket, SOCK_SEQPACKET
)"},
};

std::string kind_names() {
  std::string names;
  for (const EndKind& kind : kinds) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

std::unique_ptr<WireEnd> make_one(const std::string& text, const WireSetting& wire) {
  EndSpec spec(text);
  for (const EndKind& kind : kinds)
    if (spec.kind() == kind.name) return kind.make(spec, wire);
  throw InputError("wire \"" + text + "\": no kind of end is named \"" + spec.kind() + "\", there are " + kind_names());
}

}  // namespace

std::unique_ptr<WireEnd> make_wire_end(std::string_view spec, const WireSetting& wire) {
  return make_one(std::string(spec), wire);
}

std::string wire_help() {
  std::string text =
      "What is at the other end of a port: KIND or KIND:OPTION=VALUE,OPTION=VALUE...; several with + between them "
      "share\n"
      "the port. A backslash takes the next character as it is. Times take ps, ns, us, ms, s; without a unit they are\n"
      "ns. Kinds and options with their defaults:\n";
  for (const EndKind& kind : kinds) text += kind.help;
  return text;
}

}  // namespace meridian
