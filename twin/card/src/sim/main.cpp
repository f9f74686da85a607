// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/program.hpp"
#include "shell/card.hpp"
#include "shell/card_options.hpp"
#include "sim/scenario.hpp"

namespace {

using meridian::InputError;

constexpr std::string_view usage =
    R"(shell_sim: simulates the shell alone, with its real clock domains, and drives its pins as a scenario says.

  shell_sim [options] SCENARIO     SCENARIO: a file of JSON lines, or - for standard input

  --use-idle-pin        a drain also waits for the shell's idle pin
  --no-hex              leaves the bytes of frames out of the events
  --help
)";

constexpr std::string_view closing = R"(
Events go to standard output as JSON lines, a statistics event last. Exit status: 0 done; 1 a rule at the pins is
broken or an expectation failed; 2 the arguments, the scenario or a capture cannot be used; 3 something hangs.
)";

struct Options {
  meridian::CardSetting card;
  std::string scenario;
  bool hex = true;
  bool help = false;
};

Options parse_arguments(std::vector<std::string> given) {
  Options options;
  for (meridian::Arguments arguments(std::move(given)); arguments.next();) {
    const std::string& option = arguments.option();
    if (option == "--help") {
      options.help = true;
    } else if (option == "--use-idle-pin") {
      options.card.use_idle_pin = true;
    } else if (option == "--no-hex") {
      options.hex = false;
    } else if (meridian::take_card_option(arguments, options.card)) {
      continue;
    } else if (arguments.is_option()) {
      throw InputError("no option is named " + option + " (see --help)");
    } else if (options.scenario.empty()) {
      options.scenario = option;
    } else {
      throw InputError("more than one scenario is given (see --help)");
    }
  }
  if (options.scenario.empty() && !options.help) throw InputError("no scenario is given (see --help)");
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

}  // namespace

int main(int argc, char** argv) {
  return meridian::run_program("shell_sim", [&] {
    const Options options = parse_arguments({argv + 1, argv + argc});
    if (options.help)
      std::cout << usage << meridian::card_options_help << closing;
    else
      run(options);
  });
}
