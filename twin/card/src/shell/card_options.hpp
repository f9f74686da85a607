// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/options.hpp"
#include "shell/card.hpp"

namespace meridian {

/// Options of every program that holds a Card.
constexpr std::string_view card_options_help =
    R"(  --seed N              seed of random back-pressure and initial register values (1)
  --rate 10|25          line rate of all ports in Gb/s (25)
  --host-mhz 125|250    clock of the host's side; it must be the one for which the shell was generated
  --ppm CLOCK=PPM       frequency error of a clock: host, ps, mac_rx_0, mac_tx_0, mac_rx_1, ...
  --phase CLOCK=FS      first edge of a clock, in femtoseconds
  --rx-latency NS --tx-latency NS   latency of a frame between the connector and where the MACs stamp it (0)
  --latency-spread NS   adds 0 to NS to both, drawn for each port and direction whenever its link comes up (0)
  --hang-us N           longest wait for an answer that must come (100)
  --trace FILE.fst      writes waveforms (in a build with -DTRACE=ON)
  --trace-from NS --trace-to NS   limits the waveforms to this time
)";

/// Takes the option at hand if it is one of these.
inline bool take_card_option(Arguments& arguments, CardSetting& card) {
  const std::string& option = arguments.option();
  if (option == "--seed") {
    card.seed = arguments.number<std::uint64_t>();
  } else if (option == "--rate") {
    const auto rate = arguments.number<unsigned>();
    if (rate != 10 && rate != 25) throw InputError("--rate: choose 10 or 25");
    card.rate = rate == 10 ? MacRate::gbps10 : MacRate::gbps25;
  } else if (option == "--host-mhz") {
    card.host_mhz = arguments.number<unsigned>();
    if (card.host_mhz != 125 && card.host_mhz != 250) throw InputError("--host-mhz: choose 125 or 250");
  } else if (option == "--ppm") {
    const auto [clock, ppm] = arguments.named_number<double>();
    card.clocks[clock].ppm = ppm;
  } else if (option == "--phase") {
    const auto [clock, phase] = arguments.named_number<std::uint64_t>();
    card.clocks[clock].phase_fs = phase;
  } else if (option == "--rx-latency") {
    card.rx_latency_ns = arguments.number<std::uint32_t>();
  } else if (option == "--tx-latency") {
    card.tx_latency_ns = arguments.number<std::uint32_t>();
  } else if (option == "--latency-spread") {
    card.latency_spread_ns = arguments.number<std::uint32_t>();
  } else if (option == "--hang-us") {
    card.hang_ps = arguments.scaled(1'000'000);
  } else if (option == "--trace") {
    card.trace_file = arguments.value();
  } else if (option == "--trace-from") {
    card.trace_from_ps = arguments.scaled(1000);
  } else if (option == "--trace-to") {
    card.trace_to_ps = arguments.scaled(1000);
  } else {
    return false;
  }
  return true;
}

}  // namespace meridian
