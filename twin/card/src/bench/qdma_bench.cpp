// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/options.hpp"
#include "base/program.hpp"
#include "bench/forward_host.hpp"
#include "bench/stream_pins.hpp"
#include "twin/qdma_options.hpp"

namespace {

using namespace meridian;

constexpr std::string_view usage =
    R"(qdma_bench: measures the model of the QDMA IP alone. Its streams (512 bits, 250 MHz) always have a frame of one
size for every queue, and a host forwards each frame back. A line of JSON reports how many frames came back, and the time
from a frame's first beat at the pins until its completion was in host memory, including half the round trip of a read
on an idle link.

  --bytes N             bytes of a frame, 64 to 4096 (64)
  --queues N            number of queues, 1 to 16 (1)
  --gap-ns N            time from one frame to the next; 0: as fast as they are accepted (0)
  --burst N             frames that the host takes at a time from a queue (64)
  --poll-ns N           time between two polls of a queue by the host (500)
  --warm-us N --for-us N   twin time before the measurement, and of it (50, 200)
  --help
)";

struct Options {
  StreamPins::Setting pins;
  ForwardSetting host;
  QdmaSetting qdma;
  std::uint64_t warm_ps = 50'000'000;
  std::uint64_t measure_ps = 200'000'000;
  bool help = false;
};

unsigned number(Arguments& arguments, unsigned least, unsigned most) {
  const auto value = arguments.number<unsigned>();
  if (value < least || value > most)
    throw InputError(arguments.option() + ": choose " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

Options parse_arguments(std::vector<std::string> given) {
  constexpr unsigned most = 1'000'000;
  Options options;
  for (Arguments arguments(std::move(given)); arguments.next();) {
    const std::string& option = arguments.option();
    if (option == "--help")
      options.help = true;
    else if (option == "--bytes")
      options.pins.bytes = number(arguments, 64, 4096);
    else if (option == "--queues")
      options.pins.queues = options.host.queues = number(arguments, 1, 16);
    else if (option == "--gap-ns")
      options.pins.gap_ps = 1000ULL * number(arguments, 0, most);
    else if (option == "--burst")
      options.host.burst = number(arguments, 1, 512);
    else if (option == "--poll-ns")
      options.host.poll_ps = 1000ULL * number(arguments, 0, most);
    else if (option == "--warm-us")
      options.warm_ps = 1'000'000ULL * number(arguments, 0, most);
    else if (option == "--for-us")
      options.measure_ps = 1'000'000ULL * number(arguments, 1, most);
    else if (!take_qdma_option(arguments, options.qdma))
      throw InputError("no option is named " + option + " (see --help)");
  }
  // One way only: neither a doorbell nor a write to memory has an answer.
  options.host.flight_ps = options.qdma.pcie.unlimited ? 0 : 500ULL * options.qdma.pcie.round_trip_ns;
  return options;
}

nlohmann::json measure(const Options& options) {
  constexpr std::uint64_t period_ps = 4000;
  StreamPins pins(options.pins);
  Qdma streams = pins.make_streams(1);
  FlatMemory memory(ForwardHost::memory_bytes(options.pins.queues));
  QdmaIp ip(options.qdma, streams, memory);
  ForwardHost host(options.host, ip, memory);
  std::uint64_t now_ps = 0;
  std::vector<std::uint64_t> latency_ps;
  memory.set_watch([&](std::uint64_t address) {
    const auto queue = ForwardHost::completion_at(address, options.pins.queues);
    if (!queue) return;
    const std::uint64_t start_ps = pins.take_start(*queue);
    if (start_ps >= options.warm_ps) latency_ps.push_back(now_ps - start_ps + options.host.flight_ps);
  });
  host.start();
  std::uint64_t before = 0;
  const std::uint64_t end_ps = options.warm_ps + options.measure_ps;
  while (now_ps < end_ps) {
    now_ps += period_ps;
    streams.c2h.sample(now_ps);
    streams.h2c.sample();
    streams.flr.sample(now_ps);
    streams.credit.sample(now_ps);
    pins.sample();
    ip.tick(now_ps);
    host.tick(now_ps);
    streams.c2h.drive();
    streams.h2c.drive(now_ps);
    streams.flr.drive();
    streams.credit.drive();
    pins.drive(now_ps);
    if (now_ps <= options.warm_ps) before = pins.returned();
  }
  const std::uint64_t frames = pins.returned() - before;
  if (frames == 0 || latency_ps.empty()) throw HangError("no frame came back");
  const double mpps = static_cast<double>(frames) * 1e6 / static_cast<double>(options.measure_ps);
  std::sort(latency_ps.begin(), latency_ps.end());
  const auto ns = [](std::uint64_t ps) { return static_cast<double>(ps) / 1000; };
  return {{"mpps", mpps},
          {"gbps", mpps * 8 * options.pins.bytes / 1000},
          {"frames", frames},
          {"frames_a_burst", static_cast<double>(host.forwarded()) / static_cast<double>(host.looks())},
          {"latency_ns",
           {{"median", ns(latency_ps[latency_ps.size() / 2])},
            {"min", ns(latency_ps.front())},
            {"max", ns(latency_ps.back())}}}};
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
