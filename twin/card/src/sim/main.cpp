// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "shell/card.hpp"
#include "sim/scenario.hpp"

namespace {

using meridian::InputError;

constexpr std::string_view usage =
    R"(shell_sim: runs the card's shell (Verilated) with its pins driven in real clock domains.

  shell_sim [options] SCENARIO     SCENARIO: a file of JSON lines, or - for standard input

  --seed N              random back-pressure and initial register values (1)
  --rate 10|25          line rate of all ports in Gb/s (25)
  --ppm CLOCK=PPM       a clock off by PPM: host, ps, mac_rx_0, mac_tx_0, mac_rx_1, ...
  --phase CLOCK=FS      first edge of a clock, in femtoseconds
  --hang-us N           longest wait for an answer that must come (100)
  --use-idle-pin        a drain waits for the shell's idle pin too
  --no-hex              events without the bytes of the frames
  --trace FILE.fst      waveforms (in a build with -DTRACE=ON)
  --trace-from NS --trace-to NS   of this time only
  --help

Events go to standard output as JSON lines, a statistics event last. Exit status: 0 done; 1 a rule at the pins is
broken or an expectation failed; 2 the arguments, the scenario or a capture cannot be used; 3 something hangs.
)";

struct Options {
  meridian::CardSetting card;
  std::string scenario;
  bool hex = true;
  bool help = false;
};

template <typename Number>
Number parse(std::string_view text, const std::string& option) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError(option + ": \"" + std::string(text) + "\" is not a number it can take");
  return value;
}

meridian::ClockOffset& clock_of(Options& options, std::string_view& text, const std::string& option) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) throw InputError(option + ": give CLOCK=VALUE");
  auto& offset = options.card.clocks[std::string(text.substr(0, equals))];
  text.remove_prefix(equals + 1);
  return offset;
}

Options parse_arguments(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& option = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 >= arguments.size()) throw InputError(option + ": its value is missing");
      return arguments[++i];
    };
    if (option == "--help") {
      options.help = true;
    } else if (option == "--seed") {
      options.card.seed = parse<std::uint64_t>(value(), option);
    } else if (option == "--rate") {
      const auto rate = parse<unsigned>(value(), option);
      if (rate != 10 && rate != 25) throw InputError("--rate: choose 10 or 25");
      options.card.rate = rate == 10 ? meridian::MacRate::gbps10 : meridian::MacRate::gbps25;
    } else if (option == "--ppm") {
      std::string_view text = value();
      auto& offset = clock_of(options, text, option);
      offset.ppm = parse<double>(text, option);
    } else if (option == "--phase") {
      std::string_view text = value();
      auto& offset = clock_of(options, text, option);
      offset.phase_fs = parse<std::uint64_t>(text, option);
    } else if (option == "--hang-us") {
      options.card.hang_ps = 1'000'000 * parse<std::uint64_t>(value(), option);
    } else if (option == "--use-idle-pin") {
      options.card.use_idle_pin = true;
    } else if (option == "--no-hex") {
      options.hex = false;
    } else if (option == "--trace") {
      options.card.trace_file = value();
    } else if (option == "--trace-from") {
      options.card.trace_from_ps = 1000 * parse<std::uint64_t>(value(), option);
    } else if (option == "--trace-to") {
      options.card.trace_to_ps = 1000 * parse<std::uint64_t>(value(), option);
    } else if (option.size() > 1 && option.front() == '-') {
      throw InputError("no option is named " + option + " (see --help)");
    } else if (options.scenario.empty()) {
      options.scenario = option;
    } else {
      throw InputError("one scenario only (see --help)");
    }
  }
  if (options.scenario.empty() && !options.help) throw InputError("which scenario? (see --help)");
  return options;
}

void run(const Options& options) {
  std::ifstream file;
  if (options.scenario != "-") {
    file.open(options.scenario);
    if (!file) throw InputError("cannot read " + options.scenario);
  }
  std::istream& in = options.scenario == "-" ? std::cin : file;
  meridian::Card card(options.card);
  meridian::Scenario scenario(card, std::cout, options.hex);
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    try {
      scenario.execute(line);
    } catch (const InputError& error) {
      throw InputError("line " + std::to_string(number) + ": " + error.what());
    }
    std::cout.flush();  // whoever drives it through pipes waits for this
  }
  if (in.bad()) throw InputError("cannot read " + options.scenario);
  scenario.finish();
}

int fail(int status, const char* kind, const std::exception& error) {
  std::cout.flush();
  std::cerr << "shell_sim: " << kind << error.what() << '\n';
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_arguments({argv + 1, argv + argc});
    if (options.help) {
      std::cout << usage;
      return 0;
    }
    run(options);
    return 0;
  } catch (const meridian::CheckError& error) {
    return fail(1, "check failed: ", error);
  } catch (const meridian::HangError& error) {
    return fail(3, "hang: ", error);
  } catch (const std::exception& error) {
    return fail(2, "", error);
  }
}
