// SPDX-License-Identifier: Apache-2.0
#include "wire/pulse_source.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "wire/clock_spec.hpp"
#include "wire/wire_end.hpp"

namespace meridian {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::uint64_t second_ps = 1'000'000'000'000;

}  // namespace

const std::string_view pulse_help = R"(
SPEC of --ext-ts, which drives the pin for external timestamps:
  loop                an output of the card itself
    pin=pps           pps: the pulse per second; perout: the periodic output
  pps                 the pulse per second of a receiver with a clock of its own
    offset_ns=0       offset of its clock from twin time, at the start
    drift_ppb=0       frequency error of its clock
    wander_ns=0 wander_ppb=0 seed=...   bounds of a random walk of its clock: time, frequency
    width=100ms       width of the pulse, 1us to 500ms
)";

PulseSource::PulseSource(const std::string& text, std::uint64_t seed) : next_ps_(never_ps) {
  EndSpec spec(text);
  if (spec.kind() == "loop")
    loop_ = std::array{Output::pps, Output::perout}.at(spec.choice("pin", {"pps", "perout"}, 0));
  if (!loop_ && spec.kind() != "pps") throw InputError("--ext-ts: choose loop or pps, not " + spec.kind());
  if (!loop_) {
    clock_ = GrandmasterClock(take_clock(spec, seed));
    width_ps_ = spec.duration_ps("width", 100'000'000'000);
    if (width_ps_ < 1'000'000 || width_ps_ > second_ps / 2) spec.refuse("width", "1us to 500ms");
  }
  spec.finish();
  if (!loop_) find_second();
}

bool PulseSource::advance() {
  level_ = !level_;
  if (level_)
    next_ps_ = rise_ps_ + width_ps_;
  else
    find_second();
  return level_;
}

/// The first second at least half a pulse after now. The clock's rate is near one, so what is left to it is nearly the
/// twin time that is left, and each round leaves a hundredth of the error at most.
void PulseSource::find_second() {
  const std::uint64_t from_ps = next_ps_ == never_ps ? 0 : next_ps_;
  const PtpInstant now = clock_.at(static_cast<std::int64_t>(from_ps));
  const std::int64_t into_ns = (now.ns % second_ns + second_ns) % second_ns;
  const std::int64_t wanted_ns = now.ns - into_ns + second_ns;
  auto rise_ps = static_cast<std::int64_t>(from_ps);
  for (int round = 0; round < 8; ++round) {
    const PtpInstant then = clock_.at(rise_ps);
    rise_ps += (wanted_ns - then.ns) * 1000 - then.ps;
  }
  rise_ps_ = next_ps_ = static_cast<std::uint64_t>(std::max<std::int64_t>(rise_ps, 0));
}

}  // namespace meridian
