// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/program.hpp"
#include "shell/card_options.hpp"
#include "twin/cable_option.hpp"
#include "twin/qdma_options.hpp"
#include "twin/twin.hpp"
#include "wire/cable.hpp"
#include "wire/make_wire_end.hpp"
#include "wire/pulse_source.hpp"

namespace {

using meridian::InputError;

constexpr std::string_view usage =
    R"(meridian_card: the whole card as a program. The shell is the Verilog that Vivado gets, compiled by Verilator. The
QDMA IP, the MACs and the wire are models.

  meridian_card --socket PATH [options]

  --socket PATH         socket for the machines around the card (twin/card/include/meridian_link.h)
  --control PATH        socket to examine the running card: JSON lines, {"op": "help"} lists the operations
  --capture FILE        writes pcapng of all frames at the wire, the host and the PS
  --log FILE            writes the events around the card, with twin time, as JSON lines
  --time wall|free|lockstep
                        twin time (the simulated time) follows the wall clock as long as the simulation is fast enough
                        (wall, the default); or passes as fast as it can be simulated, and idle time takes no time
                        (free); or stands still, except for what a client asks for (lockstep)
  --ext-ts SPEC         what drives the pin for external timestamps (nothing)
  --for NS              ends after this much twin time
  --wire PORT=SPEC      what is at the other end of a port's wire (nothing)
  --card                begins the options of another card in the same process
  --help
)";

std::atomic<bool> stop_asked = false;

struct CardOptions {
  meridian::CardNodeSetting node;
  std::vector<std::optional<std::string>> wires = std::vector<std::optional<std::string>>(meridian::Card::ports());
};

struct Options {
  std::vector<CardOptions> cards = std::vector<CardOptions>(1);
  std::vector<meridian::CableOption> cables;
  meridian::TwinTime time = meridian::TwinTime::wall;
  std::uint64_t end_ps = meridian::never_ps;
  bool help = false;
};

void take_wire(CardOptions& card, const std::string& text) {
  const auto equals = text.find('=');
  const std::string port = text.substr(0, equals);
  if (equals == std::string::npos || port.size() != 1 || port[0] < '0' ||
      static_cast<unsigned>(port[0] - '0') >= card.wires.size())
    throw InputError("--wire: give PORT=SPEC, PORT of 0 to " + std::to_string(card.wires.size() - 1));
  card.wires[static_cast<unsigned>(port[0] - '0')] = text.substr(equals + 1);
}

meridian::TwinTime time_named(const std::string& text) {
  if (text == "wall") return meridian::TwinTime::wall;
  if (text == "free") return meridian::TwinTime::free;
  if (text == "lockstep") return meridian::TwinTime::lockstep;
  throw InputError("--time: choose wall, free or lockstep");
}

Options parse_arguments(std::vector<std::string> given) {
  Options options;
  for (meridian::Arguments arguments(std::move(given)); arguments.next();) {
    const std::string& option = arguments.option();
    CardOptions& card = options.cards.back();
    if (option == "--help")
      options.help = true;
    else if (option == "--card")
      options.cards.emplace_back();
    else if (option == "--socket")
      card.node.socket = arguments.value();
    else if (option == "--control")
      card.node.control = arguments.value();
    else if (option == "--capture")
      card.node.capture = arguments.value();
    else if (option == "--ext-ts")
      card.node.ext_ts = arguments.value();
    else if (option == "--log")
      card.node.log = arguments.value();
    else if (option == "--wire")
      take_wire(card, arguments.value());
    else if (option == "--cable")
      options.cables.push_back(meridian::parse_cable(arguments.value()));
    else if (option == "--time")
      options.time = time_named(arguments.value());
    else if (option == "--for")
      options.end_ps = arguments.scaled(1000);
    else if (!take_card_option(arguments, card.node.card) && !take_qdma_option(arguments, card.node.qdma))
      throw InputError(arguments.is_option() ? "no option is named " + option + " (see --help)"
                                             : "unexpected argument " + option + " (see --help)");
  }
  for (CardOptions& card : options.cards) {
    card.node.qdma.seed = card.node.card.seed;
    card.node.qdma.user_mhz = meridian::Card::host_mhz();
    if (card.node.socket.empty() && !options.help) throw InputError("give --socket PATH for each card (see --help)");
  }
  return options;
}

meridian::WireSetting wire_setting(const CardOptions& card) {
  meridian::WireSetting wire;
  wire.gbps = card.node.card.rate == meridian::MacRate::gbps10 ? 10 : 25;
  wire.seed = card.node.card.seed;
  return wire;
}

/// By card and port.
using Ends = std::vector<std::vector<std::unique_ptr<meridian::WireEnd>>>;

void plug(const Options& options, const meridian::CableOption& cable, Ends& ends) {
  for (const meridian::CablePlug& plug : {cable.first, cable.second}) {
    const auto refuse = [&](const std::string& why) { throw InputError("--cable to " + plug.text() + ": " + why); };
    if (plug.card >= ends.size())
      refuse("there is no card " + std::to_string(plug.card) + ", the last one is " + std::to_string(ends.size() - 1));
    if (plug.port >= ends[plug.card].size())
      refuse("there is no port " + std::to_string(plug.port) + ", the last one is " +
             std::to_string(ends[plug.card].size() - 1));
    if (options.cards[plug.card].wires[plug.port]) refuse("that port has a --wire");
    if (ends[plug.card][plug.port] != nullptr) refuse("that port has a cable");
  }
  const meridian::WireSetting wire = wire_setting(options.cards[cable.first.card]);
  if (wire.gbps != wire_setting(options.cards[cable.second.card]).gbps)
    throw InputError("--cable from " + cable.first.text() + " to " + cable.second.text() +
                     ": the cards differ in --rate");
  auto both = meridian::make_cable({cable.delay_ps, cable.delay_ps}, wire);
  ends[cable.first.card][cable.first.port] = std::move(both.first);
  ends[cable.second.card][cable.second.port] = std::move(both.second);
}

Ends make_ends(const Options& options) {
  Ends ends(options.cards.size());
  for (auto& card : ends) card.resize(meridian::Card::ports());
  for (const meridian::CableOption& cable : options.cables) plug(options, cable, ends);
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (unsigned port = 0; port < ends[i].size(); ++port)
      if (ends[i][port] == nullptr)
        ends[i][port] =
            meridian::make_wire_end(options.cards[i].wires[port].value_or("none"), wire_setting(options.cards[i]));
  return ends;
}

void run(const Options& options) {
  meridian::Twin twin(options.time, options.end_ps);
  std::vector<meridian::CardNode*> nodes;
  Ends ends = make_ends(options);
  for (std::size_t i = 0; i < ends.size(); ++i) nodes.push_back(&twin.add(options.cards[i].node, std::move(ends[i])));
  // Whoever started it may connect from now on.
  std::cout << "ready";
  for (const CardOptions& card : options.cards) std::cout << ' ' << card.node.socket.string();
  std::cout << std::endl;
  twin.run(stop_asked);
  for (meridian::CardNode* node : nodes) std::cout << node->statistics().dump() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { stop_asked = true; });
  std::signal(SIGTERM, [](int) { stop_asked = true; });
  return meridian::run_program("meridian_card", [&] {
    const Options options = parse_arguments({argv + 1, argv + argc});
    if (options.help)
      std::cout << usage << meridian::cable_help << meridian::card_options_help << meridian::qdma_options_help << '\n'
                << meridian::wire_help() << meridian::pulse_help;
    else
      run(options);
  });
}
