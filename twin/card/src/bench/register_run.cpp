// SPDX-License-Identifier: Apache-2.0
#include "bench/register_run.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "shell/card.hpp"

namespace meridian {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t scratch = 0x100024;  // of the identification, BAR2
constexpr std::uint32_t step_ps = 2'000'000;

Json spread(std::vector<std::uint64_t> ps) {
  std::sort(ps.begin(), ps.end());
  const auto us = [](std::uint64_t time) { return static_cast<double>(time) / 1e6; };
  return {{"median", us(ps[ps.size() / 2])}, {"min", us(ps.front())}, {"max", us(ps.back())}};
}

}  // namespace

RegisterRun::RegisterRun(const DmaSetting& setting, unsigned count)
    : setting_(setting),
      count_(count),
      random_(setting.host.seed),
      run_(setting),
      flight_ps_(setting.qdma.pcie.unlimited ? 0 : 500ULL * setting.qdma.pcie.round_trip_ns) {}

/// DMA does not touch this bus, so it is timed in a shell at rest.
void RegisterRun::time_shell() {
  CardSetting shell;
  shell.seed = setting_.host.seed;
  Card card(shell);
  for (unsigned number = 0; number < count_; ++number) {
    card.run_for(20'000 + random_.below(20'000));
    const std::uint64_t before_ps = card.now_ps();
    const AxilResult wrote = card.write(card.pf_bus(), scratch, number);
    write_ps_.push_back(wrote.t_ps - before_ps);
    card.run_for(20'000 + random_.below(20'000));
    const std::uint64_t asked_ps = card.now_ps();
    const AxilResult got = card.read(card.pf_bus(), scratch);
    read_ps_.push_back(got.t_ps - asked_ps);
    if (wrote.response != 0 || got.response != 0 || got.data != number)
      throw CheckError("the scratch register of the shell does not read back what was written");
  }
}

/// An access that the host makes at any moment from now on: returns when it does, and stops as the shell is done.
std::uint64_t RegisterRun::arrive(std::uint64_t shell_ps) {
  run_.run_until(run_.now_ps() + random_.below(step_ps));
  const std::uint64_t start_ps = run_.now_ps();
  run_.run_until(start_ps + flight_ps_ + run_.ip().access_wait_ps() + shell_ps);
  return start_ps;
}

Json RegisterRun::read() {
  std::vector<std::uint64_t> times;
  for (const std::uint64_t shell_ps : read_ps_) {
    const std::uint64_t start_ps = arrive(shell_ps);
    const std::uint64_t end_ps = run_.ip().answer() + flight_ps_;
    times.push_back(end_ps - start_ps);
    run_.run_until(end_ps);
  }
  return spread(std::move(times));
}

Json RegisterRun::write() {
  std::vector<std::uint64_t> times;
  for (const std::uint64_t shell_ps : write_ps_) {
    const std::uint64_t start_ps = arrive(shell_ps);
    times.push_back(run_.now_ps() - start_ps);
  }
  return spread(std::move(times));
}

Json RegisterRun::measure() {
  time_shell();
  run_.run_until(setting_.warm_ps);
  const DmaRun::Counts before = run_.counts();
  Json found = {{"count", count_}, {"read_us", read()}, {"write_us", write()}};
  found["shell_read_us"] = spread(read_ps_);
  found["shell_write_us"] = spread(write_ps_);
  found["load"] = run_.rates(before);
  run_.check_moved(before);
  return found;
}

}  // namespace meridian
