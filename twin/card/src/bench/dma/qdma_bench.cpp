// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/options.hpp"
#include "base/program.hpp"
#include "bench/dma/dma_run.hpp"
#include "bench/dma/register_run.hpp"
#include "twin/qdma_options.hpp"

namespace {

using namespace meridian;

constexpr std::string_view usage =
    R"(qdma_bench: measures the model of the QDMA IP, between what is behind its streams and a host that uses the rings of the
drivers' library. A line of JSON reports the rates of both directions, and latencies: latency_ns from the start of a C2H
frame until its completion is in host memory, h2c_latency_ns from the doorbell of a frame until it is at the card,
round_trip_ns from first beat to first beat.

  --mode MODE           forward: the host sends back each frame that comes (the default); c2h: frames come, and the host
                        takes them; h2c: the host sends frames; both: the two at once; loopback: the host sends frames,
                        and the streams send them back; round-trip: as forward, one frame after another
  --source pins|block   what is behind the streams. pins (the default): nothing but their pins, with 512 bits at 250 MHz.
                        block: the self-test block of the shell, which then makes and checks all frames, counts them, and
                        measures h2c_latency_ns and round_trip_ns, to the first beat at its checker. It has no loopback
  --registers LOAD      instead: how long accesses to a BAR2 register take beside DMA of the block. LOAD: idle, c2h, h2c
                        or both
  --count N             accesses of each kind, 1 to 100000 (200)
  --bytes N             bytes of a frame, 1 to 4096 (64)
  --queues N            number of queues, 1 to 16 (1)
  --function pf|vf      whose the queues are (pf)
  --random              buffers lie at random in 1 GiB of host memory, and each frame uses another one
  --push N              the host pushes frames of up to N bytes, 0 to 256, into a card with our DMA engine if their ring
                        has no others (0)
  --gap-ns N            time from one frame to the next; 0: as fast as they are accepted (0)
  --burst N             frames that the host takes or makes at a time in a queue (64)
  --poll-ns N           time between two polls of a queue by the host (500)
  --warm-us N --for-us N   twin time before the measurement, and of it (50, 200). With forward and loopback the
                        measurement begins 3 ms later, and when as many frames go as come; 20 ms is the limit
  --seed N              of what is random (1)
  --help
)";

struct Options {
  DmaSetting dma;
  bool registers = false;
  unsigned count = 200;
  bool help = false;
};

unsigned number(Arguments& arguments, unsigned least, unsigned most) {
  const auto value = arguments.number<unsigned>();
  if (value < least || value > most)
    throw InputError(arguments.option() + ": choose " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

bool is_load(DmaMode mode) {
  return mode == DmaMode::idle || mode == DmaMode::c2h || mode == DmaMode::h2c || mode == DmaMode::both;
}

DmaMode mode(Arguments& arguments, bool load) {
  const auto found = dma_mode_of(arguments.value());
  if (!found || (load ? !is_load(*found) : *found == DmaMode::idle))
    throw InputError(arguments.option() + ": choose " +
                     (load ? "idle, c2h, h2c or both" : "forward, c2h, h2c, both, loopback or round-trip"));
  return *found;
}

DmaSource source(Arguments& arguments) {
  const std::string& source = arguments.value();
  if (source != "pins" && source != "block") throw InputError("--source: choose pins or block");
  return source == "pins" ? DmaSource::pins : DmaSource::block;
}

bool is_vf(Arguments& arguments) {
  const std::string& function = arguments.value();
  if (function != "pf" && function != "vf") throw InputError("--function: choose pf or vf");
  return function == "vf";
}

/// Takes the option at hand if it is about frames or time.
bool take_dma_option(Arguments& arguments, DmaSetting& dma) {
  constexpr unsigned most = 1'000'000;
  const std::string& option = arguments.option();
  if (option == "--bytes")
    dma.bytes = number(arguments, 1, 4096);
  else if (option == "--queues")
    dma.queues = number(arguments, 1, 16);
  else if (option == "--function")
    dma.host.vf = is_vf(arguments);
  else if (option == "--random")
    dma.host.random = true;
  else if (option == "--push")
    dma.host.push = number(arguments, 0, 256);
  else if (option == "--gap-ns")
    dma.gap_ps = 1000ULL * number(arguments, 0, most);
  else if (option == "--burst")
    dma.host.burst = number(arguments, 1, 512);
  else if (option == "--poll-ns")
    dma.host.poll_ps = 1000ULL * number(arguments, 0, most);
  else if (option == "--warm-us")
    dma.warm_ps = 1'000'000ULL * number(arguments, 0, most);
  else if (option == "--for-us")
    dma.measure_ps = 1'000'000ULL * number(arguments, 1, most);
  else if (option == "--seed")
    dma.host.seed = arguments.number<std::uint64_t>();
  else
    return take_qdma_option(arguments, dma.qdma);
  return true;
}

Options parse_arguments(std::vector<std::string> given) {
  Options options;
  for (Arguments arguments(std::move(given)); arguments.next();) {
    const std::string& option = arguments.option();
    if (option == "--help") {
      options.help = true;
    } else if (option == "--mode") {
      options.dma.mode = mode(arguments, false);
    } else if (option == "--source") {
      options.dma.source = source(arguments);
    } else if (option == "--registers") {
      options.dma.mode = mode(arguments, true);
      options.dma.source = DmaSource::block;
      options.registers = true;
    } else if (option == "--count") {
      options.count = number(arguments, 1, 100'000);
    } else if (!take_dma_option(arguments, options.dma)) {
      throw InputError("no option is named " + option + " (see --help)");
    }
  }
  return options;
}

nlohmann::json measure(const Options& options) {
  return options.registers ? RegisterRun(options.dma, options.count).measure() : DmaRun(options.dma).measure();
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("qdma_bench", [&] {
    const Options options = parse_arguments({argv + 1, argv + argc});
    if (options.help)
      std::cout << usage << qdma_options_help;
    else
      std::cout << measure(options).dump() << '\n';
  });
}
