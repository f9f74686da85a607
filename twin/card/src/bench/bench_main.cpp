// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/program.hpp"
#include "bench/bench.hpp"

namespace {

using meridian::Bench;
using meridian::InputError;

constexpr std::string_view usage =
    R"(shell_bench: measures the simulated shell at its pins, with the real clock ratios. It prints JSON lines.

  shell_bench [options] [MEASUREMENT...]    all measurements when none is named

  rx tx            line rate and loss, each frame size
  latency          both directions, each frame size
  priority         how long the PS waits while the host sends
  duplex           both directions of all ports at once, each frame size
  psloss           frames of the PS that are lost while the host takes nothing, each size of the host's frames
  storm            broadcasts at line rate: loss of PTP and unicast frames
  timer            error of the system timers at the MACs' pins
  ptp              error of timestamps under load

  --frames N       frames in a measurement, 60 or more (as many as its precision needs)
  --sizes A,B,...  frame sizes on the wire, with FCS (64,65,128,256,512,1024,1518,9604)
  --rate 10|25     line rate in Gb/s (25)
  --seed N         seed of random decisions (1)
  --ppm CLOCK=PPM  frequency error of a clock: host, ps, mac_rx_0, mac_tx_0, mac_rx_1, ...
  --functions N    functions that take the storm's broadcasts: PF 0 and the VFs below N (4: no VF)
  --help

Exit status: 0 measured; 1 a rule at the pins is broken or a frame is wrong; 2 arguments; 3 something hangs.
)";

std::uint64_t parse(std::string_view text, const std::string& option) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError(option + ": \"" + std::string(text) + "\" is not a number");
  return value;
}

double parse_real(std::string_view text, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError(option + ": \"" + std::string(text) + "\" is not a number");
  return value;
}

std::vector<std::size_t> parse_sizes(std::string_view text) {
  std::vector<std::size_t> lengths;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::uint64_t size = parse(text.substr(0, comma), "--sizes");
    if (size < 64 || size > 9604) throw InputError("--sizes: choose 64 to 9604 bytes");
    lengths.push_back(size - 4);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return lengths;
}

void run(const std::vector<std::string>& arguments) {
  meridian::CardSetting setting;
  setting.hang_ps = 1'000'000'000;  // out of reset a shell of 256 functions clears its tables before it answers
  std::uint32_t frames = 0;
  unsigned functions = 4;
  std::vector<std::size_t> lengths = parse_sizes("64,65,128,256,512,1024,1518,9604");
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 >= arguments.size()) throw InputError(option + ": its value is missing");
      return arguments[++i];
    };
    if (option == "--help") {
      std::cout << usage;
      return;
    }
    if (option == "--frames") {
      frames = static_cast<std::uint32_t>(std::min<std::uint64_t>(parse(value(), option), 1'000'000'000));
    } else if (option == "--sizes") {
      lengths = parse_sizes(value());
    } else if (option == "--seed") {
      setting.seed = parse(value(), option);
    } else if (option == "--functions") {
      const auto count = parse(value(), option);
      if (count > 256) throw InputError("--functions: choose up to 256");
      functions = static_cast<unsigned>(count);
    } else if (option == "--ppm") {
      const std::string_view text = value();
      const auto equals = text.find('=');
      if (equals == std::string_view::npos) throw InputError("--ppm: give CLOCK=PPM");
      setting.clocks[std::string(text.substr(0, equals))].ppm = parse_real(text.substr(equals + 1), option);
    } else if (option == "--rate") {
      const auto rate = parse(value(), option);
      if (rate != 10 && rate != 25) throw InputError("--rate: choose 10 or 25");
      setting.rate = rate == 10 ? meridian::MacRate::gbps10 : meridian::MacRate::gbps25;
    } else {
      wanted.push_back(option);
    }
  }

  Bench bench(setting, frames, [](const Bench::Json& figure) { std::cout << figure.dump() << std::endl; });
  const auto each = [&](void (Bench::*measure)(std::size_t)) {
    for (const std::size_t length : lengths) (bench.*measure)(length);
  };
  const std::vector<std::pair<std::string, std::function<void()>>> measurements = {
      {"rx", [&] { each(&Bench::line_rate_rx); }},
      {"tx", [&] { each(&Bench::line_rate_tx); }},
      {"latency",
       [&] {
         each(&Bench::latency_rx);
         each(&Bench::latency_tx);
       }},
      {"priority", [&] { bench.ps_priority(lengths); }},
      {"duplex", [&] { each(&Bench::duplex); }},
      {"psloss", [&] { bench.ps_loss(lengths); }},
      {"storm", [&] { bench.storm(functions); }},
      {"timer", [&] { bench.timer_error(); }},
      {"ptp", [&] { bench.ptp_error(); }}};
  for (const std::string& name : wanted)
    if (std::none_of(measurements.begin(), measurements.end(), [&](const auto& m) { return m.first == name; }))
      throw InputError("no measurement or option is named " + name + " (see --help)");
  for (const auto& [name, measure] : measurements)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) measure();
}

}  // namespace

int main(int argc, char** argv) {
  return meridian::run_program("shell_bench", [&] { run({argv + 1, argv + argc}); });
}
